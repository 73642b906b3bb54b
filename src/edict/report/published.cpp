#include "edict/report/published.h"

#include <fmt/core.h>

#include <charconv>
#include <utility>
#include <vector>

#include "edict/core/error.h"
#include "edict/study/embedded.h"

namespace edict::report {
namespace {

// Cells of every line after the header. These tables quote nothing.
std::vector<std::vector<std::string>> rows(const std::string& name, std::size_t columns) {
  const std::string_view text = study::embedded("presets/published/" + name).value();
  std::vector<std::vector<std::string>> result;
  std::size_t line = 0;
  for (std::size_t at = 0; at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::vector<std::string> cells(1);
    for (const char c : text.substr(at, end - at))
      if (c == ',')
        cells.emplace_back();
      else if (c != '\r')
        cells.back() += c;
    at = end + 1;
    if (line == 0 || cells == std::vector<std::string>{""}) continue;
    if (cells.size() != columns)
      throw Error(
          fmt::format("{}:{}: {} cells instead of {}", name, line + 1, cells.size(), columns));
    result.push_back(std::move(cells));
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
std::string_view name_of(Metric metric) { return metric == Metric::mse ? "MSE" : "ECE per series"; }
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
    const auto metric =
        one_of<Metric>(row[3], {{"MSE", Metric::mse}, {"ECE", Metric::ece_per_series}});
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
