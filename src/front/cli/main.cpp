#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/processor.h"
#include "base/threads/interrupted.h"
#include "front/cli/command.h"
#include "front/cli/help/help.h"
#include "front/cli/terminal/failure.h"
#include "research/source_hash.h"

int main(int argc, char** argv) try {
  edict::cli::open_standard_streams();
  edict::cli::install_interrupt_handlers();
  CLI::App app("edict: evidential distributions in continuous time for irregular time series",
               "edict");
  app.require_subcommand(1);
  app.set_version_flag(
      "--version", fmt::format("edict " EDICT_VERSION " ({}), sources {}", edict::processor_level(),
                               edict::study::source_hash().substr(0, 12)));
  app.formatter(edict::cli::help_formatter());
  edict::cli::add_commands(app);
  edict::cli::run_command_line(app, argc, argv);
  edict::cli::finish_standard_output();
} catch (const edict::cli::Exit& e) {
  return e.code;
} catch (const edict::Interrupted&) {
  return edict::cli::leave_interrupted();
} catch (const CLI::ParseError& e) {
  // A question suggests what to give instead.
  return edict::cli::failed(2, e.what(),
                            std::string_view(e.what()).ends_with('?') ? "" : "; try --help");
} catch (const edict::Error& e) {
  return edict::cli::failed(e);
} catch (const std::bad_alloc&) {
  return edict::cli::failed(1, edict::cli::kOutOfMemory);
} catch (const std::system_error& e) {
  return edict::cli::failed(edict::is_of_machine(e.code().value()) ? 1 : 2, e.what());
} catch (const std::exception& e) {
  return edict::cli::failed(1, "unexpected: ", e.what());
}
