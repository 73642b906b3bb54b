// IPN, the interpolation-prediction network (Shukla & Marlin 2019): each series is interpolated at
// regular reference points (nn/interpolation.h), and a GRU reads those. Beside the cross-entropy it
// is asked to reconstruct a share of the observations from the others: per series
//
//   loss.reconstruction × mean over features of the mean over the feature's held-out (x − χ)²
//
// with χ interpolated from what was kept, at the times of the series' events. Reference points lie
// model.reference_step apart, from the start to the first one not before the last observation.
// Dropout acts on the GRU's input, one mask a series.
#pragma once

#include <vector>

#include "baselines/intake.h"
#include "nn/dropout.h"
#include "nn/gru_sequence.h"
#include "nn/interpolation.h"

namespace edict {

template <class S>
class IpnPass;

struct Ipn {
  static constexpr const char* kKind = "ipn";
  static constexpr bool kTakesCovariates = false;
  template <class S>
  using Pass = IpnPass<S>;

  Ipn(ParameterLayout& layout, const NetworkSettings& settings, Index feature_count,
      Index covariates);

  Index width() const { return gru.hidden(); }
  Dropout dropout() const { return Dropout(dropout_rate); }

  Index features;
  double dropout_rate, reference_step;
  std::optional<double> reference_end;  // empty: the last observation
  double reconstruction, holdout;
  Interpolation interpolation;
  GruSequence gru;
};

template <class S>
class IpnPass {
 public:
  explicit IpnPass(const Ipn& model) : model_(model) {}

  // out: H × series, the last states.
  void forward(const S* params, const Intake<S>& intake, const Dropout& dropout, Arena<S>& arena,
               S* out);
  void backward(const S* params, const Intake<S>& intake, const S* d_out, Arena<S>& arena,
                S* grads);

  // The reconstruction loss of all series, forward and backward: weight × its gradient is added.
  void reconstruct(const S* params, const Intake<S>& intake, S weight, Arena<S>& arena, S* grads,
                   LossSums& sums);

 private:
  Index points(const Intake<S>& intake, Index s) const;
  void sort_by_feature(const Intake<S>& intake, Index s, const std::vector<std::uint8_t>& held);

  const Ipn& model_;
  Packing packing_;
  std::vector<Interpolation::Cache<S>> caches_;
  GruSequence::Cache<S> gru_;
  S* mask_ = nullptr;  // 3D × series; null without dropout
  Arena<S> scratch_;
  Arena<bool> flags_;
  // The observations of one series by feature, and the points to interpolate at.
  std::vector<Index> first_;
  std::vector<S> time_, value_, at_;
  std::vector<std::uint8_t> held_;
};

ModelKind ipn_kind();

}  // namespace edict
