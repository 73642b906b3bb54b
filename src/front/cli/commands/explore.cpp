#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/json/json.h"
#include "front/cli/asked.h"
#include "front/cli/command.h"
#include "front/cli/given_data.h"
#include "front/cli/terminal/progress.h"
#include "render/explore_page.h"

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

std::vector<std::size_t> places(const std::string& option, const std::string& what,
                                const std::vector<std::string>& names,
                                const std::vector<std::string>& known) {
  std::vector<std::size_t> result;
  for (const std::string& name : names) result.push_back(place_of(option, what, name, known));
  return result;
}

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
  if (!model.network->has_distribution() && model.network->classes() == 0)
    throw Error(
        fmt::format("{}: has neither a distribution nor a classifier to show", options.model));
  const Dataset data = open_for(model, options.data, options.reading);
  if (data.size() == 0) throw Error(fmt::format("{}: has no series to show", options.data));
  report::ExploreOptions explore;
  explore.request = {options.guard.resolve(), options.level,
                     places("--show", "feature", options.features, model.features),
                     &interrupt_flag()};
  explore.megabytes = options.megabytes;
  explore.data_name = options.data == "-" ? "standard input"
                                          : std::filesystem::path(options.data).filename().string();
  explore.progress = [&](double share) { progress.update(share); };
  const std::vector<std::size_t> series = options.ids.empty()
                                              ? model.series_of(data, options.split)
                                              : places("--series", "series", options.ids, data.ids);
  ThreadPool pool(static_cast<std::size_t>(options.threads));
  const report::ExplorePage page = report::explore_page(model, data, series, pool, explore);
  write_atomically(options.out, page.html);
  write_json(options.json, {{"page", options.out},
                            {"bytes", page.html.size()},
                            {"series", series.size()},
                            {"with_bands", page.whole},
                            {"observations_only", page.observations_only},
                            {"only_listed", page.named_only},
                            {"tolerance", page.tolerance}});
  progress.end();
  fmt::print(text_stream({options.out, options.json}), "{}\n",
             what_the_page_holds(page, options, series.size()));
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
