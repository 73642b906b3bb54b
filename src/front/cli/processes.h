// The other processes that share the work of a command, as in the program edict-mpi; none in edict
// itself. Set once, before a command runs.
#pragma once

#include <cstddef>

#include "base/threads/thread_pool.h"

namespace edict {
class Ranks;
}

namespace edict::cli {

// `threads`: of each process where nobody says how many.
void share_work(Ranks& ranks, std::size_t threads);
Ranks* processes();

// The threads of a command (0: all cores, or the process's share of them), with the processes.
struct WorkPool : ThreadPool {
  explicit WorkPool(int threads);
};

}  // namespace edict::cli
