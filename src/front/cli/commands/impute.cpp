#include "ask/impute.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>

#include "ask/trajectory.h"
#include "base/error.h"
#include "base/files/read_file.h"
#include "base/text/counted.h"
#include "data/packed_file.h"
#include "data/read/csv/csv.h"
#include "front/cli/asked.h"
#include "front/cli/command.h"
#include "front/cli/filled_table.h"
#include "front/cli/given_data.h"
#include "front/cli/rows.h"
#include "front/cli/shard.h"
#include "front/cli/terminal/progress.h"
#include "front/cli/time_grid.h"

namespace edict::cli {
namespace {

struct ImputeArguments {
  std::string model, data, at, shard;
  std::vector<std::string> features;
  RowOutput out;
  bool deviations = false, filter = false;
  GuardOptions guard;
  ReadOptions reading;
  int threads = 0;
};

// Places in the model of the features to fill, by their names or by those of columns of categories.
std::vector<std::size_t> features_to_fill(const std::vector<std::string>& names,
                                          const Model& model) {
  std::vector<std::size_t> features;
  if (names.empty()) {
    features.resize(model.features.size());
    std::iota(features.begin(), features.end(), std::size_t{0});
    return features;
  }
  std::vector<std::string> known = model.features;
  for (const CategoryColumn& column : model.reading.categories)
    if (!column.is_static) known.push_back(column.column);
  for (const std::string& name : names) {
    const std::size_t place = place_of("--features", "feature", name, known);
    for (std::size_t j = 0; j < model.features.size(); ++j)
      if (j == place ||
          (place >= model.features.size() && model.features[j].starts_with(known[place] + "=")))
        features.push_back(j);
  }
  std::sort(features.begin(), features.end());
  features.erase(std::unique(features.begin(), features.end()), features.end());
  return features;
}

// ---- a row for each of some times ----

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

// Rows of a table at chosen times, and what the model knows of its columns.
class RowsAtTimes {
 public:
  RowsAtTimes(const ImputeArguments& options, const Model& model, const Dataset& table,
              const std::vector<std::size_t>& fill)
      : table_(table),
        deviations_(options.deviations),
        known_(known_features(model, table, fill)),
        layout_(options.out.resolved(), columns(table, known_, options.deviations),
                parse_shard(options.shard)) {
    for (const auto* names : {&table.classes, &table.groups})
      for (const std::string& name : *names)
        (names == &table.classes ? classes_ : groups_).push_back(layout_.cell(name));
  }

  const RowLayout& layout() const { return layout_; }

