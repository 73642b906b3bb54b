// Values as bytes for another process of the same program, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "base/error.h"

namespace edict {

class ByteWriter {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put(const T& value) { put(std::span<const T>(&value, 1)); }
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put(std::span<const T> values) {
    const auto* from = reinterpret_cast<const std::byte*>(values.data());
    bytes_.insert(bytes_.end(), from, from + values.size_bytes());
  }
  // With its length.
  template <class T>
  void put_list(const std::vector<T>& values) {
    put(std::uint64_t{values.size()});
    put(std::span<const T>(values));
  }
  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : left_(bytes) {}

  template <class T>
  void get(T& value) {
    get(std::span<T>(&value, 1));
  }
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void get(std::span<T> values) {
    if (values.size_bytes() > left_.size())
      throw Error("a process sent less than was expected of it; do all run the same program?");
    if (!values.empty()) std::memcpy(values.data(), left_.data(), values.size_bytes());
    left_ = left_.subspan(values.size_bytes());
  }
  template <class T>
  void get_list(std::vector<T>& values) {
    std::uint64_t size = 0;
    get(size);
    if (size > left_.size() / sizeof(T))
      throw Error("a process sent less than was expected of it; do all run the same program?");
    values.resize(size);
    get(std::span<T>(values));
  }

 private:
  std::span<const std::byte> left_;
};

}  // namespace edict
