#include <limits>
#include <optional>

#include "base/error.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "data/fingerprint.h"
#include "data/read/csv/csv.h"
#include "data/read/csv/csv_names.h"
#include "data/read/source.h"
#include "data/subset.h"
#include "data/summary.h"
#include "front/capi/border.h"
#include "settings/settings.h"

using namespace edict;
using namespace edict::capi;

namespace {

DatasetBuilder& builder_of(edict_builder* builder) {
  check_given(builder, "builder");
  if (builder->used) throw Error("this builder has made its dataset; begin another one");
  return builder->builder;
}

const Dataset& data_of(const edict_dataset* dataset) {
  check_given(dataset, "dataset");
  return dataset->data;
}

std::vector<std::int32_t> places_from(std::size_t series, const std::int32_t* of_series) {
  if (series > 0) check_given(of_series, "of_series");
  return {of_series, of_series + series};
}

nlohmann::json to_json(const std::vector<std::string>& names, const Summary& summary) {
  nlohmann::json features = nlohmann::json::array();
  for (std::size_t j = 0; j < names.size(); ++j) {
    const FeatureSummary& f = summary.features[j];
    features.push_back({{"name", names[j]},
                        {"count", f.count},
                        {"missing", f.missing},
                        {"mean", f.mean},
                        {"std", f.std},
                        {"min", f.min},
                        {"max", f.max}});
  }
  return features;
}

ReadOptions read_options_from(const char* text) {
  ReadOptions options;
  const std::vector<std::pair<std::string_view, std::string*>> words{
      {"id", &options.id},
      {"time", &options.time},
      {"label", &options.label},
      {"group", &options.group},
      {"variable", &options.variable},
      {"value", &options.value},
      {"decimal", &options.decimal},
      {"time_format", &options.time_format},
      {"time_unit", &options.time_unit},
      {"origin", &options.origin},
      {"duplicates", &options.duplicates}};
  const std::vector<std::pair<std::string_view, std::vector<std::string>*>> lists{
      {"statics", &options.statics}, {"features", &options.features},
      {"ignored", &options.ignored}, {"columns", &options.columns},
      {"missing", &options.missing}, {"categories", &options.categories}};
  const auto named = [](const auto& known, const std::string& name) {
    return std::find_if(known.begin(), known.end(), [&](const auto& k) { return k.first == name; });
  };
  try {
    const nlohmann::json given = parse_json(text);
    if (!given.is_object()) throw Error("options: not an object of JSON");
    for (const auto& [name, value] : given.items()) {
      const auto word = named(words, name);
      const auto list = named(lists, name);
      if (word != words.end()) {
        value.get_to(*word->second);
      } else if (list != lists.end()) {
        value.get_to(*list->second);
      } else {
        std::vector<std::string_view> known;
        for (const auto& w : words) known.push_back(w.first);
        for (const auto& l : lists) known.push_back(l.first);
        throw Error("options: unknown '" + name + "'; did you mean '" +
                    settings::nearest(name, known) + "'?");
      }
    }
  } catch (const nlohmann::json::exception& e) {
    throw Error(std::string("options: ") + e.what());
  }
  return options;
}

}  // namespace

int edict_builder_new(int64_t series, const char* const* ids, int64_t features,
                      const char* const* feature_names, edict_builder** out) {
  return run_guarded([&] {
    check_given(out, "out");
    *out = new edict_builder{DatasetBuilder(names_from(series, ids, "ids"),
                                            names_from(features, feature_names, "feature_names")),
                             {}};
  });
}

int edict_builder_rows(edict_builder* builder, int64_t rows, const int64_t* row_series,
                       const double* times, const double* const* columns, const int64_t* strides) {
  return run_guarded([&] {
    DatasetBuilder& to = builder_of(builder);
    const std::size_t count = size_of(rows, "rows");
    if (count == 0) return;
    check_given(row_series, "row_series");
    check_given(times, "times");
    check_given(columns, "columns");
    std::vector<DatasetBuilder::Column> own(to.features());
    for (std::size_t j = 0; j < own.size(); ++j) {
      check_given(columns[j], "a column");
      own[j] = {columns[j], strides ? static_cast<std::ptrdiff_t>(strides[j]) : 1};
    }
    to.add_rows({row_series, count}, {times, count}, own);
  });
}

int edict_builder_observations(edict_builder* builder, int64_t rows, const int64_t* row_series,
                               const double* times, const int32_t* features, const double* values) {
  return run_guarded([&] {
    DatasetBuilder& to = builder_of(builder);
    const std::size_t count = size_of(rows, "rows");
    if (count == 0) return;
    for (const void* array : {static_cast<const void*>(row_series), static_cast<const void*>(times),
                              static_cast<const void*>(features), static_cast<const void*>(values)})
      check_given(array, "an array of observations");
    to.add_observations({row_series, count}, {times, count}, {features, count}, {values, count});
  });
}

