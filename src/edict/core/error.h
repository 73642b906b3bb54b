// The one exception of the library: says what is wrong, where, and what to do about it.
#pragma once

#include <cerrno>
#include <stdexcept>
#include <string>

namespace edict {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Nothing that was given is at fault: the machine has no space, no files or no threads left, or a
// disk fails. The same may succeed later.
class MachineError : public Error {
 public:
  using Error::Error;
};

// Numbers grew beyond what single precision holds. In training a batch without which it may go on.
class NotFinite : public Error {
 public:
  using Error::Error;
};

// Whether this value of errno tells of the machine and not of a path that was given.
inline bool is_of_machine(int error) {
  for (const int one : {ENOSPC, EDQUOT, EFBIG, EIO, ENOMEM, EMFILE, ENFILE, EAGAIN, ESTALE, ENOLCK})
    if (error == one) return true;
  return false;
}

// Throws a MachineError or an Error, as errno tells.
[[noreturn]] inline void throw_system_error(int error, const std::string& what) {
  if (is_of_machine(error)) throw MachineError(what);
  throw Error(what);
}

}  // namespace edict
