// Class scores from a state, and the cross-entropy against known labels: one linear layer, or two
// with a bottleneck of half the width between them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "base/arena.h"
#include "math/relu.h"
#include "nn/linear.h"

namespace edict {

class Classifier {
 public:
  Classifier(ParameterLayout& layout, const std::string& name, Index in, Index classes, int layers)
      : classes_(classes), first_(layers == 1 ? classes : std::max<Index>(1, in / 2)) {
    bottom_.emplace(layout, name + ".0", in, first_);
    if (layers == 2) top_.emplace(layout, name + ".1", first_, classes);
  }

  Index classes() const { return classes_; }

  // h: in × w, logits: classes × w; hidden: bottleneck × w, unused with one layer.
  template <class S>
  void forward(const S* params, Index w, const S* h, S* hidden, S* logits) const {
    if (!top_) return bottom_->forward(params, w, h, logits);
    bottom_->forward(params, w, h, hidden);
    for (Index i = 0; i < first_ * w; ++i) hidden[i] = relu(hidden[i]);
    top_->forward(params, w, hidden, logits);
  }

  // d_h is written.
  template <class S>
  void backward(const S* params, Index w, const S* h, const S* hidden, const S* d_logits,
                Arena<S>& scratch, S* d_h, S* grads) const {
    if (!top_) return bottom_->backward(params, w, h, d_logits, d_h, grads);
    S* const d_hidden = scratch.take(first_ * w);
    top_->backward(params, w, hidden, d_logits, d_hidden, grads);
    for (Index i = 0; i < first_ * w; ++i) d_hidden[i] = hidden[i] > S(0) ? d_hidden[i] : S(0);
    bottom_->backward(params, w, h, d_hidden, d_h, grads);
  }

  Index bottleneck() const { return top_ ? first_ : 0; }

  // Forward, cross-entropy over the labelled columns (label ≥ 0) and backward, with weight × its
  // gradient; returns the unweighted sum. d_h is written.
  template <class S>
  double learn(const S* params, Index w, const S* h, const std::int32_t* labels, S weight,
               Arena<S>& scratch, S* d_h, S* grads) const {
    S* const hidden = scratch.take(bottleneck() * w);
    S* const logits = scratch.take(classes_ * w);
    forward(params, w, h, hidden, logits);
    double loss = 0;
    for (Index column = 0; column < w; ++column)
      loss += cross_entropy(logits + column * classes_, classes_, labels[column], weight);
    backward(params, w, h, hidden, logits, scratch, d_h, grads);
    return loss;
  }

  // −ln softmax(logits)[label]; leaves weight × its gradient in `logits` (0 without a label).
  template <class S>
  static double cross_entropy(S* logits, Index classes, std::int32_t label, S weight) {
    if (label < 0) {
      std::fill_n(logits, classes, S(0));
      return 0;
    }
    const S top = *std::max_element(logits, logits + classes);
    double sum = 0;
    for (Index k = 0; k < classes; ++k) sum += std::exp(static_cast<double>(logits[k] - top));
    const double log_sum = std::log(sum) + static_cast<double>(top);
    const double loss = log_sum - static_cast<double>(logits[label]);
    for (Index k = 0; k < classes; ++k)
      logits[k] = weight *
                  static_cast<S>(std::exp(static_cast<double>(logits[k]) - log_sum) - (k == label));
    return loss;
  }

 private:
  Index classes_, first_;
  std::optional<Linear> bottom_, top_;
};

}  // namespace edict
