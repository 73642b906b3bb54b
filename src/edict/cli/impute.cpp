#include "edict/eval/impute.h"

#include <fmt/core.h>

#include <algorithm>

#include "edict/cli/command.h"
#include "edict/cli/given_data.h"
#include "edict/cli/progress.h"
#include "edict/cli/rows.h"
#include "edict/cli/shard.h"
#include "edict/cli/time_grid.h"
#include "edict/core/error.h"
#include "edict/eval/trajectory.h"

namespace edict::cli {
namespace {

struct ImputeArguments {
  std::string model, data, at, shard;
  RowOutput out;
  bool deviations = false, filter = false;
  GuardOptions guard;
  ReadOptions reading;
  int threads = 0;
};

constexpr const char* kDeviation = "_sd";

// The columns of the table: id, time, what describes a series, the features, their deviations.
std::vector<std::string> columns(const Dataset& table, const std::vector<std::int32_t>& known,
                                 bool deviations) {
  std::vector<std::string> names{"id", "time"};
  if (!table.classes.empty()) names.emplace_back("label");
  if (!table.groups.empty()) names.emplace_back("group");
  for (const std::string& name : table.statics) names.push_back("static:" + name);
  names.insert(names.end(), table.features.begin(), table.features.end());
  if (!deviations) return names;
  for (std::size_t j = 0; j < table.features.size(); ++j) {
    if (known[j] == Dataset::kNone) continue;
    const std::string name = table.features[j] + kDeviation;
    if (std::find(table.features.begin(), table.features.end(), name) != table.features.end())
      throw Error(fmt::format(
          "--deviations: the data have a column '{}' already; rename it, or leave the option out",
          name));
    names.push_back(name);
  }
  return names;
}

// A table and what the model knows of its columns.
class Filling {
 public:
  Filling(const ImputeArguments& options, const Model& model, const Dataset& table)
      : table_(table),
        deviations_(options.deviations),
        known_(known_features(model, table)),
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
  static std::vector<std::int32_t> known_features(const Model& model, const Dataset& table) {
    std::vector<std::int32_t> known;
    for (const std::string& name : table.features) {
      const auto found = std::find(model.features.begin(), model.features.end(), name);
      known.push_back(found == model.features.end()
                          ? Dataset::kNone
                          : static_cast<std::int32_t>(found - model.features.begin()));
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

void run(const ImputeArguments& options) {
  check_files({options.model, options.data}, {options.out.destination()});
  const Model model = load_model(options.model);
  if (!model.network->has_distribution()) throw no_distribution(model.config.model.kind);
  ImputeRequest request;
  if (!options.at.empty()) request.grid = parse_times("--at", options.at);
  request.guard = options.guard.resolve();
  const bool both = !model.fusion.empty() && !options.filter;
  request.sides = both ? Sides::both : Sides::past;
  const Dataset table = open_as_trained(model, options.data, options.reading, Columns::all);
  const Dataset data = matched(model, table);
  request.table = &table;
  const Filling filling(options, model, table);
  ThreadPool pool(static_cast<std::size_t>(options.threads));
  Progress progress("imputing");
  progress.begin();
  struct Part {
    std::string text;
    std::size_t series, rows, filled;
  };
  RowFile out(options.out.destination(), filling.layout());
  std::size_t series = 0, rows = 0, filled = 0;
  const std::size_t times = request.grid.empty()
                                ? table.events() / std::max<std::size_t>(1, table.size())
                                : request.grid.size();
  const std::vector<std::size_t> all = series_of(parse_shard(options.shard), data);
  for_each_part(
      all, series_at_once(model, times * model.features.size()), pool,
      [&](std::span<const std::size_t> some) {
        RowText text(filling.layout());
        std::size_t cells = 0;
        for (const ImputedSeries& imputed : impute(model, data, request, some, pool))
          cells += filling.write(imputed, text);
        const std::size_t count = text.rows();
        return Part{text.take(), some.size(), count, cells};
      },
      [&](const Part& part) {
        out.write(part.text);
        series += part.series;
        rows += part.rows;
        filled += part.filled;
        progress.update(static_cast<double>(series) / static_cast<double>(all.size()));
      });
  out.commit();
  progress.end();
  const std::string& path = options.out.destination();
  fmt::print(text_stream({path}), "{}: {} rows of {} series, {} cells filled{}\n", path, rows,
             series, filled,
             both                    ? " from both sides"
             : !model.fusion.empty() ? " from the past alone"
                                     : "");
}

}  // namespace

void add_impute(CLI::App& app) {
  auto options = std::make_shared<ImputeArguments>();
  CLI::App* command = app.add_subcommand(
      "impute",
      "The table without holes: missing cells filled from what was seen up to then, or also later");
  command->add_option("model", options->model, "a trained model")->required()->type_name("MODEL");
  command->add_option("data", options->data, "the table")->required()->type_name("DATA");
  options->out.add_to(*command, "FILE");
  command
      ->add_option("--at", options->at,
                   "a regular table at these times; default: the times of the table itself")
      ->type_name("START:STEP:END|T1,T2,...");
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
      "A wide table, a row a moment. Observed cells stay as they are. A missing one becomes the "
      "mean that the model expects given everything of its series up to that moment, the other "
      "cells of the row included, and nothing later. A model that was trained with train.smooth "
      "looks from both sides: what came later counts too, unless --filter asks for the past alone. "
      "Columns that the model does not know are copied.");
  command->callback([options] { run(*options); });
}

}  // namespace edict::cli
