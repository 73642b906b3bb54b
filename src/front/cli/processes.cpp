#include "front/cli/processes.h"

#include "base/threads/ranks.h"

namespace edict::cli {
namespace {

Ranks* shared_with = nullptr;
std::size_t usual_threads = 0;

}  // namespace

void share_work(Ranks& ranks, std::size_t threads) {
  shared_with = &ranks;
  usual_threads = threads;
}

Ranks* processes() { return shared_with; }

WorkPool::WorkPool(int threads)
    : ThreadPool(threads > 0 ? static_cast<std::size_t>(threads) : usual_threads, shared_with) {}

}  // namespace edict::cli
