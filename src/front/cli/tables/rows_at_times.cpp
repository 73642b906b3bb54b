#include "front/cli/tables/rows_at_times.h"

#include <algorithm>

#include "front/cli/tables/filled_table.h"

namespace edict::cli {
namespace {

// The columns of the table: id, time, what describes a series, the features, their deviations.
std::vector<std::string> columns(const Dataset& table, const std::vector<std::int32_t>& known,
                                 bool deviations) {
  const Reading& reading = table.reading;
  const auto called = [](const std::string& name, const char* usual) {
    return name.empty() || name == "none" ? std::string(usual) : name;
  };
  std::vector<std::string> names{called(reading.id, "id"), called(reading.time, "time")};
  if (!table.classes.empty()) names.push_back(called(reading.label, "label"));
  if (!table.groups.empty()) names.push_back(called(reading.group, "group"));
  for (const std::string& name : table.statics) {
    const bool bare = std::ranges::find(reading.statics, name) != reading.statics.end();
    names.push_back(bare ? name : "static:" + name);
  }
  names.insert(names.end(), table.features.begin(), table.features.end());
  if (!deviations) return names;
  const std::vector<std::string> before = names;
  for (std::size_t j = 0; j < table.features.size(); ++j) {
    if (known[j] == Dataset::kNone) continue;
    names.push_back(table.features[j] + kDeviationSuffix);
    check_new_column(names.back(), before);
  }
  return names;
}

std::vector<std::int32_t> known_features(const Model& model, const Dataset& table,
                                         const std::vector<std::size_t>& fill) {
  std::vector<std::int32_t> known;
  for (const std::string& name : table.features) {
    const auto found = std::ranges::find(
        fill, name, [&](std::size_t j) -> const std::string& { return model.features[j]; });
    known.push_back(found == fill.end() ? Dataset::kNone : static_cast<std::int32_t>(*found));
  }
  return known;
}

}  // namespace

RowsAtTimes::RowsAtTimes(const Model& model, const Dataset& table,
                         const std::vector<std::size_t>& features, bool deviations,
                         RowFormat format, const Shard& shard)
    : table_(table),
      deviations_(deviations),
      known_(known_features(model, table, features)),
      layout_(format, columns(table, known_, deviations), shard) {
  for (const auto* names : {&table.classes, &table.groups})
    for (const std::string& name : *names)
      (names == &table.classes ? classes_ : groups_).push_back(layout_.cell(name));
}

std::size_t RowsAtTimes::write(const ImputedSeries& imputed, RowText& text) const {
  const std::string id = layout_.cell(table_.ids[imputed.series]);
  std::size_t filled = 0;
  std::size_t event = table_.first_event[imputed.series];
  const std::size_t end = table_.first_event[imputed.series + 1];
  for (std::size_t t = 0; t < imputed.times.size(); ++t) {
    while (event < end && table_.times[event] < imputed.times[t]) ++event;
    const bool there = event < end && table_.times[event] == imputed.times[t];
    text.begin(imputed.series);
    text.name(id);
    text.name(layout_.time_cell(table_, imputed.series, imputed.times[t]));
    describe(imputed.series, text);
    const ObservationRange seen =
        there ? table_.observed(event) : ObservationRange(nullptr, nullptr, 0);
    std::size_t next = 0;
    for (std::size_t j = 0; j < table_.features.size(); ++j) {
      if (next < seen.size() && seen[next].feature == static_cast<std::int32_t>(j)) {
        text.exact(seen[next++].value);
      } else if (known_[j] == Dataset::kNone) {
        text.none();
      } else {
        text.number(imputed.value[imputed.cell(t, static_cast<std::size_t>(known_[j]))]);
        ++filled;
      }
    }
    if (deviations_) deviations(imputed, t, text);
    text.end();
  }
  if (imputed.times.empty()) {  // a series without a moment keeps its row
    text.begin(imputed.series);
    text.name(id);
    text.none();
    describe(imputed.series, text);
    while (!text.full()) text.none();
    text.end();
  }
  return filled;
}

void RowsAtTimes::describe(std::size_t series, RowText& text) const {
  const auto name = [&](const std::vector<std::string>& cells, std::int32_t index) {
    if (cells.empty()) return;
    if (index == Dataset::kNone)
      text.none();
    else
      text.name(cells[static_cast<std::size_t>(index)]);
  };
  name(classes_, table_.labels[series]);
  name(groups_, table_.group_of[series]);
  for (const double value : table_.covariates(series)) text.exact(value);
}

void RowsAtTimes::deviations(const ImputedSeries& imputed, std::size_t t, RowText& text) const {
  for (const std::int32_t j : known_) {
    if (j == Dataset::kNone) continue;
    const std::size_t cell = imputed.cell(t, static_cast<std::size_t>(j));
    if (imputed.observed[cell])
      text.none();
    else
      text.number(imputed.deviation[cell]);
  }
}

}  // namespace edict::cli
