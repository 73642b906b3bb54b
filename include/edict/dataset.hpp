// Datasets: tables that are read, and arrays that become one.
#ifndef EDICT_DATASET_HPP
#define EDICT_DATASET_HPP

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "edict/general.hpp"

namespace edict {

class Model;

// What of a table is given instead of recognised, as the command line's options of these names.
struct ReadOptions {
  std::string id, time, label, group, variable, value, decimal, time_format, time_unit, origin,
      duplicates;
  std::vector<std::string> statics, features, categories, ignored, missing;

  std::string json() const {
    std::string out = "{";
    const auto add = [&](const char* name, const std::string& content) {
      if (out.size() > 1) out += ',';
      out += detail::quoted(name) + ':' + content;
    };
    const std::pair<const char*, const std::string&> texts[] = {{"id", id},
                                                                {"time", time},
                                                                {"label", label},
                                                                {"group", group},
                                                                {"variable", variable},
                                                                {"value", value},
                                                                {"decimal", decimal},
                                                                {"time_format", time_format},
                                                                {"time_unit", time_unit},
                                                                {"origin", origin},
                                                                {"duplicates", duplicates}};
    for (const auto& [name, text] : texts)
      if (!text.empty()) add(name, detail::quoted(text));
    const std::pair<const char*, const std::vector<std::string>&> lists[] = {
        {"statics", statics},
        {"features", features},
        {"categories", categories},
        {"ignored", ignored},
        {"missing", missing}};
    for (const auto& [name, list] : lists) {
      std::string items = "[";
      for (const std::string& item : list) {
        if (items.size() > 1) items += ',';
        items += detail::quoted(item);
      }
      items += ']';
      if (!list.empty()) add(name, items);
    }
    return out + '}';
  }
};

// Irregular series: each has events (a time), each with some observed features. It never changes.
class Dataset {
 public:
  explicit Dataset(detail::Owner<edict_dataset> handle) : handle_(std::move(handle)) {}

  // A table or a file of packed data, as the command-line tool reads it.
  static Dataset read(const std::string& path, const ReadOptions& options = {}) {
    return read(path, options, nullptr);
  }
  // Read as the model's training data were: the same columns, categories, unit and origin.
  static Dataset read(const std::string& path, const Model& like, const ReadOptions& options = {});
  void write(const std::string& path) const {
    detail::check(edict_dataset_write(handle(), path.c_str()));
  }

  edict_dataset_size sizes() const {
    edict_dataset_size sizes{};
    detail::check(edict_dataset_sizes(handle(), &sizes, sizeof sizes));
    return sizes;
  }
  std::uint64_t fingerprint() const {
    std::uint64_t result = 0;
    detail::check(edict_dataset_fingerprint(handle(), &result));
    return result;
  }
  std::vector<std::string> ids() const { return names(EDICT_NAMES_SERIES); }
  std::vector<std::string> features() const { return names(EDICT_NAMES_FEATURES); }
  std::vector<std::string> statics() const { return names(EDICT_NAMES_STATICS); }
  std::vector<std::string> classes() const { return names(EDICT_NAMES_CLASSES); }
  std::vector<std::string> groups() const { return names(EDICT_NAMES_GROUPS); }

  // Everything observed, as edict_dataset_arrays describes it.
  struct Arrays {
    std::vector<std::int64_t> first_event, first_observation;
    std::vector<double> times, values, statics;
    std::vector<std::int32_t> features, labels, groups;
  };
  Arrays arrays() const {
    const edict_dataset_size n = sizes();
    const auto series = detail::size(n.series), events = detail::size(n.events),
               observations = detail::size(n.observations);
    Arrays a;
    a.first_event.resize(series + 1);
    a.first_observation.resize(events + 1);
    a.times.resize(events);
    a.features.resize(observations);
    a.values.resize(observations);
    a.labels.resize(series);
    a.groups.resize(series);
    a.statics.resize(series * detail::size(n.statics));
    detail::check(edict_dataset_arrays(
        handle(), a.first_event.data(), a.times.data(), a.first_observation.data(),
        a.features.data(), a.values.data(), a.labels.data(), a.groups.data(), a.statics.data()));
    return a;
  }

