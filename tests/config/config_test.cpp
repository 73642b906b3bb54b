#include "edict/config/config.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "edict/core/error.h"

namespace edict {
namespace {

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Config, EveryKeyIsDocumentedAllowedAndUnique) {
  Config config;
  std::set<std::string_view> names;
  for (const Key& key : keys(config)) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name;
    EXPECT_FALSE(key.help.empty()) << key.name;
    if (const auto* text = std::get_if<std::string*>(&key.value)) {
      EXPECT_NE(std::find(key.choices.begin(), key.choices.end(), **text), key.choices.end())
          << key.name;
    }
    if (const auto* number = std::get_if<double*>(&key.value)) {
      EXPECT_TRUE(**number >= key.low && **number <= key.high) << key.name;
    }
    if (const auto* whole = std::get_if<std::int64_t*>(&key.value)) {
      const auto value = static_cast<double>(**whole);
      EXPECT_TRUE(value >= key.low && value <= key.high) << key.name;
    }
  }
}

TEST(Config, SetReachesEveryType) {
  Config config;
  set(config, "model.hidden=64");
  set(config, "train.learning_rate=3e-3");
  set(config, "data.standardise=false");
  set(config, "model.solver=rk4");
  set(config, "loss.kl=1");  // a whole number where a real one belongs
  EXPECT_EQ(config.model.hidden, 64);
  EXPECT_EQ(config.train.learning_rate, 3e-3);
  EXPECT_FALSE(config.data.standardise);
  EXPECT_EQ(config.model.solver, "rk4");
  EXPECT_EQ(config.loss.kl, 1.0);
}

TEST(Config, RefusalsNameTheKeyTheValueAndWhatIsAllowed) {
  Config config;
  EXPECT_EQ(error_of([&] { set(config, "model.hidden=2.5"); }),
            "--set: model.hidden = 2.5 is not allowed; it must be a whole number from 1 to 4096");
  EXPECT_EQ(error_of([&] { set(config, "model.solver=heun"); }),
            "--set: model.solver = heun is not allowed; it must be one of euler, midpoint, rk4, "
            "dopri5");
  EXPECT_EQ(error_of([&] { set(config, "data.standardise=1"); }),
            "--set: data.standardise = 1 is not allowed; it must be true or false");
  EXPECT_EQ(error_of([&] { set(config, "train.learning_rat=1"); }),
            "--set: unknown key 'train.learning_rat'; did you mean 'train.learning_rate'?");
  EXPECT_EQ(error_of([&] { set(config, "train.learning_rate=nan"); }).find("--set"), 0u);
  EXPECT_EQ(config.model.hidden, Config{}.model.hidden);
}

TEST(Config, JsonRoundTripKeepsEveryKey) {
  Config config;
  set(config, "model.hidden=7");
  set(config, "data.t_cut=9.42477796076938");
  set(config, "loss.kl_form=gaussian");
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

TEST(Nearest, SmallestEditDistance) {
  EXPECT_EQ(nearest("modl.hiden", {"model.step", "model.hidden", "train.clip"}), "model.hidden");
}

}  // namespace
}  // namespace edict
