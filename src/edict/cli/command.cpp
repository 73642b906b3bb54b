#include "edict/cli/command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <csignal>

#include "edict/core/error.h"

namespace edict::cli {
namespace {

std::atomic<bool> interrupted = false;

void on_interrupt(int) {
  if (interrupted.exchange(true)) _exit(130);
}

}  // namespace

void ConfigOptions::add_to(CLI::App& command) {
  command.add_option("--config", file, "TOML file with settings (see presets/)")
      ->check(CLI::ExistingFile);
  command.add_option("--set", assignments, "one setting, as model.hidden=64; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

Config ConfigOptions::resolve() const {
  Config config;
  if (!file.empty()) read_toml(file, config);
  for (const std::string& assignment : assignments) assign(config, assignment);
  validate(config);
  return config;
}

void GuardOptions::add_to(CLI::App& command) {
  command.add_option("--guard", kind, "tame implausible observations before they are absorbed")
      ->check(CLI::IsMember({"none", "edgr", "pop-mean"}))
      ->capture_default_str();
  command.add_option("--eta", eta, "deviations an observation may be off before it is clipped")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--sigma", sigma, "which deviation EDGR counts in")
      ->check(CLI::IsMember({"epistemic", "predictive"}))
      ->capture_default_str();
}

Guard GuardOptions::resolve() const {
  return {guard_from_name(kind), eta, deviation_from_name(sigma)};
}

void add_threads(CLI::App& command, int& threads) {
  command.add_option("--threads", threads, "0: all cores; results do not depend on it")
      ->check(CLI::Range(0, 1024));
}

const std::atomic<bool>& interrupt_flag() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  return interrupted;
}

void check_writable(const std::filesystem::path& path) {
  const std::filesystem::path folder =
      path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  if (!std::filesystem::is_directory(folder))
    throw Error(fmt::format("{}: its folder does not exist; create it first", path.string()));
  if (std::filesystem::is_directory(path))
    throw Error(fmt::format("{}: is a folder; give the name of a file", path.string()));
  if (::access(folder.c_str(), W_OK) != 0)
    throw Error(fmt::format("{}: its folder cannot be written to", path.string()));
}

}  // namespace edict::cli
