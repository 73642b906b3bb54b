#include "front/server/store/store.h"

namespace edict::server {

std::unique_ptr<Store> open_store(const std::string& where, const StoreOptions& options,
                                  std::vector<std::string>& notices) {
  if (where.starts_with("postgresql://") || where.starts_with("postgres://"))
    return open_postgresql(where, options);
  return open_sqlite(where, options, notices);
}

}  // namespace edict::server
