// GRU-D (Che et al. 2018): a GRU that steps from event to event. Where a feature was not observed,
// its last value fades towards the mean (0, in standardised units) the longer ago it was; so does
// the state. With m the mask, δ the time since each feature was last observed, x' its last value:
//
//   γ_x = exp(−max(0, w∘δ + b))        x̂ = m∘x + (1 − m)∘γ_x∘x'
//   γ_h = exp(−max(0, W δ + b))        h_t = GRU([x̂ ; m], γ_h∘h_{t−1})
//
// An optional second layer is a plain GRU. Dropout: between the layers and on the last state.
#pragma once

#include <optional>
#include <vector>

#include "baselines/intake.h"
#include "nn/dropout.h"
#include "nn/gru_sequence.h"
#include "nn/linear.h"

namespace edict {

template <class S>
class GruDPass;

struct GruD {
  static constexpr const char* kKind = "gru-d";
  static constexpr bool kTakesCovariates = false;
  template <class S>
  using Pass = GruDPass<S>;

  GruD(ParameterLayout& layout, const NetworkSettings& settings, Index feature_count,
       Index covariates);

  Index width() const { return hidden; }
  Dropout dropout() const { return Dropout(dropout_rate); }

  Index features, hidden;
  double dropout_rate;
  Index fade_weight, fade_bias;  // of γ_x, D each
  Linear decay;                  // of γ_h
  GruSequence gru;
  std::optional<GruSequence> second;
};

template <class S>
class GruDPass {
 public:
  explicit GruDPass(const GruD& model) : model_(model) {}

  // out: H × series, the last states.
  void forward(const S* params, const Intake<S>& intake, const Dropout& dropout, Arena<S>& arena,
               S* out);
  // d_out is used up.
  void backward(const S* params, const Intake<S>& intake, S* d_out, Arena<S>& arena, S* grads);

 private:
  void prepare(const S* params, const Intake<S>& intake);
  void prepare_backward(const S* params, const S* d_input, S* grads) const;
  void draw_masks(const Intake<S>& intake, const Dropout& dropout, Arena<S>& arena);

  const GruD& model_;
  Packing packing_;
  S *delta_ = nullptr, *last_ = nullptr, *fade_ = nullptr;  // D × columns; fade is γ_x
  S* input_ = nullptr;                                      // [x̂ ; m], 2D × columns
  S* decay_ = nullptr;                                      // γ_h, H × columns
  GruSequence::Cache<S> first_, second_;
  S *between_mask_ = nullptr, *out_mask_ = nullptr;  // null without dropout
  std::vector<S> since_, value_;
};

ModelKind gru_d_kind();

}  // namespace edict
