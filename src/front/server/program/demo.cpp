#include "front/server/program/demo.h"

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>

#include "front/server/demo/demo.h"
#include "front/server/server.h"
#include "model/model.h"

namespace edict::server {
namespace {

// For the model, its rules and what is observed; gone with the program.
class DemoFolder {
 public:
  DemoFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "edict-demo-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::system_error(errno, std::generic_category(), name);
    path_ = name;
  }
  ~DemoFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  DemoFolder(const DemoFolder&) = delete;
  DemoFolder& operator=(const DemoFolder&) = delete;

  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

struct DemoArguments {
  DemoSettings demo;
  unsigned port = 0;
  double seconds = 0;
};

Model trained(const DemoSettings& settings) {
  const bool screen = isatty(STDERR_FILENO) != 0;
  fmt::print(stderr, "training a small model on invented patients …\n");
  ThreadPool pool(0);
  Model model = train_demo_model(settings, pool, [&](std::int64_t epoch, std::int64_t epochs) {
    if (screen) fmt::print(stderr, "\repoch {} of {} ", epoch, epochs);
  });
  if (screen) fmt::print(stderr, "\r\033[K");
  return model;
}

// Until Ctrl-C, SIGTERM, or after so many seconds (0: never).
int wait(const sigset_t& signals, double seconds) {
  int signal = 0;
  if (seconds <= 0) {
    sigwait(&signals, &signal);
    return signal;
  }
  const timespec time{static_cast<std::time_t>(seconds), 0};
  signal = sigtimedwait(&signals, nullptr, &time);
  return signal < 0 ? 0 : signal;
}

int run(const DemoArguments& options) {
  // Nothing has to be removed before this is done, and Ctrl-C ends the program as it always does.
  const Model model = trained(options.demo);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  // Blocked here, and so in every thread that is made from now on.
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const DemoFolder folder;
  ServeSettings settings;
  settings.model = folder / "ward.model";
  settings.rules = (folder / "rules.json").string();
  settings.store = (folder / "ward.db").string();
  settings.http.port = static_cast<std::uint16_t>(options.port);
  settings.api.name = "ward";
  settings.live.guard = {Guard::Kind::edgr, 4.0, Guard::Deviation::predictive};
  save_model(model, settings.model);
  std::ofstream(settings.rules) << demo_rules();
  int signal = 0;
  {
    Server server(settings);
    const DemoWard ward(server.live(), options.demo);
    fmt::print(
        "{}\nOpen it in a browser: {} invented patients, some of whom fall ill, and whose monitors "
        "send late, twice and wrong.\nAsk it yourself: curl '{}v1/streams?sort=urgency&limit=1'\n"
        "Ctrl-C ends it and leaves nothing behind.\n",
        server.url(), options.demo.streams, server.url());
    std::fflush(stdout);
    signal = wait(signals, options.seconds);
    const DemoCounts& sent = ward.counts();
    fmt::print("{} rounds of measurements: {} late, {} twice, {} wrong, {} of them corrected\n",
               sent.rounds.load(), sent.late.load(), sent.doubled.load(), sent.wrong.load(),
               sent.corrected.load());
  }
  return signal == SIGINT ? 130 : 0;
}

}  // namespace

void add_demo(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand(
      "demo", "Watch a ward of invented patients: trains, serves and feeds, within a minute");
  auto options = std::make_shared<DemoArguments>();
  command->add_option("--port", options->port, "on 127.0.0.1; 0 takes a free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  command->add_option("--streams", options->demo.streams, "patients")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command
      ->add_option("--training", options->demo.training_seconds, "seconds that training may take")
      ->check(CLI::Range(1.0, 3600.0))
      ->capture_default_str();
  command->add_option("--seed", options->demo.seed, "same seed, same patients")
      ->capture_default_str();
  command->add_option("--for", options->seconds, "seconds after which it ends; 0: never")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  command->callback([options, &code] { code = run(*options); });
}

}  // namespace edict::server
