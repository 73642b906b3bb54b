// The timelines of many series or windows. Each is written when it is needed and not kept: of data
// that are larger than memory a run holds those of a batch.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "base/threads/thread_pool.h"
#include "model/model.h"
#include "protocol/window.h"

namespace edict {

class Timelines {
 public:
  using Write = std::function<Timeline<float>(std::size_t item)>;
  using ReadAhead = std::function<void(std::span<const std::size_t> items)>;
  // The states in which timelines of these items start, as carried_states gives them.
  using Carry = std::function<std::vector<std::vector<float>>(
      const Model& model, std::span<const std::size_t> items, ThreadPool& pool,
      const InferenceOptions& options)>;

  Timelines() = default;
  // `write` may be called by several threads at once; `read_ahead` learns what it will soon be
  // called for. Without `carry` all begin with nothing but their covariates.
  Timelines(std::vector<std::size_t> items, Write write, ReadAhead read_ahead = {},
            Carry carry = {})
      : items_(std::move(items)),
        write_(std::move(write)),
        read_ahead_(std::move(read_ahead)),
        carry_(std::move(carry)) {}

  // Those that were written already.
  static Timelines of(std::vector<Timeline<float>> timelines);

  std::size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  // Without the state in which it starts.
  Timeline<float> operator[](std::size_t i) const { return write_(items_[i]); }

  // Those of these places come next.
  void read_ahead(std::span<const std::size_t> places) const;

  // All of them, without the states in which they start.
  std::vector<Timeline<float>> written() const;
  // Those of [first, first + count), in the states in which the model starts them.
  std::vector<Timeline<float>> written(const Model& model, std::size_t first, std::size_t count,
                                       ThreadPool& pool,
                                       const InferenceOptions& options = {}) const;
  // The states of all of them; empty where none is carried.
  std::vector<std::vector<float>> states(const Model& model, ThreadPool& pool,
                                         const InferenceOptions& options = {}) const;

  // Each of them read from its end (protocol/reversed.h), where nothing is carried.
  Timelines reversed() const;

  // Those of these places.
  Timelines subset(std::span<const std::size_t> places) const;

 private:
  std::vector<std::size_t> items_;
  Write write_;
  ReadAhead read_ahead_;
  Carry carry_;
};

// The data must outlive them.
Timelines timelines_to_learn(const Protocol& protocol, const Dataset& data,
                             std::vector<Window> windows);
// What series are judged by (judged_windows).
Timelines timelines_to_judge(const Protocol& protocol, const DataSettings& settings,
                             const Dataset& data, std::span<const std::size_t> series);

// The same series event by event: everything is judged before it is absorbed.
Timelines timelines_to_follow(const Protocol& protocol, const Dataset& data,
                              std::span<const std::size_t> series);

}  // namespace edict
