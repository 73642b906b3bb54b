// What must not matter: the unit and origin of time, the unit of a feature, the order of columns
// and of rows, the file that a series stands in and the series beside it. Over random tables of
// several shapes. Where arithmetic is exact the answers are compared by their bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <sstream>

#include "ask/anomalies.h"
#include "data/read/csv/csv.h"
#include "data/subset.h"
#include "engine/small_model.h"
#include "learn/random_table.h"
#include "temporary_folder.h"

namespace edict {
namespace {

class Invariance : public testing::TestWithParam<std::uint64_t> {
 protected:
  const Dataset data_ = random_table(GetParam());
};

// At every observation, before it; and an hour and a day after the last, in the unit `hour`.
std::vector<Trajectory> answers(const Model& model, const Dataset& data, double hour = 1,
                                int threads = 1) {
  PredictRequest request;
  request.own_times = [&](std::size_t series) {
    std::vector<double> times(data.times.begin() + data.first_event[series],
                              data.times.begin() + data.first_event[series + 1]);
    const double last = times.back();
    times.push_back(last + hour);
    times.push_back(last + 24 * hour);
    return times;
  };
  ThreadPool pool(threads);
  return trajectories(model, data, request, every_series(data), pool);
}

void expect_same_bits(const std::vector<Marginal>& a, const std::vector<Marginal>& b,
                      double unit = 1) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    ASSERT_EQ(b[k].mean, a[k].mean * unit) << k;
    ASSERT_EQ(b[k].scale, a[k].scale * unit) << k;
    ASSERT_EQ(b[k].aleatoric, a[k].aleatoric * unit * unit) << k;
    ASSERT_EQ(b[k].epistemic, a[k].epistemic * unit * unit) << k;
    ASSERT_EQ(b[k].dof, a[k].dof) << k;
  }
}

// By id, so that the order of series does not matter either.
std::map<std::string, std::vector<Marginal>> by_id(const Model& model, const Dataset& data) {
  std::map<std::string, std::vector<Marginal>> result;
  for (const Trajectory& one : answers(model, data)) result[data.ids[one.series]] = one.marginals;
  return result;
}

void expect_part_of(const std::map<std::string, std::vector<Marginal>>& whole,
                    const std::map<std::string, std::vector<Marginal>>& part) {
  ASSERT_FALSE(part.empty());
  for (const auto& [id, marginals] : part) {
    ASSERT_TRUE(whole.contains(id)) << id;
    expect_same_bits(whole.at(id), marginals);
  }
}

TEST_P(Invariance, TheUnitOfTimeGivesTheSameModelToTheBit) {
  for (const auto& variant : model_variants()) {
    const Model model = tiny_model(data_, variant);
    const auto expected = answers(model, data_);
    for (const double unit : {0x1.0p12, 0x1.0p-40}) {
      const Dataset other = at_other_times(data_, unit, 0);
      const Model again = tiny_model(other, variant);
      ASSERT_EQ(again.first().params, model.first().params) << unit;
      const auto found = answers(again, other, unit);
      for (std::size_t i = 0; i < found.size(); ++i)
        expect_same_bits(expected[i].marginals, found[i].marginals);
    }
  }
}

// Clocks that start at one origin are told from it, which is exact here. Those that start with each
// series' first event are two rounded numbers subtracted: of a time near 2³⁰ a double keeps 10⁻⁷.
TEST_P(Invariance, TheOriginOfTimeGivesTheSameModel) {
  for (const auto& variant : model_variants()) {
    const Model model = tiny_model(data_, variant);
    const auto expected = answers(model, data_);
    for (const double shift : {0x1.0p30, -0x1.0p20}) {
      const Dataset other = at_other_times(data_, 1, shift);
      const Model again = tiny_model(other, variant);
      ASSERT_EQ(again.config.data.start, model.config.data.start);
      const auto found = answers(again, other);
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (!model.protocol.from_first()) {
          expect_same_bits(expected[i].marginals, found[i].marginals);
          continue;
        }
        for (std::size_t k = 0; k < found[i].marginals.size(); ++k) {
          const Marginal &a = expected[i].marginals[k], &b = found[i].marginals[k];
          EXPECT_NEAR(a.mean, b.mean, 1e-3 * a.scale);
          EXPECT_NEAR(a.scale, b.scale, 1e-3 * a.scale);
        }
      }
    }
  }
}

TEST_P(Invariance, TheUnitOfAFeatureScalesItsAnswersToTheBit) {
  for (const auto& variant : model_variants()) {
    const Model model = tiny_model(data_, variant);
    const auto expected = answers(model, data_);
    for (const double unit : {0x1.0p10, 0x1.0p300, 0x1.0p-300}) {  // 2³⁰⁰ is 2·10⁹⁰
      const Dataset other = in_other_unit(data_, unit, 0);
      const auto found = answers(tiny_model(other, variant), other);
      for (std::size_t i = 0; i < found.size(); ++i)
        expect_same_bits(expected[i].marginals, found[i].marginals, unit);
    }
  }
}

