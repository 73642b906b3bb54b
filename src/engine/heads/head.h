// What a head is: it turns a state h into the parameters φ of a distribution over every feature. It
// alone knows the layout of φ, what the encoder reads of it, how it is scored, and what `Marginal`
// and mean a feature has. A new distribution over the same states is a new head.
#pragma once

#include <concepts>

#include "engine/engine_settings.h"
#include "engine/heads/marginal.h"
#include "engine/jump/absorb.h"
#include "evidential/observed.h"
#include "nn/feature_encoder.h"
#include "nn/product.h"

namespace edict {

// Pointers are to one column of φ (rows() numbers) but in forward and backward, which take w.
template <class H>
concept Head = requires(const H head, ParameterLayout& layout, const EngineSettings& model,
                        const LossSettings& loss, Index n, const double* in, double* out,
                        Transposed<double> weights, const Observed<double>& seen, LossSums& sums,
                        const Absorb& absorb) {
  H(layout, model, loss, n, n);                      // rows of what it reads, features
  { H::kKind } -> std::convertible_to<const char*>;  // model.kind
  { head.rows() } -> std::same_as<Index>;            // of φ
  { head.stacked() } -> std::same_as<Index>;         // rows of `a`, what forward keeps for backward
  head.transpose(in, out);
  head.forward(weights, n, in, out, out);                // w, x, a, φ
  head.backward(in, n, in, in, in, out, out, out, out);  // params, w, x, a, φ, d_φ, d_a, d_x, grads
  head.score(in, seen, 1.0, 1.0, out, sums);             // loss of what was seen; d_φ += …
  head.kl(in, in, seen, 1.0, out, out, sums);            // KL(Bayes(pre, x) ‖ post)
  head.encoder_inputs(in, n, 1.0, out);                  // of feature n observed as 1.0
  head.encoder_inputs_backward(in, n, in, in, out);      // φ, feature, inputs, their gradient
  head.bounded_inputs(in, n, 1.0, absorb, out, *out);    // as far as model.absorb lets it pass
  head.bounded_inputs_backward(in, n, 1.0, absorb, in, in, out);
  { head.mean(in, n) } -> std::same_as<double>;
  { head.marginal(in, n) } -> std::same_as<Marginal>;
};

}  // namespace edict
