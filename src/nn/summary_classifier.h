// Class scores from a summary of a series: two hidden layers with dropout, and the cross-entropy
// against known labels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/arena.h"
#include "nn/classifier.h"
#include "nn/mlp.h"

namespace edict {

class SummaryClassifier {
 public:
  SummaryClassifier(Index in, Index width, Index classes)
      : in_(in),
        body_(layout_, "hidden", in, width, kLayers),
        top_(layout_, "top", width, classes) {}

  const ParameterLayout& layout() const { return layout_; }
  Index inputs() const { return in_; }
  Index classes() const { return top_.out(); }

  // x: in × w, logits: classes × w.
  template <class S>
  void forward(const S* params, Index w, const S* x, Arena<S>& scratch, S* logits) const {
    Mlp::Cache<S> cache;
    body_.forward(params, w, x, {}, scratch, cache);
    top_.forward(params, w, cache.y.back(), logits);
  }

  // Forward with inputs and hidden units left out at random, cross-entropy and backward, with
  // weight × its gradient; returns the unweighted sum. x is changed.
  template <class S>
  double learn(const S* params, Index w, S* x, const std::int32_t* labels, S weight,
               const Dropout& inputs, const Dropout& hidden, Generator& rng, Arena<S>& scratch,
               S* grads) const {
    S* const input_mask = scratch.take(in_ * w);
    inputs.draw(rng, in_ * w, input_mask);
    apply_mask(input_mask, in_ * w, x);
    std::vector<S*> masks;
    for (int i = 0; i < kLayers; ++i) {
      masks.push_back(scratch.take(body_.width() * w));
      hidden.draw(rng, body_.width() * w, masks.back());
    }
    Mlp::Cache<S> cache;
    body_.forward(params, w, x, masks, scratch, cache);
    S* const logits = scratch.take(classes() * w);
    top_.forward(params, w, cache.y.back(), logits);
    double loss = 0;
    for (Index column = 0; column < w; ++column)
      loss +=
          Classifier::cross_entropy(logits + column * classes(), classes(), labels[column], weight);
    S* const d_hidden = scratch.take(body_.width() * w);
    top_.backward(params, w, cache.y.back(), logits, d_hidden, grads);
    body_.backward(params, w, d_hidden, cache, scratch, static_cast<S*>(nullptr), grads);
    return loss;
  }

 private:
  static constexpr int kLayers = 2;

  ParameterLayout layout_;
  Index in_;
  Mlp body_;
  Linear top_;
};

}  // namespace edict
