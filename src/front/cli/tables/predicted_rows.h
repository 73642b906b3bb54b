// Predictions as the rows of a table, and what a guard changed as those of another.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/predict/predict.h"
#include "front/cli/shard.h"
#include "front/cli/tables/rows.h"

namespace edict::cli {

// The columns of both tables, and the names in them as cells.
class PredictedTable {
 public:
  // `named_time`: the time of classes at the horizon was given, and needs no column.
  PredictedTable(const app::PredictRequest& request, const Model& model, const Dataset& data,
                 RowFormat format, const Shard& shard, bool named_time);

  const RowLayout& layout() const { return layout_; }
  const RowLayout& clip_layout() const { return clip_layout_; }

 private:
  friend class PredictedTexts;

  const app::PredictRequest& request_;
  const Dataset& data_;
  bool with_time_;
  RowLayout layout_, clip_layout_;
  std::vector<std::string> features_, clip_features_, classes_;  // as cells
};

// The rows of some series as text.
class PredictedTexts : public app::PredictedRows {
 public:
  explicit PredictedTexts(const PredictedTable& table)
      : table_(table), rows_(table.layout_), clips_(table.clip_layout_) {}

  void add(const app::PredictedFeature& row) override;
  void add(const app::PredictedClasses& row) override;
  void add(std::size_t series, std::span<const Clip> clips) override;

  const std::string& rows() const { return rows_.text(); }
  std::size_t row_count() const { return rows_.rows(); }
  const std::string& clips() const { return clips_.text(); }

 private:
  const std::string& id_of(std::size_t series);
  const std::string& time_of(std::size_t series, double time);

  const PredictedTable& table_;
  RowText rows_, clips_;
  // Of the last row: those of a series, and the features of a time, follow each other.
  std::size_t id_series_ = static_cast<std::size_t>(-1), time_series_ = id_series_;
  double time_ = kNaN;
  std::string id_, time_cell_;
};

}  // namespace edict::cli
