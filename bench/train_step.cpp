// train_step_bench [THREADS] [EPOCHS] [SERIES]: trains on Synthetic as published (hidden 50, Euler
// 0.05, batch 256) and prints, as JSON, the median time of a training step, optimiser and data
// handling included, its GFlop/s and their share of the processor's peak measured in the same run.
//
// Counted are the multiply-adds of the matrix products, two operations each, once forward and twice
// backward; activations, losses and the optimiser are work but not counted:
//
//   a solver step   3H²                      W_r, W_z, W_u
//   a stop          4PH + P(2D + 2)          the head; twice where a KL term asks for it again
//                   + 3H²                    W_hh
//   an observation  4Q + 3HQ                 its encoder, and its columns of W_ih
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "edict/datasets/synthetic.h"
#include "edict/train/trainer.h"
#include "peak.h"

namespace {

using namespace edict;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double flops(const Config& config, Index features, const Agenda<float>& agenda) {
  const auto h = static_cast<double>(config.model.hidden);
  const auto p = static_cast<double>(config.model.head_hidden);
  const auto q = static_cast<double>(config.model.encoder_width);
  const auto d = static_cast<double>(features);
  double steps = 0, now = agenda.start;
  for (const auto& stop : agenda.stops) {
    steps += std::max(stop.time > now ? 1.0 : 0.0,
                      std::ceil((stop.time - now) / config.model.step - 1e-6));
    now = stop.time;
  }
  const double heads = config.loss.kl > 0 ? 2 : 1;
  const double stop = heads * (4 * p * h + p * (2 * d + 2)) + 3 * h * h;
  return 3 * 2 *
         (steps * 3 * h * h + static_cast<double>(agenda.stops.size()) * stop +
          static_cast<double>(agenda.feature.size()) * (4 * q + 3 * h * q));
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

void run(std::size_t threads, int epochs, std::size_t series) {
  Config config;
  config.data.t_cut = 3 * 3.14159265358979;
  config.data.standardise = false;
  config.train.epochs = epochs;
  const Dataset data = generate_synthetic(series, 0);
  const Split parts = split(data, 0, config.data.train, config.data.validation);
  Model model = Model::create(config, data, parts);
  double total = 0;
  for (std::size_t i : parts.train)
    total +=
        flops(config, static_cast<Index>(data.features.size()), training_agenda(model, data, i));
  const double per_step =
      total / static_cast<double>(parts.train.size()) * static_cast<double>(config.train.batch);

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

  const double wall_step = median(wall), cpu_step = median(cpu);
  const double wall_best = *std::min_element(wall.begin(), wall.end());
  const double rate = 1e-9 * per_step / cpu_step;  // of one core while it had the processor
  fmt::print(
      "{{\"threads\": {}, \"steps\": {}, \"loss\": {:.6f}, \"gflop_per_step\": {:.3f}, "
      "\"wall_seconds\": {:.5f}, \"wall_seconds_best\": {:.5f}, \"cpu_seconds\": {:.5f}, "
      "\"gflops_per_core\": {:.1f}, \"peak_gflops_per_core\": {:.1f}, \"percent_of_peak\": "
      "{:.1f}}}\n",
      pool.size(), wall.size(), result.rows.back().loss, 1e-9 * per_step, wall_step, wall_best,
      cpu_step, rate, peak, 100 * rate / peak);
}

}  // namespace

int main(int count, char** arguments) try {
  run(count > 1 ? std::stoul(arguments[1]) : 1, count > 2 ? std::stoi(arguments[2]) : 3,
      count > 3 ? std::stoul(arguments[3]) : 4000);
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 2;
}
