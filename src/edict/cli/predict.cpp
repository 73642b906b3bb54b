#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "edict/cli/command.h"
#include "edict/core/error.h"
#include "edict/data/atomic_file.h"
#include "edict/data/csv.h"
#include "edict/eval/trajectory.h"

namespace edict::cli {
namespace {

struct Options {
  std::string model, data, out, at;
  double level = 0.9;
  GuardOptions guard;
  int threads = 0;
};

double number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    throw Error(fmt::format("--at: '{}' is not a number; give START:STEP:END or t1,t2,…", text));
  return value;
}

// "0:0.5:10" or "1,2.5,7".
std::vector<double> parse_times(const std::string& text) {
  std::vector<std::string> parts;
  const char separator = text.find(':') != std::string::npos ? ':' : ',';
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(separator, from), text.size());
    parts.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  std::vector<double> times;
  if (separator == ':') {
    if (parts.size() != 3) throw Error("--at: a grid is START:STEP:END, as in 0:0.5:10");
    const double start = number(parts[0]), step = number(parts[1]), end = number(parts[2]);
    if (!(step > 0) || end < start || (end - start) / step > 1e7)
      throw Error(
          "--at: the step must be positive, the end not before the start, and at most ten "
          "million times asked for");
    const auto count = static_cast<std::size_t>((end - start) / step * (1 + 1e-12) + 1e-9);
    for (std::size_t i = 0; i <= count; ++i) times.push_back(start + static_cast<double>(i) * step);
  } else {
    for (const std::string& part : parts) times.push_back(number(part));
    std::sort(times.begin(), times.end());
  }
  return times;
}

void run(const Options& options) {
  check_writable(options.out);
  const std::vector<double> times = parse_times(options.at);
  const Model model = load_model(options.model);
  const Dataset data = read_csv(options.data);
  model.check_data(data);
  ThreadPool pool(static_cast<std::size_t>(options.threads));
  AtomicFile out(options.out);
  out.write("id,time,feature,mean,aleatoric,epistemic,lower,upper\n");
  std::size_t rows = 0;
  predict(model, data, {times, {}, options.guard.resolve()}, pool,
          [&](const Trajectory& trajectory) {
            std::string text;
            for (std::size_t t = 0; t < times.size(); ++t)
              for (std::size_t j = 0; j < model.features.size(); ++j) {
                const Marginal& m = trajectory.at(t, j);
                const double half = half_width(m, options.level);
                fmt::format_to(
                    std::back_inserter(text), "{},{},{},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g}\n",
                    csv_cell(data.ids[trajectory.series]), times[t], csv_cell(model.features[j]),
                    m.mean, m.aleatoric, m.epistemic, m.mean - half, m.mean + half);
                ++rows;
              }
            out.write(text);
          });
  out.commit();
  fmt::print("{}: {} rows, {} series at {} times, {} % interval\n", options.out, rows, data.size(),
             times.size(), 100 * options.level);
}

}  // namespace

void add_predict(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "predict", "The distribution of every feature at any times, given what was seen before them");
  command->add_option("model", options->model, "a trained model")->required()->type_name("MODEL");
  command->add_option("data", options->data, "the series")->required()->type_name("DATA.csv");
  command->add_option("--at", options->at, "times to ask for")
      ->required()
      ->type_name("START:STEP:END|t1,t2,…");
  command->add_option("--out", options->out, "where to write")->required()->type_name("PRED.csv");
  command->add_option("--level", options->level, "of the predictive interval [lower, upper]")
      ->check(CLI::Range(0.001, 0.999999))
      ->capture_default_str();
  options->guard.add_to(*command);
  add_threads(*command, options->threads);
  command->callback([options] { run(*options); });
}

}  // namespace edict::cli
