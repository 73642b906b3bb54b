#include "baselines/seft.h"

#include <algorithm>
#include <cmath>

#include "baselines/supervised.h"

namespace edict {
namespace {

using settings::Key;
const settings::Own kTimeScales{
    "model.time_scales",
    "wave lengths of the time encoding, a sine and a cosine each (seft)",
    Key::Kind::whole,
    std::int64_t{10},
    1,
    1024};
const settings::Own kLongestScale{
    "model.longest_scale",
    "longest wave length of the time encoding; the shortest is 1 (seft)",
    Key::Kind::number,
    100.0,
    1,
    1e12};
const settings::Own kEncoderLayers{"model.encoder_layers",
                                   "layers of the network that encodes set elements (seft)",
                                   Key::Kind::whole,
                                   std::int64_t{3},
                                   1,
                                   16};
const settings::Own kHeads{
    "model.heads", "attention heads (seft)", Key::Kind::whole, std::int64_t{4}, 1, 256};
const settings::Own kAggregation{"model.aggregation",
                                 "how a set becomes one vector (seft)",
                                 Key::Kind::text,
                                 std::string("attention"),
                                 0,
                                 0,
                                 {"attention", "mean"}};

std::vector<double> time_scales(const NetworkSettings& settings) {
  std::vector<double> scales;
  const std::int64_t count = settings.own.whole(kTimeScales);
  for (std::int64_t k = 0; k < count; ++k)
    scales.push_back(std::pow(
        settings.own.number(kLongestScale),
        static_cast<double>(k) / static_cast<double>(std::max<std::int64_t>(1, count - 1))));
  return scales;
}

}  // namespace

Seft::Seft(ParameterLayout& layout, const NetworkSettings& settings, Index feature_count,
           Index covariate_count)
    : features(feature_count),
      covariates(covariate_count),
      dropout_rate(settings.own.number(kDropout)),
      scales(time_scales(settings)),
      phi(layout, "phi", element(), settings.model.encoder_width,
          static_cast<int>(settings.own.whole(kEncoderLayers))),
      attention(settings.own.text(kAggregation) == "attention"
                    ? std::make_optional<SetAttention>(
                          layout, "attention", element(), settings.model.encoder_width,
                          settings.model.hidden, settings.own.whole(kHeads))
                    : std::nullopt),
      rho(layout, "rho", phi.width() * (attention ? attention->heads() : 1),
          settings.model.hidden) {
  if (covariates > 0) {
    covariates0.emplace(layout, "covariates.0", covariates, element());
    covariates1.emplace(layout, "covariates.1", element(), element());
  }
}

ModelKind seft_kind() {
  return supervised_kind<Seft>({kTimeScales, kLongestScale, kEncoderLayers, kHeads, kAggregation});
}

// The elements of every series: first the one made from its covariates, then its observations.
template <class S>
void SeftPass<S>::lay_out(const S* params, const Intake<S>& intake, Arena<S>& arena) {
  const Index n = model_.element(), series = intake.series();
  const auto scales = static_cast<Index>(model_.scales.size());
  const Index extra = model_.covariates0 ? 1 : 0;
  x_ = arena.take(n * (intake.observations() + extra * series));
  S* made = nullptr;
  if (extra) {
    covariates_hidden_ = arena.take(n * series);
    made = arena.take(n * series);
    model_.covariates0->forward(params, series, intake.covariates.data(), covariates_hidden_);
    for (Index i = 0; i < n * series; ++i)
      covariates_hidden_[i] = std::max(covariates_hidden_[i], S(0));
    model_.covariates1->forward(params, series, covariates_hidden_, made);
  }
  segments_.first = {0};
  S* to = x_;
  for (Index s = 0; s < series; ++s) {
    if (extra) to = std::copy_n(made + s * n, n, to);
    for (Index e = intake.first_event[s]; e < intake.first_event[s + 1]; ++e) {
      const S* const at = to;  // the event's first element, whose time code the others copy
      for (Index k = intake.first_observation[e]; k < intake.first_observation[e + 1]; ++k) {
        if (to == at)
          for (Index i = 0; i < scales; ++i) {
            const double angle = intake.time[e] / model_.scales[i];
            to[2 * i] = static_cast<S>(std::sin(angle));
            to[2 * i + 1] = static_cast<S>(std::cos(angle));
          }
        else
          std::copy_n(at, 2 * scales, to);
        to[2 * scales] = intake.value[k];
        std::fill_n(to + 2 * scales + 1, model_.features, S(0));
        to[2 * scales + 1 + intake.feature[k]] = S(1);
        to += n;
      }
    }
    segments_.first.push_back((to - x_) / n);
  }
}

template <class S>
void SeftPass<S>::lay_out_backward(const S* params, const Intake<S>& intake, const S* d_x,
                                   Arena<S>& arena, S* grads) const {
  const Index n = model_.element(), series = intake.series();
  S* const d_made = arena.take(n * series);
  S* const d_hidden = arena.take(n * series);
  for (Index s = 0; s < series; ++s) std::copy_n(d_x + segments_.first[s] * n, n, d_made + s * n);
  model_.covariates1->backward(params, series, covariates_hidden_, d_made, d_hidden, grads);
  for (Index i = 0; i < n * series; ++i)
    d_hidden[i] = covariates_hidden_[i] > S(0) ? d_hidden[i] : S(0);
  model_.covariates0->backward_weights(series, intake.covariates.data(), d_hidden, grads);
}

template <class S>
void SeftPass<S>::draw_masks(const Intake<S>& intake, const Dropout& dropout, Arena<S>& arena) {
  masks_.clear();
  out_mask_ = nullptr;
  if (!dropout.active()) return;
  const Index encoded = model_.phi.width(), width = model_.width();
  for (int i = 0; i < model_.phi.depth(); ++i)
    masks_.push_back(arena.take(encoded * segments_.elements()));
  out_mask_ = arena.take(width * intake.series());
  for (Index s = 0; s < intake.series(); ++s) {
    Generator rng(intake.dropout_key[s]);
    dropout.draw(rng, width, out_mask_ + s * width);
    for (S* mask : masks_)
      dropout.draw(rng, encoded * segments_.size(s), mask + segments_.first[s] * encoded);
  }
}

template <class S>
void SeftPass<S>::forward(const S* params, const Intake<S>& intake, const Dropout& dropout,
                          Arena<S>& arena, S* out) {
  lay_out(params, intake, arena);
  draw_masks(intake, dropout, arena);
  const Index encoded = model_.phi.width(), gathered = model_.gathered();
  const Index sets = segments_.sets();
  model_.phi.forward(params, segments_.elements(), x_, masks_, arena, phi_);
  gathered_ = arena.take(gathered * sets);
  if (model_.attention) {
    const Index heads = model_.attention->heads();
    model_.attention->forward(params, segments_, x_, arena, attention_);
    std::fill_n(gathered_, gathered * sets, S(0));
    for (Index s = 0; s < sets; ++s)  // encoded × heads = φ aᵀ
      accumulate_outer(attention_.a + segments_.first[s] * heads, heads,
                       phi_.y.back() + segments_.first[s] * encoded, encoded, segments_.size(s),
                       gathered_ + s * gathered);
  } else {
    segment_mean(segments_, encoded, phi_.y.back(), gathered_);
  }
  model_.rho.forward(params, sets, gathered_, out);
  for (Index i = 0; i < model_.width() * sets; ++i) out[i] = std::max(out[i], S(0));
  if (out_mask_) apply_mask(out_mask_, model_.width() * sets, out);
  out_ = out;
}

template <class S>
void SeftPass<S>::backward(const S* params, const Intake<S>& intake, S* d_out, Arena<S>& arena,
                           S* grads) {
  const Index encoded = model_.phi.width(), gathered = model_.gathered();
  const Index sets = segments_.sets(), elements = segments_.elements();
  S* const d_gathered = arena.take(gathered * sets);
  S* const d_phi = arena.take(encoded * elements);
  // Only the element made from covariates passes a gradient on.
  S* const d_x = model_.covariates0 ? arena.take(model_.element() * elements) : nullptr;
  S* const d_x_attention =
      d_x && model_.attention ? arena.take(model_.element() * elements) : nullptr;
  if (out_mask_) apply_mask(out_mask_, model_.width() * sets, d_out);
  for (Index i = 0; i < model_.width() * sets; ++i) d_out[i] = out_[i] > S(0) ? d_out[i] : S(0);
  model_.rho.backward(params, sets, gathered_, d_out, d_gathered, grads);
  if (model_.attention) {
    const Index heads = model_.attention->heads();
    S* const d_a = arena.take(heads * elements);
    for (Index s = 0; s < sets; ++s) {  // gathered = φ aᵀ
      const S* const d_r = d_gathered + s * gathered;
      const Index first = segments_.first[s], size = segments_.size(s);
      multiply_transposed(d_r, heads, encoded, attention_.a + first * heads, size,
                          d_phi + first * encoded);
      multiply(d_r, heads, encoded, phi_.y.back() + first * encoded, size, d_a + first * heads);
    }
    model_.attention->backward(params, segments_, x_, d_a, attention_, arena, d_x_attention, grads);
  } else {
    segment_mean_backward(segments_, encoded, d_gathered, d_phi);
  }
  model_.phi.backward(params, elements, d_phi, phi_, arena, d_x, grads);
  if (!d_x) return;
  if (d_x_attention)
    for (Index i = 0; i < model_.element() * elements; ++i) d_x[i] += d_x_attention[i];
  lay_out_backward(params, intake, d_x, arena, grads);
}

template class SeftPass<float>;
template class SeftPass<double>;

}  // namespace edict