  // Appends the rows of a series; returns how many cells were filled.
  std::size_t write(const ImputedSeries& imputed, RowText& text) const {
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

 private:
  static std::vector<std::int32_t> known_features(const Model& model, const Dataset& table,
                                                  const std::vector<std::size_t>& fill) {
    std::vector<std::int32_t> known;
    for (const std::string& name : table.features) {
      const auto found = std::ranges::find(
          fill, name, [&](std::size_t j) -> const std::string& { return model.features[j]; });
      known.push_back(found == fill.end() ? Dataset::kNone : static_cast<std::int32_t>(*found));
    }
    return known;
  }

  void describe(std::size_t series, RowText& text) const {
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

  void deviations(const ImputedSeries& imputed, std::size_t t, RowText& text) const {
    for (const std::int32_t j : known_) {
      if (j == Dataset::kNone) continue;
      const std::size_t cell = imputed.cell(t, static_cast<std::size_t>(j));
      if (imputed.observed[cell])
        text.none();
      else
        text.number(imputed.deviation[cell]);
    }
  }

  const Dataset& table_;
  const bool deviations_;
  const std::vector<std::int32_t> known_;  // each column's feature of the model, or kNone
  const RowLayout layout_;
  std::vector<std::string> classes_, groups_;  // as cells
};

// ---- both ----

class Imputation {
 public:
  Imputation(const ImputeArguments& options, const Model& model)
      : options_(options), model_(model), pool_(static_cast<std::size_t>(options.threads)) {
    request_.guard = options.guard.resolve();
    request_.sides = !model.fusion.empty() && !options.filter ? Sides::both : Sides::past;
    progress_.begin();
  }

  // The table of the file itself.
  void fill_table(CsvOriginal original, const Dataset& data) {
    const FilledTable table(std::move(original), model_, data,
                            features_to_fill(options_.features, model_), options_.deviations,
                            options_.out.resolved(), parse_shard(options_.shard));
    const std::vector<std::size_t> all = series_of(parse_shard(options_.shard), data);
    request_.own_times = [&](std::size_t series) { return table.times(series); };
    RowFile out(options_.out.destination(), options_.out.resolved(), table.header());
    // Rows wait until those before them are written: series may take turns in the table.
    std::vector<std::optional<std::string>> waiting(table.rows());
    std::vector<bool> chosen(data.size(), false);
    for (const std::size_t series : all) chosen[series] = true;
    std::size_t next = 0, rows = 0;
    const auto write = [&] {
      std::string text;
      for (; next < waiting.size(); ++next) {
        if (!chosen[table.series_of(next)]) continue;
        if (!waiting[next]) break;
        text += *waiting[next];
        waiting[next].reset();
        ++rows;
      }
      out.write(text);
    };
    each_part(
        all, data, table.rows() / std::max<std::size_t>(1, data.size()),
        [&](const std::vector<ImputedSeries>& part) {
          FilledTable::Filled made;
          for (const ImputedSeries& imputed : part) {
            FilledTable::Filled own = table.filled(imputed);
            made.cells += own.cells;
            std::move(own.rows.begin(), own.rows.end(), std::back_inserter(made.rows));
          }
          return made;
        },
        [&](FilledTable::Filled& made) {
          filled_ += made.cells;
          for (auto& [row, text] : made.rows) waiting[row] = std::move(text);
          write();
        });
    out.commit();
    tell(rows, all.size());
    if (table.without_time() > 0)
      fmt::print(stderr, "note: {} without a time {} left as {}\n",
                 counted(table.without_time(), "row"), table.without_time() == 1 ? "was" : "were",
                 table.without_time() == 1 ? "it was" : "they were");
  }

  // A row for each event of the table, or for each of the given times.
  void fill_times(const Dataset& table, const std::optional<GivenTimes>& at) {
    const Dataset data = matched(model_, table);
    request_.table = &table;
    if (at && at->are_moments(table))
      request_.own_times = [&](std::size_t series) { return at->of(table, series); };
    else if (at)
      request_.grid = at->numbers();
    const RowsAtTimes filling(options_, model_, table, features_to_fill(options_.features, model_));
    const std::vector<std::size_t> all = series_of(parse_shard(options_.shard), data);
    struct Part {
      std::string text;
      std::size_t rows, filled, without_times;
    };
    RowFile out(options_.out.destination(), filling.layout());
    std::size_t rows = 0, without_times = 0;
    each_part(
        all, data, at ? at->count() : table.events() / std::max<std::size_t>(1, table.size()),
        [&](const std::vector<ImputedSeries>& part) {
          RowText text(filling.layout());
          std::size_t cells = 0, without = 0;
          for (const ImputedSeries& imputed : part) {
            if (at && imputed.times.empty())
              ++without;
            else
              cells += filling.write(imputed, text);
          }
          const std::size_t count = text.rows();
          return Part{text.take(), count, cells, without};
        },
        [&](Part& part) {
          out.write(part.text);
          rows += part.rows;
          filled_ += part.filled;
          without_times += part.without_times;
        });
    out.commit();
    tell(rows, all.size());
    note_without_times(without_times, all.size());
  }

 private:
  // make(imputed series) on any thread, take(what it made) in the order of the series.
  template <class Make, class Take>
  void each_part(const std::vector<std::size_t>& all, const Dataset& data, std::size_t times,
                 const Make& make, const Take& take) {
    std::size_t done = 0;
    const std::size_t at_once = series_at_once(model_, times * model_.features.size());
    for_each_part(
        all, at_once, pool_,
        [&](std::span<const std::size_t> some) {
          return make(impute(model_, data, request_, some, pool_));
        },
        [&](auto&& made) {
          take(made);
          done = std::min(done + at_once, all.size());
          progress_.update(static_cast<double>(done) / static_cast<double>(all.size()));
        });
  }

  void tell(std::size_t rows, std::size_t series) {
    progress_.end();
    const std::string& path = options_.out.destination();
    fmt::print(text_stream({path}), "{}: {} of {} series, {} filled{}\n", shown(path),
               counted(rows, "row"), series, counted(filled_, "cell"),
               request_.sides == Sides::both ? " from both sides"
               : !model_.fusion.empty()      ? " from the past alone"
                                             : "");
  }

  const ImputeArguments& options_;
  const Model& model_;
  ThreadPool pool_;
  Progress progress_{"imputing"};
  ImputeRequest request_;
  std::size_t filled_ = 0;
};

void run(const ImputeArguments& options) {
  check_files({options.model, options.data}, {options.out.destination()});
  const Model model = load_model(options.model);
  if (!model.network->has_distribution()) throw no_distribution(model.config.model.kind);
  std::optional<GivenTimes> at;
  if (!options.at.empty() && options.at != "events")
    at.emplace("--at", options.at, model.time_axis);
  features_to_fill(options.features, model);  // a wrong name is refused before the data are read
  Imputation imputation(options, model);
  if (!options.at.empty() || is_packed_file(options.data))
    return imputation.fill_times(
        open_as_trained(model, options.data, options.reading, Columns::all), at);
  // What comes through a pipe can be read only once.
  const ReadOptions reading = as_trained(model, options.reading, Columns::known);
  std::error_code unknown;
  if (std::filesystem::is_regular_file(options.data, unknown)) {
    const Dataset data = matched(model, told(read_csv(options.data, reading)));
    return imputation.fill_table(
        read_csv_original(CsvText::from_file(options.data, reading.limits), reading), data);
  }
  const std::string text = read_file(options.data, reading.limits.bytes);
  const std::string name = name_of_file(options.data);
  const Dataset data = matched(model, told(read_csv_text(text, name, reading)));
  imputation.fill_table(
      read_csv_original(CsvText::from_memory(text, name, reading.limits), reading), data);
}

}  // namespace

void add_impute(CLI::App& app) {
  auto options = std::make_shared<ImputeArguments>();
  CLI::App* command = app.add_subcommand(
      "impute", "Fill the empty cells of a table, from the past or from both sides");
  command->add_option("model", options->model, "a trained model")->required()->type_name("MODEL");
  command->add_option("data", options->data, "the table")->required()->type_name("DATA");
  options->out.add_to(*command, "FILE");
  command
      ->add_option("--at", options->at,
                   "a new table with a row at each of these times of every series, or with a row "
                   "for each `events`; default: the table itself, row by row")
      ->type_name("START:STEP:END|T1,T2,...|DATE,...|events");
  command->add_option("--features", options->features, "fill only these; default: all of the model")
      ->delimiter(',')
      ->type_name("NAME,...");
  command->add_flag("--deviations", options->deviations,
                    "a further column NAME_sd for each feature: the standard deviation of what was "
                    "filled in, empty where it was observed");
  command->add_flag("--filter", options->filter,
                    "from the past alone, where the model looks from both sides");
  add_shard(*command, options->shard);
  options->guard.add_to(*command);
  add_reading(*command, options->reading);
  add_threads(*command, options->threads);
  command->footer(
      "The table comes back with its rows, their order and its columns; only empty cells of the "
      "model's features change, and every other cell stays as it is written. An empty cell "
      "becomes the mean that the model expects given everything of its series up to that time, "
      "the other cells of the row included, and nothing later; in a column of categories it "
      "becomes the likeliest one. A model that was trained with train.smooth also uses what came "
      "later, unless --filter is given. Rows without a time are not filled. Packed data have no "
      "rows of their own; they are written as with --at events.");
  command->callback([options] { run(*options); });
}

}  // namespace edict::cli
