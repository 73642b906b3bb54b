// A new table without holes: a row for each event of series, or for each of other times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "app/predict/impute.h"
#include "front/cli/shard.h"
#include "front/cli/tables/rows.h"

namespace edict::cli {

class RowsAtTimes {
 public:
  // `features`: those of the model to fill; `deviations`: a further column for each.
  RowsAtTimes(const Model& model, const Dataset& table, const std::vector<std::size_t>& features,
              bool deviations, RowFormat format, const Shard& shard);

  const RowLayout& layout() const { return layout_; }

  // Appends the rows of a series; returns how many cells were filled.
  std::size_t write(const ImputedSeries& imputed, RowText& text) const;

 private:
  void describe(std::size_t series, RowText& text) const;
  void deviations(const ImputedSeries& imputed, std::size_t t, RowText& text) const;

  const Dataset& table_;
  const bool deviations_;
  const std::vector<std::int32_t> known_;  // each column's feature of the model, or kNone
  const RowLayout layout_;
  std::vector<std::string> classes_, groups_;  // as cells
};

// The rows of some series as text.
struct TextAtTimes : app::ImputedRows {
  // `all`: a series without a time keeps a row.
  TextAtTimes(const RowsAtTimes& to, bool all) : table(to), keep(all), rows(to.layout()) {}
  void add(const ImputedSeries& imputed) override {
    if (keep || !imputed.times.empty()) cells += table.write(imputed, rows);
  }

  const RowsAtTimes& table;
  const bool keep;
  RowText rows;
  std::size_t cells = 0;
};

}  // namespace edict::cli
