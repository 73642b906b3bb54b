#include "nn/summary_classifier.h"

#include <gtest/gtest.h>

namespace edict {
namespace {

TEST(SummaryClassifier, GradientAgreesWithFiniteDifferences) {
  const SummaryClassifier network(5, 4, 3);
  constexpr Index w = 6;
  Generator rng(1, "test");
  Matrix<double> x(5, w);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = rng.normal();
  const std::vector<std::int32_t> labels{0, 1, 2, -1, 1, 0};  // one without a label
  const Dropout inputs(0.25), hidden(0.5);
  // The same generator draws the same masks, so that the loss is a function of the parameters.
  const auto loss = [&](const Vector<double>& params, Vector<double>* grads) {
    Matrix<double> own = x;
    Vector<double> ignored = Vector<double>::Zero(params.size());
    Arena<double> scratch;
    Generator masks(7, "masks");
    return network.learn(params.data(), w, own.data(), labels.data(), 1.0, inputs, hidden, masks,
                         scratch, grads ? grads->data() : ignored.data());
  };
  Vector<double> params = network.layout().initial<double>(3);
  Vector<double> grads = Vector<double>::Zero(params.size());
  loss(params, &grads);
  constexpr double kStep = 1e-6;  // central differences: error about 1e-10 at these sizes
  for (Index i = 0; i < params.size(); ++i) {
    Vector<double> up = params, down = params;
    up[i] += kStep;
    down[i] -= kStep;
    EXPECT_NEAR((loss(up, nullptr) - loss(down, nullptr)) / (2 * kStep), grads[i], 1e-7) << i;
  }
}

}  // namespace
}  // namespace edict
