// JSON belongs to the border: front ends, pages and results that are written. Below, only what has
// a file format of its own knows it.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "architecture/source_files.h"
#include "temporary_folder.h"

namespace edict {
namespace {

// What each name begins with, and why it may.
constexpr struct {
  const char* begin;
  const char* why;
} kMayUseJson[] = {
    {"base/json/", "it is where JSON comes from"},
    {"front/", "requests and answers"},
    {"render/", "pages, and results that are written"},
    {"research/", "plans and results of runs, filed by content"},
    {"settings/", "settings travel as JSON"},
    {"data/packed_file.", "the header of packed data"},
    {"data/packed_writer.", "the same"},
    {"data/reading.", "kept in packed data and models"},
    {"data/time/date_style.", "the same"},
    {"data/time/date_text.h", "the same"},
    {"data/time/time_axis.", "the same"},
    {"protocol/seen.", "kept in models"},
    {"protocol/standardise.", "kept in models"},
    {"model/file/", "model files"},
    {"model/calibration.", "kept in models"},
    {"model/config.", "kept in models"},
    {"model/correlations.", "kept in models"},
    {"model/fusion.", "kept in models"},
    {"model/model.cpp", "its fingerprint is that of what a file would keep"},
    {"learn/checkpoint.", "checkpoints"},
    {"app/train/cross_validate.", "results of folds, kept to go on from"},
};

// "file:line" of each include of JSON that has no reason.
std::vector<std::string> includes_of_json(const std::filesystem::path& root) {
  static const std::regex include(R"re(^\s*#\s*include\s*["<](nlohmann/|base/json/))re");
  std::vector<std::string> found;
  for (const std::filesystem::path& file : source_files(root)) {
    const std::string name = file.lexically_relative(root).generic_string();
    if (std::ranges::any_of(kMayUseJson,
                            [&](const auto& one) { return name.starts_with(one.begin); }))
      continue;
    const std::vector<std::string> lines = lines_of(file);
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (std::regex_search(lines[i], include)) found.push_back(name + ":" + std::to_string(i + 1));
  }
  return found;
}

TEST(Json, StaysAtTheBorder) {
  for (const std::string& place : includes_of_json(EDICT_SOURCE_DIR "/src"))
    ADD_FAILURE() << "src/" << place << ": results become JSON in render/json, requests in a front "
                  << "end; what has a file format of its own is listed here with its reason";
}

TEST(Json, EveryReasonIsNeeded) {
  const std::vector<std::filesystem::path> files = source_files(EDICT_SOURCE_DIR "/src");
  for (const auto& [begin, why] : kMayUseJson)
    EXPECT_TRUE(std::ranges::any_of(
        files,
        [&, start = std::string(begin)](const auto& file) {
          const std::filesystem::path root = EDICT_SOURCE_DIR "/src";
          return file.lexically_relative(root).generic_string().starts_with(start);
        }))
        << begin << " (" << why << ") is not there";
}

// The check itself.
TEST(Json, IncludesAreFoundWithTheirLine) {
  const TemporaryFolder root;
  root.write("judge/a.h", "#pragma once\n#include <nlohmann/json_fwd.hpp>\n");
  root.write("judge/b.cpp", "// #include \"base/json/json.h\"\n#include \"base/json/json.h\"\n");
  root.write("render/c.cpp", "#include \"base/json/json.h\"\n");
  EXPECT_EQ(includes_of_json(root.path()),
            (std::vector<std::string>{"judge/a.h:2", "judge/b.cpp:2"}));
}

}  // namespace
}  // namespace edict
