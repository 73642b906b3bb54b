// Our side of bench/compare: what a model computes and how long it takes, as one line of JSON.
//
//   engine_bench prepare DIR    PRESET [KEY=VALUE…]   loss and gradient of one batch of Synthetic;
//                                                     leaves model, gradient and batch in DIR, and
//                                                     in answers.safetensors what the timed
//                                                     commands compute
//   engine_bench train   THREADS PRESET [KEY=VALUE…]  a training step, optimiser and data handling
//                                                     included, and its share of the peak
//   engine_bench evaluate THREADS PRESET [KEY=VALUE…] the likelihood of the same batch, or its
//   class
//                                                     scores; no gradient
//   engine_bench stream  WIDTH PRESET [KEY=VALUE…]    StreamEngine::observe in batches of WIDTH,
//                                                     seconds an event
//   engine_bench cost SERIES EVENTS FEATURES HIDDEN THREADS [KEY=VALUE…]
//                                                     an epoch of EDICT on random series, and the
//                                                     memory it took (bench/scaling.py)
//
// Times are medians. Counted as operations are the multiply-adds of the matrix products, two each,
// once forward and twice backward; activations, losses and the optimiser are work but not counted:
//
//   a solver step   3H²                      W_r, W_z, W_u
//   a stop          4PH + P(2D + 2)          the head; twice where a KL term asks for it again
//                   + 3H²                    W_hh
//   an observation  4Q + 3HQ                 its encoder, and its columns of W_ih
#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "ask/stream_engine.h"
#include "base/error.h"
#include "base/generator.h"
#include "base/json/json_text.h"
#include "learn/trainer.h"
#include "model/file/safetensors.h"
#include "model/infer.h"
#include "peak.h"
#include "research/import/synthetic.h"

namespace {

using namespace edict;
using nlohmann::json;
using Words = std::span<char* const>;

constexpr std::size_t kBatch = 256, kTrainingSeries = 4000;
// Streamed are the first 64 series that have 16 events before t_cut, so many of each: every batch
// is full.
constexpr std::size_t kStreams = 64, kStreamEvents = 16;
constexpr int kEpochs = 3, kRepeats = 9;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

double median_seconds(const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < kRepeats; ++i) {
    const double begin = seconds();
    work();
    times.push_back(seconds() - begin);
  }
  return median(times);
}

Config configure(Words words) {
  Config config;
  read_toml(words[0], config);
  for (char* assignment : words.subspan(1)) assign(config, assignment);
  assign(config, "loss.reconstruction=0");  // holds out at random: another program cannot repeat it
  config.train.forecast = 0;                // so does this
  return config;
}

bool is_supervised(const Config& config) {
  return config.model.kind != "edict" && config.model.kind != "gru-ode-bayes";
}

// A model and one batch of Synthetic, as the trainer would hand it out: longest series first.
struct Batch {
  explicit Batch(const Config& config)
      : data(generate_synthetic(kBatch, 0)),
        model(std::make_shared<const Model>(make(config, data))) {
    for (std::size_t i = 0; i < data.size(); ++i)
      timelines.push_back(is_supervised(config) ? query_timeline(model->protocol, data, i, {})
                                                : training_timeline(model->protocol, data, i));
    for (std::size_t i = 0; i < data.size(); ++i)
      examples.push_back(
          {&timelines[i], std::numeric_limits<double>::infinity(), data.labels[i], i});
    std::sort(examples.begin(), examples.end(), [](const Example& a, const Example& b) {
      return a.timeline->stops.size() > b.timeline->stops.size();
    });
  }

  static Model make(const Config& config, const Dataset& data) {
    Split all;
    all.train.resize(data.size());
    std::iota(all.train.begin(), all.train.end(), std::size_t{0});
    return Model::create(config, data, all, is_supervised(config));
  }

  Dataset data;
  std::shared_ptr<const Model> model;
  std::vector<Timeline<float>> timelines;
  std::vector<Example> examples;
};