int edict_builder_labels(edict_builder* builder, int64_t classes, const char* const* names,
                         const int32_t* of_series) {
  return run_guarded([&] {
    DatasetBuilder& to = builder_of(builder);
    to.set_labels(names_from(classes, names, "names"), places_from(to.series(), of_series));
  });
}

int edict_builder_groups(edict_builder* builder, int64_t groups, const char* const* names,
                         const int32_t* of_series) {
  return run_guarded([&] {
    DatasetBuilder& to = builder_of(builder);
    to.set_groups(names_from(groups, names, "names"), places_from(to.series(), of_series));
  });
}

int edict_builder_statics(edict_builder* builder, int64_t statics, const char* const* names,
                          const double* values) {
  return run_guarded([&] {
    DatasetBuilder& to = builder_of(builder);
    const std::size_t count = to.series() * size_of(statics, "statics");
    if (count > 0) check_given(values, "values");
    to.set_statics(names_from(statics, names, "names"), {values, values + count});
  });
}

int edict_builder_dates(edict_builder* builder, const char* unit, int from_first,
                        const double* origin, int zoned, int zone) {
  return run_guarded([&] {
    DatasetBuilder& to = builder_of(builder);
    check_given(unit, "unit");
    check_given(origin, "origin");
    constexpr int kDay = 24 * 60;
    if (zone < -kDay || zone > kDay) throw Error("zone: give minutes east of UTC, within a day");
    TimeAxis axis;
    axis.kind = TimeKind::date;
    axis.unit = time_unit_from_name(unit);
    axis.from_first = from_first != 0;
    if (axis.from_first)
      axis.origin.assign(origin, origin + to.series());
    else
      axis.epoch = *origin;
    axis.style.clock = axis.style.seconds = true;
    axis.style.zone = zoned ? DateStyle::Zone::colon : DateStyle::Zone::none;
    axis.zone = static_cast<std::int16_t>(zone);
    to.set_time_axis(std::move(axis));
  });
}

int edict_builder_unit(edict_builder* builder, const char* unit) {
  return run_guarded([&] {
    DatasetBuilder& to = builder_of(builder);
    check_given(unit, "unit");
    TimeAxis axis;
    axis.unit = time_unit_from_name(unit);
    to.set_time_axis(std::move(axis));
  });
}

int edict_builder_reading(edict_builder* builder, const char* json) {
  return run_guarded([&] {
    builder_of(builder);
    check_given(json, "json");
    nlohmann::json whole = edict::to_json(Reading{});
    try {
      whole.update(parse_json(json));
      builder->reading = reading_from_json(whole);
    } catch (const nlohmann::json::exception& e) {
      throw Error(std::string("json: not what edict_dataset_reading gives: ") + e.what());
    }
  });
}

int edict_builder_dataset(edict_builder* builder, int duplicates, edict_dataset** out) {
  return run_guarded([&] {
    check_given(out, "out");
    DatasetBuilder& from = builder_of(builder);
    using Duplicates = DatasetBuilder::Duplicates;
    constexpr Duplicates kKinds[] = {Duplicates::refuse, Duplicates::first, Duplicates::last,
                                     Duplicates::mean};
    if (duplicates < 0 || duplicates > EDICT_DUPLICATES_MEAN)
      throw Error("unknown way to treat duplicates: " + std::to_string(duplicates));
    builder->used = true;
    auto made =
        std::make_unique<edict_dataset>(edict_dataset{std::move(from).build(kKinds[duplicates])});
    made->data.reading = std::move(builder->reading);
    *out = made.release();
  });
}

void edict_builder_free(edict_builder* builder) { delete builder; }

int edict_dataset_read(const char* path, const char* options, const edict_model* like,
                       edict_dataset** out) {
  return run_guarded([&] {
    check_given(path, "path");
    check_given(out, "out");
    ReadOptions reading = options ? read_options_from(options) : ReadOptions{};
    // A model of arrays without names of columns has no reading; then the table is recognised anew.
    if (like && !like->model->reading.time.empty())
      reading.like = KnownReading{like->model->reading, like->model->time_axis};
    *out = new edict_dataset{open_data(path, reading)};
  });
}

int edict_dataset_write(const edict_dataset* dataset, const char* path) {
  return run_guarded([&] {
    check_given(path, "path");
    write_csv(data_of(dataset), path);
  });
}

int edict_read_dates(int64_t count, const char* const* texts, double* microseconds, int32_t* zone) {
  return run_guarded([&] {
    const std::vector<std::string> given = names_from(count, texts, "texts");
    DateStyle style;  // where one of them decides between day and month, it decides for all
    for (std::size_t i = 0; i < given.size() && style.order == DateStyle::Order::year_first; ++i)
      style.order = only_order(given[i]).value_or(DateStyle::Order::year_first);
    for (std::size_t i = 0; i < given.size(); ++i) {
      const std::optional<ParsedDate> date = parse_date(given[i], &style);
      const bool zoned = date && date->style.zone != DateStyle::Zone::none;
      if (microseconds)
        microseconds[i] = date ? date->microseconds : std::numeric_limits<double>::quiet_NaN();
      if (zone) zone[i] = zoned ? date->zone : EDICT_NO_ZONE;
    }
  });
}

