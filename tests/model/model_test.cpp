#include "model/model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "data/subset.h"
#include "engine/small_model.h"
#include "temporary_folder.h"

namespace edict {
namespace {

using Series = std::vector<std::size_t>;

class ModelTest : public testing::Test {
 protected:
  const Dataset data_ = generate_synthetic(120, 3);
  const Model model_ = untrained_model(data_);
  const Split parts_ = split(data_, model_.config.data);

  // The data with other ids: series that the model has not met.
  Dataset renamed() const {
    Dataset result = data_;
    for (std::string& id : result.ids) id = "new " + id;
    return result;
  }
};

TEST_F(ModelTest, SeriesOfEveryPart) {
  EXPECT_EQ(model_.series_of(data_, "train"), parts_.train);
  EXPECT_EQ(model_.series_of(data_, "validation"), parts_.validation);
  EXPECT_EQ(model_.series_of(data_, "test"), parts_.test);
  EXPECT_EQ(model_.series_of(data_, "all"), every_series(data_));
  EXPECT_NE(refusal_of([&] { model_.series_of(data_, "unseen"); }), "accepted");
  EXPECT_EQ(refusal_of([&] { model_.series_of(data_, "tset"); }),
            "there is no split 'tset'; give train, validation, test, unseen or all");
}

TEST_F(ModelTest, NewSeriesAreAllTestedUnlessTheFileHoldsKnownOnes) {
  const Dataset fresh = renamed();
  EXPECT_EQ(model_.series_of(fresh, "test"), every_series(fresh));
  EXPECT_EQ(model_.series_of(fresh, "unseen"), every_series(fresh));
  // One training series among them, and "test" finds nothing rather than everything.
  Dataset mixed = fresh;
  mixed.ids[0] = data_.ids[parts_.train[0]];
  EXPECT_NE(refusal_of([&] { model_.series_of(mixed, "test"); }).find("1 were trained on"),
            std::string::npos);
  EXPECT_EQ(model_.series_of(mixed, "unseen").size(), fresh.size() - 1);
}

TEST_F(ModelTest, TheRecordTravelsInTheFile) {
  const TemporaryFolder folder;
  save_model(model_, folder / "m");
  const Model back = load_model(folder / "m");
  EXPECT_EQ(back.series_of(data_, "test"), parts_.test);
  EXPECT_EQ(back.split(data_).train, parts_.train);
  EXPECT_TRUE(back.split(data_).unseen.empty());
  for (const std::string& id : data_.ids)
    EXPECT_EQ(folder.read("m").find(id), std::string::npos) << "an id can be read";
}

// What is new is divided as training divided; what is known stays where it was, whatever the
// settings would say.
TEST_F(ModelTest, SplitToTrainKeepsWhatIsRecordedAndDividesTheRest) {
  EXPECT_EQ(model_.split_to_train(data_).train, parts_.train);
  const Dataset fresh = renamed();
  const Split expected = split(fresh, model_.config.data);
  EXPECT_EQ(model_.split_to_train(fresh).train, expected.train);
  EXPECT_EQ(model_.split_to_train(fresh).test, expected.test);
  const Split own{{0, 1, 2}, {3, 4}, {5}};
  const Model odd = Model::create(small_synthetic_config(), data_, own);
  const Split found = odd.split_to_train(data_);
  for (const std::size_t i : own.train)
    EXPECT_TRUE(std::count(found.train.begin(), found.train.end(), i));
  EXPECT_TRUE(std::count(found.test.begin(), found.test.end(), 5u));
  EXPECT_EQ(found.train.size() + found.validation.size() + found.test.size(), data_.size());
  EXPECT_TRUE(std::is_sorted(found.train.begin(), found.train.end()));
}

TEST_F(ModelTest, MatchesColumnsByName) {
  Dataset other = data_;
  std::swap(other.features[0], other.features[2]);  // x3, x2, x1: the values keep their columns
  const MatchedData matched = model_.match(other);
  matched.data.check();
  EXPECT_EQ(matched.data.features, model_.features);
  EXPECT_EQ(matched.data.observations(), data_.observations());
  model_.check_data(matched.data);
  EXPECT_NE(refusal_of([&] { model_.check_data(other); }), "accepted");
}

}  // namespace
}  // namespace edict
