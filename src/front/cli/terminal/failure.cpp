#include "front/cli/terminal/failure.h"

#include <cstdio>
#include <new>

#include "base/error.h"
#include "front/cli/terminal/interrupt.h"

namespace edict::cli {

int failed(int code, const char* what, const char* more) {
  if (interrupted()) return leave_interrupted();
  std::fprintf(stderr, "edict: %s%s\n", what, more);
  return code;
}

int failed(const Error& error) {
  const int code = error.code() == ErrorCode::machine ? 1 : 2;
  try {
    return failed(code, error.message(command_line_option).c_str());
  } catch (const std::bad_alloc&) {
    return failed(code, error.what());
  }
}

}  // namespace edict::cli