// 1000 x + 273: the mean and deviation of a feature are rounded differently, by 10⁻¹⁶ of the
// offset, which single precision mostly does not see.
TEST_P(Invariance, AnAffineUnitShiftsAnswersAndLogScores) {
  const double factor = 1000, offset = 273;
  const Dataset other = in_other_unit(data_, factor, offset);
  const Model model = tiny_model(data_), again = tiny_model(other);
  ThreadPool pool(1);
  const auto expected = expectations(model, data_, every_series(data_), {}, pool);
  const auto found = expectations(again, other, every_series(other), {}, pool);
  for (std::size_t i = 0; i < found.size(); ++i)
    for (std::size_t k = 0; k < found[i].observations.size(); ++k) {
      const ExpectedObservation &a = expected[i].observations[k], &b = found[i].observations[k];
      EXPECT_NEAR(b.expected.mean, factor * a.expected.mean + offset,
                  1e-3 * factor * a.expected.scale);
      EXPECT_NEAR(b.expected.scale, factor * a.expected.scale, 1e-3 * factor * a.expected.scale);
      EXPECT_NEAR(surprise(b.expected, b.observed).log_score,
                  surprise(a.expected, a.observed).log_score + std::log(factor), 1e-2);
    }
}

TEST_P(Invariance, ColumnsInAnotherOrderAnswerTheSameBits) {
  const Model model = tiny_model(data_);
  Dataset reversed;
  reversed.features.assign(data_.features.rbegin(), data_.features.rend());
  reversed.classes = data_.classes;
  for (std::size_t i = 0; i < data_.size(); ++i) {
    reversed.add_series(data_.ids[i], data_.labels[i]);
    for (std::size_t e = data_.first_event[i]; e < data_.first_event[i + 1]; ++e) {
      reversed.add_event(data_.times[e]);
      const ObservationRange seen = data_.observed(e);
      for (std::size_t k = seen.size(); k-- > 0;)
        reversed.add_observation(
            static_cast<std::int32_t>(data_.features.size()) - 1 - seen[k].feature, seen[k].value);
    }
  }
  expect_part_of(by_id(model, data_), by_id(model, model.match(reversed).data));
}

// Of a table in several files, each with its rows in another order.
TEST_P(Invariance, RowsInAnyOrderAndFilesAnswerTheSameBits) {
  const Model model = tiny_model(data_);
  const TemporaryFolder folder;
  write_csv(data_, folder / "whole.csv");
  std::istringstream lines(folder.read("whole.csv"));
  std::string header;
  std::getline(lines, header);
  std::vector<std::vector<std::string>> parts(3);
  for (std::string line; std::getline(lines, line);)
    parts[std::hash<std::string>()(line.substr(0, line.find(','))) % 3].push_back(line);
  Generator rng(GetParam(), "rows");
  const auto whole = by_id(model, data_);
  std::size_t series = 0;
  for (auto& part : parts) {
    if (part.empty()) continue;
    rng.shuffle(std::span(part));
    std::string text = header + "\n";
    for (const std::string& line : part) text += line + "\n";
    const auto found = by_id(model, model.match(read_csv_text(text, "part")).data);
    expect_part_of(whole, found);
    series += found.size();
  }
  EXPECT_EQ(series, data_.size());
}

TEST_P(Invariance, TheSeriesBesideItAnswerTheSameBits) {
  Model model = tiny_model(data_);
  const auto whole = by_id(model, data_);
  Generator rng(GetParam(), "company");
  std::vector<std::size_t> order = every_series(data_);
  rng.shuffle(std::span(order));
  const std::size_t first = 1 + rng.below(order.size() - 1);
  expect_part_of(whole, by_id(model, subset(data_, std::span(order).first(first))));
  expect_part_of(whole, by_id(model, subset(data_, std::span(order).subspan(first))));
  // Foreign ones, of which some are far off, in chunks of other sizes.
  Dataset larger = data_;
  for (int i = 0; i < 7; ++i) {
    larger.add_series(fmt::format("foreign {}", i));
    for (int e = 0; e < 3 * i; ++e) {
      larger.add_event(e + rng.uniform());
      larger.add_observation(0, i == 3 ? 1e12 : rng.normal());
    }
    larger.add_event(100.0);
    larger.add_observation(0, rng.normal());
  }
  for (const std::int64_t chunk : {1, 5, 64}) {
    model.config.train.chunk = chunk;
    auto found = by_id(model, larger);
    std::erase_if(found, [](const auto& one) { return one.first.starts_with("foreign"); });
    ASSERT_EQ(found.size(), data_.size());
    expect_part_of(whole, found);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Invariance, testing::Range<std::uint64_t>(1, 7));

}  // namespace
}  // namespace edict