  // The listed series in that order, with what was observed before `until`.
  Dataset subset(std::span<const std::int64_t> series,
                 double until = std::numeric_limits<double>::infinity()) const {
    return Dataset(detail::made<edict_dataset>([&](edict_dataset** out) {
      return edict_dataset_subset(handle(), detail::count(series.size()), series.data(), until,
                                  out);
    }));
  }
  // The same data with other labels: of each series an index into `names`, or -1.
  Dataset relabelled(std::span<const std::string> names,
                     std::span<const std::int32_t> of_series) const {
    detail::need(of_series.size() == detail::size(sizes().series),
                 "Dataset::relabelled: one label per series");
    return Dataset(detail::made<edict_dataset>([&](edict_dataset** out) {
      return edict_dataset_relabel(handle(), detail::count(names.size()),
                                   detail::pointers(names).data(), of_series.data(), out);
    }));
  }
  // What the times mean, as JSON, and when time is 0 in each series, in microseconds since 1970.
  struct Dates {
    std::string json;
    std::vector<double> origin;
  };
  Dates dates() const {
    Dates dates{"", std::vector<double>(detail::size(sizes().series))};
    dates.json = detail::text(
        [&](edict_bytes** out) { return edict_dataset_dates(handle(), dates.origin.data(), out); });
    return dates;
  }
  // JSON: the columns it came from and what had to be guessed; and what is in it, in numbers.
  std::string reading() const {
    return detail::text([&](edict_bytes** out) { return edict_dataset_reading(handle(), out); });
  }
  std::string summary() const {
    return detail::text([&](edict_bytes** out) { return edict_dataset_summary(handle(), out); });
  }
  // JSON: the settings that suit these data beside the given ones ("key=value"), and why.
  std::string fit_settings(std::span<const std::string> given = {}) const {
    const auto assignments = detail::pointers(given);
    return detail::text([&](edict_bytes** out) {
      return edict_fit_settings(handle(), detail::count(given.size()), assignments.data(), out);
    });
  }

  const edict_dataset* handle() const noexcept { return handle_.get(); }

 private:
  static Dataset read(const std::string& path, const ReadOptions& options,
                      const edict_model* like) {
    return Dataset(detail::made<edict_dataset>([&](edict_dataset** out) {
      return edict_dataset_read(path.c_str(), options.json().c_str(), like, out);
    }));
  }
  std::vector<std::string> names(edict_names which) const {
    return detail::split_names(
        detail::text([&](edict_bytes** out) { return edict_dataset_names(handle(), which, out); }));
  }

  detail::Owner<edict_dataset> handle_;
};

// Makes a dataset of arrays; rows may come in any order.
class DatasetBuilder {
 public:
  DatasetBuilder(std::span<const std::string> ids, std::span<const std::string> features)
      : series_(ids.size()), features_(features.size()) {
    const auto names = detail::pointers(ids), feature_names = detail::pointers(features);
    handle_ = detail::made<edict_builder>([&](edict_builder** out) {
      return edict_builder_new(detail::count(ids.size()), names.data(),
                               detail::count(features.size()), feature_names.data(), out);
    });
  }