int edict_dataset_sizes(const edict_dataset* dataset, edict_dataset_size* sizes, size_t size) {
  return run_guarded([&] {
    const Dataset& data = data_of(dataset);
    check_given(sizes, "sizes");
    const auto count = [](const auto& list) { return static_cast<int64_t>(list.size()); };
    copy_out({count(data.ids), count(data.times), count(data.value), count(data.features),
              count(data.statics), count(data.classes), count(data.groups)},
             sizes, size);
  });
}

int edict_dataset_fingerprint(const edict_dataset* dataset, uint64_t* result) {
  return run_guarded([&] {
    check_given(result, "fingerprint");
    *result = fingerprint(data_of(dataset));
  });
}

int edict_dataset_names(const edict_dataset* dataset, int which, edict_bytes** out) {
  return run_guarded([&] {
    const Dataset& data = data_of(dataset);
    check_given(out, "out");
    const std::vector<std::string>* const lists[] = {&data.ids, &data.features, &data.statics,
                                                     &data.classes, &data.groups};
    if (which < 0 || which > EDICT_NAMES_GROUPS)
      throw Error("unknown kind of names: " + std::to_string(which));
    std::string all;
    for (const std::string& name : *lists[which]) all.append(name).push_back('\0');
    *out = new_bytes(std::move(all));
  });
}

int edict_dataset_arrays(const edict_dataset* dataset, int64_t* first_event, double* times,
                         int64_t* first_observation, int32_t* feature, double* value,
                         int32_t* labels, int32_t* groups, double* statics) {
  return run_guarded([&] {
    const Dataset& data = data_of(dataset);
    copy_out(data.first_event, first_event);
    copy_out(data.times, times);
    copy_out(data.first_observation, first_observation);
    copy_out(data.feature, feature);
    copy_out(data.value, value);
    copy_out(data.labels, labels);
    copy_out(data.group_of, groups);
    copy_out(data.static_values, statics);
  });
}

int edict_dataset_dates(const edict_dataset* dataset, double* origin, edict_bytes** out) {
  return run_guarded([&] {
    const Dataset& data = data_of(dataset);
    check_given(out, "out");
    if (origin)
      for (std::size_t i = 0; i < data.size(); ++i) origin[i] = data.time_axis.origin_of(i);
    *out = new_bytes(json_text(edict::to_json(data.time_axis)));
  });
}

int edict_dataset_reading(const edict_dataset* dataset, edict_bytes** out) {
  return run_guarded([&] {
    const Dataset& data = data_of(dataset);
    check_given(out, "out");
    nlohmann::json reading = edict::to_json(data.reading);
    reading["recognised"] = plain(data.reading.recognised);
    *out = new_bytes(json_text(reading));
  });
}

int edict_dataset_subset(const edict_dataset* dataset, int64_t count, const int64_t* series,
                         double until, edict_dataset** out) {
  return run_guarded([&] {
    const Dataset& data = data_of(dataset);
    check_given(out, "out");
    const std::size_t size = size_of(count, "count");
    if (size > 0) check_given(series, "series");
    std::vector<std::size_t> chosen;
    for (std::size_t k = 0; k < size; ++k) {
      if (series[k] < 0 || series[k] >= static_cast<int64_t>(data.size()))
        throw Error("there is no series " + std::to_string(series[k]) + "; the dataset has " +
                    std::to_string(data.size()));
      chosen.push_back(static_cast<std::size_t>(series[k]));
    }
    *out = new edict_dataset{subset(data, chosen, until)};
  });
}

int edict_dataset_relabel(const edict_dataset* dataset, int64_t classes, const char* const* names,
                          const int32_t* of_series, edict_dataset** out) {
  return run_guarded([&] {
    const Dataset& data = data_of(dataset);
    check_given(out, "out");
    auto result = std::make_unique<edict_dataset>(edict_dataset{data});
    result->data.classes = names_from(classes, names, "names");
    result->data.labels = places_from(data.size(), of_series);
    result->data.check();
    sort_names(result->data.classes, result->data.labels.edit());
    *out = result.release();
  });
}

int edict_dataset_summary(const edict_dataset* dataset, edict_bytes** out) {
  return run_guarded([&] {
    const Dataset& data = data_of(dataset);
    check_given(out, "out");
    const Summary s = summarise(data);
    *out = new_bytes(json_text({{"series", s.series},
                                {"events", s.events},
                                {"observations", s.observations},
                                {"empty_series", s.empty_series},
                                {"first_time", s.first_time},
                                {"last_time", s.last_time},
                                {"median_gap", s.median_gap},
                                {"features", to_json(data.features, s)},
                                {"classes", s.class_counts},
                                {"unlabelled", s.unlabelled}}));
  });
}

void edict_dataset_free(edict_dataset* dataset) { delete dataset; }
