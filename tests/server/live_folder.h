// A small model, data for it, and a Live on a store in a folder of its own.
#pragma once

#include <gtest/gtest.h>

#include <future>
#include <memory>

#include "ask/trajectory.h"
#include "front/server/live/live.h"
#include "front/server/live/questions.h"
#include "research/import/synthetic.h"
#include "temporary_folder.h"

namespace edict::server {

inline const Dataset& waves() {
  static const Dataset data = generate_synthetic(40, 3);
  return data;
}

// Untrained: its numbers are as good as any to be compared bit for bit.
inline std::shared_ptr<const Model> small_model() {
  static const auto model = [] {
    Config config;
    config.model.hidden = 6;
    config.model.head_hidden = 4;
    config.model.encoder_width = 3;
    config.model.step = 0.5;
    return std::make_shared<const Model>(Model::create(config, waves(), split(waves(), 0)));
  }();
  return model;
}

// Every value of a series, in the order of time.
inline std::vector<Row> rows_of(const Dataset& data, std::size_t series) {
  std::vector<Row> rows;
  for (std::size_t e = data.first_event[series]; e < data.first_event[series + 1]; ++e)
    for (const Observation o : data.observed(e))
      rows.push_back({data.ids[series], {data.times[e], false}, o.feature, o.value});
  return rows;
}

// What `edict predict` would say, bit for bit: mean, scale and dof of every feature at the times.
using Bits = std::vector<double>;
inline Bits predicted(const Model& model, const Dataset& data, std::size_t series,
                      const std::vector<double>& times) {
  PredictRequest request;
  request.times = times;
  ThreadPool pool(1);
  const std::size_t list[] = {series};
  Bits bits;
  for (const Trajectory& own : trajectories(model, data, request, list, pool))
    for (const Marginal& m : own.marginals) {
      bits.push_back(m.mean);
      bits.push_back(m.scale);
      bits.push_back(m.dof);
      bits.push_back(m.epistemic);
    }
  return bits;
}

inline Bits asked(Live& live, const std::string& stream, const std::vector<double>& times) {
  std::promise<Bits> promise;
  live.on_stream(stream, [&](Live::Access access, LiveStream* found) {
    Bits bits;
    AskedDistribution question;
    question.at = times;
    try {
      if (found)
        for (const Moment& moment : moments_of(access, *found, question))
          for (const Marginal& m : moment.marginals) {
            bits.push_back(m.mean);
            bits.push_back(m.scale);
            bits.push_back(m.dof);
            bits.push_back(m.epistemic);
          }
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
    promise.set_value(std::move(bits));
  });
  return promise.get_future().get();
}

class LiveTest : public testing::Test {
 protected:
  std::string store() const { return (folder_ / "live.db").string(); }
  std::unique_ptr<Live> open(LiveSettings settings = {}, std::vector<Rule> rules = {},
                             StoreOptions options = {}) {
    if (settings.shards == 0) settings.shards = 2;
    notices_.clear();
    return std::make_unique<Live>(small_model(), settings, open_store(store(), options, notices_),
                                  std::move(rules));
  }

  TemporaryFolder folder_;
  std::vector<std::string> notices_;
};

// Times after everything that the synthetic series hold (4π), and some before.
inline const std::vector<double> kTimes{1.0, 5.0, 12.6, 13.0, 15.5};

}  // namespace edict::server
