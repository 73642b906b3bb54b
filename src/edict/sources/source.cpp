#include "edict/sources/source.h"

namespace edict {

Dataset open_data(const std::string& uri, const CsvLimits& limits) { return read_csv(uri, limits); }

}  // namespace edict
