#include "protocol/resolution.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/generator.h"
#include "base/not_finite.h"

namespace edict {
namespace {

// Features: noise, noise rounded to tenths, a constant, a weight that is measured now and then and
// repeated in between, and a dose, mostly none.
Dataset of_every_resolution() {
  Dataset data;
  data.features = {"noise", "rounded", "constant", "repeated", "dose"};
  for (int i = 0; i < 10; ++i) {
    Generator random(3, "resolution", static_cast<std::uint64_t>(i));
    data.add_series(std::to_string(i));
    double weight = 70;
    for (int e = 0; e < 200; ++e) {
      if (e % 20 == 19) weight += e % 40 == 39 ? 2 : -2;
      data.add_event(e);
      data.add_observation(0, random.normal());
      data.add_observation(1, std::round(10 * random.normal()) / 10);
      data.add_observation(2, 5);
      data.add_observation(3, weight);
      data.add_observation(4, random.uniform() < 0.03 ? 10 : 0);
    }
  }
  return data;
}

TEST(Resolution, IsTheLeastScaleAndWhatHardlyEverChanges) {
  const Dataset data = of_every_resolution();
  const std::vector<std::size_t> all = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const Standardisation z = fit_standardisation(data, all, kInfinity);
  const Resolution found = find_resolution(data, all, z);
  EXPECT_EQ(found.least_scale[0], 0.0);
  EXPECT_NEAR(found.least_scale[1], 0.3 * 0.1 / z.scale[1], 1e-9);
  EXPECT_EQ(found.least_scale[2], 0.1);
  EXPECT_NEAR(found.least_scale[3], 0.3 * 2.0 / z.scale[3], 1e-12);
  EXPECT_EQ(found.unchanging, (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(found.sporadic, (std::vector<std::size_t>{4}));
}

}  // namespace
}  // namespace edict
