#include "model/config.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/error.h"
#include "base/json/json.h"

namespace edict {
namespace {

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.message(command_line_option);
  }
  return "no error";
}

TEST(Config, EveryKeyIsDocumentedAllowedAndUnique) {
  Config config;
  std::set<std::string> names;
  for (const settings::Key& key : keys(config)) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name;
    EXPECT_FALSE(key.help.empty()) << key.name;
    // The default may be written down: it is read back as what it is.
    EXPECT_EQ(error_of([&] { assign(config, key.name + "=" + settings::value_text(key)); }),
              "no error");
  }
}

TEST(Config, SetReachesEveryType) {
  Config config;
  assign(config, "model.hidden=64");
  assign(config, "train.learning_rate=3e-3");
  assign(config, "data.standardise=false");
  assign(config, "model.solver=rk4");
  assign(config, "loss.kl=1");  // a whole number where a real one belongs
  EXPECT_EQ(config.model.hidden, 64);
  EXPECT_EQ(config.train.learning_rate, 3e-3);
  EXPECT_FALSE(config.data.standardise);
  EXPECT_EQ(config.model.solver, Solver::rk4);
  EXPECT_EQ(config.loss.kl, 1.0);
}

TEST(Config, RefusalsNameTheKeyTheValueAndWhatIsAllowed) {
  Config config;
  EXPECT_EQ(error_of([&] { assign(config, "model.hidden=2.5"); }),
            "--set: model.hidden = 2.5 is not allowed; it must be a whole number from 1 to 4096");
  EXPECT_EQ(error_of([&] { assign(config, "model.solver=heun"); }),
            "--set: model.solver = heun is not allowed; it must be one of euler, midpoint, rk4, "
            "dopri5");
  EXPECT_EQ(error_of([&] { assign(config, "data.standardise=1"); }),
            "--set: data.standardise = 1 is not allowed; it must be true or false");
  EXPECT_EQ(error_of([&] { assign(config, "train.learning_rat=1"); }),
            "--set: unknown key 'train.learning_rat'; did you mean 'train.learning_rate'?");
  EXPECT_EQ(error_of([&] { assign(config, "train.learning_rate=nan"); }).find("--set"), 0u);
  EXPECT_EQ(config.model.hidden, Config{}.model.hidden);
}

TEST(Config, JsonRoundTripKeepsEveryKey) {
  Config config;
  assign(config, "model.hidden=7");
  assign(config, "data.t_cut=9.42477796076938");
  assign(config, "loss.kl_form=gaussian");
  Config copy;
  from_json(to_json(config), copy);
  EXPECT_EQ(to_json(copy), to_json(config));
}

TEST(Config, EveryPresetIsValid) {
  int count = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(EDICT_SOURCE_DIR "/presets")) {
    if (entry.path().extension() != ".toml" ||
        entry.path().filename().string().starts_with("reproduce"))
      continue;
    Config config;
    EXPECT_NO_THROW({
      read_toml(entry.path(), config);
      validate(config);
    }) << entry.path();
    ++count;
  }
  EXPECT_GT(count, 1);
}

TEST(Config, WhatContradictsItselfIsRefused) {
  Config smooth;
  smooth.train.smooth = true;
  EXPECT_NO_THROW(validate(smooth));
  smooth.data.holdout = 0;
  EXPECT_NE(error_of([&] { validate(smooth); }).find("data.holdout"), std::string::npos);
}

TEST(Config, ASettingThatIsGoneSaysWhatToUse) {
  Config config;
  for (const auto& [gone, instead] : std::vector<std::pair<std::string, std::string>>{
           {"model.memory_mask=true", "model.recall"},
           {"model.memory_age=false", "model.recall"},
           {"model.memory_last=true", "model.recall"},
           {"model.memory_mean=true", "model.recall"},
           {"model.evidence=forgetting", "train.calibrate"},
           {"train.forecast_from=1", "data.t_cut"},
           {"train.forecast_until=2", "data.t_cut"},
           {"train.forecast_reach=3", "data.t_cut"},
           {"train.recalibrate=true", "train.calibrate"}}) {
    const std::string name = gone.substr(0, gone.find('='));
    const std::string error = error_of([&] { assign(config, gone); });
    EXPECT_NE(error.find("there is no " + name + " any more"), std::string::npos) << error;
    EXPECT_NE(error.find(instead), std::string::npos) << error;
    const std::string text = "[" + name.substr(0, name.find('.')) + "]\n" +
                             name.substr(name.find('.') + 1) + " = true\n";
    EXPECT_NE(error_of([&] { read_toml_text(text, "old.toml", config); }).find("old.toml:2"),
              std::string::npos);
  }
}

// Of an earlier version's model: what its network does not depend on is left out.
TEST(Config, AStoredSettingThatIsGoneIsRefusedOnlyWhereItWasUsed) {
  const auto with = [](const char* table, const char* name, const nlohmann::json& value) {
    nlohmann::json json = to_json(Config());
    json[table][name] = value;
    return json;
  };
  Config config;
  for (const auto& unused :
       {with("model", "memory_mask", false), with("model", "evidence", "free"),
        with("train", "forecast_from", "auto"), with("train", "forecast_reach", 3.0),
        with("train", "recalibrate", false)})
    EXPECT_NO_THROW(from_stored_json(unused, config));
  EXPECT_FALSE(config.train.calibrate);
  from_stored_json(with("train", "recalibrate", true), config);
  EXPECT_TRUE(config.train.calibrate) << "what its distributions are adjusted by from now on";
  EXPECT_EQ(
      error_of([&] { from_stored_json(with("model", "memory_last", true), config); }),
      "it was trained with model.memory_last = true, which this version no longer has; use it "
      "with edict 1, or train it again");
  EXPECT_NE(error_of([&] {
              from_stored_json(with("model", "evidence", "forgetting"), config);
            }).find("model.evidence = \"forgetting\""),
            std::string::npos);
}

TEST(Nearest, SmallestEditDistance) {
  EXPECT_EQ(settings::nearest("modl.hiden", {"model.step", "model.hidden", "train.clip"}),
            "model.hidden");
}

}  // namespace
}  // namespace edict
