// The architecture cannot drift: every #include "edict/<room>/…" in src/edict is held against the
// table below, which is the one place that says which room may see which.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "architecture/source_files.h"
#include "temporary_folder.h"

namespace edict {
namespace {

namespace fs = std::filesystem;
using Rooms = std::set<std::string>;

// Folders from the ground up; a folder may include itself and what is listed, all of it above.
const std::map<std::string, Rooms>& allowed() {
  static const auto table = [] {
    std::map<std::string, Rooms> t;
    // Everything that the given rooms may see, and themselves.
    const auto with_all_below = [&](const Rooms& rooms) {
      Rooms all = rooms;
      for (const auto& room : rooms) all.insert(t.at(room).begin(), t.at(room).end());
      return all;
    };
    t["base"] = {};
    t["math"] = with_all_below({"base"});
    t["settings"] = with_all_below({"base"});
    t["data"] = with_all_below({"base"});
    t["protocol"] = with_all_below({"data", "settings"});
    t["nn"] = with_all_below({"math"});
    t["ode"] = with_all_below({"base"});
    t["evidential"] = with_all_below({"math"});
    t["engine"] = with_all_below({"nn", "ode", "evidential", "protocol"});
    t["baselines"] = with_all_below({"engine"});
    t["model"] = with_all_below({"baselines"});
    t["learn"] = with_all_below({"model"});
    t["ask"] = with_all_below({"model"});
    t["judge"] = with_all_below({"ask"});
    t["render"] = with_all_below({"learn", "judge"});
    t["app"] = with_all_below({"render"});  // the use cases, which every front end calls
    t["research"] = with_all_below({"app"});
    t["front/cli"] = with_all_below({"research"});
    t["front/mpi"] = with_all_below({"front/cli"});
    t["front/capi"] = with_all_below({"app"});
    t["front/server"] = with_all_below({"app"});
    return t;
  }();
  return table;
}

// The folder of the table in which a file lies: the first part of its path, and under front/ two.
std::string room_of(const std::string& path) {
  const std::size_t first = path.find('/');
  if (first == std::string::npos) return "";
  const std::string top = path.substr(0, first);
  if (top != "front") return top;
  const std::size_t second = path.find('/', first + 1);
  return second == std::string::npos ? "" : path.substr(0, second);
}

constexpr int kMainLines = 60;            // of front/cli/main.cpp
constexpr std::size_t kFolderFiles = 25;  // a folder with more is several things
const Rooms kBannedNames = {"utils", "util", "common", "helpers", "helper"};

// What is wrong below `root`, one "file:line: …" each.
std::vector<std::string> offences(const fs::path& root) {
  std::vector<std::string> found;
  static const std::regex include(R"re(^\s*#\s*include\s*["<]([^">]+/[^">]+)[">])re");
  static const std::regex mortal(R"(<(Eigen/Core|nlohmann/json\.hpp)>|directory_iterator)");
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(root)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::map<std::string, std::size_t> files;  // of a folder
  for (const fs::path& path : paths) {
    const std::string name = path.lexically_relative(root).generic_string();
    if (kBannedNames.contains(path.stem().string()))
      found.push_back(name + ":1: a name that says nothing of what is inside");
    if (!fs::is_regular_file(path)) {
      const std::string room = room_of(name + "/");
      if (name != "front" && !allowed().contains(room) && (room == name || room.empty()))
        found.push_back(name + ":1: a folder that the table does not know");
      continue;
    }
    const std::string room = room_of(name);
    if (room.empty()) {
      found.push_back(name + ":1: a file outside of every folder");
      continue;
    }
    const std::string folder = name.substr(0, name.rfind('/'));
    if (++files[folder] == kFolderFiles + 1)
      found.push_back(folder + ":1: more than " + std::to_string(kFolderFiles) + " files");
    const auto lines = lines_of(path);
    if (name == "front/cli/main.cpp" && lines.size() > kMainLines)
      found.push_back(name + ":" + std::to_string(kMainLines + 1) + ": main is longer than " +
                      std::to_string(kMainLines) + " lines");
    if (!allowed().contains(room)) continue;  // said above
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string at = name + ":" + std::to_string(i + 1) + ": ";
      std::smatch match;
      if (std::regex_search(lines[i], match, mortal) && name != "base/eigen.h" &&
          name != "base/json/json.h")
        found.push_back(
            at + match.str() +
            " ends the process where there is no memory; base/eigen.h, base/json/json.h and "
            "base/files/folder.h do not");
      if (!std::regex_search(lines[i], match, include)) continue;
      const std::string seen = room_of(match[1]);
      if (allowed().contains(seen) && seen != room && !allowed().at(room).contains(seen))
        found.push_back(at + room + " may not include " + seen);
    }
  }
  return found;
}

TEST(Architecture, ArrowsPointDownOnly) {
  const fs::path root = EDICT_SOURCE_DIR "/src";
  ASSERT_TRUE(fs::is_directory(root)) << root;
  for (const auto& offence : offences(root)) ADD_FAILURE() << "src/" << offence;
}

TEST(Architecture, TheTableHasNoCycle) {
  std::function<void(const std::string&, Rooms)> descend = [&](const std::string& room,
                                                               Rooms path) {
    ASSERT_TRUE(path.insert(room).second) << "a cycle through " << room;
    for (const auto& below : allowed().at(room)) descend(below, path);
  };
  for (const auto& [room, _] : allowed()) descend(room, {});
}

// The check itself, on a small tree with one offence of each kind.
TEST(Architecture, EveryOffenceIsFoundWithItsLine) {
  const TemporaryFolder root;
  root.write("base/types.h", "#pragma once\n");
  root.write("math/good.h", "#include \"base/types.h\"\n#include \"math/good.h\"\n");
  root.write("ode/bad.h", "// a comment\n\n#include \"nn/linear.h\"\n");
  root.write("base/upwards.cpp", "#  include <front/cli/command.h>\n");
  root.write("data/mortal.cpp", "#include <nlohmann/json.hpp>\n");
  root.write("engine/helpers.h", "");
  root.write("attic/old.h", "");
  root.write("front/attic/old.h", "");
  root.write("loose.h", "");
  for (std::size_t i = 0; i < kFolderFiles; ++i)
    root.write("nn/layers/layer" + std::to_string(i) + ".h", "");
  root.write("nn/layers/one_too_many.h", "");
  std::string long_main;
  for (int i = 0; i < kMainLines + 1; ++i) long_main += "\n";
  root.write("front/cli/main.cpp", long_main);

  std::vector<std::string> places;
  for (const auto& offence : offences(root.path()))
    places.push_back(offence.substr(0, offence.find(": ")));
  EXPECT_EQ(places, (std::vector<std::string>{"attic:1", "base/upwards.cpp:1", "data/mortal.cpp:1",
                                              "engine/helpers.h:1", "front/attic:1",
                                              "front/cli/main.cpp:61", "loose.h:1", "nn/layers:1",
                                              "ode/bad.h:3"}));
}

}  // namespace
}  // namespace edict
