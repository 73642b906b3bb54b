#include "peak.h"

#include <algorithm>
#include <ctime>

#include "base/lanes.h"

namespace edict {
namespace {

using Floats = Lanes<float>::Vector;

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

double fma_peak_gflops() {
  // Ten independent sums hide a latency of up to five cycles at two multiply-adds a cycle.
  constexpr int kSums = 10, kRounds = 500000, kTries = 20;
  Floats sum[kSums] = {};
  const Floats a = Floats{} + 0.999f, b = Floats{} + 1e-4f;
  double best = 1e9;
  for (int t = 0; t < kTries; ++t) {
    const double start = cpu_seconds();
    for (int round = 0; round < kRounds; ++round) {
#pragma GCC unroll 10
      for (int i = 0; i < kSums; ++i) sum[i] = sum[i] * a + b;
      __asm__ volatile("");  // one round is not folded into the next
    }
    best = std::min(best, cpu_seconds() - start);
    for (Floats& s : sum) __asm__ volatile("" : : "m"(s));  // somebody reads them
  }
  const double flops = 2.0 * kSums * kRounds * static_cast<double>(Lanes<float>::kCount);
  return 1e-9 * flops / best;
}

}  // namespace edict
