#include "protocol/split.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/generator.h"
#include "data/subset.h"

namespace edict {

namespace {

// Where each piece lies along its series, from 0 to 1.
std::vector<double> places_along_series(const Dataset& dataset) {
  std::vector<double> places(dataset.size());
  for (std::size_t head = 0, end = 0; head < dataset.size(); head = end) {
    for (end = head + 1; end < dataset.size() && dataset.continues_previous(end);) ++end;
    for (std::size_t i = head; i < end; ++i)
      places[i] = (static_cast<double>(i - head) + 0.5) / static_cast<double>(end - head);
  }
  return places;
}

// Pieces are trained on up to this place; of what comes before it some validate.
double training_end(double train, double validation) { return train + 0.5 * validation; }

}  // namespace

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

std::vector<double> draw_places(const Dataset& dataset, std::span<const std::size_t> series,
                                std::uint64_t seed, SplitBy by, std::string_view purpose) {
  const auto draw = [seed](const std::string& what, std::string_view key) {
    return Generator(seed, what, hash_of(key)).uniform();
  };
  const std::string alone(purpose), of_groups = alone + " of groups";
  std::vector<double> places;
  for (const std::size_t i : series) {
    const bool whole_group = by == SplitBy::group && dataset.group_of[i] != Dataset::kNone;
    places.push_back(whole_group ? draw(of_groups, dataset.group_name(i))
                                 : draw(alone, original_id(dataset.ids[i])));
  }
  if (by != SplitBy::stratified) return places;
  std::map<std::int32_t, std::vector<std::size_t>> classes;  // places in `series`
  for (std::size_t k = 0; k < series.size(); ++k) classes[dataset.labels[series[k]]].push_back(k);
  for (auto& [label, own] : classes) {
    const auto id = [&](std::size_t k) -> std::string_view { return dataset.ids[series[k]]; };
    std::ranges::sort(own, {}, [&](std::size_t k) { return std::pair(places[k], id(k)); });
    // Drawn too, so that classes of a few series do not all round the same way.
    const double offset = draw(alone + " of classes", original_id(id(own.front())));
    for (std::size_t rank = 0; rank < own.size(); ++rank) {
      // Copies of a series have one draw and follow each other.
      const bool copy = rank > 0 && original_id(id(own[rank])) == original_id(id(own[rank - 1]));
      places[own[rank]] =
          copy ? places[own[rank - 1]]
               : (static_cast<double>(rank) + offset) / static_cast<double>(own.size());
    }
  }
  return places;
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
  std::vector<std::size_t> all(dataset.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const std::vector<double> places = draw_places(dataset, all, seed, by, "split");
  Split parts;
  const auto part_at = [&](double place) {
    return place < train                           ? Part::train
           : place < train + validation || !tested ? Part::validation
                                                   : Part::test;
  };
  if (by != SplitBy::time) {
    for (const std::size_t i : all) parts[part_at(places[i])].push_back(i);
    return parts;
  }
  const double early = training_end(train, validation);
  const std::vector<double> along = places_along_series(dataset);
  for (const std::size_t i : all) {
    const bool chosen = places[i] * early >= train;
    parts[along[i] >= early ? part_at(along[i])
          : chosen          ? Part::validation
                            : Part::train]
        .push_back(i);
  }
  return parts;
}

Split split(const Dataset& dataset, const DataSettings& settings) {
  return split(dataset, static_cast<std::uint64_t>(settings.seed), settings.train,
               settings.validation, settings.split);
}

std::vector<std::size_t> after_training(const Dataset& dataset, const DataSettings& settings,
                                        std::span<const std::size_t> validation) {
  std::vector<std::size_t> later(validation.begin(), validation.end());
  if (settings.split != SplitBy::time) return later;
  const double early = training_end(settings.train, settings.validation);
  const std::vector<double> along = places_along_series(dataset);
  std::erase_if(later, [&](std::size_t i) { return along[i] < early; });
  if (later.empty()) later.assign(validation.begin(), validation.end());
  return later;
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
