// Observations of one id, time and feature that differ, in words.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "data/read/csv/csv_problems.h"
#include "data/read/csv/layout/csv_layout.h"
#include "data/read/csv/rows/csv_table.h"
#include "data/read/event_rows.h"
#include "data/read/read_options.h"

namespace edict {

class CsvConflicts {
 public:
  // `features` are those of the rows, before texts became categories.
  CsvConflicts(const CsvText& text, const CsvLayout& layout, const ReadOptions& options,
               const CsvTable& table, std::vector<std::string> features)
      : text_(text),
        layout_(layout),
        options_(options),
        table_(table),
        features_(std::move(features)) {}

  // Of a part of the series, whose rows and series are counted for themselves.
  static void add(const EventRows::Merged& part, std::span<const std::size_t> series,
                  const std::vector<std::size_t>& numbers, EventRows::Merged& all);

  // "'x' of id a is 5 and 1".
  std::string described(const EventRows::Conflict& conflict,
                        const std::vector<std::string>& ids) const;

  const std::vector<std::string>& features() const { return features_; }

  // Those that are refused, with their lines: reading again is for errors only.
  void note(const EventRows::Merged& merged, const std::vector<std::string>& ids,
            CsvProblems& problems) const;

 private:
  std::string value_text(std::int32_t feature, double value) const;
  std::vector<const char*> places_of(const std::vector<std::size_t>& rows) const;

  const CsvText& text_;
  const CsvLayout& layout_;
  const ReadOptions& options_;
  const CsvTable& table_;
  const std::vector<std::string> features_;
};

}  // namespace edict
