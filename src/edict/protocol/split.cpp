#include "edict/protocol/split.h"

#include <fmt/core.h>

#include "edict/core/error.h"
#include "edict/core/generator.h"

namespace edict {

std::string_view name_of(Part part) {
  switch (part) {
    case Part::train:
      return "train";
    case Part::validation:
      return "validation";
    case Part::test:
      return "test";
    case Part::unseen:
      break;
  }
  return "unseen";
}

std::vector<std::size_t>& Split::operator[](Part part) {
  switch (part) {
    case Part::train:
      return train;
    case Part::validation:
      return validation;
    case Part::test:
      return test;
    case Part::unseen:
      break;
  }
  return unseen;
}

Split split(const Dataset& dataset, std::uint64_t seed, double train, double validation,
            SplitBy by) {
  constexpr double kRounding = 1e-12;  // of the shares' sum: 0.7 + 0.2 + 0.1 is not quite 1
  if (!(train > 0.0) || !(validation >= 0.0) || !(train + validation <= 1.0 + kRounding))
    throw Error(
        fmt::format("split: shares {} and {} must be positive and at most 1 together; give "
                    "others",
                    train, validation));
  if (by == SplitBy::group && dataset.groups.empty())
    throw Error("split by group: the data has no groups; add a 'group' column or split by series");
  const bool tested = train + validation < 1.0 - kRounding;
  Split parts;
  const auto part_at = [&](double place) {
    return place < train                           ? Part::train
           : place < train + validation || !tested ? Part::validation
                                                   : Part::test;
  };
  if (by == SplitBy::time) {
    for (std::size_t head = 0, end = 0; head < dataset.size(); head = end) {
      for (end = head + 1; end < dataset.size() && dataset.continues_previous(end);) ++end;
      for (std::size_t i = head; i < end; ++i) {
        const double place =
            (static_cast<double>(i - head) + 0.5) / static_cast<double>(end - head);
        const double early = train + 0.5 * validation;  // of which some validate
        const bool chosen =
            Generator(seed, "split", hash_of(dataset.ids[i])).uniform() * early >= train;
        parts[place >= early ? part_at(place)
              : chosen       ? Part::validation
                             : Part::train]
            .push_back(i);
      }
    }
    return parts;
  }
  for (std::size_t i = 0; i < dataset.size(); ++i) {
    const bool whole_group = by == SplitBy::group && dataset.group_of[i] != Dataset::kNone;
    const double place =
        whole_group ? Generator(seed, "split of groups", hash_of(dataset.group_name(i))).uniform()
                    : Generator(seed, "split", hash_of(dataset.ids[i])).uniform();
    parts[part_at(place)].push_back(i);
  }
  return parts;
}

Split split(const Dataset& dataset, const DataSettings& settings) {
  return split(dataset, static_cast<std::uint64_t>(settings.seed), settings.train,
               settings.validation, split_by(settings));
}

SplitBy split_by(const DataSettings& settings) {
  return settings.split == "group"  ? SplitBy::group
         : settings.split == "time" ? SplitBy::time
                                    : SplitBy::series;
}

void check_trainable(const Split& split, const DataSettings& settings) {
  const std::size_t series =
      split.train.size() + split.validation.size() + split.test.size() + split.unseen.size();
  const auto refuse = [&](std::string_view part, double share) {
    throw Error(fmt::format(
        "the {0} split is empty: with data.seed = {1} and data.{0} = {2} none of the {3} series "
        "falls into it; choose another data.seed, raise data.{0} or add series",
        part, settings.seed, share, series));
  };
  if (split.train.empty()) refuse("train", settings.train);
  if (split.validation.empty()) refuse("validation", settings.validation);
}

}  // namespace edict
