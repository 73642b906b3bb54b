#include "data/read/source.h"

#include "data/packed_file.h"
#include "data/read/csv/csv.h"
#include "data/read/packed_source.h"

namespace edict {

Dataset open_data(const std::string& uri, const ReadOptions& options) {
  if (is_packed_file(uri)) return open_packed_source(uri, options);
  return read_csv(uri, options);
}

}  // namespace edict
