// f_CLF apart from the network it sits on: reads states that are already there. Its parameters are
// the last ones of the whole model's (Model::classifier_size).
#pragma once

#include <algorithm>
#include <span>

#include "model/model.h"
#include "nn/classifier.h"

namespace edict {

class StateClassifier {
 public:
  StateClassifier(Index hidden, Index classes, std::int64_t layers)
      : layer_(layout_, "classifier", hidden, classes, static_cast<int>(layers)) {}
  explicit StateClassifier(const Model& model)
      : StateClassifier(model.network->hidden(), model.network->classes(),
                        model.config.classify.layers) {}

  const Classifier& layer() const { return layer_; }
  Index size() const { return layout_.size(); }

  // states: H × n → classes × n, before the softmax.
  Matrix<float> logits(const float* params, const Matrix<float>& states) const {
    Matrix<float> hidden(layer_.bottleneck(), states.cols());
    Matrix<float> result(layer_.classes(), states.cols());
    layer_.forward(params, states.cols(), states.data(), hidden.data(), result.data());
    return result;
  }

 private:
  ParameterLayout layout_;
  Classifier layer_;
};

// How logits (classes × n) compare with labels; series without a label are passed over.
struct LabelFit {
  double correct = 0, cross_entropy = 0, labelled = 0;

  double accuracy() const { return correct / std::max(1.0, labelled); }
  double mean_cross_entropy() const { return cross_entropy / std::max(1.0, labelled); }
};

inline LabelFit label_fit(Matrix<float> logits, std::span<const std::int32_t> labels) {
  LabelFit fit;
  for (Index i = 0; i < logits.cols(); ++i) {
    const std::int32_t label = labels[static_cast<std::size_t>(i)];
    if (label == Dataset::kNone) continue;
    Index predicted = 0;
    logits.col(i).maxCoeff(&predicted);
    fit.correct += predicted == label;
    fit.cross_entropy +=
        Classifier::cross_entropy(logits.col(i).data(), logits.rows(), label, 1.0f);
    fit.labelled += 1;
  }
  return fit;
}

}  // namespace edict
