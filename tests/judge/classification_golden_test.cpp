// Every class metric against scikit-learn (golden/write_classification_golden.py).
#include <gtest/gtest.h>

#include "base/json/json.h"
#include "judge/classes/classification_metrics.h"
#include "temporary_folder.h"

namespace edict {
namespace {

using nlohmann::json;

void expect_per_class(const Ranking& ranking, const json& expected, const std::string& name) {
  ASSERT_EQ(ranking.per_class.size(), expected.size()) << name;
  std::vector<std::int32_t> absent;
  for (std::size_t k = 0; k < expected.size(); ++k)
    if (expected[k].is_null())
      absent.push_back(static_cast<std::int32_t>(k));
    else
      EXPECT_NEAR(ranking.per_class[k], expected[k].get<double>(), 1e-13) << name << " class " << k;
  EXPECT_EQ(ranking.skipped, absent) << name;
}

TEST(ClassificationGolden, EqualsScikitLearn) {
  const json cases = json::parse(content(EDICT_TEST_DIR "/golden/classification.json",
                                         "run write_classification_golden.py beside it"));
  ASSERT_EQ(cases.size(), 11u);
  std::size_t absent_classes = 0;
  for (const json& c : cases) {
    const std::string name = c.at("name");
    const auto probability = c.at("probability").get<std::vector<double>>();
    const auto label = c.at("label").get<std::vector<std::int32_t>>();
    const json& expected = c.at("expected");
    const auto actual =
        classification_metrics(Predictions(probability, label, c.at("classes").get<std::size_t>()));
    // Sums of a few hundred terms in another order.
    EXPECT_NEAR(actual.accuracy, expected.at("accuracy").get<double>(), 1e-14) << name;
    EXPECT_NEAR(actual.auroc.value, expected.at("auroc").get<double>(), 1e-13) << name;
    EXPECT_NEAR(actual.average_precision.value, expected.at("auprc").get<double>(), 1e-13) << name;
    EXPECT_NEAR(actual.brier, expected.at("brier").get<double>(), 1e-13) << name;
    EXPECT_NEAR(actual.log_loss, expected.at("log_loss").get<double>(), 1e-12) << name;
    EXPECT_EQ(json(actual.confusion), expected.at("confusion")) << name;
    if (actual.classes > 2) {
      expect_per_class(actual.auroc, expected.at("auroc_per_class"), name);
      expect_per_class(actual.average_precision, expected.at("auprc_per_class"), name);
    }
    absent_classes += actual.auroc.skipped.size();
  }
  EXPECT_EQ(absent_classes, 1u);
}

}  // namespace
}  // namespace edict
