// Columns of texts as columns of zeros and ones, one a category.
#pragma once

#include <vector>

#include "data/dataset.h"
#include "data/read/cells/text_values.h"

namespace edict {

// The data's values hold texts (text_values.h) where the meanings, one a feature and one a static
// covariate, say categories or left out. Each category becomes a column `name=category`; a text
// observed is an observation of all of them. `some_missing`: there are observations without a
// value, which vanish. Throws Error where such a name exists already, or where no feature is left.
void expand_texts(Dataset& data, const std::vector<ColumnMeaning>& features,
                  const std::vector<ColumnMeaning>& statics, bool some_missing);

}  // namespace edict