json plain(const Timeline<float>& timeline, std::int32_t label) {
  json events = json::array();
  for (const auto& stop : timeline.stops) {
    json seen = json::array();
    for (std::uint32_t k = stop.first; k < stop.first + stop.count; ++k)
      seen.push_back({timeline.feature[k], timeline.value[k]});
    events.push_back({stop.time, seen});
  }
  return {{"start", timeline.start}, {"label", label}, {"events", events}};
}

// Class scores, one column a series in the order of the data; or the negative log-likelihood of an
// observation.
Matrix<float> evaluated(const Batch& batch, ThreadPool& pool) {
  if (!is_supervised(batch.model->config)) {
    LossSums sums;
    add_losses(*batch.model, batch.examples, pool, nullptr, sums);
    return Matrix<float>::Constant(1, 1, static_cast<float>(sums.nll / sums.observations));
  }
  const Matrix<float> sorted = infer_classes(*batch.model, batch.examples, pool);
  Matrix<float> scores(sorted.rows(), sorted.cols());
  for (Index i = 0; i < sorted.cols(); ++i)
    scores.col(static_cast<Index>(batch.examples[static_cast<std::size_t>(i)].dropout_key)) =
        sorted.col(i);
  return scores;
}

struct Streams {
  std::vector<StreamState> states;
  double seconds_per_event;
};

Streams streamed(const Batch& batch, StreamEngine& engine, std::size_t width) {
  const Dataset& data = batch.data;
  std::vector<std::size_t> first_events;
  for (std::size_t i = 0; i < data.size() && first_events.size() < kStreams; ++i)
    if (batch.timelines[i].stops.size() >= kStreamEvents)
      first_events.push_back(data.first_event[i]);
  Streams streams{std::vector<StreamState>(first_events.size(), engine.begin()), 0.0};
  std::vector<std::vector<Observation>> seen(width);
  std::vector<StreamEngine::Event> events;
  double spent = 0;
  for (std::size_t first = 0; first < first_events.size(); first += width)
    for (std::size_t e = 0; e < kStreamEvents; ++e) {
      events.clear();
      for (std::size_t i = first; i < std::min(first + width, first_events.size()); ++i) {
        const std::size_t event = first_events[i] + e;
        const ObservationRange observed = data.observed(event);
        seen[i - first].assign(observed.begin(), observed.end());
        events.push_back({&streams.states[i], data.times[event], seen[i - first]});
      }
      const double begin = seconds();
      engine.observe(events);
      spent += seconds() - begin;
    }
  streams.seconds_per_event = spent / static_cast<double>(first_events.size() * kStreamEvents);
  return streams;
}

// What the timed commands compute, for the other side to compare with.
TensorFile answers(const Batch& batch) {
  TensorFile file;
  ThreadPool pool(1);
  const Matrix<float> found = evaluated(batch, pool);
  file.tensors.push_back(
      {"evaluation", {found.cols(), found.rows()}, {found.data(), found.data() + found.size()}});
  if (is_supervised(batch.model->config)) return file;
  StreamEngine engine(batch.model);
  std::vector<float> h;
  for (const StreamState& state : streamed(batch, engine, kStreams).states) {
    const std::vector<std::byte> bytes = state.to_bytes();
    const std::size_t before = h.size();
    h.resize(before + static_cast<std::size_t>(batch.model->config.model.hidden));
    std::memcpy(h.data() + before, bytes.data() + 40, (h.size() - before) * sizeof(float));
  }
  file.tensors.push_back(
      {"states", {static_cast<Index>(kStreams), batch.model->config.model.hidden}, std::move(h)});
  return file;
}

