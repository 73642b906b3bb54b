// The one exception of the library: what is wrong, where, and what to do about it, as fields. A
// message never says how an option is given, because a command line, a keyword argument and a
// field of JSON are given differently: it names the option by `option`, and the front end words it.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace edict {

// What callers branch on.
enum class ErrorCode : std::uint8_t {
  invalid,      // a value, a setting or a request that cannot be
  malformed,    // a file or a body that cannot be read as what it is given for
  mismatch,     // data and model, or two files, that do not belong together
  not_found,    // a file, a series, a feature, a class or a setting that is not there
  exists,       // a file that would be replaced
  unsupported,  // something that this kind of model or file cannot do
  not_finite,   // numbers beyond single precision
  machine,      // no space, no memory, no files or threads left, a disk that fails
};
// "invalid", "malformed", …: for JSON.
std::string_view name(ErrorCode code);

// An option of the caller's, or a setting ("train.clip_norm"), inside of a message: by its name in
// snake_case, and with a value where one is recommended.
std::string option(std::string_view name, std::string_view value = {});
// The option of an assignment of a setting, which is `--set` on a command line and nothing where
// settings have an argument of their own: option(kAssignment, "train.epochs=0").
inline constexpr std::string_view kAssignment = "set";

// How a front end words an option; the value is empty where none is recommended.
using OptionStyle = std::string (*)(std::string_view name, std::string_view value);
std::string plain_option(std::string_view name, std::string_view value);         // decimal=comma
std::string command_line_option(std::string_view name, std::string_view value);  // --decimal comma

// The message with every option in that style.
std::string with_options(std::string_view message, OptionStyle style);

class Error : public std::runtime_error {
 public:
  struct Fields {
    std::string subject = {};  // the file, the series, the setting
    std::string place = {};    // inside of it: a line, a column, a key
    std::string problem;
    std::string remedy = {};
  };

  Error(ErrorCode code, Fields fields);
  // A problem that is said in one sentence and needs no remedy.
  explicit Error(std::string problem)
      : Error(ErrorCode::invalid, Fields{.problem = std::move(problem)}) {}

  ErrorCode code() const { return code_; }
  const Fields& fields() const { return *fields_; }
  // "subject: place: problem; remedy". what() is the same with plain options.
  std::string message(OptionStyle style) const;

 private:
  ErrorCode code_;
  std::shared_ptr<const Fields> fields_;  // shared, so that copying an exception cannot fail
};

// Nothing that was given is at fault: the machine has no space, no files or no threads left, or a
// disk fails. The same may succeed later.
class MachineError : public Error {
 public:
  explicit MachineError(std::string problem)
      : Error(ErrorCode::machine, Fields{.problem = std::move(problem)}) {}
};

// Numbers grew beyond what single precision holds. In training a batch without which it may go on.
class NotFinite : public Error {
 public:
  explicit NotFinite(std::string problem)
      : Error(ErrorCode::not_finite, Fields{.problem = std::move(problem)}) {}
};

// Whether this value of errno blames the machine and not a path that was given.
bool is_of_machine(int error);

// Throws a MachineError or an Error, as errno tells.
[[noreturn]] void throw_system_error(int error, const std::string& what);

}  // namespace edict
