// Hourly rows of MIMIC-Extract, in whatever file they were, to a Dataset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/not_finite.h"
#include "data/dataset.h"
#include "research/import/import.h"
#include "research/import/plausible.h"

namespace edict {

struct MimicPatient {
  std::int32_t died = Dataset::kNone;  // in the ICU: 0 or 1
  double age = 0.0;                    // years, NaN where missing
  double male = 0.0;                   // 1 or 0, NaN where missing
};
using MimicPatients = std::unordered_map<std::int64_t, MimicPatient>;  // by icustay_id

// Ages above 89 are masked as 300 and more in MIMIC-III; they become 90.
double unmasked_age(double age);

class MimicBuilder {
 public:
  // `where` is the file, for messages. The patients must outlive this, and a stay's may come as
  // late as its rows. The Dataset's features are sorted by name, whatever the
  // order in the file.
  MimicBuilder(std::vector<std::string> features, const MimicPatients& patients,
               const MimicWindow& window, std::string where);

  // The rows of a stay come together, by rising hour; one that repeats the last hour is dropped.
  // `values` are one a feature, NaN where missing.
  void add_row(std::int64_t stay, double hour, std::span<const double> values);

  Dataset finish(ImportReport& report);

 private:
  struct Variable {
    const PlausibleRange* range;
    const UnitSlip* slip;
    std::size_t read = 0, repaired = 0, removed = 0;
    std::size_t kept = 0;  // within the window
  };
  struct Row {
    double hour;
    std::size_t first;  // into values_
  };

  void end_stay();
  void drop_rare_features(ImportReport& report);
  void drop_features(const std::vector<std::int32_t>& new_index);

  const MimicPatients& patients_;
  MimicWindow window_;
  std::string where_;
  Dataset dataset_;
  std::vector<Variable> variables_;
  std::vector<std::size_t> column_of_;  // of a feature, in the file
  std::unordered_set<std::int64_t> seen_;
  std::int64_t stay_ = 0;
  std::vector<Row> rows_;            // of the stay at hand
  std::vector<Observation> values_;  // of the stay at hand
  std::size_t all_rows_ = 0, kept_rows_ = 0, repeated_ = 0, outside_ = 0, short_stays_ = 0;
};

}  // namespace edict
