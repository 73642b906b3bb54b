// The network shared by EDICT and GRU-ODE-Bayes: h(0) from the covariates, a GRU-ODE between
// observations, a jump at each of them, and a head that turns h into a distribution.
#pragma once

#include <cmath>
#include <optional>
#include <span>

#include "edict/engine/network.h"
#include "edict/nn/classifier.h"
#include "edict/nn/feature_encoder.h"
#include "edict/nn/gru_cell.h"
#include "edict/nn/gru_ode_cell.h"
#include "edict/nn/linear.h"
#include "edict/ode/tableau.h"

namespace edict {

template <class Head>
struct JumpOde {
  JumpOde(const NetworkSettings& config, Index feature_count, Index covariate_count,
          Index class_count = 0)
      : features(feature_count),
        covariates(covariate_count > 0 ? covariate_count : 1),  // a single 0 where there are none
        hidden(config.model.hidden),
        init0(layout, "init.0", covariates, hidden),
        init1(layout, "init.1", hidden, hidden),
        ode(layout, "ode", hidden),
        encoder(layout, "encoder", features, config.model.encoder_width),
        update(layout, "update", features * config.model.encoder_width, hidden),
        head(layout, config.model, config.loss, features),
        solver(tableau(config.model.solver)),
        step(config.model.step),
        rtol(config.model.rtol),
        atol(config.model.atol) {
    // Last, so that the parameters before it are those of the same model without a classifier.
    if (class_count > 0)
      classifier.emplace(layout, "classifier", hidden, class_count,
                         static_cast<int>(config.classifier_layers));
  }

  // What the walk multiplies by again and again; the other layers read `params` as they are.
  template <class S>
  void turn(const S* params, Vector<S>& turned) const {
    turned = Eigen::Map<const Vector<S>>(params, layout.size());
    ode.turn(params, turned.data());
    update.turn(params, turned.data());
    head.turn(params, turned.data());
  }

  // Multiplies the predictive scale of feature j by factors[j] wherever it is asked for. States and
  // means stay: what the encoder reads of the scale (log ψ and e) is undone in its weights.
  template <class S>
  void widen(std::span<const double> factors, S* params) const {
    for (Index j = 0; j < features; ++j) {
      const auto factor = static_cast<S>(factors[static_cast<std::size_t>(j)]);
      const S shift = S(2) * std::log(factor);
      params[head.log_scale_bias() + j] += shift;
      encoder.compensate(j, 2, S(1), shift, params);
      encoder.compensate(j, 3, S(1) / factor, S(0), params);
    }
  }

  Index features, covariates, hidden;
  ParameterLayout layout;
  Linear init0, init1;
  GruOdeCell ode;
  FeatureEncoder encoder;
  GruCell update;
  Head head;
  Tableau solver;
  double step, rtol, atol;
  std::optional<Classifier> classifier;  // reads h(T)
};

}  // namespace edict
