#include "app/stress.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "front/cli/command.h"
#include "front/cli/given_data.h"
#include "front/cli/terminal/progress.h"
#include "render/evaluation_figures.h"
#include "render/evaluation_page.h"
#include "render/json/stress_json.h"

namespace edict::cli {
namespace {

struct StressArguments {
  std::string model, data, json, plot, levels = "0-9", noise = "compounding", sigma = "epistemic",
                                       split = "test";
  std::vector<std::string> guards;  // empty: all that the model can serve
  std::vector<std::int64_t> seeds{0, 1, 2};
  std::optional<double> rate, strength;
  double unit = 1.0;
  double eta = 1.96;
  ReadOptions reading;
  int threads = 0;
};

// "0-9", "0,3,9" or a mixture.
std::vector<int> parse_levels(const std::string& text) {
  const auto refuse = [&] {
    return Error(fmt::format("--levels {}: give levels from 0 to 9, as 0-9 or 0,3,9", text));
  };
  std::vector<int> levels;
  const char *at = text.data(), *const end = at + text.size();
  const auto number = [&] {
    int value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value < 0 || value > 9) throw refuse();
    at = next;
    return value;
  };
  while (true) {
    const int first = number();
    int last = first;
    if (at != end && *at == '-') {
      ++at;
      last = number();
    }
    if (last < first) throw refuse();
    for (int level = first; level <= last; ++level) levels.push_back(level);
    if (at == end) return levels;
    if (*at++ != ',') throw refuse();
  }
}

Guard guard_of(const StressArguments& options, Guard::Kind kind) {
  return {kind, options.eta, deviation_from_name(options.sigma)};
}

StressOptions sweep_of(const StressArguments& options) {
  StressOptions sweep;
  sweep.guards.clear();
  for (const std::string& name : options.guards)
    sweep.guards.push_back(guard_of(options, guard_from_name(name)));
  sweep.levels = parse_levels(options.levels);
  sweep.seeds = options.seeds;
  sweep.noise = noise_from_name(options.noise);
  sweep.noise.strength = options.strength.value_or(sweep.noise.strength);
  sweep.noise.unit = options.unit;
  sweep.largest = options.rate.value_or(usual_largest(sweep.noise.kind));
  return sweep;
}

void print(std::FILE* to, const StressResult& result) {
  fmt::print(to, "{:9} {:>5}  {:>15}  {:>15}  {:>7}  {:>7}  {:>8}  {:>7}  {:>7}  {:>7}\n", "guard",
             "level", "accuracy %", "AUROC", "AUPRC", "Brier", "log loss", "at 90 %", "at 80 %",
             "clipped");
  for (const StressCurve& curve : result.curves) {
    const auto line = [&](const StressPoint& point) {
      const auto mean = [&](auto value) { return over_seeds(point, value); };
      using Result = ClassificationResult;
      const MeanStd accuracy = mean([](const Result& r) { return 100 * r.accuracy; });
      const MeanStd auroc = mean([](const Result& r) { return r.auroc.value; });
      const double auprc = mean([](const Result& r) { return r.average_precision.value; }).mean;
      // A single class has no ranking.
      const std::string ranks = std::isnan(auroc.mean) ? fmt::format("{:>15}  {:>7}", "–", "–")
                                                       : fmt::format("{:.4f} ± {:.4f}  {:7.4f}",
                                                                     auroc.mean, auroc.std, auprc);
      fmt::print(
          to, "{:9} {:>5}  {:7.2f} ± {:5.2f}  {}  {:7.4f}  {:8.4f}  {:7.2f}  {:7.2f}  {:5.1f} %\n",
          name_of(curve.guard.kind), point.level < 0 ? "clean" : fmt::format("{}", point.level),
          accuracy.mean, accuracy.std, ranks, mean([](const Result& r) { return r.brier; }).mean,
          mean([](const Result& r) { return r.log_loss; }).mean,
          mean([](const Result& r) { return 100 * r.risk_coverage.at(0.9); }).mean,
          mean([](const Result& r) { return 100 * r.risk_coverage.at(0.8); }).mean,
          100 * point.clipped);
    };
    line(curve.clean);
    for (const StressPoint& point : curve.levels) line(point);
  }
  fmt::print(to,
             "at 90 %, at 80 %: accuracy over the 90 or 80 % of series that the model is most "
             "certain of\n");
}

void run(const StressArguments& options) {
  check_files({options.model, options.data}, {options.json, options.plot});
  app::StressRequest request{.sweep = sweep_of(options),
                             .eta = options.eta,
                             .deviation = deviation_from_name(options.sigma),
                             .split = options.split};
  Progress progress("stress");
  const Model model = load_model(options.model);
  const Dataset data = open_for(model, options.data, options.reading);
  ThreadPool pool(static_cast<std::size_t>(options.threads));
  request.sweep.stop = &interrupt_flag();
  request.sweep.progress = [&](std::size_t done, std::size_t all) {
    progress.update(static_cast<double>(done) / static_cast<double>(all));
  };
  progress.begin();
  const auto [judged, result] = app::stress(model, data, request, pool);
  const std::string note = about(judged);
  progress.line(fmt::format(
      "{} {} series, {} seeds, {} noise up to {} ({}){}", result.series, judged.split,
      result.seeds.size(), options.noise, request.sweep.largest, duration(progress.seconds()),
      result.unlabelled > 0 ? fmt::format("; {} without a label left out", result.unlabelled)
                            : ""));
  progress.end();
  std::FILE* const text = text_stream({options.json, options.plot});
  if (!note.empty()) fmt::print(text, "{}\n", note);
  print(text, result);
  if (!options.plot.empty())
    write_atomically(
        options.plot,
        report::html_page(model.config.model.kind + " under noise",
                          fmt::format("{} {} series, {} noise, mean and deviation over {} seeds{}.",
                                      result.series, judged.split, options.noise,
                                      result.seeds.size(), note.empty() ? "" : " (" + note + ")"),
                          {{"Accuracy", "", {report::stress_figure(result)}}}));
  if (options.json.empty()) return;
  nlohmann::json json = to_json(result);
  json["split"] = judged.split;
  json["note"] = note;
  write_atomically(options.json, json_text(json, 2) + "\n");
}

}  // namespace

