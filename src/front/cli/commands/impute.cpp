#include "app/predict/impute.h"

#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "base/files/read_file.h"
#include "base/text/counted.h"
#include "data/packed_file.h"
#include "data/read/csv/csv.h"
#include "front/cli/command.h"
#include "front/cli/given_data.h"
#include "front/cli/shard.h"
#include "front/cli/tables/filled_table.h"
#include "front/cli/tables/rows.h"
#include "front/cli/tables/rows_at_times.h"
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

class Imputation {
 public:
  Imputation(const ImputeArguments& options, const Model& model, std::vector<std::size_t> features)
      : options_(options),
        model_(model),
        features_(std::move(features)),
        shard_(parse_shard(options.shard)),
        pool_(static_cast<std::size_t>(options.threads)) {
    request_.guard = options.guard.resolve();
    request_.past_alone = options.filter;
    progress_.begin();
  }

  // The table of the file itself.
  void fill_table(CsvOriginal original, const Dataset& data) {
    const FilledTable table(std::move(original), model_, data, features_, options_.deviations,
                            options_.out.resolved(), shard_);
    request_.series = series_of(shard_, data);
    request_.own_times = [&](std::size_t series) { return table.times(series); };
    request_.times_per_series = table.rows() / std::max<std::size_t>(1, data.size());
    RowFile out(options_.out.destination(), options_.out.resolved(), table.header());
    RowsInOrder waiting(table, *request_.series);
    std::size_t cells = 0;
    const app::ImputeResult result =
        app::impute(model_, data, request_, pool_,
                    {.begin = [&] { return std::make_unique<FilledRows>(table); },
                     .take =
                         [&](app::ImputedRows& made, double share) {
                           auto& filled = static_cast<FilledRows&>(made).filled;
                           cells += filled.cells;
                           out.write(waiting.add(std::move(filled.rows)));
                           progress_.update(share);
                         }});
    out.commit();
    print(result, waiting.written(), cells);
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
      request_.times = at->numbers();
    request_.series = series_of(shard_, data);
    request_.times_per_series =
        at ? at->count() : table.events() / std::max<std::size_t>(1, table.size());
    const RowsAtTimes filling(model_, table, features_, options_.deviations,
                              options_.out.resolved(), shard_);
    RowFile out(options_.out.destination(), filling.layout());
    std::size_t rows = 0, cells = 0;
    const app::ImputeResult result = app::impute(
        model_, data, request_, pool_,
        {.begin = [&] { return std::make_unique<TextAtTimes>(filling, !at.has_value()); },
         .take =
             [&](app::ImputedRows& made, double share) {
               const auto& text = static_cast<TextAtTimes&>(made);
               out.write(text.rows.text());
               rows += text.rows.rows();
               cells += text.cells;
               progress_.update(share);
             }});
    out.commit();
    print(result, rows, cells);
    if (at) note_without_times(result.without_times, result.series);
  }

 private:
  void print(const app::ImputeResult& result, std::size_t rows, std::size_t cells) {
    progress_.end();
    const std::string& path = options_.out.destination();
    fmt::print(text_stream({path}), "{}: {} of {} series, {} filled{}\n", shown(path),
               counted(rows, "row"), result.series, counted(cells, "cell"),
               result.sides == Sides::both ? " from both sides"
               : result.two_sided          ? " from the past alone"
                                           : "");
  }

  const ImputeArguments& options_;
  const Model& model_;
  const std::vector<std::size_t> features_;  // to fill
  const Shard shard_;
  ThreadPool pool_;
  Progress progress_{"imputing"};
  app::ImputeRequest request_;
};

void run(const ImputeArguments& options) {
  check_files({options.model, options.data}, {options.out.destination()});
  const Model model = load_model(options.model);
  if (!model.network->has_distribution()) throw no_distribution(model.config.model.kind);
  std::optional<GivenTimes> at;
  if (!options.at.empty() && options.at != "events")
    at.emplace("--at", options.at, model.time_axis);
  // A wrong name is refused before the data are read.
  app::FeaturesToFill features = app::features_to_fill(options.features, model);
  print_notes(features.notes);
  Imputation imputation(options, model, std::move(features.places));
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
