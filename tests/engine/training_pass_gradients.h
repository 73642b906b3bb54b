#pragma once

#include <vector>

#include "engine/finite_difference.h"
#include "engine/jump_ode.h"
#include "engine/random_timeline.h"
#include "engine/training_pass.h"

namespace edict {

// The gradient of a whole pass over series of several lengths, one of them with a stop that is only
// forecast and one with two events at the same time, against differences.
template <class Head>
void expect_training_pass_gradients(const JumpOde<Head>& model, double kl, std::uint64_t seed) {
  Generator random(seed);
  std::vector<Timeline<double>> timelines;
  for (int events : {5, 1, 0, 7}) {
    auto timeline = random_timeline<double>(random, 3, events, 0.5, 0.5);
    if (events == 5) timeline.stops[2].what = Timeline<double>::kScore;
    if (events == 7) timeline.stops[3].time = timeline.stops[2].time;
    timelines.push_back(timeline);
  }
  const LossWeights weights{0.7, kl, 0.05};
  expect_gradients(model.layout, moved_parameters<double>(model.layout, 3),
                   [&](const Vector<double>& params, Vector<double>& grads) {
                     std::vector<BasicExample<double>> examples;
                     for (const auto& timeline : timelines) examples.push_back({&timeline, 2.0});
                     grads = Vector<double>::Zero(model.layout.size());
                     const LossSums sums = TrainingPass<double, Head>(model).train(
                         params.data(), examples, weights, std::size_t{1} << 30, grads.data());
                     return weights.scale *
                            (sums.nll + weights.kl * sums.kl + weights.evidence * sums.evidence);
                   });
}

}  // namespace edict
