// A walk allocates while it grows to its size, and never again.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

#include "edict/models/niw_head.h"
#include "edict/models/walk.h"
#include "models/random_agenda.h"

namespace {
std::atomic<std::size_t> allocations{0};

void* counted(std::size_t size, std::size_t alignment) {
  ++allocations;
  void* const memory =
      std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (!memory) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(std::size_t size) { return counted(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace edict {
namespace {

TEST(WalkAllocation, TheSecondWalkTakesNoMemory) {
  Config config;
  config.model.hidden = 20;
  const JumpOde<NiwHead> model(config, 3, 2);
  const Vector<float> params = model.layout.initial<float>(1);
  Vector<float> grads = Vector<float>::Zero(model.layout.size());
  Rng rng(1);
  std::vector<Agenda<float>> agendas;
  for (int i = 0; i < 12; ++i) agendas.push_back(random_agenda<float>(rng, 3, 3 + i, 0.3, 0.5));
  std::vector<Passenger<float>> passengers;
  for (const auto& agenda : agendas)
    passengers.push_back({&agenda, std::numeric_limits<double>::infinity()});

  Walk<float, NiwHead> walk(model);
  // Once in a single piece and once in recomputed segments, each twice.
  for (const std::size_t tape_bytes : {std::size_t{1} << 30, std::size_t{100000}}) {
    const LossWeights weights{1.0, 0.3, 0.05};
    const std::size_t before = allocations;
    walk.train(params.data(), passengers, weights, tape_bytes, grads.data());
    const std::size_t first = allocations;
    EXPECT_GT(first, before);
    walk.train(params.data(), passengers, weights, tape_bytes, grads.data());
    EXPECT_EQ(allocations, first);
  }
}

}  // namespace
}  // namespace edict
