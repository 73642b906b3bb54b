// What a model predicts for series: the distribution of each feature or the probability of each
// class, at any times; or every observation beside what was expected of it just before it came.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ask/clips.h"
#include "ask/limit.h"
#include "base/not_finite.h"
#include "base/threads/thread_pool.h"
#include "engine/heads/marginal.h"
#include "model/model.h"

namespace edict::app {

struct PredictRequest {
  enum class When {
    times,   // on the data's clock, from what was observed before each
    ahead,   // after each series' last observation
    events,  // at every observation
    horizon  // of classes: the time at which the classifier is trained and evaluated
  };
  When when = When::times;
  std::vector<double> times = {};  // ascending; of moments of the calendar only their count
  // The times of a series, ascending, where each has its own.
  std::function<std::vector<double>(std::size_t series)> own_times = {};
  bool classes = false;                                 // class probabilities
  std::optional<std::vector<std::size_t>> series = {};  // ascending; default: all
  std::vector<std::size_t> features = {};               // default: all
  double level = 0.9;                                   // of the interval
  bool conformal = false;                               // a conformal interval
  double adapt = 0;       // at events: how fast levels follow a series; 0: they do not
  bool together = false;  // at events: given the others of the same time
  std::vector<double> quantiles = {};
  std::vector<Limit> limits = {};
  std::size_t top = 0;  // at events: only the least expected, the most surprising first; 0: all
  bool clips = false;   // what the guard changed is wanted
  Guard guard = {};
  std::string model_name = "the model";  // in messages
};

// Throws Error for a request that the model cannot serve.
void check(const PredictRequest& request, const Model& model);

// The distribution of a feature of a series at a time.
struct PredictedFeature {
  std::size_t series = 0, feature = 0;
  double time = 0;
  double ahead = kNaN;                 // after the last observation
  const Marginal* marginal = nullptr;  // null given the others of its time, where it is none
  double median = kNaN;                // then
  double level = kNaN, lower = kNaN, upper = kNaN;
  std::span<const double> quantiles = {},
                          limits = {};  // of the request; NaN is the limit of another feature
  // At events: what was observed, its distance in deviations, P(X <= observed), how often something
  // at least as far off is to be expected, and minus the log of the density.
  double observed = kNaN, z = kNaN, probability_integral = kNaN, tail_probability = kNaN,
         log_score = kNaN;
};

// The probabilities of the model's classes for a series at a time.
struct PredictedClasses {
  std::size_t series = 0;
  double time = 0;
  double ahead = kNaN;
  std::span<const double> probabilities;
};

// Takes the rows of some series in order; each belongs to one thread.
class PredictedRows {
 public:
  virtual ~PredictedRows() = default;
  virtual void add(const PredictedFeature& row) = 0;
  virtual void add(const PredictedClasses& row) = 0;
  virtual void add(std::size_t series, std::span<const Clip> clips) = 0;
};

struct PredictSink {
  std::function<std::unique_ptr<PredictedRows>()> begin;  // on any thread
  // In the order of the series, by one thread at a time; `share`: of all series, so far.
  std::function<void(PredictedRows& rows, double share)> take;
};

struct PredictResult {
  std::size_t series = 0, observations = 0;
  std::size_t clipped = 0;           // observations that the guard changed
  std::size_t without_times = 0;     // series that begin after all of the given times
  std::vector<std::string> notes{};  // what the reader should know, in sentences
};

// The data have the model's columns.
PredictResult predict(const Model& model, const Dataset& data, const PredictRequest& request,
                      ThreadPool& pool, const PredictSink& sink);

}  // namespace edict::app
