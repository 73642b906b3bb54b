// What came of something that was asked of the live server: a value, or why there is none.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>

namespace edict::server {

struct Failure {
  enum class Kind : std::uint8_t {
    conflict,   // it cannot be, as things are
    not_found,  // there is no such stream, or no such alarm
    store,      // the store did not take it; later it may
  };

  Kind kind = Kind::store;
  std::string text;
};

struct Nothing {};

template <class T = Nothing>
class Result {
 public:
  Result(T value = {}) : content_(std::in_place_index<0>, std::move(value)) {}
  Result(Failure failure) : content_(std::in_place_index<1>, std::move(failure)) {}

  explicit operator bool() const { return content_.index() == 0; }
  const T& value() const { return std::get<0>(content_); }
  const Failure& failure() const { return std::get<1>(content_); }

 private:
  std::variant<T, Failure> content_;
};

// Called once, when something is durable or has failed.
template <class T = Nothing>
using WhenDone = std::function<void(const Result<T>&)>;

}  // namespace edict::server
