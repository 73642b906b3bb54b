// A program's targets (EDICT_FUZZ_TARGETS is their list) under libFuzzer: the variable
// EDICT_FUZZ_TARGET says which one; without it their names are printed. `scripts/fuzz` builds and
// runs it.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>

#include "fuzz/targets.h"

namespace {

const edict::fuzz::Target& target() {
  const char* wanted = std::getenv("EDICT_FUZZ_TARGET");
  static const std::vector<edict::fuzz::Target> all = edict::fuzz::EDICT_FUZZ_TARGETS();
  for (const edict::fuzz::Target& t : all) {
    if (!wanted) std::puts(t.name);
    if (wanted && std::string_view(t.name) == wanted) return t;
  }
  if (wanted) std::fprintf(stderr, "no target %s\n", wanted);
  std::exit(wanted ? 2 : 0);
}

}  // namespace

// Writes the seeds into the folder that EDICT_FUZZ_SEEDS names.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const edict::fuzz::Target& chosen = target();
  if (const char* folder = std::getenv("EDICT_FUZZ_SEEDS")) {
    int number = 0;
    for (const std::string& seed : chosen.seeds())
      std::ofstream(std::filesystem::path(folder) / ("seed" + std::to_string(number++)),
                    std::ios::binary)
          << seed;
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const edict::fuzz::Target& chosen = target();
  try {
    chosen.run({reinterpret_cast<const char*>(data), size});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", chosen.name, error.what());
    std::abort();
  }
  return 0;
}
