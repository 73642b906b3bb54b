// A host of edict.h outlives a lack of memory at every place, once or from then on: calls fail with
// EDICT_MEMORY, and what has failed once succeeds when it is asked again, with the same answers.
// scripts/faults takes every place where ./test takes some.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "faults/some_of.h"
#include "temporary_folder.h"

#ifdef EDICT_FAULTS  // not with a sanitizer, whose runtime must be loaded first

namespace edict {
namespace {

class Host : public TemporaryFolder {
 public:
  // The exit code, and what was printed with what went wrong.
  std::pair<int, std::string> run(const std::string& fault, const std::string& more = "") const {
    const std::string command = "cd '" + path().string() +
                                "' && env LD_PRELOAD='" EDICT_FAULTS "' EDICT_FAULT=" + fault +
                                more + " '" EDICT_MEMORY_HOST "' >out 2>&1";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("out")};
  }
};

TEST(MemoryHost, OutlivesALackOfMemoryAnywhere) {
  const Host host;
  const auto [code, whole] = host.run("write:0", " EDICT_STACKS=stacks");
  ASSERT_EQ(code, 0) << whole;
  ASSERT_TRUE(whole.starts_with("all ")) << whole;
  std::vector<long> places;
  std::ifstream in(host / "stacks");
  std::string place;
  for (long number = 0; in >> number >> place;) places.push_back(number);
  ASSERT_GT(places.size(), 1000u);
  const std::vector<long> tried = some_of(places, 12);
  for (const long number : tried) {
    const auto [once, same] = host.run("malloc:" + std::to_string(number));
    ASSERT_EQ(once, 0) << number << ": " << same;
    ASSERT_EQ(same, whole) << number;
    const auto [always, part] = host.run("memory:" + std::to_string(number));
    ASSERT_EQ(always, 0) << number << ": " << part;
    ASSERT_TRUE(part.starts_with("in part ") || part == whole) << number << ": " << part;
  }
  if (everything()) std::printf("%zu places, once and from then on\n", tried.size());
}

}  // namespace
}  // namespace edict

#endif
