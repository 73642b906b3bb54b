#include "protocol/holdout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/error.h"
#include "research/import/synthetic.h"

namespace edict {
namespace {

constexpr double kCut = 9.42;

// About 27,000 of 36,000 observations are before the cut: the standard error of a share of 0.1 is
// √(0.09/27000) = 0.0018; four of them are allowed.
TEST(Holdout, TheShareOfWhatIsBeforeTheCutAndNothingBehindIt) {
  const Dataset d = generate_synthetic(1000, 3);
  const Holdout held = draw_holdout(d, kCut, 0.1, 7);
  ASSERT_EQ(held.size(), d.observations());
  double before = 0, held_before = 0;
  for (std::size_t e = 0; e < d.events(); ++e)
    for (std::size_t o = d.first_observation[e]; o < d.first_observation[e + 1]; ++o) {
      if (d.times[e] >= kCut) {
        EXPECT_EQ(held[o], 0);
      } else {
        ++before;
        held_before += held[o];
      }
    }
  EXPECT_NEAR(held_before / before, 0.1, 0.0072);
}

TEST(Holdout, ASeriesKeepsItsDrawWhereverItStands) {
  const Dataset d = generate_synthetic(20, 3);
  const Holdout whole = draw_holdout(d, kCut, 0.5, 7);
  Dataset reversed;
  reversed.features = d.features;
  for (std::size_t i = d.size(); i-- > 5;) {  // also without the first five
    reversed.add_series(d.ids[i]);
    for (std::size_t e = d.first_event[i]; e < d.first_event[i + 1]; ++e) {
      reversed.add_event(d.times[e]);
      for (const Observation& o : d.observed(e)) reversed.add_observation(o.feature, o.value);
    }
  }
  const Holdout part = draw_holdout(reversed, kCut, 0.5, 7);
  std::size_t next = 0;
  for (std::size_t i = d.size(); i-- > 5;)
    for (std::size_t o = d.first_observation[d.first_event[i]];
         o < d.first_observation[d.first_event[i + 1]]; ++o)
      ASSERT_EQ(part[next++], whole[o]) << d.ids[i];
}

TEST(Holdout, TheSeedAndTheSeriesDecide) {
  const Dataset d = generate_synthetic(50, 3);
  EXPECT_EQ(draw_holdout(d, kCut, 0.5, 7), draw_holdout(d, kCut, 0.5, 7));
  EXPECT_NE(draw_holdout(d, kCut, 0.5, 7), draw_holdout(d, kCut, 0.5, 8));
  Dataset renamed = d;
  for (auto& id : renamed.ids) id += "'";
  EXPECT_NE(draw_holdout(renamed, kCut, 0.5, 7), draw_holdout(d, kCut, 0.5, 7));
}

TEST(Holdout, ShareOfNoneAndAllAndBadOnes) {
  const Dataset d = generate_synthetic(50, 3);
  const auto sum = [](const Holdout& held) {
    return std::accumulate(held.begin(), held.end(), std::size_t{0});
  };
  EXPECT_EQ(sum(draw_holdout(d, 100.0, 0.0, 1)), 0u);
  EXPECT_EQ(sum(draw_holdout(d, 100.0, 1.0, 1)), d.observations());
  for (const double bad : {-0.1, 1.1, std::nan("")})
    EXPECT_THROW(draw_holdout(d, 1.0, bad, 1), Error);
}

}  // namespace
}  // namespace edict
