#include "edict/report/published.h"

#include <fmt/core.h>

#include <charconv>
#include <vector>

#include "edict/core/error.h"
#include "edict/study/embedded.h"

namespace edict {
namespace {

// Cells of every line after the header. These tables quote nothing.
std::vector<std::vector<std::string>> rows(const std::string& name, std::size_t columns) {
  const std::string_view text = embedded("presets/published/" + name).value();
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

double number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw Error(fmt::format("published tables: '{}' is not a number", text));
  return value;
}

template <class Key>
std::optional<typename std::map<std::string, Key>::mapped_type> find(
    const std::map<std::string, Key>& map, const std::string& key) {
  const auto found = map.find(key);
  return found == map.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

const Published& Published::tables() {
  static const Published tables;
  return tables;
}

Published::Published() {
  for (const auto& row : rows("datasets.csv", 4))
    datasets_[row[0]] = {std::stol(row[1]), std::stol(row[2]), std::stol(row[3])};
  for (const auto& row : rows("calibration.csv", 6))
    values_[fmt::format("{}|{}|{}|{}", row[0], row[1], row[2], row[3])] = {number(row[4]),
                                                                           number(row[5])};
  for (const char* score : {"accuracy", "auroc"})
    for (const auto& row : rows(fmt::format("{}.csv", score), 5))
      values_[fmt::format("{}|{}|{}|{}", score, row[0], row[2], row[1])] = {number(row[3]),
                                                                            number(row[4])};
}

std::optional<PublishedDataset> Published::dataset(const std::string& dataset) const {
  return find(datasets_, dataset);
}

std::optional<MeanStd> Published::calibration(const std::string& dataset, const std::string& method,
                                              const std::string& task,
                                              const std::string& metric) const {
  return find(values_, fmt::format("{}|{}|{}|{}", dataset, method, task, metric));
}

std::optional<MeanStd> Published::score(const std::string& score, const std::string& dataset,
                                        const std::string& method, int level) const {
  return find(values_, fmt::format("{}|{}|{}|{}", score, dataset, method, level));
}

}  // namespace edict
