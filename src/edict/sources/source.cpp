#include "edict/sources/source.h"

#include "edict/sources/csv.h"

namespace edict {

Dataset open_data(const std::string& uri, const ReadOptions& options) {
  return read_csv(uri, options);
}

}  // namespace edict
