// Reading HDF5 through its C library: identifiers that close themselves, and the few kinds of
// reading that pandas' files need. Everything throws Error with the file and the path inside it.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace edict {

class Hdf5Id {
 public:
  using Close = herr_t (*)(hid_t);
  Hdf5Id(hid_t id, Close close) : id_(id), close_(close) {}
  ~Hdf5Id() {
    if (id_ >= 0) close_(id_);
  }
  Hdf5Id(Hdf5Id&& other) noexcept : id_(other.id_), close_(other.close_) { other.id_ = -1; }
  Hdf5Id& operator=(Hdf5Id&&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  Close close_;
};

class Hdf5File {
 public:
  explicit Hdf5File(const std::filesystem::path& path);

  // `path` is like "patients/table".
  bool has(const std::string& path) const;
  std::vector<std::size_t> shape(const std::string& path) const;
  bool is_number(const std::string& path) const;  // whole or floating

  // A whole dataset of one dimension. Strings are of fixed width, as NumPy's.
  std::vector<std::int64_t> integers(const std::string& path) const;
  std::vector<std::string> strings(const std::string& path) const;

  // Rows [first, first + count) of a dataset of numbers with two dimensions.
  void rows(const std::string& path, std::size_t first, std::size_t count, double* out) const;

  std::optional<std::int64_t> integer_attribute(const std::string& path,
                                                const std::string& name) const;
  std::optional<std::string> text_attribute(const std::string& path, const std::string& name) const;

  Hdf5Id dataset(const std::string& path) const;
  // Throws Error where an HDF5 call returned a negative number.
  template <class Result>
  Result check(Result result, const std::string& path) const {
    if (result < 0) fail(path, "cannot be read; the file may be damaged, write it again");
    return result;
  }
  [[noreturn]] void fail(const std::string& path, std::string_view what) const;

 private:
  struct Attribute {
    Hdf5Id id, type;
  };
  // Nothing where there is none, or not of one element.
  std::optional<Attribute> attribute(const std::string& path, const std::string& name) const;

  std::filesystem::path path_;
  Hdf5Id file_;
};

// Whether a type is one of the usual whole or IEEE floating numbers. HDF5 can describe others, and
// a damaged description leads its conversions beyond their buffers.
bool is_plain_number(hid_t type);

// Cuts fixed-width text at its padding.
std::string fixed_text(const char* text, std::size_t width);

}  // namespace edict
