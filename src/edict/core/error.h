// The one exception of the library: says what is wrong, where, and what to do about it.
#pragma once

#include <stdexcept>
#include <string>

namespace edict {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace edict
