// Fills what is missing of series: at the times of their events, or at others.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ask/impute.h"
#include "base/threads/thread_pool.h"
#include "model/model.h"

namespace edict::app {

struct ImputeRequest {
  std::vector<double> times = {};  // ascending; empty: those of the events
  // The times of a series, ascending, where each has its own.
  std::function<std::vector<double>(std::size_t series)> own_times = {};
  // The same series with columns that the model does not know, whose events count too.
  const Dataset* table = nullptr;
  std::optional<std::vector<std::size_t>> series = {};  // ascending; default: all
  std::size_t times_per_series = 0;  // about; so many series at once as memory allows
  bool past_alone = false;           // where the model looks from both sides
  Guard guard = {};
};

// The places in the model of features by their names or by those of columns of categories; without
// names, of all. A note is a sentence about a name. Throws Error for a name that is not there.
struct FeaturesToFill {
  std::vector<std::size_t> places;  // ascending
  std::vector<std::string> notes;
};
FeaturesToFill features_to_fill(const std::vector<std::string>& names, const Model& model);

// Takes some series in order; each belongs to one thread.
class ImputedRows {
 public:
  virtual ~ImputedRows() = default;
  virtual void add(const ImputedSeries& series) = 0;
};

struct ImputeSink {
  std::function<std::unique_ptr<ImputedRows>()> begin;  // on any thread
  // In the order of the series, by one thread at a time; `share`: of all series, so far.
  std::function<void(ImputedRows& rows, double share)> take;
};

struct ImputeResult {
  Sides sides = Sides::past;
  bool two_sided = false;  // whether the model can look from both sides
  std::size_t series = 0;
  std::size_t without_times = 0;  // series with no time to fill
};

// The data have the model's columns. Throws Error for a model without a distribution.
ImputeResult impute(const Model& model, const Dataset& data, const ImputeRequest& request,
                    ThreadPool& pool, const ImputeSink& sink);

}  // namespace edict::app
