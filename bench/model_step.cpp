// model_step_bench PRESET.toml DIR [SERIES] [REPEATS]: one training step (forward, loss, backward;
// one thread, no optimiser) of the preset's model on a batch of Synthetic. Prints as JSON the loss
// without dropout and the median time with it, and leaves the parameters (model.safetensors) and
// the standardised batch (batch.json) in DIR, for another implementation to do the same step.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "edict/core/error.h"
#include "edict/datasets/synthetic.h"
#include "edict/models/model.h"

namespace {

using namespace edict;

struct Step {
  double loss = 0, seconds = 0;
};

// As the trainer does it: chunks of series of like length.
Step step(const Model& model, std::span<const Example> examples, Worker& worker,
          Vector<float>& grads) {
  double observations = 0;
  for (const Example& e : examples) observations += static_cast<double>(e.agenda->feature.size());
  const bool supervised = !model.network->has_distribution();
  const LossWeights weights{supervised ? 0.0 : 1.0 / observations, model.config.loss.kl,
                            model.config.loss.evidence,
                            supervised ? 1.0 / static_cast<double>(examples.size()) : 0.0};
  const auto chunk = static_cast<std::size_t>(model.config.train.chunk);
  const auto begin = std::chrono::steady_clock::now();
  LossSums sums;
  grads.setZero();
  for (std::size_t first = 0; first < examples.size(); first += chunk)
    sums += worker.learn(model.params.data(),
                         examples.subspan(first, std::min(chunk, examples.size() - first)), weights,
                         grads.data());
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  return {weights.scale * (sums.nll + weights.kl * sums.kl + weights.evidence * sums.evidence) +
              weights.classification * sums.classification,
          taken.count()};
}

nlohmann::json plain(const Agenda<float>& agenda, std::int32_t label) {
  nlohmann::json events = nlohmann::json::array();
  for (const auto& stop : agenda.stops) {
    nlohmann::json seen = nlohmann::json::array();
    for (std::uint32_t k = stop.first; k < stop.first + stop.count; ++k)
      seen.push_back({agenda.feature[k], agenda.value[k]});
    events.push_back({stop.time, seen});
  }
  return {{"start", agenda.start}, {"label", label}, {"events", events}};
}

void run(const std::filesystem::path& preset, const std::filesystem::path& dir, std::size_t series,
         int repeats) {
  Config config;
  read_toml(preset, config);
  config.loss.reconstruction = 0;  // holds out at random, which another program cannot repeat
  const Dataset data = generate_synthetic(series, 0);
  Split all;
  all.train.resize(series);
  std::iota(all.train.begin(), all.train.end(), std::size_t{0});
  const bool supervised = config.model.kind != "edict" && config.model.kind != "gru-ode-bayes";
  const Model model = Model::create(config, data, all, supervised);

  std::vector<Agenda<float>> agendas;
  for (std::size_t i : all.train)
    agendas.push_back(supervised ? query_agenda(model, data, i, {})
                                 : training_agenda(model, data, i));
  std::vector<Example> examples;
  nlohmann::json batch = nlohmann::json::array();
  for (std::size_t i : all.train) {
    examples.push_back({&agendas[i], std::numeric_limits<double>::infinity(), data.labels[i], i});
    batch.push_back(plain(agendas[i], data.labels[i]));
  }
  std::sort(examples.begin(), examples.end(), [](const Example& a, const Example& b) {
    return a.agenda->stops.size() > b.agenda->stops.size();
  });
  save_model(model, dir / "model.safetensors");
  std::ofstream(dir / "batch.json") << batch;

  Config still = config;
  still.model.dropout = 0;
  const auto network = make_network(still, static_cast<Index>(data.features.size()), 0,
                                    supervised ? static_cast<Index>(data.classes.size()) : 0);
  Vector<float> grads = Vector<float>::Zero(model.params.size());
  const double loss = step(model, examples, *network->worker(), grads).loss;
  const auto worker = model.network->worker();
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) times.push_back(step(model, examples, *worker, grads).seconds);
  std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
  fmt::print("{}\n", nlohmann::json{{"kind", config.model.kind},
                                    {"config", to_json(model.config)},
                                    {"features", data.features.size()},
                                    {"classes", data.classes.size()},
                                    {"loss", loss},
                                    {"seconds", times[static_cast<std::size_t>(repeats / 2)]}}
                         .dump());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 5) {
    fmt::print(stderr, "model_step_bench PRESET.toml DIR [SERIES] [REPEATS]\n");
    return 2;
  }
  try {
    run(argv[1], argv[2], argc > 3 ? std::stoul(argv[3]) : 256, argc > 4 ? std::stoi(argv[4]) : 9);
  } catch (const edict::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
