// A file of the UCR time series archive: one labelled series of equal spacing a line. Three
// spellings are told apart by their content:
//   .tsv  label, then the values, separated by tabs
//   .txt  the same, separated by blanks or commas, the label perhaps as 1.0000000e+00
//   .ts   comments (#) and a header (@…), after @data the values separated by commas, ':' and the
//   label
#pragma once

#include <string>
#include <vector>

#include "research/import/archive.h"

namespace edict {

struct UcrFile {
  std::vector<int> labels;
  std::vector<std::vector<double>> series;  // NaN where missing
};

// Throws Error with file and line where the text is in none of the spellings, or where the series
// differ in length.
UcrFile read_ucr_file(const ArchiveEntry& entry);

}  // namespace edict
