// `edict serve` is another program, so that this one links neither SQLite nor OpenSSL.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "front/cli/command.h"

namespace edict::cli {
namespace {

// The one beside this program, else one on the path. Returns only by an exception.
[[noreturn]] void start_server(const std::string& command,
                               const std::vector<std::string>& arguments) {
  std::error_code unknown;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const std::filesystem::path beside = self.parent_path() / "edict-server";
  const bool here = !unknown && std::filesystem::exists(beside);
  std::vector<std::string> words{here ? beside.string() : "edict-server", command};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> list;
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  execvp(list[0], list.data());
  if (errno == ENOENT)
    throw Error(
        "edict-server is not installed; build its target (cmake --build --preset release --target "
        "edict_server_program), or install edict with it");
  throw Error(fmt::format("{}: {}", words[0], std::strerror(errno)));
}

}  // namespace

void add_serve(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "serve", "Serve a model live over HTTP: observations in, distributions and alarms out");
  // Everything that follows, --help too, is for the other program.
  command->set_help_flag();
  command->prefix_command();
  command->callback([command] { start_server("serve", command->remaining()); });
}

void add_demo(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("demo", "Watch a ward of invented patients in a browser, within a minute");
  command->set_help_flag();
  command->prefix_command();
  command->callback([command] { start_server("demo", command->remaining()); });
}

}  // namespace edict::cli
