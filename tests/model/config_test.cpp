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
  EXPECT_EQ(config.model.solver, "rk4");
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
  Config window;
  window.train.forecast_from = 8.0;
  window.train.forecast_until = 6.0;
  EXPECT_NE(error_of([&] { validate(window); }).find("forecast_until"), std::string::npos);
  Config absorb;
  absorb.train.recalibrate = true;
  EXPECT_NO_THROW(validate(absorb));
  absorb.model.absorb = "bounded";
  EXPECT_NE(error_of([&] { validate(absorb); }).find("model.absorb"), std::string::npos);
}

TEST(Nearest, SmallestEditDistance) {
  EXPECT_EQ(settings::nearest("modl.hiden", {"model.step", "model.hidden", "train.clip"}),
            "model.hidden");
}

}  // namespace
}  // namespace edict
