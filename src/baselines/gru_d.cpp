#include "baselines/gru_d.h"

#include <algorithm>

#include "baselines/supervised.h"
#include "math/activation.h"
#include "math/relu.h"

namespace edict {
namespace {

const settings::Own kLayers{
    "model.layers", "GRU layers (gru-d)", settings::Key::Kind::whole, std::int64_t{1}, 1, 2};

// Both start with every feature decaying: below 0 the maximum has no gradient to come back by.
constexpr double kFadeWeight = 0.1, kFadeBias = 0.05;

}  // namespace

GruD::GruD(ParameterLayout& layout, const NetworkSettings& settings, Index feature_count, Index)
    : features(feature_count),
      hidden(settings.model.hidden),
      dropout_rate(settings.own.number(kDropout)),
      fade_weight(layout.add("fade.weight", {features}, Start::constant(kFadeWeight))),
      fade_bias(layout.add("fade.bias", {features}, Start::constant(kFadeBias))),
      decay(layout, "decay", features, hidden),
      gru(layout, "gru.0", 2 * features, hidden) {
  if (settings.own.whole(kLayers) == 2) second.emplace(layout, "gru.1", hidden, hidden);
}

ModelKind gru_d_kind() { return supervised_kind<GruD>({kLayers}); }

// δ, x', γ_x, x̂ and m of every event; none of it depends on the state.
template <class S>
void GruDPass<S>::prepare(const S* params, const Intake<S>& intake) {
  const Index d = model_.features;
  const S* const w = params + model_.fade_weight;
  const S* const b = params + model_.fade_bias;
  for (Index s = 0; s < intake.series(); ++s) {
    since_.assign(static_cast<std::size_t>(d), S(0));
    value_.assign(static_cast<std::size_t>(d), S(0));
    for (Index t = 0; t < intake.events(s); ++t) {
      const Index event = intake.first_event[s] + t, column = packing_.column(s, t);
      const S gap = t > 0 ? static_cast<S>(intake.time[event] - intake.time[event - 1]) : S(0);
      S* const delta = delta_ + column * d;
      S* const last = last_ + column * d;
      S* const fade = fade_ + column * d;
      S* const x = input_ + column * 2 * d;
      S* const mask = x + d;
      for (Index j = 0; j < d; ++j) {
        delta[j] = since_[j] + gap;
        since_[j] = delta[j];
        last[j] = value_[j];
        fade[j] = -relu(w[j] * delta[j] + b[j]);
        mask[j] = S(0);
      }
      exp_inplace(fade, d);
      for (Index j = 0; j < d; ++j) x[j] = fade[j] * last[j];
      for (Index k = intake.first_observation[event]; k < intake.first_observation[event + 1];
           ++k) {
        const std::int32_t j = intake.feature[k];
        x[j] = value_[j] = intake.value[k];
        mask[j] = S(1);
        since_[j] = S(0);
      }
    }
  }
}

template <class S>
void GruDPass<S>::prepare_backward(const S* params, const S* d_input, S* grads) const {
  const Index d = model_.features;
  const S* const w = params + model_.fade_weight;
  const S* const b = params + model_.fade_bias;
  S* const d_w = grads + model_.fade_weight;
  S* const d_b = grads + model_.fade_bias;
  for (Index column = 0; column < packing_.columns(); ++column) {
    const S* const mask = input_ + column * 2 * d + d;
    for (Index j = 0; j < d; ++j) {
      const Index i = column * d + j;
      const bool flat = mask[j] > S(0) || w[j] * delta_[i] + b[j] <= S(0);
      // x̂ = γ x', γ = exp(−(wδ + b))
      const S d_a = flat ? S(0) : -d_input[column * 2 * d + j] * last_[i] * fade_[i];
      d_w[j] += d_a * delta_[i];
      d_b[j] += d_a;
    }
  }
}

// Each series from its own stream, event by event.
template <class S>
void GruDPass<S>::draw_masks(const Intake<S>& intake, const Dropout& dropout, Arena<S>& arena) {
  between_mask_ = out_mask_ = nullptr;
  if (!dropout.active()) return;
  const Index n = model_.hidden;
  out_mask_ = arena.take(n * intake.series());
  if (model_.second) between_mask_ = arena.take(n * packing_.columns());
  for (Index s = 0; s < intake.series(); ++s) {
    Generator rng(intake.dropout_key[s]);
    dropout.draw(rng, n, out_mask_ + s * n);
    if (!model_.second) continue;
    for (Index t = 0; t < intake.events(s); ++t)
      dropout.draw(rng, n, between_mask_ + packing_.column(s, t) * n);
  }
}

template <class S>
void GruDPass<S>::forward(const S* params, const Intake<S>& intake, const Dropout& dropout,
                          Arena<S>& arena, S* out) {
  packing_ = Packing(intake.lengths());
  const Index d = model_.features, n = model_.hidden, columns = packing_.columns();
  delta_ = arena.take(d * columns);
  last_ = arena.take(d * columns);
  fade_ = arena.take(d * columns);
  input_ = arena.take(2 * d * columns);
  decay_ = arena.take(n * columns);
  prepare(params, intake);
  draw_masks(intake, dropout, arena);

  model_.decay.forward(params, columns, delta_, decay_);
  for (Index i = 0; i < n * columns; ++i) decay_[i] = -relu(decay_[i]);
  exp_inplace(decay_, n * columns);

  S* h = arena.take(n * columns);
  model_.gru.forward(params, packing_, input_, decay_, arena, first_, h);
  if (model_.second) {
    const S* x = h;
    if (between_mask_) {
      S* const thinned = arena.take(n * columns);
      std::copy_n(h, n * columns, thinned);
      apply_mask(between_mask_, n * columns, thinned);
      x = thinned;
    }
    h = arena.take(n * columns);
    model_.second->forward(params, packing_, x, static_cast<const S*>(nullptr), arena, second_, h);
  }
  model_.gru.last(packing_, h, out);
  if (out_mask_) apply_mask(out_mask_, n * intake.series(), out);
}

template <class S>
void GruDPass<S>::backward(const S* params, const Intake<S>& intake, S* d_out, Arena<S>& arena,
                           S* grads) {
  const Index d = model_.features, n = model_.hidden, columns = packing_.columns();
  S* d_h = arena.take(n * columns);
  std::fill_n(d_h, n * columns, S(0));
  if (out_mask_) apply_mask(out_mask_, n * intake.series(), d_out);
  model_.gru.last_backward(packing_, d_out, d_h);
  if (model_.second) {
    S* const d_x = arena.take(n * columns);
    model_.second->backward(params, packing_, d_h, second_, arena, d_x, static_cast<S*>(nullptr),
                            grads);
    d_h = d_x;
    if (between_mask_) apply_mask(between_mask_, n * columns, d_h);
  }
  S* const d_input = arena.take(2 * d * columns);
  S* const d_decay = arena.take(n * columns);
  model_.gru.backward(params, packing_, d_h, first_, arena, d_input, d_decay, grads);
  // γ = exp(−max(0, a)) is 1 exactly where a ≤ 0.
  for (Index i = 0; i < n * columns; ++i)
    d_decay[i] = decay_[i] < S(1) ? -d_decay[i] * decay_[i] : S(0);
  model_.decay.backward_weights(columns, delta_, d_decay, grads);
  prepare_backward(params, d_input, grads);
}

template class GruDPass<float>;
template class GruDPass<double>;

}  // namespace edict
