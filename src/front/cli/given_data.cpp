#include "front/cli/given_data.h"

#include <fmt/core.h>

#include "app/train/training_settings.h"
#include "base/error.h"
#include "data/pieces.h"
#include "data/read/source.h"
#include "front/cli/command.h"

namespace edict::cli {

void add_split(CLI::App& command, std::string& split) {
  command
      .add_option("--split", split,
                  "which series, as the model recorded in training; a file of new series is used "
                  "whole")
      ->check(one_of({"train", "validation", "test", "unseen", "all"}))
      ->capture_default_str();
}

void add_reading(CLI::App& command, ReadOptions& options) {
  const char* const group = "Reading the table (docs/how-to/tables.md); the rest is recognised";
  const auto column = [&](const char* name, std::string& to, const char* help) {
    command.add_option(name, to, help)->type_name("COLUMN")->group(group);
  };
  const auto columns = [&](const char* name, std::vector<std::string>& to, const char* help) {
    command.add_option(name, to, help)->delimiter(',')->type_name("COLUMN,...")->group(group);
  };
  column("--id", options.id, "names the series; none: the table is one series");
  column("--time", options.time,
         "when it was observed: a number, a date or Unix time; DATE,CLOCK: in two columns");
  column("--label", options.label, "the class of a series; none: there is none");
  column("--group", options.group, "series of one group may be kept together (data.split)");
  columns("--static", options.statics, "one value a series: numbers, or texts as categories");
  // Where the features of a model are chosen among, it knows which columns to read.
  if (!command.get_option_no_throw("--features"))
    columns("--features", options.features, "what was observed; default: every other column");
  columns("--ignore", options.ignored, "leave these columns out");
  columns("--columns", options.columns, "the names of all columns, of a table without a header");
  column("--variable", options.variable,
         "long form, a row an observation: names what was observed; none: it is the wide form");
  column("--value", options.value, "long form: the observed value");
  columns("--category", options.categories, "columns whose values are names even if numbers");
  command
      .add_option("--missing", options.missing,
                  "stands for a missing value, as -999 or COLUMN=-999; may be repeated; none: no "
                  "number does")
      ->allow_extra_args(false)
      ->type_name("[COLUMN=]VALUE")
      ->group(group);
  command
      .add_option("--decimal", options.decimal, "the decimal mark of 1,234; default: recognised")
      ->check(one_of({"point", "comma"}))
      ->group(group);
  command
      .add_option("--time-format", options.time_format,
                  "of dates, as strptime has it: '%d/%m/%Y %H:%M'")
      ->type_name("FORMAT")
      ->group(group);
  command
      .add_option("--time-unit", options.time_unit,
                  "what dates are counted in; none: numbers are plain numbers, never Unix time; of "
                  "numbers given to a model, what they are in")
      ->check(one_of({"s", "min", "h", "d", "none"}))
      ->group(group);
  command
      .add_option("--origin", options.origin,
                  "when time is 0: at each series' first event, or at a date or number")
      ->type_name("first|TIME")
      ->group(group);
  command
      .add_option("--duplicates", options.duplicates,
                  "of different values for one id, time and feature; default: mean")
      ->check(one_of({"mean", "first", "last", "error"}))
      ->group(group);
}

std::string note_line(const std::string& note) {
  return "note: " + with_options(note, command_line_option);
}

void print_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) fmt::print(stderr, "{}\n", note_line(note));
}

Dataset told(Dataset data) {
  print_notes(data.reading.recognised);
  return data;
}

Dataset open_told(const std::string& uri, const ReadOptions& options) {
  return told(open_data(uri, options));
}

ReadOptions as_trained(const Model& model, const ReadOptions& options, Columns columns) {
  ReadOptions result = options;
  // A model from before has no reading; then the table is recognised anew.
  if (!model.reading.time.empty()) result.like = KnownReading{model.reading, model.time_axis};
  if (columns == Columns::all && result.like) result.like->reading.features.clear();
  return result;
}

Dataset open_as_trained(const Model& model, const std::string& uri, const ReadOptions& options,
                        Columns columns) {
  return open_told(uri, as_trained(model, options, columns));
}

Dataset open_for(const Model& model, const std::string& uri, const ReadOptions& options,
                 Series series) {
  Dataset data = matched(model, open_as_trained(model, uri, options));
  const std::size_t piece = model.reading.piece;
  return piece > 0 && series == Series::as_trained ? in_pieces(data, piece) : data;
}

Dataset open_to_train(const std::string& uri, const ReadOptions& options) {
  Dataset data = open_told(uri, options);
  std::optional<app::CutData> cut = app::cut_long_series(data);
  if (!cut) return data;
  print_notes({cut->note});
  return std::move(cut->data);
}

Dataset matched(const Model& model, Dataset data) {
  MatchedData found = model.match(std::move(data));
  print_notes(found.notes);
  return std::move(found.data);
}

std::string about(const app::EvaluatedSeries& evaluated) {
  const std::size_t all = evaluated.series.size();
  if (evaluated.all_new()) return fmt::format("{} new series, none of them used in training", all);
  if (evaluated.trained > 0 && evaluated.validated > 0)
    return fmt::format("note: {} of these {} series were used in training, {} in validation",
                       evaluated.trained, all, evaluated.validated);
  if (evaluated.trained > 0)
    return fmt::format("note: {} of these {} series were used in training", evaluated.trained, all);
  if (evaluated.validated > 0)
    return fmt::format("note: {} of these {} series were used in validation", evaluated.validated,
                       all);
  return "";
}

}  // namespace edict::cli
