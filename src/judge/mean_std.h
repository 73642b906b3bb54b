// A mean and the standard deviation (of the population) around it.
#pragma once

namespace edict {

struct MeanStd {
  double mean, std;
};

}  // namespace edict
