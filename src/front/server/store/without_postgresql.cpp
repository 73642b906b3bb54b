// Instead of postgresql_store.cpp in a build with -DEDICT_POSTGRESQL=OFF.
#include "base/error.h"
#include "front/server/http/masked_uri.h"
#include "front/server/store/store.h"

namespace edict::server {

std::unique_ptr<Store> open_postgresql(const std::string& uri) {
  throw Error(ErrorCode::unsupported,
              {.subject = masked_uri(uri),
               .problem = "this build of edict has no PostgreSQL",
               .remedy = "configure it with -DEDICT_POSTGRESQL=ON, or keep the store in a file"});
}

}  // namespace edict::server
