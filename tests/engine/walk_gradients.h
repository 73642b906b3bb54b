#pragma once

#include <vector>

#include "engine/finite_difference.h"
#include "engine/jump_ode.h"
#include "engine/random_agenda.h"
#include "engine/walk.h"

namespace edict {

// The gradient of a whole walk over series of several lengths, one of them with a stop that is only
// forecast and one with two events at the same time, against differences.
template <class Head>
void expect_walk_gradients(const JumpOde<Head>& model, double kl, std::uint64_t seed) {
  Generator random(seed);
  std::vector<Agenda<double>> agendas;
  for (int events : {5, 1, 0, 7}) {
    auto agenda = random_agenda<double>(random, 3, events, 0.5, 0.5);
    if (events == 5) agenda.stops[2].what = Agenda<double>::kScore;
    if (events == 7) agenda.stops[3].time = agenda.stops[2].time;
    agendas.push_back(agenda);
  }
  const LossWeights weights{0.7, kl, 0.05};
  expect_gradients(model.layout, moved_parameters<double>(model.layout, 3),
                   [&](const Vector<double>& params, Vector<double>& grads) {
                     std::vector<BasicExample<double>> examples;
                     for (const auto& agenda : agendas) examples.push_back({&agenda, 2.0});
                     grads = Vector<double>::Zero(model.layout.size());
                     const LossSums sums = Walk<double, Head>(model).train(
                         params.data(), examples, weights, std::size_t{1} << 30, grads.data());
                     return weights.scale *
                            (sums.nll + weights.kl * sums.kl + weights.evidence * sums.evidence);
                   });
}

}  // namespace edict
