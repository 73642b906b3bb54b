#include "research/plan.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "render/embedded.h"

namespace edict::study {
namespace {

constexpr const char* kHead = "levels = [0, 9]\nseeds = [0, 1]\n";

TEST(Plan, AnExperimentOnEveryDatasetUnlessItNamesSome) {
  const Plan plan = read_plan_text(std::string(kHead) + R"(
[[dataset]]
name = "synthetic"
series = 50
[[dataset]]
name = "ward"
title = "Ward"
file = "ward.csv"
rate = 0.5
time = "h"
[[experiment]]
method = "A"
preset = "{dataset}/a.toml"
[[experiment]]
method = "B"
preset = "b.toml"
datasets = ["ward"]
guards = ["edgr", "pop-mean"]
)",
                                   "p");
  ASSERT_EQ(plan.models.size(), 3u);
  EXPECT_EQ(plan.models[0].preset, "synthetic/a.toml");
  EXPECT_EQ(plan.models[1].preset, "ward/a.toml");
  EXPECT_EQ(plan.models[2].dataset, "ward");
  ASSERT_EQ(plan.models[0].guards.size(), 1u);
  EXPECT_EQ(plan.models[0].guards[0].kind, Guard::Kind::none);
  ASSERT_EQ(plan.models[2].guards.size(), 2u);
  EXPECT_EQ(plan.models[2].guards[1].kind, Guard::Kind::population);
  EXPECT_EQ(plan.dataset("synthetic").series, 50u);
  EXPECT_EQ(plan.dataset("ward").rate, 0.5);
  Plan kept = plan;
  keep_datasets(kept, {"ward"});
  EXPECT_EQ(kept.models.size(), 2u);
  EXPECT_EQ(kept.datasets.size(), 1u);
  EXPECT_THROW(keep_datasets(kept, {"synthetic"}), Error);
}

TEST(Plan, ErrorsNameTheLine) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      read_plan_text(text, "p.toml");
    } catch (const Error& e) {
      return e.what();
    }
    return "nothing was refused";
  };
  EXPECT_EQ(message(std::string(kHead) + "[[dataset]]\nname = \"synthetic\"\nserie = 5\n"),
            "p.toml:5: unknown key 'serie'; did you mean 'series'?");
  EXPECT_EQ(message(std::string(kHead) + "[[dataset]]\nname = \"synthetic\"\nseries = \"many\"\n"),
            "p.toml:5: 'series' must be a whole number");
  EXPECT_EQ(message(std::string(kHead) + "[[dataset]]\ntitle = \"x\"\n"),
            "p.toml:3: 'name' is missing; give a name");
  EXPECT_EQ(message("levels = 3\nseeds = [0]\n"),
            "p.toml:1: 'levels' must be a list of levels from 0 to 9");
  EXPECT_NE(message(std::string(kHead) + "[[dataset]]\nname = \"../x\"\nfile = \"x\"\n")
                .find("may only have letters"),
            std::string::npos);
  EXPECT_NE(message(std::string(kHead) +
                    "[[dataset]]\nname = \"synthetic\"\n[[experiment]]\nmethod = \"A\"\npreset = "
                    "\"a\"\ndatasets = [\"sintetic\"]\n")
                .find("did you mean 'synthetic'"),
            std::string::npos);
}

// The plans that travel with the program name presets that do too.
TEST(Plan, ThePlansOfTheProgram) {
  const Plan quick = quick_plan();
  EXPECT_EQ(quick.levels, (std::vector<int>{0, 3, 6, 9}));
  ASSERT_EQ(quick.models.size(), 3u);
  EXPECT_EQ(quick.datasets.size(), 1u);
  Plan full = full_plan();
  EXPECT_EQ(full.levels.size(), 10u);
  EXPECT_EQ(full.datasets.size(), 5u);
  keep_datasets(full, {"synthetic"});
  EXPECT_EQ(full.models.size(), 5u);  // seven rows of the tables: EDICT has three guards
  for (const Plan* plan : {&quick, &static_cast<const Plan&>(full)})
    for (const PlannedModel& model : plan->models)
      EXPECT_NO_THROW(config_of(*plan, model)) << model.preset;
  EXPECT_EQ(config_of(quick, quick.models[0]).train.epochs, 16);
  EXPECT_EQ(config_of(full, full.models[0]).train.epochs, 100);
}

TEST(Plan, AConfigurationSurvivesItsToml) {
  Config config;
  config.data.t_cut = 9.42477796076938;
  config.train.learning_rate = 1e-4;
  config.train.clip = 0;
  config.model.solver = Solver::rk4;
  config.data.standardise = false;
  Config back;
  read_toml_text(to_toml(config), "written", back);
  EXPECT_EQ(to_toml(back), to_toml(config));
  EXPECT_EQ(back.data.t_cut, config.data.t_cut);
  EXPECT_EQ(back.model.solver, Solver::rk4);
  EXPECT_FALSE(back.data.standardise);
}

TEST(Embedded, FilesComeWithTheirTextAndOthersDoNot) {
  ASSERT_TRUE(embedded("presets/synthetic/paper.toml"));
  EXPECT_NE(embedded("presets/synthetic/paper.toml")->find("epochs = 100"), std::string_view::npos);
  EXPECT_FALSE(embedded("presets/synthetic/other.toml"));
}

}  // namespace
}  // namespace edict::study
