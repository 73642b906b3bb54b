// Which series a page of `edict explore` holds, and how much of each: everything fits if it can,
// else the most surprising series have bands, then the least surprising are left without
// observations.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/threads/thread_pool.h"
#include "render/explore/explored_series.h"
#include "render/explore/surprising.h"

namespace edict::report {

enum class Held { name, observations, whole };

// A row of the page's list.
struct Listed {
  double surprise = 0;        // of its least expected observation
  double largest_z = 0;       // in size
  double mean_log_score = 0;  // in the model's units, in which features compare
  std::vector<double> probability;
  std::string observations;  // packed, without bands
  Held held = Held::name;
  std::size_t block = 0, place = 0;
};

class ExploredList {
 public:
  using Progress = std::function<void(double share)>;

  ExploredList(const Model& model, const Dataset& data, std::span<const std::size_t> series,
               ThreadPool& pool, const ExploreRequest& request, const Progress& progress)
      : model_(model),
        data_(data),
        series_(series),
        pool_(pool),
        request_(request),
        progress_(progress),
        listed_(series.size()),
        surprising_(model.features.size(), request.features) {}

  // Judges every series; then they are known, and none is held yet.
  void list();
  // Fills the page with series, up to this many bytes.
  void fill(double room);

  const std::vector<Listed>& listed() const { return listed_; }  // as the series
  const SurprisingObservations& surprising() const { return surprising_; }
  const std::vector<std::string>& blocks() const { return blocks_; }  // as they stand in the page
  double tolerance() const { return tolerance_; }  // of the bands, as a share of a chart's height

 private:
  // Whole series, by their places in the list.
  struct Whole {
    std::vector<Expectations> expected, forecast;
    std::vector<ExploredBands> bands;
  };
  // Series that are compressed together.
  struct Block {
    std::string bytes;
    std::vector<std::size_t> places;
    std::size_t bare = 0;  // bytes of the same series without bands

    void add(std::size_t place, const std::string& record, std::size_t bare_bytes);
  };
  // What the observations of series without bands take.
  struct Bare {
    double bytes = 0;  // before they are compressed
    double price = 0;  // in the page, a byte of theirs
  };

  bool has_distribution() const { return model_.network->has_distribution(); }
  StopFlag stop() const { return request_.stop; }
  void tell(double share) const {
    if (progress_) progress_(share);
  }

  void judge(const Expectations& expected, Listed& one) const;
  std::vector<Expectations> expected_of(std::span<const std::size_t> series) const;
  void rank();
  Whole computed(std::span<const std::size_t> places) const;
  std::string packed(const Whole& whole, std::size_t i, std::size_t place, double tolerance) const;
  std::span<const std::size_t> together(std::size_t begin, std::size_t most) const;
  double choose_tolerance();
  std::vector<std::string> compressed(std::span<const Block> blocks) const;
  void add_whole(std::span<const std::size_t> places, std::vector<Block>& blocks) const;
  bool take(const Block& block, std::string text, Held held, double reserved);
  std::vector<Block> observation_blocks(std::size_t from) const;
  Bare bare_series() const;
  std::size_t take_whole(double room, double share, Bare bare);
  void take_observations(std::size_t from);

  const Model& model_;
  const Dataset& data_;
  const std::span<const std::size_t> series_;
  ThreadPool& pool_;
  const ExploreRequest& request_;
  const Progress& progress_;

  std::vector<Listed> listed_;
  SurprisingObservations surprising_;
  std::vector<std::size_t> order_;  // places in the list, the most surprising series first
  std::vector<std::string> blocks_;
  double room_ = 0;  // bytes left
  std::size_t block_bytes_ = 0;
  double tolerance_ = 0;
};

}  // namespace edict::report
