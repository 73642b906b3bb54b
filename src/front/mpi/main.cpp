// edict-mpi: the commands that many processes do together, each with the bits of a single one.
//
// Every process runs the command from its beginning to its end; what they share is in
// base/threads/ranks.h. The first of them prints and writes, the others do neither.
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string_view>
#include <thread>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/hash.h"
#include "base/processor.h"
#include "base/threads/interrupted.h"
#include "front/cli/command.h"
#include "front/cli/help/help.h"
#include "front/cli/processes.h"
#include "front/mpi/mpi_ranks.h"
#include "research/source_hash.h"

namespace {

std::atomic<bool> asked_to_stop = false;
std::atomic<int> signal_that_came = 0;

// The first asks, and all processes leave together after the batch at hand; a second one ends this
// process at once, and with it the others.
void on_signal(int signal) {
  if (asked_to_stop.exchange(true)) ::_exit(128 + signal);
  signal_that_came = signal;
}

// What decides about rounding: the processor and what it can do.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  std::string name = "unknown", flags;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const auto value = [&] { return line.substr(std::min(line.size(), line.find(':') + 2)); };
    if (line.starts_with("model name")) name = value();
    if (line.starts_with("flags") || line.starts_with("Features")) flags = value();
  }
  return fmt::format("{}, {}, {:.8}", name, edict::processor_level(),
                     edict::Hash().text(flags).hex());
}

struct Options {
  bool mixed = false, timing = false;
};

void add_commands(CLI::App& app, Options& options) {
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("edict-mpi " EDICT_VERSION " ({}), sources {}",
                                                edict::processor_level(),
                                                edict::study::source_hash().substr(0, 12)));
  app.add_flag("--mixed", options.mixed,
               "go on although the processors differ, whose rounding may then differ too");
  app.add_flag("--timing", options.timing,
               "print at the end how much of the time the processes waited for each other");
  app.formatter(edict::cli::help_formatter());
  edict::cli::add_train(app);
  edict::cli::add_classify(app);
  edict::cli::add_evaluate(app);
  app.footer(
      "Started by mpirun or srun, as: mpirun -n 8 edict-mpi train DATA.edict --out MODEL\n"
      "The options are those of `edict`; the results have its bits, whatever the number of ranks "
      "and threads (docs/how-to/scale.md).\n");
}

void refuse(const char* option, const char* why) {
  throw edict::Error(fmt::format("{}: {}; leave it out, or use `edict`", option, why));
}

int run(int argc, char** argv, edict::mpi::MpiRanks& ranks, const Options& options, CLI::App& app) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "-") refuse("-", "standard input reaches one process only");
    if (argument.starts_with("--budget")) refuse("--budget", "clocks of processes differ");
    if (argument.starts_with("--claim"))
      refuse("--claim", "claims are for processes that do not work together");
  }
  const double begin = MPI_Wtime();
  app.parse_complete_callback([&] {
    if (ranks.size() == 1) return;
    ranks.check_alike(std::string(edict::study::source_hash().substr(0, 12)),
                      "the processes run different versions of the program; install one");
    if (!options.mixed)
      ranks.check_alike(processor(),
                        "the processors differ, and with them the last bits of what they compute; "
                        "choose machines of one kind, or give --mixed before the command");
  });
  edict::cli::run_command_line(app, argc, argv);
  edict::cli::finish_standard_output();
  if (options.timing && ranks.rank() == 0) {
    const double all = MPI_Wtime() - begin;
    fmt::print(stderr, "edict-mpi: {} ranks, {:.2f} s, {:.1f} % of them in communication\n",
               ranks.size(), all, 100 * ranks.seconds_in_calls() / all);
  }
  return 0;
}

// What a rank does between MPI's beginning and its end; its exit code.
int take_part(int argc, char** argv) {
  int code = 1;
  edict::mpi::MpiRanks ranks(MPI_COMM_WORLD, asked_to_stop);
  const int real_errors = ::dup(STDERR_FILENO);
  if (ranks.rank() > 0) {
    const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    edict::write_nothing();
  }
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
  edict::cli::share_work(
      ranks, std::max<std::size_t>(1, std::thread::hardware_concurrency() /
                                          std::max<std::size_t>(1, ranks.on_this_machine())));
  std::string failure;
  Options options;
  CLI::App app("edict-mpi: the commands of edict that many processes do together", "edict-mpi");
  add_commands(app, options);
  try {
    code = run(argc, argv, ranks, options, app);
  } catch (const edict::cli::Exit& e) {
    code = e.code;
  } catch (const edict::Interrupted&) {
    code = 128 + (signal_that_came != 0 ? signal_that_came.load() : SIGTERM);
    failure = "stopped; --resume goes on after the last whole epoch, with any number of ranks";
  } catch (const CLI::ParseError& e) {
    code = 2;
    failure = fmt::format("{}; try --help", e.what());
  } catch (const edict::MachineError& e) {
    code = 1;
    failure = e.message(edict::command_line_option);
  } catch (const edict::Error& e) {
    code = 2;
    failure = e.message(edict::command_line_option);
  } catch (const std::exception& e) {
    code = 1;
    failure = fmt::format("unexpected: {}", e.what());
  }
  // Those that fail together leave in order. One that fails alone would be waited for: it tells
  // why and ends all.
  const bool together = code == 0 || ranks.all_here(10.0);
  if (!failure.empty() && (ranks.rank() == 0 || !together))
    ::dprintf(real_errors, "edict-mpi: %s%s\n",
              together ? "" : fmt::format("rank {}: ", ranks.rank()).c_str(), failure.c_str());
  if (!together) MPI_Abort(MPI_COMM_WORLD, code);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) return 1;
  int code = 1;
  try {
    code = take_part(argc, argv);
  } catch (...) {
    std::fputs("edict-mpi: no memory left to begin with\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, code);
  }
  MPI_Finalize();
  return code;
}