json prepare(const std::filesystem::path& dir, Words words) {
  Config config = configure(words);
  const settings::Values own = config.model.own;
  assign(config, "model.dropout=0");  // the losses must be the same
  const Batch batch(config);
  const Model& model = *batch.model;
  double observations = 0;
  for (const auto& timeline : batch.timelines)
    observations += static_cast<double>(timeline.feature.size());
  const bool supervised = is_supervised(config);
  const LossWeights weights{supervised ? 0.0 : 1.0 / observations, config.loss.kl,
                            config.loss.evidence,
                            supervised ? 1.0 / static_cast<double>(kBatch) : 0.0};
  Vector<float> grads = Vector<float>::Zero(model.first().params.size());
  LossSums sums;
  const auto worker = model.network->worker();
  const auto chunk = static_cast<std::size_t>(config.train.chunk);
  const std::span<const Example> all = batch.examples;
  for (std::size_t first = 0; first < all.size(); first += chunk)
    sums += worker->learn(model.first().params.data(),
                          all.subspan(first, std::min(chunk, all.size() - first)), weights,
                          grads.data());

  TensorFile gradient;
  for (const Tensor& t : model.network->layout().tensors())
    gradient.tensors.push_back(
        {t.name, t.shape, {grads.data() + t.offset, grads.data() + t.offset + t.size}});
  write_tensors(gradient, dir / "gradient.safetensors");
  write_tensors(answers(batch), dir / "answers.safetensors");
  save_model(model, dir / "model.safetensors");
  json series = json::array();
  for (std::size_t i = 0; i < batch.data.size(); ++i)
    series.push_back(plain(batch.timelines[i], batch.data.labels[i]));
  std::ofstream(dir / "batch.json") << json_text(series);
  config.model.own = own;
  return {{"kind", config.model.kind},
          {"config", to_json(config)},
          {"features", batch.data.features.size()},
          {"classes", batch.data.classes.size()},
          {"loss",
           weights.scale * (sums.nll + weights.kl * sums.kl + weights.evidence * sums.evidence) +
               weights.classification * sums.classification}};
}

double operations(const Config& config, Index features, const Timeline<float>& timeline) {
  const auto h = static_cast<double>(config.model.hidden);
  const auto p = static_cast<double>(config.model.head_hidden);
  const auto q = static_cast<double>(config.model.encoder_width);
  const auto d = static_cast<double>(features);
  double steps = 0, now = timeline.start;
  for (const auto& stop : timeline.stops) {
    steps += std::max(stop.time > now ? 1.0 : 0.0,
                      std::ceil((stop.time - now) / config.model.step - 1e-6));
    now = stop.time;
  }
  const double heads = config.loss.kl > 0 ? 2 : 1;
  const double stop = heads * (4 * p * h + p * (2 * d + 2)) + 3 * h * h;
  return 3 * 2 *
         (steps * 3 * h * h + static_cast<double>(timeline.stops.size()) * stop +
          static_cast<double>(timeline.feature.size()) * (4 * q + 3 * h * q));
}

json time_training(std::size_t threads, Words words) {
  Config config = configure(words);
  config.train.epochs = kEpochs;
  config.train.batch = kBatch;
  config.train.patience = 0;
  const Dataset data = generate_synthetic(kTrainingSeries, 0);
  const Split parts = split(data, 0, config.data.train, config.data.validation);
  Model model = Model::create(config, data, parts, is_supervised(config));
  ThreadPool pool(threads);
  std::vector<double> wall, cpu;
  double wall_before = 0, cpu_before = 0;
  TrainOptions options;
  options.on_batch = [&](std::int64_t, std::int64_t batch, std::int64_t batches, const LossSums&) {
    const double wall_now = seconds(), cpu_now = cpu_seconds();
    if (batch > 1 && batch < batches) {  // the first follows a validation, the last is smaller
      wall.push_back(wall_now - wall_before);
      cpu.push_back(cpu_now - cpu_before);
    }
    wall_before = wall_now, cpu_before = cpu_now;
  };
  const double peak_before = fma_peak_gflops();
  const TrainResult result = train(model, data, parts, pool, options);
  const double peak = std::max(peak_before, fma_peak_gflops());
  json found = {{"threads", pool.size()},          {"steps", wall.size()},
                {"loss", result.rows.back().loss}, {"seconds", median(wall)},
                {"cpu_seconds", median(cpu)},      {"peak_gflops_per_core", peak}};
  if (config.model.kind != "edict") return found;
  double total = 0;
  for (std::size_t i : parts.train)
    total += operations(config, static_cast<Index>(data.features.size()),
                        training_timeline(model.protocol, data, i));
  const double gflop =
      1e-9 * total * static_cast<double>(kBatch) / static_cast<double>(parts.train.size());
  found["gflop"] = gflop;
  found["gflops"] = gflop / median(wall);
  // Of a core while it had the processor: what another program took is not ours to answer for.
  found["share_of_peak"] = gflop / median(cpu) / peak;
  return found;
}