  // An event of series `series`; `values`: [features], NaN where nothing was observed.
  void add_event(std::int64_t series, double time, std::span<const double> values) {
    detail::need(values.size() == features_, "DatasetBuilder::add_event: one value per feature");
    std::vector<const double*> columns;
    for (const double& value : values) columns.push_back(&value);
    detail::check(edict_builder_rows(handle(), 1, &series, &time, columns.data(), nullptr));
  }
  // Many: `series` and `times` [rows], `values` [rows x features].
  void add_events(std::span<const std::int64_t> series, std::span<const double> times,
                  std::span<const double> values) {
    detail::need(
        series.size() == times.size() && values.size() == times.size() * features_,
        "DatasetBuilder::add_events: series and times per row, values per row and feature");
    std::vector<const double*> columns;
    for (std::size_t j = 0; j < features_; ++j) columns.push_back(values.data() + j);
    const std::vector<std::int64_t> strides(features_, detail::count(features_));
    detail::check(edict_builder_rows(handle(), detail::count(times.size()), series.data(),
                                     times.data(), columns.data(), strides.data()));
  }
  // Long form: an observation per row.
  void add_observations(std::span<const std::int64_t> series, std::span<const double> times,
                        std::span<const std::int32_t> features, std::span<const double> values) {
    detail::need(series.size() == times.size() && features.size() == times.size() &&
                     values.size() == times.size(),
                 "DatasetBuilder::add_observations: series, time, feature and value per row");
    detail::check(edict_builder_observations(handle(), detail::count(times.size()), series.data(),
                                             times.data(), features.data(), values.data()));
  }
  // `of_series`: [series], an index into `names`, or -1.
  void set_labels(std::span<const std::string> names, std::span<const std::int32_t> of_series) {
    detail::need(of_series.size() == series_, "DatasetBuilder::set_labels: one label per series");
    detail::check(edict_builder_labels(handle(), detail::count(names.size()),
                                       detail::pointers(names).data(), of_series.data()));
  }
  void set_groups(std::span<const std::string> names, std::span<const std::int32_t> of_series) {
    detail::need(of_series.size() == series_, "DatasetBuilder::set_groups: one group per series");
    detail::check(edict_builder_groups(handle(), detail::count(names.size()),
                                       detail::pointers(names).data(), of_series.data()));
  }
  // `values`: [series x names].
  void set_statics(std::span<const std::string> names, std::span<const double> values) {
    detail::need(values.size() == series_ * names.size(),
                 "DatasetBuilder::set_statics: one value per series and name");
    detail::check(edict_builder_statics(handle(), detail::count(names.size()),
                                        detail::pointers(names).data(), values.data()));
  }
  // That times are numbers of this unit ("s", "min", "h", "d").
  void set_unit(const std::string& unit) {
    detail::check(edict_builder_unit(handle(), unit.c_str()));
  }
  // That times are date-times, counted in this unit. `origin`: when time is 0, in microseconds
  // since 1970: one moment, or with `from_first` one per series. `zone`: minutes east of UTC in
  // which they are written, the origins are then UTC; none: as written.
  void set_dates(const std::string& unit, std::span<const double> origin, bool from_first = false,
                 std::optional<int> zone = {}) {
    detail::need(origin.size() == (from_first ? series_ : 1),
                 "DatasetBuilder::set_dates: one origin, or one per series");
    detail::check(edict_builder_dates(handle(), unit.c_str(), from_first ? 1 : 0, origin.data(),
                                      zone ? 1 : 0, zone.value_or(0)));
  }
  // Uses the builder up.
  Dataset build(edict_duplicates duplicates = EDICT_DUPLICATES_REFUSE) {
    return Dataset(detail::made<edict_dataset>(
        [&](edict_dataset** out) { return edict_builder_dataset(handle(), duplicates, out); }));
  }

  edict_builder* handle() const noexcept { return handle_.get(); }

 private:
  std::size_t series_, features_;
  detail::Owner<edict_builder> handle_;
};

// Texts as date-times, read as the times of a file are.
struct ReadDates {
  std::vector<double> microseconds;  // since 1970, of UTC where a zone is named; NaN: no date-time
  std::vector<std::int32_t> zone;    // minutes east of UTC; EDICT_NO_ZONE where none is named
};
inline ReadDates read_dates(std::span<const std::string> texts) {
  ReadDates out{std::vector<double>(texts.size()), std::vector<std::int32_t>(texts.size())};
  detail::check(edict_read_dates(detail::count(texts.size()), detail::pointers(texts).data(),
                                 out.microseconds.data(), out.zone.data()));
  return out;
}

}  // namespace edict

#endif
