#include "app/explore.h"

#include <fmt/core.h>

#include <filesystem>

#include "base/files/atomic_file.h"
#include "base/json/json.h"
#include "front/cli/command.h"
#include "front/cli/given_data.h"
#include "front/cli/terminal/progress.h"

namespace edict::cli {
namespace {

struct ExploreArguments {
  std::string model, data, out, json, split = "all";
  std::vector<std::string> ids, features;
  double level = 0.9, megabytes = 20;
  GuardOptions guard;
  ReadOptions reading;
  int threads = 0;
};

std::string what_the_page_holds(const report::ExplorePage& page, const ExploreArguments& options,
                                std::size_t series) {
  std::string text = fmt::format("{}: {} series, {:.1f} MB", shown(options.out), series,
                                 static_cast<double>(page.html.size()) / 1e6);
  if (page.observations_only + page.named_only > 0)
    text += fmt::format("; the {} most surprising with bands", page.whole);
  if (page.observations_only > 0)
    text += fmt::format(", {} with observations alone", page.observations_only);
  if (page.named_only > 0) text += fmt::format(", {} only listed", page.named_only);
  if (page.observations_only + page.named_only > 0)
    text += fmt::format(" (--megabytes {:g})", options.megabytes);
  return text;
}

void run(const ExploreArguments& options) {
  check_files({options.model, options.data}, {options.out, options.json});
  Progress progress("exploring");
  progress.begin();
  const Model model = load_model(options.model);
  app::ExploreRequest request{.split = options.split,
                              .ids = options.ids,
                              .shown = options.features,
                              .model_name = options.model,
                              .data_name = options.data};
  app::check(request, model);
  const Dataset data = open_for(model, options.data, options.reading);
  report::ExploreOptions& page = request.page;
  page.request = {options.guard.resolve(), options.level, {}, &interrupt_flag()};
  page.megabytes = options.megabytes;
  page.data_name = options.data == "-" ? "standard input"
                                       : std::filesystem::path(options.data).filename().string();
  page.progress = [&](double share) { progress.update(share); };
  ThreadPool pool(static_cast<std::size_t>(options.threads));
  const app::ExploreResult result = app::explore(model, data, request, pool);
  print_notes(result.notes);
  write_atomically(options.out, result.page.html);
  write_json(options.json, {{"page", options.out},
                            {"bytes", result.page.html.size()},
                            {"series", result.series},
                            {"with_bands", result.page.whole},
                            {"observations_only", result.page.observations_only},
                            {"only_listed", result.page.named_only},
                            {"tolerance", result.page.tolerance}});
  progress.end();
  fmt::print(text_stream({options.out, options.json}), "{}\n",
             what_the_page_holds(result.page, options, result.series));
}

}  // namespace

void add_explore(CLI::App& app) {
  auto options = std::make_shared<ExploreArguments>();
  CLI::App* command = app.add_subcommand(
      "explore", "A page to browse data and what the model makes of them, series by series");
  command->add_option("model", options->model, "a trained model")->required()->type_name("MODEL");
  command->add_option("data", options->data, "the data")->required()->type_name("DATA.csv");
  add_output(*command, "--out", options->out, "where to write; - is standard output")
      ->required()
      ->type_name("PAGE.html");
  add_split(*command, options->split);
  command->add_option("--series", options->ids, "ids to show; default: all of --split")
      ->delimiter(',')
      ->type_name("ID,...");
  command
      ->add_option("--show", options->features,
                   "features to show; default: those that a series has observed")
      ->delimiter(',')
      ->type_name("FEATURE,...");
  add_level(*command, options->level, "of the predictive interval");
  command
      ->add_option("--megabytes", options->megabytes,
                   "the page stays below this: first bands are drawn through fewer points, then "
                   "only the most surprising series have bands, then the least surprising are "
                   "only listed")
      ->check(within(0.2, 2000.0))
      ->capture_default_str();
  options->guard.add_to(*command);
  add_json(*command, options->json);
  add_reading(*command, options->reading);
  add_threads(*command, options->threads);
  command->callback([options] { run(*options); });
}

}  // namespace edict::cli