json time_evaluation(std::size_t threads, Words words) {
  const Config config = configure(words);
  const Batch batch(config);
  ThreadPool pool(threads);
  return {{"seconds", median_seconds([&] { evaluated(batch, pool); })}};
}

json time_stream(std::size_t width, Words words) {
  const Batch batch(configure(words));
  StreamEngine engine(batch.model);
  std::vector<double> times;
  for (int repeat = 0; repeat < kRepeats; ++repeat)
    times.push_back(streamed(batch, engine, width).seconds_per_event);
  return {{"seconds", median(times)}};
}

// Every event half a unit after the one before, ten solver steps; three features seen at each.
Dataset random_series(std::size_t series, std::size_t events, std::size_t features) {
  Dataset data;
  for (std::size_t j = 0; j < features; ++j) data.features.push_back(fmt::format("x{}", j));
  Generator rng(1);
  const std::size_t seen = std::min<std::size_t>(3, features);
  for (std::size_t i = 0; i < series; ++i) {
    data.add_series(std::to_string(i));
    for (std::size_t e = 0; e < events; ++e) {
      data.add_event(0.5 * static_cast<double>(e + 1));
      const std::size_t first = rng.below(features / seen);
      for (std::size_t k = 0; k < seen; ++k)
        data.add_observation(static_cast<std::int32_t>(first + k * (features / seen)),
                             rng.normal());
    }
  }
  return data;
}

json time_epoch(Words words) {
  const auto size = [&](std::size_t i) { return std::stoul(words[i]); };
  Config config;
  config.model.hidden = static_cast<std::int64_t>(size(3));
  config.data.standardise = false;
  for (char* assignment : words.subspan(5)) assign(config, assignment);
  config.train.epochs = 1;
  const Dataset data = random_series(size(0), size(1), size(2));
  Split parts;
  parts.train.resize(data.size());
  std::iota(parts.train.begin(), parts.train.end(), std::size_t{0});
  parts.validation.push_back(0);
  Model model = Model::create(config, data, parts);
  ThreadPool pool(size(4));
  const auto peak_kib = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss);
  };
  const double before = peak_kib(), begin = seconds(), cpu = cpu_seconds();
  train(model, data, parts, pool, {});
  const double wall = seconds() - begin, busy = cpu_seconds() - cpu;
  double total = 0;
  for (std::size_t i : parts.train)
    total +=
        operations(config, static_cast<Index>(size(2)), training_timeline(model.protocol, data, i));
  return {{"seconds", wall},
          {"cpu_seconds", busy},
          {"gflops_per_core", 1e-9 * total / busy},
          {"peak_gflops_per_core", fma_peak_gflops()},
          {"data_mib", before / 1024},
          {"training_mib", (peak_kib() - before) / 1024}};
}

json run(Words words) {
  const std::string verb = words.empty() ? "" : words[0];
  if (verb == "cost" && words.size() > 5) return time_epoch(words.subspan(1));
  if (words.size() < 3) throw Error("usage: see the head of bench/engine.cpp");
  if (verb == "prepare") return prepare(words[1], words.subspan(2));
  if (verb == "stream") return time_stream(std::stoul(words[1]), words.subspan(2));
  const std::size_t threads = std::stoul(words[1]);
  return verb == "train" ? time_training(threads, words.subspan(2))
                         : time_evaluation(threads, words.subspan(2));
}

}  // namespace

int main(int count, char** words) try {
  fmt::print("{}\n", json_text(run({words + 1, static_cast<std::size_t>(count - 1)})));
} catch (const std::exception& error) {
  fmt::print(stderr, "engine_bench: {}\n", error.what());
  return 2;
}
