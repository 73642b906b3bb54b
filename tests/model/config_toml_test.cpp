
#include <gtest/gtest.h>

#include "base/json/json.h"
#include "model/config.h"
#include "temporary_folder.h"

namespace edict {
namespace {

TEST(WriteToml, ReadsBackAsTheSameSettings) {
  Config config;
  config.data.t_cut = 3 * 3.14159265358979312;
  config.data.split = SplitBy::group;
  config.data.standardise = false;
  config.model.hidden = 77;
  config.loss.kl = 1e-7;
  config.train.learning_rate = 0.1 + 0.2;  // no short decimal
  config.train.clip_norm = 5.0;            // must stay a floating number
  const TemporaryFolder folder;
  folder.write("settings.toml", to_toml(config));
  Config again;
  read_toml(folder / "settings.toml", again);
  EXPECT_EQ(to_json(again), to_json(config));
  EXPECT_NE(to_json(Config{}), to_json(config));
}

TEST(WriteToml, TablesComeOnceAndInOrder) {
  const std::string text = to_toml(Config{});
  EXPECT_EQ(text.substr(0, 16), "[data]\nseed = 0\n");
  EXPECT_EQ(text.find("\n[model]\nkind = \"edict\"\n"), text.rfind("[model]") - 1);
  EXPECT_NE(text.find("\nclip = 1.0\n"), std::string::npos);
}

}  // namespace
}  // namespace edict
