#include "data/read/packed_source.h"

#include <fmt/core.h>

#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "data/packed_file.h"
#include "data/read/csv/csv.h"

namespace edict {
namespace {

void check_options(const std::string& name, const ReadOptions& options) {
  const auto refuse = [&](const char* given) {
    throw Error(
        fmt::format("{}: {} is chosen when data are packed; pack the table again with it, and "
                    "leave it out here",
                    name, option(given)));
  };
  if (!options.id.empty()) refuse("id");
  if (!options.time.empty()) refuse("time");
  if (!options.label.empty() && options.label != "none") refuse("label");
  if (!options.group.empty() && options.group != "none") refuse("group");
  if (!options.statics.empty()) refuse("static");
  if (!options.variable.empty()) refuse("variable");
  if (!options.value.empty()) refuse("value");
  if (!options.features.empty()) refuse("features");
  if (!options.ignored.empty()) refuse("ignore");
  if (!options.columns.empty()) refuse("columns");
  if (!options.missing.empty()) refuse("missing");
  if (!options.decimal.empty()) refuse("decimal");
  if (!options.time_format.empty()) refuse("time_format");
  if (!options.categories.empty()) refuse("category");
  if (!options.time_unit.empty()) refuse("time_unit");
  if (!options.origin.empty()) refuse("origin");
  if (!options.duplicates.empty()) refuse("duplicates");
}

void forget_names(Column<std::int32_t>& of_series, std::vector<std::string>& names) {
  of_series = std::vector<std::int32_t>(of_series.size(), Dataset::kNone);
  names.clear();
}

// Counts the times as the model's were counted, which makes a copy of them where they were not.
void count_as(const std::string& name, const TimeAxis& like, Dataset& data) {
  TimeAxis& axis = data.time_axis;
  if (like.is_calendar() != axis.is_calendar())
    throw Error(
        fmt::format("{}: the times are {}, and the model was trained on {}; give data of that kind",
                    name, axis.is_calendar() ? "dates" : "numbers", described(like)));
  if (axis.unit == like.unit && axis.from_first == like.from_first && axis.epoch == like.epoch)
    return;
  const TimeAxis before = axis;
  axis.unit = like.unit;
  axis.from_first = like.from_first;
  axis.epoch = like.epoch;
  axis.origin.clear();
  if (axis.from_first)
    for (std::size_t i = 0; i < data.size(); ++i)
      axis.origin.push_back(data.events(i) == 0
                                ? std::numeric_limits<double>::quiet_NaN()
                                : before.to_raw(i, std::as_const(data.times)[data.first_event[i]]));
  std::vector<double>& times = data.times.edit();
  for (std::size_t i = 0; i < data.size(); ++i)
    for (std::size_t e = std::as_const(data).first_event[i];
         e < std::as_const(data).first_event[i + 1]; ++e)
      times[e] = axis.from_raw(i, before.to_raw(i, times[e]));
  data.check();
}

// A category that the data do not have would be one that was never asked about, and not a zero.
void check_categories(const std::string& name, const Reading& like, const Reading& own) {
  for (const CategoryColumn& known : like.categories)
    if (const CategoryColumn* packed = own.category(known.column, known.is_static);
        packed && packed->values != known.values)
      throw Error(
          fmt::format("{}: '{}' was packed with other categories than the model knows; pack the "
                      "table with {} and the model",
                      name, known.column, option("like")));
}

}  // namespace

Dataset open_packed_source(const std::filesystem::path& path, const ReadOptions& options) {
  check_options(path.string(), options);
  Dataset data = open_packed(path);
  if (options.label == "none") forget_names(data.labels, data.classes);
  if (options.group == "none") forget_names(data.group_of, data.groups);
  if (options.like) {
    check_categories(path.string(), options.like->reading, data.reading);
    count_as(path.string(), options.like->time_axis, data);
  }
  return data;
}

PackedCounts pack_table(const std::string& uri, const ReadOptions& options,
                        const std::filesystem::path& out, std::size_t memory) {
  PackedWriter writer(out);
  Reading reading;
  if (is_packed_file(uri)) {
    const Dataset data = open_packed_source(uri, options);
    std::vector<std::size_t> all(data.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    writer.add(data, all);
    reading = data.reading;
  } else {
    ReadOptions any_size = options;
    any_size.limits.bytes = std::numeric_limits<std::size_t>::max() / 2;
    const Destination to = destination_of(out);
    reading =
        read_csv_by_id(uri, any_size, memory,
                       to.kind == Destination::Kind::stream ? std::filesystem::temp_directory_path()
                                                            : to.path.parent_path(),
                       [&](const Dataset& part) {
                         std::vector<std::size_t> all(part.size());
                         std::iota(all.begin(), all.end(), std::size_t{0});
                         writer.add(part, all);
                       });
  }
  writer.finish(reading);
  return {writer.series(), writer.events(), writer.observations(), std::move(reading.recognised)};
}

}  // namespace edict
