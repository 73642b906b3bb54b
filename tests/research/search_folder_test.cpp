// What a search keeps on disk, and what it makes of a folder that is not its own.
#include "research/search/search_folder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "temporary_folder.h"

namespace edict::study {
namespace {

class SearchFolderTest : public testing::Test {
 protected:
  SearchFolder open() const { return SearchFolder(folder_ / "s", plan_); }
  std::string refusal() const {
    try {
      open();
    } catch (const Error& e) {
      return e.what();
    }
    return "accepted";
  }
  static Outcome outcome(std::size_t trial, std::size_t rung, double nll) {
    Outcome o{trial, rung, 6};
    o.nll = nll;
    o.mse = 2 * nll;
    o.ece = 0.01;
    o.extrapolation_nll = std::nan("");
    o.extrapolation_mse = 0.5;
    o.seconds = 1.5;
    return o;
  }

  TemporaryFolder folder_;
  SearchPlan plan_{7, Config{}, {parse_range("model.hidden=32,64")}, 3, {6, 18}};
};

TEST_F(SearchFolderTest, OutcomesComeBackByRungThenTrial) {
  const SearchFolder folder = open();
  Outcome failed{2, 0, 6};
  failed.failure = "the gradient, \"it\" is not finite";
  for (const Outcome& o : {outcome(1, 1, 0.25), outcome(1, 0, 0.5), failed, outcome(0, 0, -1)}) {
    folder.begin({o.trial, o.rung}, plan_.base);
    folder.finish(o);
  }
  const auto back = open().read_outcomes();
  ASSERT_EQ(back.size(), 4u);
  EXPECT_EQ(back[0].nll, -1);
  EXPECT_EQ(back[1].nll, 0.5);
  EXPECT_EQ(back[1].seconds, 1.5);
  EXPECT_TRUE(std::isnan(back[1].extrapolation_nll));
  EXPECT_EQ(back[1].extrapolation_mse, 0.5);
  EXPECT_EQ(back[2].failure, failed.failure);
  EXPECT_EQ(back[3].rung, 1u);
}

TEST_F(SearchFolderTest, AnotherSearchIsRefusedByWhatDiffers) {
  open();
  EXPECT_EQ(refusal(), "accepted");
  const SearchPlan before = plan_;
  plan_.subject = 8;
  EXPECT_NE(refusal().find("another data"), std::string::npos) << refusal();
  plan_ = before;
  plan_.base.train.batch = 17;
  EXPECT_NE(refusal().find("another config"), std::string::npos) << refusal();
  plan_ = before;
  plan_.ranges[0].choices.pop_back();
  EXPECT_NE(refusal().find("another ranges"), std::string::npos) << refusal();
  plan_ = before;
  plan_.seed = 4;
  EXPECT_NE(refusal().find("another seed"), std::string::npos) << refusal();
  plan_ = before;
  plan_.epochs = {18};
  EXPECT_NE(refusal().find("another epochs"), std::string::npos) << refusal();
}

TEST_F(SearchFolderTest, AFolderOfSomethingElseIsRefused) {
  folder_.write("s/notes.txt", "mine");
  EXPECT_NE(refusal().find("holds no search"), std::string::npos) << refusal();
  EXPECT_EQ(folder_.read("s/notes.txt"), "mine");
}

TEST_F(SearchFolderTest, ADamagedResultIsNamed) {
  const SearchFolder folder = open();
  folder_.write("s/trial-0000/rung-0.json", "{\"trial\": 0}");
  try {
    folder.read_outcomes();
    FAIL() << "it was read";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("rung-0.json: a result is incomplete"), std::string::npos)
        << e.what();
  }
  folder_.write("s/trial-0000/rung-0.json", "half");
  EXPECT_THROW(folder.read_outcomes(), Error);
}

TEST_F(SearchFolderTest, TheTableHasARowARunAndTheBestItsSettings) {
  const SearchFolder folder = open();
  Outcome failed{1, 0, 6};
  failed.failure = "a, comma";
  folder.summarise({outcome(0, 0, 0.5), failed}, plan_.ranges, [&](std::size_t trial) {
    Config config;
    config.model.hidden = trial == 0 ? 32 : 64;
    return config;
  });
  EXPECT_EQ(folder_.read("s/trials.csv"),
            "trial,rung,epochs,seconds,interpolation_nll,interpolation_mse,interpolation_ece,"
            "extrapolation_nll,extrapolation_mse,model.hidden,failure\n"
            "0,0,6,1.5,0.5,1,0.01,,0.5,32,\n"
            "1,0,6,0.0,,,,,,64,\"a, comma\"\n");
  const std::string best = folder_.read("s/best.toml");
  EXPECT_NE(best.find("# Trial 0 of a search"), std::string::npos);
  EXPECT_NE(best.find("hidden = 32"), std::string::npos);
}

TEST_F(SearchFolderTest, WithoutASuccessThereIsNoBest) {
  const SearchFolder folder = open();
  Outcome failed{0, 0, 6};
  failed.failure = "no";
  folder.summarise({failed}, plan_.ranges, [](std::size_t) { return Config{}; });
  EXPECT_TRUE(folder_.exists("s/trials.csv"));
  EXPECT_FALSE(folder_.exists("s/best.toml"));
}

}  // namespace
}  // namespace edict::study
