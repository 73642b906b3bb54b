#include "edict/sources/source.h"

#include "edict/data/packed_file.h"
#include "edict/sources/csv.h"
#include "edict/sources/packed_source.h"

namespace edict {

Dataset open_data(const std::string& uri, const ReadOptions& options) {
  if (is_packed_file(uri)) return open_packed_source(uri, options);
  return read_csv(uri, options);
}

}  // namespace edict
