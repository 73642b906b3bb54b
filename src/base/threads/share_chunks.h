// One loop over chunks, shared by processes and their threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/threads/interrupted.h"
#include "base/threads/ranks.h"
#include "base/threads/thread_pool.h"

namespace edict {

// compute(chunk, worker) for the chunks of this process: every size-th, from its rank on. All
// processes leave together: with the Error of one that failed, or interrupted if one was.
template <class Compute>
void share_chunks(Ranks& ranks, std::size_t chunks, ThreadPool& pool, StopFlag stop,
                  const Compute& compute) {
  const std::size_t rank = ranks.rank(), size = ranks.size();
  const std::size_t own = rank < chunks ? (chunks - rank + size - 1) / size : 0;
  std::optional<std::string> failure;
  try {
    pool.for_each(own,
                  [&](std::size_t k, std::size_t worker) { compute(rank + k * size, worker); });
  } catch (const Interrupted&) {
    // The flag is set in all processes at once: they find it below.
  } catch (const std::exception& error) {
    failure = error.what();
  }
  ranks.meet(failure ? &*failure : nullptr);
  leave_if_stopped(stop);
}

// Throws Error in all processes where they do not have the same number.
inline void check_alike(Ranks& ranks, std::uint64_t number, const char* what) {
  const auto own = std::as_bytes(std::span<const std::uint64_t>(&number, 1));
  const std::vector<Ranks::Bytes> all = ranks.gather(own);
  for (std::size_t r = 1; r < all.size(); ++r)
    if (all[r] != all[0])
      throw Error(std::string(what) + " of rank " + std::to_string(r) +
                  " differ from those of rank 0; give all processes the same files");
}

}  // namespace edict
