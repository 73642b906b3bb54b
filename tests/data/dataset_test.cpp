#include "data/dataset.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "base/error.h"
#include "data/fingerprint.h"
#include "data/full_dataset.h"

namespace edict {
namespace {

std::string refusal(const std::function<void(Dataset&)>& action) {
  Dataset d = full();
  try {
    action(d);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Dataset, AddsInOrderOnly) {
  EXPECT_EQ(refusal([](Dataset& d) { d.add_event(10); }), "accepted");
  EXPECT_EQ(refusal([](Dataset& d) { d.add_event(9); }),
            "dataset: series b: time 9 comes after 9; add events in order of time, each once");
  EXPECT_NE(refusal([](Dataset& d) { d.add_event(8); }), "accepted");
  EXPECT_NE(refusal([](Dataset& d) { d.add_event(std::nan("")); }), "accepted");
  EXPECT_EQ(refusal([](Dataset& d) {
              d.add_series("c");
              d.add_event(-100);  // another series has another clock
              d.add_observation(0, 1);
              d.add_observation(2, 1);
            }),
            "accepted");
  EXPECT_EQ(refusal([](Dataset& d) { d.add_observation(1, 1); }),
            "dataset: series b, time 9: feature 'y' comes after 'z'; add the observations of an "
            "event in the order of the features, each once");
  EXPECT_NE(refusal([](Dataset& d) { d.add_observation(2, 1); }), "accepted") << "twice";
  for (const std::int32_t unknown : {-1, 3}) {
    EXPECT_NE(refusal([&](Dataset& d) {
                d.add_event(10);
                d.add_observation(unknown, 1);
              }).find("there is no feature"),
              std::string::npos);
  }
  EXPECT_NE(refusal([](Dataset& d) {
              d.add_event(10);
              d.add_observation(0, std::numeric_limits<double>::infinity());
            }).find("is not finite"),
            std::string::npos);
  Dataset empty;
  EXPECT_THROW(empty.add_event(0), Error);
  empty.add_series("a");
  EXPECT_THROW(empty.add_observation(0, 0), Error);
}

TEST(Dataset, CovariatesAreAllThereOrAllMissing) {
  Dataset d = full();
  d.add_series("c");
  EXPECT_TRUE(std::isnan(d.covariates(2)[0]) && std::isnan(d.covariates(2)[1]));
  const double one[] = {1.0};
  EXPECT_THROW(d.add_series("d", Dataset::kNone, Dataset::kNone, one), Error);
  d.check();
}

TEST(Dataset, CheckSeesWhateverIsOutOfOrder) {
  EXPECT_EQ(refusal([](Dataset& d) { d.check(); }), "accepted");
  const std::function<void(Dataset&)> faults[] = {
      [](Dataset& d) { std::swap(d.times[0], d.times[1]); },
      [](Dataset& d) { d.times[1] = d.times[0]; },
      [](Dataset& d) { d.times[3] = std::numeric_limits<double>::infinity(); },
      [](Dataset& d) { std::swap(d.feature[0], d.feature[1]); },
      [](Dataset& d) { d.feature[1] = 3; },
      [](Dataset& d) { d.feature[0] = -1; },
      [](Dataset& d) { d.value[2] = std::nan(""); },
      [](Dataset& d) { d.value.edit().pop_back(); },
      [](Dataset& d) { d.first_event[1] = 5; },
      [](Dataset& d) { d.first_observation[1] = 100; },
      [](Dataset& d) { d.first_observation.edit().pop_back(); },
      [](Dataset& d) { d.labels[0] = 2; },
      [](Dataset& d) { d.group_of[1] = -2; },
      [](Dataset& d) { d.static_values.edit().pop_back(); },
      [](Dataset& d) { d.ids[1] = d.ids[0]; },
      [](Dataset& d) { d.time_axis.origin = {0}; },
  };
  for (std::size_t k = 0; k < std::size(faults); ++k)
    EXPECT_TRUE(refusal([&](Dataset& d) {
                  faults[k](d);
                  d.check();
                }).starts_with("dataset: "))
        << k;
}

TEST(Fingerprint, SeesEveryField) {
  const std::uint64_t original = fingerprint(full());
  EXPECT_EQ(fingerprint(full()), original);
  const std::function<void(Dataset&)> changes[] = {
      [](Dataset& d) { d.features[1] = "w"; },
      [](Dataset& d) { d.statics[1] = "height"; },
      [](Dataset& d) { d.classes[1] = "perhaps"; },
      [](Dataset& d) { d.groups[1] = "k"; },
      [](Dataset& d) { d.ids[1] = "c"; },
      [](Dataset& d) { d.labels[1] = Dataset::kNone; },
      [](Dataset& d) { d.group_of[1] = 0; },
      [](Dataset& d) { d.static_values[0] += 1e-12; },
      [](Dataset& d) { d.first_event[1] = 1; },
      [](Dataset& d) { d.times[3] += 1e-12; },
      [](Dataset& d) { d.first_observation[1] = 1; },
      [](Dataset& d) { d.feature[1] = 1; },
      [](Dataset& d) { d.value[4] += 1e-12; },
      [](Dataset& d) { d.time_axis.kind = TimeKind::date; },
      [](Dataset& d) { d.time_axis.unit = TimeUnit::day; },
      [](Dataset& d) { d.time_axis.epoch = 1; },
      [](Dataset& d) {
        d.time_axis.from_first = true;
        d.time_axis.origin = {0, 1};
      },
  };
  for (std::size_t k = 0; k < std::size(changes); ++k) {
    Dataset changed = full();
    changes[k](changed);
    EXPECT_NE(fingerprint(changed), original) << "change " << k;
  }
}

}  // namespace
}  // namespace edict
