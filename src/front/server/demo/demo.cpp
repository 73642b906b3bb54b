#include "front/server/demo/demo.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <queue>
#include <thread>
#include <utility>
#include <vector>

#include "front/server/demo/demo_ward.h"
#include "learn/fit_settings.h"
#include "learn/trainer.h"

namespace edict::server {
namespace {

constexpr std::size_t kTrainingPatients = 240;
constexpr double kPastMinutes = 45.0;
// Patients of a seed of their own were not trained on.
constexpr std::uint64_t kWardSeed = 1000;
// When the first beds fall ill: some minutes ago, now and soon, so that there is something to see.
constexpr std::array<std::pair<std::size_t, double>, 8> kIllFromTheStart = {
    {{1, 31.0}, {3, 36.0}, {8, 37.0}, {10, 39.0}, {12, 41.0}, {16, 43.0}, {18, 46.0}, {21, 50.0}}};

std::optional<double> ill_at(std::size_t bed) {
  for (const auto& [one, minute] : kIllFromTheStart)
    if (one == bed) return minute;
  return std::nullopt;
}

}  // namespace

Model train_demo_model(const DemoSettings& settings, ThreadPool& pool,
                       const std::function<void(std::int64_t, std::int64_t)>& on_epoch) {
  const auto begin = std::chrono::steady_clock::now();
  const Dataset data = ward_history(kTrainingPatients, settings.seed);
  const std::vector<std::string> given = {"data.t_cut=60", "model.hidden=48"};
  Config config = fit_settings(data, given).config;
  const Split parts = split(data, config.data);
  Model model = Model::create(config, data, parts);
  TrainOptions options;
  options.deadline = begin + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                 std::chrono::duration<double>(settings.training_seconds));
  options.on_epoch = [&](const EpochRow& row) { on_epoch(row.epoch, config.train.epochs); };
  train(model, data, parts, pool, options);
  return model;
}

std::string demo_rules() {
  return R"({"rules": [
  {"name": "low pressure", "kind": "crosses", "feature": "MAP", "below": 65, "within": 15,
   "probability": 0.4, "priority": "high", "recovering": 20},
  {"name": "low oxygen", "kind": "crosses", "feature": "SpO2", "below": 90, "within": 10,
   "probability": 0.4, "priority": "high", "recovering": 20},
  {"name": "fast heart", "kind": "crosses", "feature": "HR", "above": 115, "within": 15,
   "probability": 0.4, "priority": "medium", "recovering": 20},
  {"name": "fever", "kind": "crosses", "feature": "Temp", "above": 38.5, "within": 20,
   "probability": 0.4, "priority": "low", "recovering": 20},
  {"name": "unexpected", "kind": "outside", "level": 0.9999, "priority": "low", "recovering": 30},
  {"name": "silent", "kind": "silence", "for": 180, "priority": "medium"}
]})";
}

struct DemoWard::Monitors {
  Live& live;
  DemoCounts counts;
  double began;  // minute 0 of every patient, seconds since 1970

  struct Sent {
    std::size_t bed;
    Delivery delivery;
    bool operator>(const Sent& other) const { return delivery.arrives > other.delivery.arrives; }
  };
  std::vector<Feed> feeds;
  std::vector<double> measured_until;  // of each feed
  std::priority_queue<Sent, std::vector<Sent>, std::greater<>> on_the_way;

  std::mutex mutex;
  std::condition_variable ended;
  bool stopping = false;
  std::thread thread;

  Monitors(Live& to, const DemoSettings& settings)
      : live(to), began(wall_seconds() - 60 * kPastMinutes) {
    for (std::size_t bed = 0; bed < settings.streams; ++bed)
      feeds.emplace_back(settings.seed + kWardSeed, bed, ill_at(bed));
    measured_until.resize(feeds.size(), 0.0);
    measure_until(kPastMinutes);
    std::vector<Row> past;
    while (!on_the_way.empty() && on_the_way.top().delivery.arrives <= kPastMinutes) {
      add_rows(on_the_way.top(), past);
      on_the_way.pop();
    }
    live.submit_and_wait(std::move(past));
    thread = std::thread([this] { run(); });
  }

  ~Monitors() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    ended.notify_all();
    thread.join();
  }

  void measure_until(double minute) {
    for (std::size_t bed = 0; bed < feeds.size(); ++bed)
      while (measured_until[bed] <= minute) {
        const Feed::Next next = feeds[bed].next();
        measured_until[bed] = next.minute;
        for (const Delivery& delivery : next.deliveries) on_the_way.push({bed, delivery});
      }
  }

  void add_rows(const Sent& sent, std::vector<Row>& rows) {
    const auto& [arrives, round, fault] = sent.delivery;
    ++counts.rounds;
    if (fault == Delivery::Fault::late) ++counts.late;
    if (fault == Delivery::Fault::doubled) ++counts.doubled;
    if (fault == Delivery::Fault::wrong) ++counts.wrong;
    if (fault == Delivery::Fault::corrects) ++counts.corrected;
    const TimeStamp time{1e6 * std::round(1e3 * (began + 60 * round.minute)) / 1e3, true};
    for (std::size_t j = 0; j < kWardFeatures.size(); ++j)
      if (round.values[j])
        rows.push_back({fmt::format("bed {:02}", sent.bed + 1), time,
                        live.intake().feature(kWardFeatures[j]), *round.values[j]});
  }

  void run() {
    std::unique_lock lock(mutex);
    while (!stopping) {
      const double now = (wall_seconds() - began) / 60;
      measure_until(now + 0.05);
      std::vector<Row> rows;
      while (!on_the_way.empty() && on_the_way.top().delivery.arrives <= now) {
        add_rows(on_the_way.top(), rows);
        on_the_way.pop();
      }
      if (!rows.empty())
        live.submit(std::move(rows), [this](const Outcome& outcome) {
          if (outcome.kind != Outcome::Kind::stored) ++counts.refused;
        });
      ended.wait_for(lock, std::chrono::milliseconds(200), [&] { return stopping; });
    }
  }
};

DemoWard::DemoWard(Live& live, const DemoSettings& settings)
    : monitors_(std::make_unique<Monitors>(live, settings)) {}

DemoWard::~DemoWard() = default;

const DemoCounts& DemoWard::counts() const { return monitors_->counts; }

}  // namespace edict::server
