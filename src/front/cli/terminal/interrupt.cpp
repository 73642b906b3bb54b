#include "front/cli/terminal/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "base/files/atomic_file.h"
#include "base/threads/ranks.h"
#include "front/cli/processes.h"

namespace edict::cli {
namespace {

constexpr unsigned kGraceSeconds = 1;

// Everything that a handler touches is lock-free.
std::atomic<int> signal_that_came = 0;
std::atomic<bool> stop = false, line_drawn = false;
std::atomic<const char*> farewell_of_work = nullptr;  // none: there is nothing to wait for

void tell(const char* text) {
  [[maybe_unused]] auto n = ::write(STDERR_FILENO, text, std::strlen(text));
}

[[noreturn]] void leave() {
  if (line_drawn) tell("\r\033[J");
  if (const char* farewell = farewell_of_work) tell(farewell);
  remove_temporary_files();
  ::_exit(128 + signal_that_came);
}

void on_signal(int signal) {
  const int error = errno;
  int none = 0;
  const bool first = signal_that_came.compare_exchange_strong(none, signal);
  if (!first || !farewell_of_work.load()) leave();
  stop = true;
  ::alarm(kGraceSeconds);
  errno = error;
}

void on_alarm(int) { leave(); }

// Who reads our output has seen enough of it: no error, and nothing to say.
void on_closed_pipe(int) {
  remove_temporary_files();
  ::_exit(128 + SIGPIPE);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

[[noreturn]] void end_without_memory() {
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc&) {
    remove_temporary_files();
    std::fprintf(stderr, "edict: %s\n", kOutOfMemory);
    std::_Exit(1);
  } catch (...) {  // NOLINT: our fault, and worth a core
  }
  std::abort();
}

}  // namespace

void install_interrupt_handlers() {
  std::set_terminate(end_without_memory);
  handle(SIGINT, on_signal);
  handle(SIGTERM, on_signal);
  handle(SIGALRM, on_alarm);
  handle(SIGPIPE, on_closed_pipe);
  // Under nohup a closed terminal stays without effect.
  struct sigaction hangup {};
  ::sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) handle(SIGHUP, on_signal);
}

const std::atomic<bool>& interrupt_flag(const char* farewell) {
  if (const Ranks* const ranks = processes()) return ranks->stop_flag();  // all leave together
  farewell_of_work = farewell;
  return stop;
}

bool interrupted() { return signal_that_came != 0; }

int leave_interrupted() {
  if (const char* farewell = farewell_of_work) tell(farewell);
  return 128 + (interrupted() ? signal_that_came.load() : SIGINT);
}

void set_line_drawn(bool drawn) { line_drawn = drawn; }

}  // namespace edict::cli
