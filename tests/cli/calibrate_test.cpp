// `edict calibrate`, and what it changes in the commands that come after it.
#include <fmt/format.h>

#include <cmath>

#include "base/json/json.h"
#include "cli/tool.h"
#include "model/model.h"

namespace edict {
namespace {

class Calibrate : public ToolTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(edict("generate synthetic --out waves.csv --series 160").code, 0);
    ASSERT_EQ(edict("train waves.csv --out m.model --set data.validation=0.4 --set data.train=0.4 "
                    "--set train.calibrate=false" +
                    kTiny)
                  .code,
              0);
  }
};

TEST_F(Calibrate, TellsWhatItDidAndChangesOnlyTheDistributions) {
  const Outcome made = edict("calibrate m.model waves.csv --out c.model --json c.json");
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_NE(made.out.find("c.model: calibrated on "), std::string::npos) << made.out;
  EXPECT_NE(made.out.find("validation series; on the "), std::string::npos) << made.out;
  EXPECT_NE(made.out.find("extrapolation"), std::string::npos);
  const Model before = load_model(path() / "m.model"), after = load_model(path() / "c.model");
  EXPECT_TRUE(before.first().params == after.first().params);
  EXPECT_EQ(after.calibration.fit_series + after.calibration.conformal_series,
            before.seen.count(Part::validation));
  const auto json = nlohmann::json::parse(read("c.json"));
  EXPECT_LT(json["after"]["interpolation"]["nll"]["mean"],
            json["before"]["interpolation"]["nll"]["mean"]);
  EXPECT_NE(edict("evaluate c.model waves.csv").out.find("calibrated on "), std::string::npos);
  EXPECT_EQ(edict("evaluate m.model waves.csv").out.find("calibrated on "), std::string::npos);
  // A second one begins from the network, not from the first.
  ASSERT_EQ(edict("calibrate c.model waves.csv --out d.model").code, 0);
  EXPECT_EQ(read("d.model"), read("c.model"));
}

// Where groups are kept together the calibration counts groups. Few are not divided.
TEST_F(Calibrate, SaysWhetherItCountsSeriesOrGroups) {
  std::string table = "id,ward,time,x\n";
  for (int s = 0; s < 160; ++s)
    for (int e = 0; e < 5; ++e)
      table += fmt::format("s{},w{},{},{:.3f}\n", s, s / 4, e, std::sin(0.7 * e + s));
  write("wards.csv", table);
  const std::string columns = " --group ward";
  ASSERT_EQ(edict("train wards.csv --out g.model --set data.split=group" + columns + kTiny).code,
            0);
  const Outcome made = edict("calibrate g.model wards.csv --out h.model" + columns);
  ASSERT_EQ(made.code, 0) << made.err;
  const std::size_t groups = load_model(path() / "h.model").calibration.fit_series;
  EXPECT_NE(
      made.out.find(fmt::format("calibrated on {} validation groups; on the same, before", groups)),
      std::string::npos)
      << made.out;
  EXPECT_NE(edict("info h.model").out.find(fmt::format("calibrated by {} groups", groups)),
            std::string::npos);
  const Outcome refused = edict("predict h.model wards.csv --ahead 1 --conformal --out p.csv");
  EXPECT_NE(refused.err.find(fmt::format("on {} groups", groups)), std::string::npos)
      << refused.err;
}

// The same series hide the same observations.
TEST_F(Calibrate, IsWhatTrainingWouldHaveDone) {
  const std::string alike = " --set data.validation=0.4 --set data.train=0.4" + kTiny;
  ASSERT_EQ(edict("train waves.csv --out t.model --set train.calibrate=true" + alike).code, 0);
  ASSERT_EQ(edict("train waves.csv --out u.model --set train.calibrate=false" + alike).code, 0);
  ASSERT_EQ(edict("calibrate u.model waves.csv --out c.model").code, 0);
  EXPECT_EQ(to_json(load_model(path() / "t.model").calibration),
            to_json(load_model(path() / "c.model").calibration));
}

TEST_F(Calibrate, ConformalIntervalsAreWiderByWhatTheSeriesTell) {
  ASSERT_EQ(edict("calibrate m.model waves.csv --out c.model").code, 0);
  // Of the first row; lower and upper are its last two columns.
  const auto width = [&](const std::string& options) {
    EXPECT_EQ(edict("predict c.model waves.csv --ahead 1 --out p.csv " + options).code, 0);
    const std::string text = read("p.csv");
    const std::size_t header = text.find('\n'), end = text.find('\n', header + 1);
    const std::string row = text.substr(header + 1, end - header - 1);
    const std::size_t upper = row.rfind(','), lower = row.rfind(',', upper - 1);
    return std::stod(row.substr(upper + 1)) - std::stod(row.substr(lower + 1));
  };
  const Model model = load_model(path() / "c.model");
  const double level =
      conformal_level(model.calibration.features[0].steps_at(1.0 / model.protocol.time_unit), 0.8);
  ASSERT_LT(level, 1.0);
  EXPECT_NEAR(width("--level 0.8 --conformal"), width("--level " + std::to_string(level)), 1e-4);
  EXPECT_TRUE(std::isinf(width("--level 0.999 --conformal"))) << "some thirty series cannot tell";
}

TEST_F(Calibrate, NewSeriesThatCalibratedAreNoLongerUnseen) {
  ASSERT_EQ(edict("generate synthetic --out new.csv --series 60 --seed 9").code, 0);
  // The same ids would be known series.
  std::string text = read("new.csv");
  for (std::size_t at = text.find('\n'); at + 1 < text.size(); at = text.find('\n', at + 1))
    text.insert(at + 1, "new");
  write("new.csv", text);
  ASSERT_EQ(edict("calibrate m.model new.csv --out c.model --split unseen").code, 0);
  EXPECT_EQ(load_model(path() / "c.model").seen.count(Part::validation),
            load_model(path() / "m.model").seen.count(Part::validation) + 60);
  const Outcome none = edict("calibrate m.model new.csv --out d.model");
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("--split unseen"), std::string::npos) << none.err;
  EXPECT_FALSE(exists("d.model"));
}

TEST_F(Calibrate, RefusesWhatItCannotDo) {
  EXPECT_EQ(edict("calibrate m.model waves.csv --out m.model").code, 2) << "an output is no input";
  const Outcome raw = edict("predict m.model waves.csv --ahead 1 --conformal --out p.csv");
  EXPECT_EQ(raw.code, 2);
  EXPECT_NE(raw.err.find("edict calibrate m.model"), std::string::npos) << raw.err;
}

}  // namespace
}  // namespace edict
