// A dataset with the columns that someone else's names ask for.
#pragma once

#include <string>
#include <vector>

#include "data/dataset.h"

namespace edict {

struct MatchedData {
  Dataset data;
  std::vector<std::string> notes;  // what was ignored and what is missing, a sentence each
};

// The data with these features and static covariates, in this order, found by name. Others are
// ignored, and events that hold nothing else vanish; what is missing is never observed. Throws
// Error where the data have none of the features.
MatchedData match_columns(Dataset data, const std::vector<std::string>& features,
                          const std::vector<std::string>& statics);

}  // namespace edict
