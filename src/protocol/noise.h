// Faults added to a dataset's observations, to see how a model bears them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "data/dataset.h"
#include "protocol/protocol.h"

namespace edict {

// σ and mean below are the feature's: the protocol's standardisation for compounding and asymmetric
// noise, which is measured in the model's units, and the training population's for the other kinds.
// A "pair" is a (series, feature).
enum class NoiseKind {
  compounding,  // + σ·s(t)·N(0,1) with s(t) = strength·(1+rate)^(t/unit), at most 10³⁰; t counts
                // from where the clock of the series starts
  asymmetric,  // + σ·s(t)·|N(0,1)|
  spikes,      // a `fraction` of the values becomes mean ± strength·σ
  stuck,       // in a `fraction` of the pairs, the last value is repeated from a random moment on
  drift,  // in a `fraction` of the pairs, + strength·σ·(t−t₀)/(T−t₀) from a random t₀ on
  bursts,  // in a `fraction` of the series, nothing observed for `strength` × the time span
  units,   // in a `fraction` of the pairs, values × strength in a random stretch of time
};

// `fraction` leaves compounding and asymmetric noise alone: they touch every value.
struct NoiseSpec {
  NoiseKind kind = NoiseKind::compounding;
  double rate = 0.0;
  double strength = 0.1;
  double fraction = 1.0;
  std::uint64_t seed = 0;
  double unit = 1.0;  // of time: what the rate is per
};

// Whether the noise grows at a rate, and fraction is without effect.
bool by_rate(NoiseKind kind);

// The kind by its name above, with usual parameters (the paper's 0.1 for compounding).
NoiseSpec noise_from_name(std::string_view name);
std::string_view name_of(NoiseKind kind);

// The paper's sweep: ρ at level 0 … 9 of ten evenly spaced values from 0 to `largest_rate`.
double noise_rate(int level, double largest_rate);

// A copy with noise on the listed series (none listed: on all). Times are never changed; events
// left without an observation vanish. The draw for a series depends on the seed, its id and its own
// observations only. Values stay finite.
Dataset with_noise(const Protocol& protocol, const Dataset& dataset,
                   std::span<const std::size_t> series, const NoiseSpec& noise);

}  // namespace edict
