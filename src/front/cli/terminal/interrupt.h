// Ctrl-C, SIGTERM, and memory that is gone. Whatever a command does, it is left within about a
// second, with the exit code 128 + signal and without temporary files.
#pragma once

#include <atomic>

namespace edict::cli {

inline constexpr const char* kOutOfMemory =
    "out of memory; lower train.batch, train.chunk or model.hidden";

// From here on a signal ends the program at once; and so does a lack of memory where no exception
// may pass: libraries have functions that promise not to throw and then allocate, as CLI11's
// search for an option.
void install_interrupt_handlers();

// For work that has something to put away: from here on a signal sets the flag, and the work has a
// second to end by itself. If it does not, or at a second signal, the program ends at once. Either
// way `farewell` is its last line.
const std::atomic<bool>& interrupt_flag(const char* farewell = "edict: stopped\n");

bool interrupted();
// The end of work that was interrupted: its last line, and 130 after Ctrl-C, 143 after SIGTERM.
int leave_interrupted();

// Whether a line stands on the terminal that has to be erased before the program ends.
void set_line_drawn(bool drawn);

}  // namespace edict::cli
