// What either side knows, what becomes of the two, and what of it a file carries.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/json/json.h"
#include "engine/small_model.h"
#include "engine/variant.h"
#include "model/infer.h"
#include "protocol/filtering_timeline.h"
#include "temporary_folder.h"

namespace edict {
namespace {

// Untrained, with another network for the other side and a fusion that says something.
Model two_sided(const std::string& variant = "euler") {
  Config config = small_synthetic_config();
  set_variant(config, variant);
  config.model.step = 0.3;
  Model model = untrained_model(small_synthetic(), config);
  model.first().backward = model.network->layout().initial<float>(7);
  FeatureFusion fusion;
  fusion.prior = -0.1;
  fusion.dof = 5;
  model.fusion = {{3, fusion}, 10};
  return model;
}

Timeline<float> timeline_of(const Model& model, std::size_t series) {
  return evaluation_timeline(model.protocol, model.config.data, small_synthetic(), series);
}

BothSides sides_of(const Model& model, const Timeline<float>& timeline) {
  ThreadPool pool(1);
  return infer_both_sides(model, std::span(&timeline, 1), pool, {});
}

class Sided : public testing::TestWithParam<std::string> {};

TEST_P(Sided, NeitherSeesTheOthersTimeNorWhatIsHidden) {
  const Model model = two_sided(GetParam());
  for (std::size_t series = 0; series < 6; ++series) {
    const Timeline<float> timeline = timeline_of(model, series);
    const BothSides before = sides_of(model, timeline);
    const std::size_t features = model.features.size();
    for (std::size_t s = 0; s < timeline.stops.size(); ++s) {
      if (timeline.stops[s].count == 0) continue;
      Timeline<float> changed = timeline;
      changed.value[timeline.stops[s].first] += 3.0f;
      const BothSides after = sides_of(model, changed);
      const bool hidden = !(timeline.stops[s].what & Timeline<float>::kAbsorb);
      std::size_t query = 0;
      for (std::size_t q = 0; q < timeline.stops.size(); ++q) {
        if (!(timeline.stops[q].what & Timeline<float>::kQuery)) continue;
        for (std::size_t k = query * features; k < (query + 1) * features; ++k) {
          if (hidden || q < s) {
            EXPECT_EQ(before.forward[0].marginals[k].mean, after.forward[0].marginals[k].mean);
          }
          if ((hidden || q > s) && k < before.backward[0].marginals.size()) {
            EXPECT_EQ(before.backward[0].marginals[k].mean, after.backward[0].marginals[k].mean);
          }
        }
        ++query;
      }
    }
  }
}

// A later question would otherwise move the clock of the other side.
TEST_P(Sided, MoreQuestionsChangeNoAnswer) {
  const Model model = two_sided(GetParam());
  ThreadPool pool(1);
  const auto asked = [&](const std::vector<double>& times) {
    const Timeline<float> timeline =
        filtering_timeline(model.protocol, small_synthetic(), 2, times);
    return infer_smoothed(model, std::span(&timeline, 1), pool, {})[0].marginals;
  };
  const auto many = asked({0.5, 1.0, 2.5, 4.0, 6.0, 30.0}), one = asked({2.5});
  ASSERT_EQ(many.size(), 18u);
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_EQ(many[6 + j].mean, one[j].mean);
    EXPECT_EQ(many[6 + j].scale, one[j].scale);
  }
}

TEST_P(Sided, AForecastIsThatOfThePastAlone) {
  Model model = two_sided(GetParam());
  FeatureCalibration calibration;
  calibration.log_factor = 0.3;
  calibration.dof = 4;
  model.calibration = {{3, calibration}, 10, 10};
  ThreadPool pool(1);
  const Timeline<float> timeline =
      filtering_timeline(model.protocol, small_synthetic(), 1, {3.0, 13.0, 20.0});
  const auto both = infer_smoothed(model, std::span(&timeline, 1), pool, {})[0].marginals;
  const auto past = infer(model, examples_of(std::span(&timeline, 1)), pool, {})[0].marginals;
  for (std::size_t k = 0; k < 9; ++k) {
    EXPECT_EQ(both[k].mean == past[k].mean, k >= 3) << k;
    EXPECT_EQ(both[k].scale == past[k].scale, k >= 3) << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, Sided, testing::ValuesIn(variants()));

TEST(Smoothed, GuardsActWithinEachPass) {
  const Model model = two_sided();
  ThreadPool pool(1);
  Timeline<float> timeline = timeline_of(model, 0);
  const InferenceOptions options = model.inference_options({Guard::Kind::edgr, 0.01});
  const Answer both = infer_smoothed(model, std::span(&timeline, 1), pool, options)[0];
  const BothSides sides = infer_both_sides(model, std::span(&timeline, 1), pool, options);
  EXPECT_GE(both.clips.size(),
            std::max(sides.forward[0].clips.size(), sides.backward[0].clips.size()));
  ASSERT_FALSE(sides.backward[0].clips.empty());
  for (const Clipped& clip : both.clips) {
    const auto& stop = timeline.stops[clip.stop];
    EXPECT_TRUE(stop.what & Timeline<float>::kAbsorb);
    bool found = false;  // the observation it speaks of, at the stop it names
    for (std::uint32_t k = stop.first; k < stop.first + stop.count; ++k)
      found |=
          timeline.feature[k] == clip.feature && static_cast<double>(timeline.value[k]) == clip.raw;
    EXPECT_TRUE(found);
  }
}

TEST(Smoothed, NeedsAModelThatLooksFromBothSides) {
  Model model = two_sided();
  model.fusion = {};
  ThreadPool pool(1);
  const Timeline<float> timeline = timeline_of(model, 0);
  EXPECT_NE(refusal_of([&] {
              infer_smoothed(model, std::span(&timeline, 1), pool, {});
            }).find("train.smooth"),
            std::string::npos);
}

TEST(Smoothed, TravelsInTheFileAndInMembersAndClassifiers) {
  const TemporaryFolder folder;
  const Model model = two_sided();
  save_model(model, folder / "m");
  const Model loaded = load_model(folder / "m");
  EXPECT_EQ(loaded.first().backward, model.first().backward);
  EXPECT_EQ(to_json(loaded.fusion), to_json(model.fusion));
  EXPECT_EQ(fingerprint(loaded), fingerprint(model));
  EXPECT_NE(fingerprint(untrained_model(small_synthetic(), model.config)), fingerprint(model));

  const Model classifier = model.with_classifier(model.config, {"a", "b"});
  save_model(classifier, folder / "c");
  ThreadPool pool(1);
  const Timeline<float> timeline = timeline_of(model, 3);
  const auto answer = [&](const Model& of) {
    return infer_smoothed(of, std::span(&timeline, 1), pool, {})[0].marginals;
  };
  const auto expected = answer(model), found = answer(load_model(folder / "c"));
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_EQ(found[k].mean, expected[k].mean);

  std::vector<Model> members;
  members.push_back(model.member(0));
  members.push_back(model.member(0));
  members[1].config.train.seed = 1;
  members[1].first().backward = model.network->layout().initial<float>(9);
  Model whole = ensemble(std::move(members));
  EXPECT_TRUE(whole.has_backward());
  EXPECT_TRUE(whole.fusion.empty()) << "it was one member's";
  whole.fusion = model.fusion;
  save_model(whole, folder / "e");
  const auto together = answer(whole), again = answer(load_model(folder / "e"));
  bool differs = false;
  for (std::size_t k = 0; k < together.size(); ++k) {
    EXPECT_EQ(again[k].mean, together[k].mean);
    differs |= together[k].mean != expected[k].mean;
  }
  EXPECT_TRUE(differs) << "the second member has a say";
}

TEST(Smoothed, IsRefusedFromAFileThatContradictsItself) {
  const TensorFile file = to_tensors(two_sided());
  const auto refusal = [&](const auto& change) {
    TensorFile changed = file;
    change(changed);
    return refusal_of([&] { from_tensors(changed, "m"); });
  };
  const auto backward = [](TensorFile& of) {
    return std::find_if(of.tensors.begin(), of.tensors.end(), [](const NamedTensor& tensor) {
      return tensor.name.starts_with("backward.");
    });
  };
  EXPECT_EQ(refusal([](TensorFile&) {}), "accepted");
  EXPECT_NE(refusal([](TensorFile& of) {
              nlohmann::json meta = nlohmann::json::parse(of.metadata["edict"]);
              meta.erase("backward");
              of.metadata["edict"] = meta.dump();
            }).find("contradicts itself"),
            std::string::npos);
  EXPECT_NE(refusal([&](TensorFile& of) { backward(of)->name = "other"; }).find("is missing"),
            std::string::npos);
  EXPECT_NE(refusal([&](TensorFile& of) {
              backward(of)->values[0] = std::nanf("");
            }).find("its backward network holds a number that is not finite"),
            std::string::npos);
}

// ---------------------------------------------------------------------------------- the formula

TEST(FeatureFusion, IsTheProductOfGaussiansDividedByWhatBothKnow) {
  // x ~ N(2, 4) seen from either side with noise: p(x|f)·p(x|b)/p(x).
  FeatureFusion fusion;
  fusion.reference = 2;
  fusion.prior = -1;  // the precision of p(x) in units of the reference
  fusion.centre = 2;
  fusion.log_disagreement = -20;
  fusion.dof = 1e9;
  const Marginal forward{3, 1.5, 0, std::sqrt(1.5), 1e9}, backward{1, 0.8, 0, std::sqrt(0.8), 1e9};
  const double precision = 1 / 1.5 + 1 / 0.8 - 1 / 4.0;
  const Marginal fused = fusion.fused(forward, backward);
  EXPECT_NEAR(fused.mean, (3 / 1.5 + 1 / 0.8 - 2 / 4.0) / precision, 1e-7);
  EXPECT_NEAR(fused.scale * fused.scale, 1 / (1 / 1.5 + 1 / 0.8), 1e-7) << "its width is fitted";
  // A side that knows nothing changes nothing.
  const Marginal nothing{2, 4, 0, 2, 1e9};
  EXPECT_NEAR(fusion.fused(forward, nothing).mean, forward.mean, 1e-12);
  EXPECT_NEAR(fusion.fused(nothing, backward).mean, backward.mean, 1e-12);
}

TEST(FeatureFusion, WidensWhereTheSidesContradictEachOtherAndCallsItEpistemic) {
  FeatureFusion fusion;
  fusion.dof = 6;
  const Marginal near{0.1, 0.8, 0.2, 0.8, 6}, far{3.0, 0.8, 0.2, 0.8, 6}, same{0, 0.8, 0.2, 0.8, 6};
  const Marginal agreed = fusion.fused(same, near), torn = fusion.fused(same, far);
  EXPECT_GT(torn.scale, agreed.scale);
  EXPECT_NEAR(torn.aleatoric, agreed.aleatoric, 1e-12);
  EXPECT_GT(torn.epistemic, agreed.epistemic);
  for (const Marginal& m : {agreed, torn})
    EXPECT_NEAR(m.aleatoric + m.epistemic, m.scale * m.scale * 6 / 4, 1e-12);
}

TEST(FeatureFusion, StaysFiniteWhateverTheSidesSay) {
  FeatureFusion fusion;
  fusion.power = 2;
  fusion.prior = -1;
  fusion.dof = 3;
  for (const double a : {1e-30, 1.0, 1e30})
    for (const double b : {1e-30, 1.0, 1e30}) {
      const Marginal m = fusion.fused({1, a, a, a, 3}, {-1, b, b, b, 3});
      EXPECT_TRUE(std::isfinite(m.mean + m.scale + m.aleatoric + m.epistemic)) << a << " " << b;
      EXPECT_GT(m.scale, 0);
    }
}

TEST(FusionFromJson, RefusesWhatIsNone) {
  nlohmann::json json = to_json(two_sided().fusion);
  EXPECT_NO_THROW(fusion_from_json(json, 3));
  EXPECT_THROW(fusion_from_json(json, 4), Error);
  for (const auto& [key, value] :
       {std::pair{"dof", 2.0}, {"reference", 0.0}, {"power", 1e300}, {"log_factor", -700.0}}) {
    nlohmann::json wrong = json;
    wrong["features"][1][key] = value;
    EXPECT_THROW(fusion_from_json(wrong, 3), Error) << key;
  }
}

}  // namespace
}  // namespace edict
