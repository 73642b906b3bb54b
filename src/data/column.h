// An array of a dataset: numbers in memory of its own, or a view of a file that is mapped into
// memory, which the system reads as it is looked at and shares among the processes of a machine.
//
// It is read like a vector either way. What changes a view first makes a copy of all of it: read
// through a const Dataset.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/files/mapped_file.h"

namespace edict {

template <class T>
class Column {
 public:
  using value_type = T;
  using size_type = std::size_t;
  using const_iterator = const T*;
  using iterator = const T*;

  Column() = default;
  Column(std::vector<T> values) : own_(std::move(values)) {}  // NOLINT: an array is an array
  Column(std::initializer_list<T> values) : own_(values) {}

  // `file` keeps what is viewed.
  static Column view(std::span<const T> values, const std::shared_ptr<const void>& file) {
    Column column;
    column.viewed_ = values;
    column.file_ = file;
    return column;
  }
  bool is_view() const { return file_ != nullptr; }

  const T* data() const { return file_ ? viewed_.data() : own_.data(); }
  std::size_t size() const { return file_ ? viewed_.size() : own_.size(); }
  bool empty() const { return size() == 0; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size(); }
  const T& operator[](std::size_t i) const { return data()[i]; }
  const T& front() const { return data()[0]; }
  const T& back() const { return data()[size() - 1]; }

  void expect_random_order() const {
    if (file_) edict::expect_random_order(std::as_bytes(viewed_));
  }
  // Elements [from, to) will be looked at soon: a file is read before they are.
  void read_ahead(std::size_t from, std::size_t to) const {
    if (file_) edict::read_ahead(std::as_bytes(viewed_.subspan(from, to - from)));
  }

  // As a vector that may be changed.
  std::vector<T>& edit() {
    if (file_) {
      own_.assign(viewed_.begin(), viewed_.end());
      viewed_ = {};
      file_.reset();
    }
    return own_;
  }
  T& operator[](std::size_t i) { return edit()[i]; }
  T& back() { return edit().back(); }
  void push_back(const T& value) { edit().push_back(value); }
  void reserve(std::size_t count) { edit().reserve(count); }
  void resize(std::size_t count) { edit().resize(count); }
  void resize(std::size_t count, const T& value) { edit().resize(count, value); }
  void assign(std::size_t count, const T& value) { edit().assign(count, value); }
  template <class First, class Last>
  void append(First first, Last last) {
    edit().insert(own_.end(), first, last);
  }

  friend bool operator==(const Column& a, const Column& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::vector<T> own_;
  std::span<const T> viewed_;
  std::shared_ptr<const void> file_;  // null: own_ counts
};

}  // namespace edict
