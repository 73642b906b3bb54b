// Every kind of model from data to file and back: presets, missing covariates, a feature never seen
// in training, and the same answer after a reload.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numbers>

#include "model/model.h"
#include "model/registry.h"
#include "temporary_folder.h"

namespace edict {
namespace {

std::vector<std::string_view> kind_names() {
  std::vector<std::string_view> names;
  for (const ModelKind& kind : model_kinds()) names.push_back(kind.name);
  return names;
}

class EveryKind : public testing::TestWithParam<std::string_view> {
 protected:
  Config config() const {
    Config config;
    assign(config, "model.kind=" + std::string(GetParam()));
    config.model.hidden = 6;
    config.model.encoder_width = 4;
    config.model.head_hidden = 4;
    return config;
  }
};

// Feature b is observed in the test series (3) only, and one covariate is missing there.
Dataset data() {
  Dataset data;
  data.features = {"a", "b"};
  data.statics = {"age"};
  data.classes = {"no", "yes"};
  const auto add = [&](std::int32_t label, double age, const std::vector<double>& times) {
    data.add_series(std::to_string(data.size()), label, Dataset::kNone, {&age, 1});
    for (const double t : times) {
      data.add_event(t);
      data.add_observation(0, std::sin(5 * t) + age / 50);
    }
  };
  add(0, 30.0, {0.1, 0.5, 1.0});
  add(1, 50.0, {0.2, 0.9});
  add(0, 40.0, {0.4});
  add(1, std::numeric_limits<double>::quiet_NaN(), {});
  data.add_event(0.3);
  data.add_observation(1, 4.0);
  return data;
}

TEST_P(EveryKind, AnswersTheSameAfterAReload) {
  const Dataset all = data();
  const Split split{{0, 1, 2}, {}, {3}};
  const Model model = Model::create(config(), all, split, true);
  const auto logits = [&](const Model& m) {
    std::vector<Timeline<float>> timelines;
    for (std::size_t i = 0; i < all.ids.size(); ++i)
      timelines.push_back(query_timeline(m.protocol, all, i, {1.2}));
    std::vector<Example> examples;
    for (const auto& timeline : timelines) examples.push_back({&timeline});
    Matrix<float> out(m.network->classes(), static_cast<Index>(examples.size()));
    m.network->worker()->classify(m.network->weights(m.first().params.data()), examples, {}, {},
                                  out.data());
    return out;
  };
  const Matrix<float> before = logits(model);
  EXPECT_EQ(before.rows(), 2);
  EXPECT_TRUE(before.allFinite());
  EXPECT_GT((before.col(0) - before.col(1)).cwiseAbs().maxCoeff(), 0.0f);

  const TemporaryFolder folder;
  save_model(model, folder / "m");
  const Model loaded = load_model(folder / "m");
  EXPECT_EQ(loaded.config.model.kind, GetParam());
  EXPECT_EQ(logits(loaded), before);
}

INSTANTIATE_TEST_SUITE_P(All, EveryKind, testing::ValuesIn(kind_names()), [](const auto& kind) {
  std::string name(kind.param);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Presets, OfSyntheticAreReadAndMakeTheirModel) {
  int read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(EDICT_SOURCE_DIR) / "presets" / "synthetic")) {
    Config config;
    read_toml(entry.path(), config);
    // Those of the other models carry their name; paper, best and quick are EDICT's.
    const auto kinds = kind_names();
    const bool named = std::ranges::find(kinds, entry.path().stem().string()) != kinds.end();
    EXPECT_EQ(config.model.kind, named ? entry.path().stem().string() : "edict");
    EXPECT_NEAR(config.data.t_cut.value(), 3 * std::numbers::pi, 1e-12);
    EXPECT_GT(make_network(config, {"a", "b", "c"}, 0, 2)->layout().size(), 0);
    ++read;
  }
  EXPECT_GE(read, 4);
}

}  // namespace
}  // namespace edict
