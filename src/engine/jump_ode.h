// The network shared by EDICT and GRU-ODE-Bayes: h(0) from the covariates, a propagator between
// observations, a jump at each of them, and a head that turns h into a distribution. Where settings
// ask for it, the head recalls last values (recall.h), and the jump takes observations as far as
// they are plausible (absorb.h).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/heads/head.h"
#include "engine/jump/absorb.h"
#include "engine/jump/memory.h"
#include "engine/jump/recall.h"
#include "engine/network.h"
#include "engine/propagators/propagator.h"
#include "math/activation.h"
#include "math/relu.h"
#include "nn/classifier.h"
#include "nn/feature_encoder.h"
#include "nn/gru_cell.h"
#include "nn/linear.h"

namespace edict {

template <Head H>
struct JumpOde {
  JumpOde(const NetworkSettings& settings, Index feature_count, Index covariate_count,
          Index class_count = 0)
      : features(feature_count),
        covariates(covariate_count > 0 ? covariate_count : 1),  // a single 0 where there are none
        hidden(settings.model.hidden),
        init0(layout, "init.0", covariates, hidden),
        init1(layout, "init.1", hidden, hidden),
        propagator(layout, "ode", settings.model),
        encoder(layout, "encoder", features, settings.model.encoder_width),
        update(layout, "update", features * settings.model.encoder_width, hidden),
        memory(settings.model, features),
        head(layout, settings.model, settings.loss, hidden, features),
        absorb(settings.model.absorb, settings.model.absorb_bound),
        names(settings.feature_names),
        time_unit(settings.time_unit),
        time_origin(settings.time_origin) {
    if (settings.model.recall)
      recall.emplace(layout, "recall", hidden, features, settings.model.least_scale,
                     settings.model.unchanging, settings.model.sporadic);
    // Last, so that the parameters before it are those of the same model without a classifier.
    classifier_offset = layout.size();
    if (class_count > 0)
      classifier.emplace(layout, "classifier", hidden, class_count,
                         static_cast<int>(settings.classifier_layers));
  }

  // Rows of everything that is known of a series between two events.
  Index state_rows() const { return hidden + memory.rows(); }

  // What a forward pass multiplies by again and again; biases are copied as they are.
  template <class S>
  void transpose(const S* params, Vector<S>& transposed) const {
    transposed = Eigen::Map<const Vector<S>>(params, layout.size());
    init0.transpose(params, transposed.data());
    init1.transpose(params, transposed.data());
    propagator.transpose(params, transposed.data());
    update.transpose(params, transposed.data());
    head.transpose(params, transposed.data());
    if (recall) recall->transpose(params, transposed.data());
  }

  // h(0) = tanh(B2 relu(B1 c + b1) + b2). inner: H × w, kept for backward; h: H × w.
  template <class S>
  void initial(Transposed<S> params, Index w, const S* c, S* inner, S* h) const {
    init0.forward(params, w, c, inner);
    for (Index i = 0; i < hidden * w; ++i) inner[i] = relu(inner[i]);
    init1.forward(params, w, inner, h);
    tanh_inplace(h, hidden * w);
  }

  // The states are computed again rather than kept: a pass overwrites them.
  template <class S>
  void initial_backward(Transposed<S> transposed, const S* params, Index w, const S* c,
                        const S* inner, const S* d_h, Arena<S>& scratch, S* grads) const {
    S* const d = scratch.take(hidden * w);
    S* const d_inner = scratch.take(hidden * w);
    init1.forward(transposed, w, inner, d);
    tanh_inplace(d, hidden * w);
    for (Index i = 0; i < hidden * w; ++i) d[i] = d_h[i] * (S(1) - d[i] * d[i]);
    init1.backward(params, w, inner, d, d_inner, grads);
    for (Index i = 0; i < hidden * w; ++i) d_inner[i] = inner[i] > S(0) ? d_inner[i] : S(0);
    init0.backward_weights(w, c, d_inner, grads);
  }

  std::string feature_name(Index j) const {  // for messages
    const auto i = static_cast<std::size_t>(j);
    return i < names.size() ? "'" + names[i] + "'" : "feature " + std::to_string(j);
  }

  Index features, covariates, hidden;
  ParameterLayout layout;
  Linear init0, init1;
  Propagator propagator;
  FeatureEncoder encoder;
  GruCell update;
  Memory memory;
  H head;
  Absorb absorb;
  std::optional<Recall> recall;
  Index classifier_offset;
  std::optional<Classifier> classifier;  // reads h(T)
  std::vector<std::string> names;
  double time_unit, time_origin;
};

}  // namespace edict
