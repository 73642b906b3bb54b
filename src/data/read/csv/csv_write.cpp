#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/text/utf8.h"
#include "data/read/columns/choose_values.h"
#include "data/read/columns/column_names.h"
#include "data/read/csv/csv.h"
#include "data/read/csv/csv_names.h"
#include "data/read/csv/layout/csv_layout.h"

namespace edict {
namespace {

void append_number(std::string& line, double value) {
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  line.append(digits, end);
}

void check(const Dataset& dataset, const std::filesystem::path& path) {
  const auto refuse = [&path](const std::string& what) {
    throw Error(fmt::format("{}: {}", path.string(), what));
  };
  const auto& features = dataset.features;
  for (const std::string& name : features)
    if (!valid_feature_name(name))
      refuse(
          fmt::format("column '{}': cannot name a feature; rename it (not id, time, label, group "
                      "or static:…)",
                      name));
  if (features.size() == 2 &&
      (is_long_form(features[0], features[1]) || is_long_form(features[1], features[0])))
    refuse(fmt::format("features '{}' and '{}' would read as long form; rename one", features[0],
                       features[1]));
  // Item numbers beside a value are long form, whatever else is there.
  const auto item = std::find_if(features.begin(), features.end(), names_items),
             value = std::find_if(features.begin(), features.end(), names_values);
  if (item != features.end() && value != features.end())
    refuse(
        fmt::format("features '{}' and '{}' would read as long form; rename one", *item, *value));
  for (const auto* names :
       {&features, &dataset.statics, &dataset.classes, &dataset.groups, &dataset.ids})
    for (const std::string& name : *names)
      if (!valid_utf8(name)) refuse("an id or name is not UTF-8; convert it");
  for (std::size_t i = 0; i < dataset.size(); ++i)
    if (dataset.ids[i].empty()) refuse(fmt::format("series {} has no id; give it one", i));
  for (const auto* names : {&dataset.classes, &dataset.groups})
    for (const std::string& name : *names)
      if (spells_unknown(name))
        refuse(fmt::format("'{}' cannot name a label or group: it reads as none; rename it", name));
  for (const double time : dataset.times)
    if (!std::isfinite(time)) refuse("a time is not finite; remove the event");
  for (std::size_t o = 0; o < dataset.observations(); ++o)
    if (!std::isfinite(dataset.value[o]))
      refuse(fmt::format("column '{}': a value is not finite; remove the observation",
                         features[static_cast<std::size_t>(dataset.feature[o])]));
}

}  // namespace

std::string csv_cell(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  // Whatever a reader might take for the separator.
  if (text.find_first_of(",;|\t\"\r\n") == std::string_view::npos &&
      (text.empty() || (!blank(text.front()) && !blank(text.back()))))
    return std::string(text);
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

namespace {

void write_rows(const Dataset& dataset, const std::filesystem::path& path) {
  check(dataset, path);
  AtomicFile file(path);
  std::string line = "id,time";
  if (!dataset.classes.empty()) line += ",label";
  if (!dataset.groups.empty()) line += ",group";
  for (const std::string& name : dataset.statics) line += ',' + csv_cell("static:" + name);
  for (const std::string& name : dataset.features) line += ',' + csv_cell(name);
  line += '\n';
  file.write(line);

  const auto features = static_cast<std::int32_t>(dataset.features.size());
  const auto add_name = [](std::string& to, const std::vector<std::string>& names,
                           std::int32_t index) {
    if (names.empty()) return;
    to += ',';
    if (index != Dataset::kNone) to += csv_cell(names[static_cast<std::size_t>(index)]);
  };
  const TimeAxis& axis = dataset.time_axis;
  const bool own_times =
      !axis.is_calendar() && !axis.from_first && axis.epoch == 0 && axis.raw_unit() == 1;
  std::string id, described;
  for (std::size_t i = 0; i < dataset.size(); ++i) {
    id = csv_cell(dataset.ids[i]) + ',';
    described.clear();
    add_name(described, dataset.classes, dataset.labels[i]);
    add_name(described, dataset.groups, dataset.group_of[i]);
    for (const double value : dataset.covariates(i)) {
      described += ',';
      if (!std::isnan(value)) append_number(described, value);
    }
    if (dataset.events(i) == 0) {
      line = id + described;
      line.append(static_cast<std::size_t>(features), ',');
      line += '\n';
      file.write(line);
    }
    for (std::size_t e = dataset.first_event[i]; e < dataset.first_event[i + 1]; ++e) {
      line = id;
      if (own_times)
        append_number(line, dataset.times[e]);
      else
        line += written_time(dataset, i, dataset.times[e]);
      line += described;
      std::int32_t next = 0;  // the feature whose cell comes next
      for (const Observation& observation : dataset.observed(e)) {
        line.append(static_cast<std::size_t>(observation.feature - next + 1), ',');
        append_number(line, observation.value);
        next = observation.feature + 1;
      }
      line.append(static_cast<std::size_t>(features - next), ',');
      line += '\n';
      file.write(line);
    }
  }
  file.commit();
}

}  // namespace

void write_csv(const Dataset& given, const std::filesystem::path& path) {
  // 03/04/2024 was told from the rows around it or from an option, which are not there any more.
  if (given.time_axis.kind == TimeKind::date && !reads_back(given.time_axis.style)) {
    Dataset plain = given;
    DateStyle& style = plain.time_axis.style;
    const DateStyle before = std::exchange(style, DateStyle{});
    style.clock = before.clock;
    style.seconds = before.seconds;
    style.decimals = before.decimals;
    style.zone = before.zone;
    return write_csv(plain, path);
  }
  write_rows(given, path);
}

}  // namespace edict
