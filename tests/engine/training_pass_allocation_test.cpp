// A pass allocates while it grows to its size, and never again.
#include <gtest/gtest.h>

#include <limits>

#include "allocation_count.h"
#include "engine/heads/niw_head.h"
#include "engine/random_timeline.h"
#include "engine/training_pass.h"

namespace edict {
namespace {

TEST(TrainingPassAllocation, TheSecondPassTakesNoMemory) {
  Config config;
  config.model.hidden = 20;
  const JumpOde<NiwHead> model(network_settings(config), 3, 2);
  const Vector<float> params = model.layout.initial<float>(1);
  Vector<float> grads = Vector<float>::Zero(model.layout.size());
  Generator rng(1);
  std::vector<Timeline<float>> timelines;
  for (int i = 0; i < 12; ++i) timelines.push_back(random_timeline<float>(rng, 3, 3 + i, 0.3, 0.5));
  // Some forecast a part of their events, so that branches are taken too.
  std::vector<Example> examples;
  for (const auto& timeline : timelines)
    examples.push_back({&timeline, examples.size() % 3 == 0 ? 0.8 : 1e30});

  TrainingPass<float, NiwHead> pass(model);
  // Once in a single piece and once in recomputed segments, each twice.
  for (const std::size_t tape_bytes : {std::size_t{1} << 30, std::size_t{100000}}) {
    const LossWeights weights{1.0, 0.3, 0.05};
    const std::size_t before = allocations();
    pass.train(params.data(), examples, weights, tape_bytes, grads.data());
    const std::size_t first = allocations();
    EXPECT_GT(first, before);
    pass.train(params.data(), examples, weights, tape_bytes, grads.data());
    EXPECT_EQ(allocations(), first);
  }
}

}  // namespace
}  // namespace edict
