#include "baselines/ipn.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "baselines/supervised.h"

namespace edict {
namespace {

using settings::Key;
const settings::Own kReferenceStep{"model.reference_step",
                                   "time between reference points (ipn)",
                                   Key::Kind::number,
                                   0.05,
                                   1e-12,
                                   1e12};
const settings::Own kReferenceEnd{
    "model.reference_end",
    "reference points reach this long after the start (ipn); auto: to the last observation",
    Key::Kind::number,
    std::string(settings::kAuto),
    1e-12,
    1e12,
    {},
    true};
const settings::Own kReconstruction{
    "loss.reconstruction",
    "weight of the held-out observations' squared error (ipn); 0: off",
    Key::Kind::number,
    1.0,
    0,
    1e6};
const settings::Own kHoldout{"loss.reconstruction_holdout",
                             "share of the observations to reconstruct (ipn)",
                             Key::Kind::number,
                             0.2,
                             0.01,
                             0.99};

constexpr double kMaxPoints = 1e6;  // a wrong time unit should be said, not computed

}  // namespace

Ipn::Ipn(ParameterLayout& layout, const NetworkSettings& settings, Index feature_count, Index)
    : features(feature_count),
      dropout_rate(settings.own.number(kDropout)),
      reference_step(settings.own.number(kReferenceStep)),
      reference_end(settings.own.number_or_auto(kReferenceEnd)),
      reconstruction(settings.own.number(kReconstruction)),
      holdout(settings.own.number(kHoldout)),
      interpolation(layout, "interpolation", features),
      gru(layout, "gru", 3 * features, settings.model.hidden) {}

ModelKind ipn_kind() {
  return supervised_kind<Ipn>({kReferenceStep, kReferenceEnd, kReconstruction, kHoldout});
}

// A series without observations has none, unless model.reference_end asks for them.
template <class S>
Index IpnPass<S>::points(const Intake<S>& intake, Index s) const {
  if (!model_.reference_end && intake.events(s) == 0) return 0;
  const double end = model_.reference_end.value_or(
      intake.events(s) == 0 ? 0.0 : intake.time[intake.first_event[s + 1] - 1]);
  const double steps = std::ceil(end / model_.reference_step - 1e-6);
  if (steps >= kMaxPoints)
    throw Error(
        fmt::format("a series of length {} would need more than {:.0e} reference points; "
                    "raise model.reference_step",
                    end, kMaxPoints));
  return static_cast<Index>(std::max(0.0, steps)) + 1;
}

// Of series s, without what is held out.
template <class S>
void IpnPass<S>::sort_by_feature(const Intake<S>& intake, Index s,
                                 const std::vector<std::uint8_t>& held) {
  const Index begin = intake.first_of_series(s), end = intake.first_of_series(s + 1);
  const auto features = static_cast<std::size_t>(model_.features);
  const auto kept = [&](Index k) { return held.empty() || !held[k - begin]; };
  first_.assign(features + 2, 0);
  for (Index k = begin; k < end; ++k)
    if (kept(k)) ++first_[intake.feature[k] + 2];
  for (std::size_t j = 2; j < features + 2; ++j) first_[j] += first_[j - 1];
  time_.resize(static_cast<std::size_t>(first_[features + 1]));
  value_.resize(time_.size());
  for (Index e = intake.first_event[s]; e < intake.first_event[s + 1]; ++e)
    for (Index k = intake.first_observation[e]; k < intake.first_observation[e + 1]; ++k) {
      if (!kept(k)) continue;
      const Index place = first_[intake.feature[k] + 1]++;  // leaves feature j's range at first_[j]
      time_[place] = static_cast<S>(intake.time[e]);
      value_[place] = intake.value[k];
    }
}

template <class S>
void IpnPass<S>::forward(const S* params, const Intake<S>& intake, const Dropout& dropout,
                         Arena<S>& arena, S* out) {
  const Index width = 3 * model_.features;
  std::vector<Index> lengths;
  for (Index s = 0; s < intake.series(); ++s) lengths.push_back(points(intake, s));
  packing_ = Packing(lengths);
  S* const x = arena.take(width * packing_.columns());
  mask_ = dropout.active() ? arena.take(width * intake.series()) : nullptr;
  caches_.clear();
  flags_.reset();
  for (Index s = 0; s < intake.series(); ++s) {
    const Index k = lengths[s];
    sort_by_feature(intake, s, {});
    at_.clear();
    for (Index i = 0; i < k; ++i)
      at_.push_back(static_cast<S>(static_cast<double>(i) * model_.reference_step));
    caches_.push_back(model_.interpolation.cache(arena, flags_, k));
    model_.interpolation.forward(params, at_.data(), first_.data(), time_.data(), value_.data(),
                                 caches_.back());
    if (mask_) {
      Generator rng(intake.dropout_key[s]);
      dropout.draw(rng, width, mask_ + s * width);
    }
    for (Index i = 0; i < k; ++i) {
      S* const y = x + packing_.column(s, i) * width;
      model_.interpolation.read(caches_.back(), i, y);
      if (mask_) apply_mask(mask_ + s * width, width, y);
    }
  }
  S* const h = arena.take(model_.gru.hidden() * packing_.columns());
  model_.gru.forward(params, packing_, x, static_cast<const S*>(nullptr), arena, gru_, h);
  model_.gru.last(packing_, h, out);
}

template <class S>
void IpnPass<S>::backward(const S* params, const Intake<S>& intake, const S* d_out, Arena<S>& arena,
                          S* grads) {
  const Index width = 3 * model_.features, hidden = model_.gru.hidden();
  S* const d_h = arena.take(hidden * packing_.columns());
  S* const d_x = arena.take(width * packing_.columns());
  std::fill_n(d_h, hidden * packing_.columns(), S(0));
  model_.gru.last_backward(packing_, d_out, d_h);
  model_.gru.backward(params, packing_, d_h, gru_, arena, d_x, static_cast<S*>(nullptr), grads);
  for (Index s = 0; s < intake.series(); ++s) {
    const Index n = caches_[s].points * model_.features;
    S* const d_chi = scratch_.take(n);
    S* const d_log_lambda = scratch_.take(n);
    S* const d_gamma = scratch_.take(n);
    for (Index i = 0; i < caches_[s].points; ++i) {
      S* const d_y = d_x + packing_.column(s, i) * width;
      if (mask_) apply_mask(mask_ + s * width, width, d_y);
      model_.interpolation.read_backward(caches_[s], i, d_y, d_chi, d_log_lambda, d_gamma);
    }
    model_.interpolation.backward(params, caches_[s], d_chi, d_log_lambda, d_gamma, scratch_,
                                  grads);
    scratch_.reset();
  }
}

template <class S>
void IpnPass<S>::reconstruct(const S* params, const Intake<S>& intake, S weight, Arena<S>& arena,
                             S* grads, LossSums& sums) {
  if (model_.reconstruction <= 0) return;
  const auto features = static_cast<std::size_t>(model_.features);
  const double share = model_.reconstruction / static_cast<double>(features);
  std::vector<Index> held_of_feature;
  for (Index s = 0; s < intake.series(); ++s) {
    const Index begin = intake.first_of_series(s), end = intake.first_of_series(s + 1);
    Generator rng(intake.dropout_key[s], "reconstruct");
    held_.clear();
    held_of_feature.assign(features, 0);
    for (Index k = begin; k < end; ++k) {
      held_.push_back(rng.uniform() < model_.holdout);
      held_of_feature[intake.feature[k]] += held_.back();
    }
    if (std::find(held_.begin(), held_.end(), 1) == held_.end()) continue;

    sort_by_feature(intake, s, held_);
    const Index events = intake.events(s), n = events * model_.features;
    at_.clear();
    for (Index e = 0; e < events; ++e)
      at_.push_back(static_cast<S>(intake.time[intake.first_event[s] + e]));
    const auto cache = model_.interpolation.cache(arena, flags_, events);
    model_.interpolation.forward(params, at_.data(), first_.data(), time_.data(), value_.data(),
                                 cache);
    S* const d_chi = scratch_.take(n);
    S* const d_log_lambda = scratch_.take(n);
    S* const d_gamma = scratch_.take(n);
    std::fill_n(d_chi, n, S(0));
    std::fill_n(d_log_lambda, n, S(0));
    std::fill_n(d_gamma, n, S(0));
    for (Index e = 0; e < events; ++e) {
      const Index event = intake.first_event[s] + e;
      for (Index k = intake.first_observation[event]; k < intake.first_observation[event + 1];
           ++k) {
        if (!held_[k - begin]) continue;
        const Index j = intake.feature[k], i = j * events + e;
        const double factor = share / static_cast<double>(held_of_feature[j]);
        const double error = static_cast<double>(cache.chi[i] - intake.value[k]);
        sums.reconstruction += factor * error * error;
        sums.squared_error += error * error;
        sums.observations += 1;
        d_chi[i] = weight * static_cast<S>(2 * factor * error);
      }
    }
    model_.interpolation.backward(params, cache, d_chi, d_log_lambda, d_gamma, scratch_, grads);
    scratch_.reset();
  }
}

template class IpnPass<float>;
template class IpnPass<double>;

}  // namespace edict
