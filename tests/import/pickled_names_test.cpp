#include "research/import/mimic/pickled_names.h"

#include <gtest/gtest.h>

#include "import/pack.h"

namespace edict {
namespace {

using Names = std::vector<std::vector<std::string>>;

Names read(const std::string& pickle) { return read_pickled_names(pickle, "x.h5"); }

// The pickles are what Python's pickle.dumps(…, 0) gives.
TEST(PickledNames, ReadsListsOfTexts) {
  EXPECT_EQ(read("(lp0\nVage\np1\naVlos_icu\np2\na."), (Names{{"age"}, {"los_icu"}}));
  EXPECT_EQ(read("(lp0\n."), Names{});
  EXPECT_EQ(read("(lp0\nS'age'\np1\na."), (Names{{"age"}}));  // Python 2
  EXPECT_EQ(read("(lp0\nI51\naL52L\na."), (Names{{"51"}, {"52"}}));
}

TEST(PickledNames, ReadsColumnsOfTwoLevelsAndRecallsRepeatedTexts) {
  EXPECT_EQ(read("(lp0\n(Vheart rate\np1\nVmean\np2\ntp3\na(Vglucose\np4\ng2\ntp5\na."),
            (Names{{"heart rate", "mean"}, {"glucose", "mean"}}));
}

TEST(PickledNames, DecodesOtherLetters) {
  EXPECT_EQ(read("(lp0\nV\\u20ac\np1\naVna\xefve\np2\na."), (Names{{"€"}, {"naïve"}}));
}

TEST(PickledNames, RefusesEverythingElse) {
  for (const std::string& pickle : {
           std::string("cos\nsystem\n(S'true'\ntR."),  // a call
           std::string("(lp0\nVage\np1\na"),           // no end
           std::string("(lp0\nVage"),                  // no line end
           std::string("Vage\n."),                     // no list
           std::string("a."),                          // nothing to append to
           std::string("(lp0\ng7\na."),                // nothing to recall
           std::string("l."),                          // no mark
           std::string("(lp0\nV\\u20\np1\na."),        // half a letter
           std::string("\x80\x04]\x94."),              // a binary protocol
           std::string(),
       })
    expect_contains(error_of([&] { read(pickle); }), "x.h5: the column names are pickled");
}

}  // namespace
}  // namespace edict
