// Some series of a dataset are those series, whole and in the order asked for.
#include "data/subset.h"

#include <gtest/gtest.h>

#include <cmath>

#include "data/fingerprint.h"
#include "data/read/csv/csv.h"

namespace edict {
namespace {

Dataset three() {
  return read_csv_text(
      "id,time,x,y,label,group,static:age\n"
      "a,0,1,,no,g,20\n"
      "a,1,3,4,no,g,20\n"
      "b,-1,5,,yes,h,30\n"
      "b,9,,8,yes,h,30\n"
      "c,2,6,7,,g,\n",
      "f");
}

using Series = std::vector<std::size_t>;

TEST(Subset, OfAllIsTheSameData) {
  EXPECT_EQ(fingerprint(subset(three(), Series{0, 1, 2})), fingerprint(three()));
}

TEST(Subset, ComesInTheOrderAskedForWithAllThatBelongsToASeries) {
  const Dataset some = subset(three(), Series{2, 0});
  some.check();
  EXPECT_EQ(some.ids, (std::vector<std::string>{"c", "a"}));
  EXPECT_EQ(some.labels, (std::vector<std::int32_t>{Dataset::kNone, 0}));
  EXPECT_EQ(some.group_name(0), "g");
  EXPECT_TRUE(std::isnan(some.covariates(0)[0]));
  EXPECT_EQ(some.covariates(1)[0], 20.0);
  EXPECT_EQ(some.times, (std::vector<double>{2, 0, 1}));
  EXPECT_EQ(some.value, (std::vector<double>{6, 7, 1, 3, 4}));
}

// An index of a class means the same class in the part as in the whole.
TEST(Subset, NamesStayEvenWhereNobodyUsesThem) {
  const Dataset one = subset(three(), Series{0});
  EXPECT_EQ(one.classes, three().classes);
  EXPECT_EQ(one.groups, three().groups);
  EXPECT_EQ(one.features, three().features);
  EXPECT_EQ(one.statics, three().statics);
}

TEST(Subset, WhatLiesAtOrAfterTheEndIsLeftOut) {
  const Dataset early = subset(three(), Series{0, 1, 2}, 1.0);
  early.check();
  EXPECT_EQ(early.size(), 3u);  // c has nothing left, and is still there
  EXPECT_EQ(early.times, (std::vector<double>{0, -1}));
  EXPECT_EQ(early.events(2), 0u);
}

TEST(Subset, ASeriesThatIsListedAgainIsThereAgainUnderANameOfItsOwn) {
  const Dataset drawn = subset(three(), Series{1, 0, 1, 1});
  drawn.check();
  EXPECT_EQ(drawn.ids, (std::vector<std::string>{"b", "a", "b (copy 2)", "b (copy 3)"}));
  EXPECT_EQ(drawn.labels, (std::vector<std::int32_t>{1, 0, 1, 1}));
  EXPECT_EQ(drawn.value, (std::vector<double>{5, 8, 1, 3, 4, 5, 8, 5, 8}));
  const Dataset again = subset(drawn, Series{2, 2, 0});
  EXPECT_EQ(again.ids, (std::vector<std::string>{"b (copy 2)", "b (copy 4)", "b"}));
  for (const std::string& id : again.ids) EXPECT_EQ(original_id(id), "b");
  for (const std::string_view id :
       {"b", "(copy 2)", " (copy 2)", "b (copy )", "b (copy x)", "b (copy 2) "})
    EXPECT_EQ(original_id(id), id);
}

TEST(Subset, OfNothingHasTheNamesAlone) {
  const Dataset none = subset(three(), {});
  none.check();
  EXPECT_EQ(none.size(), 0u);
  EXPECT_EQ(none.features.size(), 2u);
}

}  // namespace
}  // namespace edict
