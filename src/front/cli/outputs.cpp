#include "front/cli/outputs.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/json/json.h"
#include "base/json/json_text.h"

namespace edict::cli {
namespace {

namespace fs = std::filesystem;

// Two names of one thing give the same identity. Devices have none: whatever is written to them
// does no harm to what is read from them.
struct Identity {
  dev_t device = 0;
  ino_t file = 0;
  fs::path path;  // of what is not there yet
  bool operator==(const Identity&) const = default;
};

std::optional<Identity> identity_of(const std::string& name) {
  const std::string path = name == "-" ? "/dev/stdin" : name;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    std::error_code unknown;
    return Identity{0, 0, fs::weakly_canonical(fs::absolute(destination_of(path).path), unknown)};
  }
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  return Identity{status.st_dev, status.st_ino, {}};
}

void check_writable(const std::string& name) {
  const Destination to = destination_of(name);
  if (to.kind == Destination::Kind::folder)
    throw Error(fmt::format("{}: is a folder; give the name of a file", name));
  if (to.kind == Destination::Kind::stream) {
    if (to.descriptor < 0 && ::access(to.path.c_str(), W_OK) != 0)
      throw Error(fmt::format("{}: cannot be written to ({})", name, std::strerror(errno)));
    return;
  }
  const fs::path folder = to.path.has_parent_path() ? to.path.parent_path() : fs::path(".");
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    throw Error(fmt::format("{}: its folder does not exist; create it first", name));
  if (::access(folder.c_str(), W_OK) != 0)
    throw Error(fmt::format("{}: its folder cannot be written to", name));
}

}  // namespace

CLI::Option* add_output(CLI::App& command, const std::string& option, std::string& path,
                        const std::string& help) {
  return command.add_option_function<std::string>(
      option, [&path](const std::string& given) { path = given == "-" ? "/dev/stdout" : given; },
      help);
}

void check_files(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].empty()) continue;
    const auto own = identity_of(outputs[i]);
    for (const std::string& input : inputs)
      if (!input.empty() && own && identity_of(input) == own)
        throw Error(fmt::format(
            "{}: this command reads it and would write over it; give the output another name",
            outputs[i]));
    for (std::size_t j = 0; j < i; ++j) {
      if (outputs[j].empty()) continue;
      if ((own && identity_of(outputs[j]) == own) ||
          (is_standard_output(outputs[i]) && is_standard_output(outputs[j])))
        throw Error(
            fmt::format("{}: two results would go there; give each a name of its own", outputs[i]));
    }
    check_writable(outputs[i]);
  }
}

bool is_standard_output(const std::string& path) {
  return !path.empty() && destination_of(path).descriptor == STDOUT_FILENO;
}

std::string shown(const std::string& output) {
  return is_standard_output(output) ? "standard output" : output;
}

std::FILE* text_stream(const std::vector<std::string>& outputs) {
  return std::any_of(outputs.begin(), outputs.end(), is_standard_output) ? stderr : stdout;
}

CLI::Option* add_json(CLI::App& command, std::string& path) {
  return add_output(command, "--json", path, "the results as JSON; - is standard output")
      ->type_name("FILE");
}

void write_json(const std::string& path, const nlohmann::json& json) {
  if (!path.empty()) write_atomically(path, json_text(json, 2) + "\n");
}

void finish_standard_output() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  const int error = errno;
  throw MachineError(fmt::format("standard output: cannot be written{}; free some space",
                                 error ? fmt::format(" ({})", std::strerror(error)) : ""));
}

void open_standard_streams() {
  // The lowest free number is given out, which is the one that is missing. What is printed to a
  // closed standard output is lost and has to fail; a message may be lost.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0)
      ::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace edict::cli
