#include "research/report/published.h"

#include <fmt/core.h>

#include <charconv>
#include <utility>
#include <vector>

#include "base/error.h"
#include "render/embedded.h"

namespace edict::report {
namespace {

// Cells of every line after the header.
std::vector<std::vector<std::string>> rows(const std::string& name, std::size_t columns) {
  std::vector<std::vector<std::string>> result;
  for (PlainRow& row : plain_rows(embedded("presets/published/" + name).value())) {
    if (row.cells.size() != columns)
      throw Error(
          fmt::format("{}:{}: {} cells instead of {}", name, row.line, row.cells.size(), columns));
    result.push_back(std::move(row.cells));
  }
  return result;
}

template <class Number>
Number number(const std::string& text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw Error(fmt::format("published tables: '{}' is not a number", text));
  return value;
}

template <class Name>
Name one_of(const std::string& text, const std::vector<std::pair<std::string_view, Name>>& names) {
  for (const auto& [name, value] : names)
    if (text == name) return value;
  throw Error(fmt::format("published tables: '{}' is not known", text));
}

template <class Map>
std::optional<typename Map::mapped_type> find(const Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  return found == map.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::string_view name_of(Task task) {
  return task == Task::interpolation ? "interpolation" : "extrapolation";
}
std::string_view name_of(Metric metric) { return metric == Metric::mse ? "MSE" : "ECE"; }
std::string_view name_of(Score score) { return score == Score::accuracy ? "accuracy" : "AUROC"; }

const Published& Published::tables() {
  static const Published tables;
  return tables;
}

Published::Published() {
  for (const auto& row : rows("datasets.csv", 4))
    datasets_[row[0]] = {number<long>(row[1]), number<long>(row[2]), number<long>(row[3])};
  for (const auto& row : rows("calibration.csv", 6)) {
    const auto task = one_of<Task>(
        row[2], {{"interpolation", Task::interpolation}, {"extrapolation", Task::extrapolation}});
    const auto metric = one_of<Metric>(row[3], {{"MSE", Metric::mse}, {"ECE", Metric::ece}});
    calibration_[{row[0], row[1], task, metric}] = {number<double>(row[4]), number<double>(row[5])};
  }
  for (const auto& [name, score] :
       {std::pair("accuracy.csv", Score::accuracy), std::pair("auroc.csv", Score::auroc)})
    for (const auto& row : rows(name, 5))
      scores_[{score, row[0], row[2], number<int>(row[1])}] = {number<double>(row[3]),
                                                               number<double>(row[4])};
}

std::optional<PublishedDataset> Published::dataset(const std::string& dataset) const {
  return find(datasets_, dataset);
}

std::optional<MeanStd> Published::calibration(const std::string& dataset, const std::string& method,
                                              Task task, Metric metric) const {
  return find(calibration_, {dataset, method, task, metric});
}

std::optional<MeanStd> Published::score(Score score, const std::string& dataset,
                                        const std::string& method, int level) const {
  return find(scores_, {score, dataset, method, level});
}

}  // namespace edict::report
