// GRU-D's own pieces, worked out by hand: what fades, by how much, and since when.
#include "baselines/gru_d.h"

#include <gtest/gtest.h>

#include <cmath>

#include "baselines/supervised_case.h"

namespace edict {
namespace {

constexpr auto kAbsorb = Timeline<double>::kAbsorb;

// One hidden unit, one layer; everything 0 but what a test sets, and the update gate shut (z = 0),
// so that the state is tanh of what the candidate reads.
class Tiny {
 public:
  explicit Tiny(Index features)
      : model_(network_settings(config()), features, 0, 2),
        params_(Vector<double>::Zero(model_.layout.size())) {
    set("gru.0.w", 2 * 2 * features, 1.0);  // candidate ← x̂ of feature 0; inputs are [x̂ ; m]
    set("gru.0.b", 1, -50.0);
  }
  static Config config() {
    Config config;
    config.model.hidden = 1;
    assign(config, "model.layers=1");
    assign(config, "model.dropout=0");
    return config;
  }
  void set(const std::string& name, Index i, double value) {
    for (const Tensor& tensor : model_.layout.tensors())
      if (tensor.name == name) params_[tensor.offset + i] = value;
  }
  double state(const Timeline<double>& timeline) const {
    const BasicExample<double> example{&timeline};
    Intake<double> intake;
    intake.take(std::span(&example, 1), 0);
    Arena<double> arena;
    double h = 0;
    GruDPass<double>(model_.encoder).forward(params_.data(), intake, Dropout::off(), arena, &h);
    return h;
  }

 private:
  Supervised<GruD> model_;
  Vector<double> params_;
};

TEST(GruD, ReadsTheObservedValue) {
  Tiny tiny(1);
  Timeline<double> timeline;
  timeline.stop(1.0, kAbsorb);
  timeline.observe(0, 0.6);
  EXPECT_NEAR(tiny.state(timeline), std::tanh(0.6), 1e-12);
}

// A feature seen at 1 (0.8) and not at 3 and 4: by then x̂ = 0.8 e^{−(wδ+b)} with δ = 2, then 3.
TEST(GruD, AMissingValueFadesFromTheLastTowardsTheMean) {
  Tiny tiny(2);
  tiny.set("fade.weight", 0, 0.3);
  tiny.set("fade.bias", 0, 0.1);
  Timeline<double> timeline;
  timeline.stop(1.0, kAbsorb);
  timeline.observe(0, 0.8);
  timeline.stop(3.0, kAbsorb);
  timeline.observe(1, 0.2);
  EXPECT_NEAR(tiny.state(timeline), std::tanh(0.8 * std::exp(-(0.3 * 2 + 0.1))), 1e-12);
  timeline.stop(4.0, kAbsorb);
  timeline.observe(1, 0.1);
  EXPECT_NEAR(tiny.state(timeline), std::tanh(0.8 * std::exp(-(0.3 * 3 + 0.1))), 1e-12);
  tiny.set("fade.weight", 0, -0.3);  // a negative argument means no decay at all
  EXPECT_NEAR(tiny.state(timeline), std::tanh(0.8), 1e-12);
}

// Where the update gate opens (z = 1) the state stays as it was: only γ_h changes it.
TEST(GruD, TheStateFadesWithTheTimeSinceAnObservation) {
  Tiny tiny(1);
  Timeline<double> timeline;
  timeline.stop(1.0, kAbsorb);
  timeline.observe(0, 0.6);
  timeline.stop(3.5, kAbsorb);
  timeline.observe(0, 100.0);   // opens z below
  tiny.set("gru.0.w", 2, 1.0);  // z ← x̂: −50 + 0.6 at first, −50 + 100 then
  tiny.set("decay.weight", 0, 0.2);
  tiny.set("decay.bias", 0, 0.05);
  EXPECT_NEAR(tiny.state(timeline), std::tanh(0.6) * std::exp(-(0.2 * 2.5 + 0.05)), 1e-12);
}

}  // namespace
}  // namespace edict