void add_stress(CLI::App& app) {
  auto options = std::make_shared<StressArguments>();
  CLI::App* command = app.add_subcommand(
      "stress", "Evaluate a classifier at rising noise levels, with and without guards");
  command->add_option("model", options->model, "from `edict classify`")
      ->required()
      ->type_name("CLF");
  command->add_option("data", options->data, "labelled data")->required()->type_name("DATA.csv");
  add_split(*command, options->split);
  command
      ->add_option("--guard", options->guards,
                   "which guards; by default all that the model can serve (edgr needs a "
                   "distribution)")
      ->delimiter(',')
      ->type_name("{none,edgr,pop-mean}");
  command->add_option("--levels", options->levels, "noise levels, as 0-9 or 0,3,9")
      ->capture_default_str();
  command->add_option("--noise", options->noise, "what is done to the observations")
      ->type_name("{compounding,asymmetric,spikes,stuck,drift,bursts,units}")
      ->capture_default_str();
  command->add_option(
      "--rate", options->rate,
      "what level 9 reaches. Compounding and asymmetric: the rate per --unit of time, 0.7 by "
      "default; published: Synthetic 0.7, Gestures 6, Activity 250 a window, PhysioNet and MIMIC "
      "0.5. "
      "Spikes 0.5, stuck, drift, units 1: the fraction hit; bursts 0.9: the share of time lost");
  command
      ->add_option("--unit", options->unit,
                   "the time that --rate is per, in the data's unit; a window of Activity is 1.6")
      ->check(positive())
      ->capture_default_str();
  command->add_option("--strength", options->strength,
                      "of the noise: deviations (compounding 0.1, spikes 5, drift 2) or the factor "
                      "of units (10)");
  command->add_option("--eta", options->eta, "a guard's bound in deviations")
      ->capture_default_str();
  command
      ->add_option("--sigma", options->sigma,
                   "EDGR's deviation. epistemic, as published, clips about 15 % of clean "
                   "observations; predictive, the whole deviation, about 5 % (see the row `clean`)")
      ->type_name("{epistemic,predictive}")
      ->capture_default_str();
  command->add_option("--seeds", options->seeds, "of noise and classifier; default 0,1,2")
      ->delimiter(',')
      ->type_name("N,...")
      ->check(within(std::int64_t{0}, std::int64_t{9000000000000000}));
  add_output(*command, "--json", options->json, "results as JSON; - is standard output")
      ->type_name("FILE");
  add_output(*command, "--plot", options->plot, "accuracy against the level, as a page")
      ->type_name("PAGE.html");
  add_reading(*command, options->reading);
  add_threads(*command, options->threads);
  command->callback([options] { run(*options); });
}

}  // namespace edict::cli
