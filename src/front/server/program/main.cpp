// edict-server: what `edict serve` starts.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>

#include "base/error.h"
#include "front/server/http/tokens.h"
#include "front/server/program/demo.h"
#include "front/server/program/serve.h"

namespace {

using namespace edict;
using namespace edict::server;

void add_token(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "token", "Make a token: its line for the file of --tokens goes to standard output");
  auto name = std::make_shared<std::string>();
  auto scopes = std::make_shared<std::string>("read,write");
  command->add_option("NAME", *name, "who holds it")->required();
  command->add_option("--scopes", *scopes, "read, write, admin")->capture_default_str();
  command->callback([name, scopes] {
    const NewToken made = make_token(*name, *scopes);
    fmt::print(stderr, "token (shown only now): {}\n", made.token);
    fmt::print("{}\n", made.line);
  });
}

}  // namespace

int main(int argc, char** argv) try {
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app("edict-server: live streams of a trained model");
  app.require_subcommand(1);
  app.set_version_flag("--version", "edict-server " EDICT_VERSION);
  int code = 0;
  add_serve(app, code);
  add_demo(app, code);
  add_token(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);
  }
  return code;
} catch (const CLI::ParseError& e) {
  fmt::print(stderr, "edict-server: {}; try --help\n", e.what());
  return 2;
} catch (const edict::MachineError& e) {
  fmt::print(stderr, "edict-server: {}\n", e.message(edict::command_line_option));
  return 1;
} catch (const edict::Error& e) {
  fmt::print(stderr, "edict-server: {}\n", e.message(edict::command_line_option));
  return 2;
} catch (const std::bad_alloc&) {
  std::fputs("edict-server: out of memory\n", stderr);
  return 1;
} catch (const std::system_error& e) {
  fmt::print(stderr, "edict-server: {}\n", e.what());
  return edict::is_of_machine(e.code().value()) ? 1 : 2;
} catch (const std::exception& e) {
  fmt::print(stderr, "edict-server: unexpected: {}\n", e.what());
  return 1;
}
