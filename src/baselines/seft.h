// SeFT, set functions for time series (Horn et al. 2020): a series is a set of observations, each
//
//   s_j = [ sin(t/τ_k), cos(t/τ_k) (k < K) | x | one-hot feature ]     τ_k = T^(k/(K−1))
//
// and, where there are covariates, one more element made from them. A network φ encodes every
// element, attention (nn/set_attention.h) or the plain mean gathers them, and a layer ρ reads the
// heads' results:
//
//   z = relu(ρ [Σ_j a_1j φ(s_j) ; … ; Σ_j a_Mj φ(s_j)])
//
// Dropout: after each layer of φ and on z.
#pragma once

#include <optional>
#include <vector>

#include "baselines/intake.h"
#include "nn/dropout.h"
#include "nn/mlp.h"
#include "nn/set_attention.h"

namespace edict {

template <class S>
class SeftPass;

struct Seft {
  static constexpr const char* kKind = "seft";
  static constexpr bool kTakesCovariates = true;
  template <class S>
  using Pass = SeftPass<S>;

  Seft(ParameterLayout& layout, const NetworkSettings& settings, Index feature_count,
       Index covariate_count);

  Index width() const { return rho.out(); }
  Dropout dropout() const { return Dropout(dropout_rate); }
  Index element() const { return 2 * static_cast<Index>(scales.size()) + 1 + features; }
  Index gathered() const { return rho.in(); }

  Index features, covariates;
  double dropout_rate;
  std::vector<double> scales;  // τ, in time units
  std::optional<Linear> covariates0, covariates1;
  Mlp phi;
  std::optional<SetAttention> attention;  // none: the mean
  Linear rho;
};

template <class S>
class SeftPass {
 public:
  explicit SeftPass(const Seft& model) : model_(model) {}

  // out: width × series.
  void forward(const S* params, const Intake<S>& intake, const Dropout& dropout, Arena<S>& arena,
               S* out);
  // d_out is used up.
  void backward(const S* params, const Intake<S>& intake, S* d_out, Arena<S>& arena, S* grads);

 private:
  void lay_out(const S* params, const Intake<S>& intake, Arena<S>& arena);
  void lay_out_backward(const S* params, const Intake<S>& intake, const S* d_x, Arena<S>& arena,
                        S* grads) const;
  void draw_masks(const Intake<S>& intake, const Dropout& dropout, Arena<S>& arena);

  const Seft& model_;
  Segments segments_;
  S* x_ = nullptr;                  // element × elements
  S* covariates_hidden_ = nullptr;  // element × series
  Mlp::Cache<S> phi_;
  SetAttention::Cache<S> attention_;
  S *gathered_ = nullptr, *out_ = nullptr;
  std::vector<S*> masks_;  // of φ's layers; empty without dropout
  S* out_mask_ = nullptr;
};

ModelKind seft_kind();

}  // namespace edict
