// What the fuzzers found once must not come back, and valid inputs that are damaged at random must
// be refused or understood: the same few thousand of them on every run, more where EDICT_CASES says
// how many.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <random>

#include "fuzz/targets.h"

namespace edict::fuzz {

// Where GoogleTest looks for it: beside Target.
void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

namespace {

class Fuzz : public testing::TestWithParam<Target> {
 protected:
  static void run(const std::string& bytes, const std::string& where) {
    try {
      GetParam().run(bytes);
    } catch (const std::exception& error) {
      ADD_FAILURE() << where << ": " << error.what() << "\n"
                    << testing::PrintToString(bytes.substr(0, 400));
    }
  }
};

TEST_P(Fuzz, ValidInputs) {
  int number = 0;
  for (const std::string& seed : GetParam().seeds()) run(seed, "seed " + std::to_string(number++));
}

// One file a finding, named after what it broke.
TEST_P(Fuzz, PastFindings) {
  const std::filesystem::path folder =
      std::filesystem::path(EDICT_TEST_DIR) / "corpus" / GetParam().name;
  if (!std::filesystem::exists(folder)) return;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    run({std::istreambuf_iterator<char>(file), {}}, entry.path().filename().string());
  }
}

// A byte changed, a stretch removed, doubled, swapped, cut off, or bytes that matter to somebody.
std::string damaged(std::string bytes, std::mt19937& random) {
  static const std::vector<std::string> kWords = {std::string(1, '\0'),
                                                  "\xff",
                                                  "\"",
                                                  "\n",
                                                  "\r",
                                                  ",",
                                                  ";",
                                                  "=",
                                                  "[",
                                                  "{",
                                                  "}",
                                                  "-",
                                                  "nan",
                                                  "inf",
                                                  "1e999",
                                                  "-1",
                                                  "99999999999999999999",
                                                  "0x",
                                                  "\xef\xbb\xbf",
                                                  "''",
                                                  "#",
                                                  "'''",
                                                  "\x80\x80"};
  const int changes = 1 + static_cast<int>(random() % 4);
  for (int change = 0; change < changes; ++change) {
    const std::size_t at = bytes.empty() ? 0 : random() % bytes.size();
    const std::size_t length = std::min<std::size_t>(random() % 24, bytes.size() - at);
    switch (random() % 6) {
      case 0:
        if (!bytes.empty()) bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes.erase(at, length);
        break;
      case 2:
        bytes.insert(at, bytes.substr(at, length));
        break;
      case 3:
        bytes.insert(at, kWords[random() % kWords.size()]);
        break;
      case 4:
        if (random() % 4 == 0) bytes.resize(at);
        break;
      default:
        if (!bytes.empty()) std::swap(bytes[at], bytes[random() % bytes.size()]);
    }
  }
  return bytes;
}

TEST_P(Fuzz, DamagedInputs) {
  const char* const wanted = std::getenv("EDICT_CASES");
  const long tries = wanted ? std::strtol(wanted, nullptr, 10) : 1500;
  ASSERT_GT(tries, 0);
  std::mt19937 random(7);
  const std::vector<std::string> seeds = GetParam().seeds();
  for (long i = 0; i < tries; ++i)
    run(damaged(seeds[static_cast<std::size_t>(i) % seeds.size()], random),
        "damage " + std::to_string(i));
}

std::vector<Target> all_targets() {
  std::vector<Target> all;
  for (const auto& some : {table_targets(), file_targets(), server_targets(), call_targets()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, Fuzz, testing::ValuesIn(all_targets()),
                         [](const auto& target) { return std::string(target.param.name); });

}  // namespace
}  // namespace edict::fuzz
