// The architecture cannot drift: every #include "edict/<room>/…" in src/edict is held against the
// table below, which is the one place that says which room may see which.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "temporary_folder.h"

namespace edict {
namespace {

namespace fs = std::filesystem;
using Rooms = std::set<std::string>;

// Rooms from the ground up; a room may include itself and what is listed, all of it above.
const std::map<std::string, Rooms>& allowed() {
  static const auto table = [] {
    std::map<std::string, Rooms> t;
    // Everything that the given rooms may see, and themselves.
    const auto with_all_below = [&](const Rooms& rooms) {
      Rooms all = rooms;
      for (const auto& room : rooms) all.insert(t.at(room).begin(), t.at(room).end());
      return all;
    };
    t["core"] = {};
    t["math"] = with_all_below({"core"});
    t["settings"] = with_all_below({"core"});
    t["data"] = with_all_below({"core"});
    t["sources"] = with_all_below({"data"});
    t["protocol"] = with_all_below({"data", "settings"});
    t["nn"] = with_all_below({"math"});
    t["ode"] = with_all_below({"core"});
    t["evidential"] = with_all_below({"math"});
    t["engine"] = with_all_below({"nn", "ode", "evidential", "protocol"});
    t["baselines"] = with_all_below({"engine"});
    t["model"] = with_all_below({"baselines"});
    t["train"] = with_all_below({"model"});
    t["eval"] = with_all_below({"model"});
    t["datasets"] = with_all_below({"sources"});
    t["study"] = with_all_below({"train", "eval", "datasets"});
    t["report"] = with_all_below({"study"});
    for (const auto& [room, _] : std::map(t)) t["cli"].insert(room);
    t["mpi"] = with_all_below({"cli"});
    t["capi"] = with_all_below({"sources", "train", "eval"});
    t["server"] = with_all_below({"sources", "train", "eval", "datasets"});
    return t;
  }();
  return table;
}

constexpr int kMainLines = 60;  // of cli/main.cpp: a door, no room
const Rooms kBannedNames = {"utils", "util", "common", "helpers", "helper"};

std::vector<std::string> lines_of(const fs::path& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// What is wrong below `root`, one "file:line: …" each.
std::vector<std::string> offences(const fs::path& root) {
  std::vector<std::string> found;
  static const std::regex include(R"re(^\s*#\s*include\s*["<]edict/([^/">]+)(/[^">]*)?[">])re");
  static const std::regex mortal(R"(<(Eigen/Core|nlohmann/json\.hpp)>|directory_iterator)");
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(root)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    const std::string name = path.lexically_relative(root).generic_string();
    if (kBannedNames.contains(path.stem().string()))
      found.push_back(name + ":1: a name that says nothing of what is inside");
    const std::string room = name.substr(0, name.find('/'));
    if (!fs::is_regular_file(path)) {
      if (name == room && !allowed().contains(room))
        found.push_back(name + ":1: a room that the table does not know");
      continue;
    }
    if (name == room) {
      found.push_back(name + ":1: a file outside of every room");
      continue;
    }
    const auto lines = lines_of(path);
    if (name == "cli/main.cpp" && lines.size() > kMainLines)
      found.push_back(name + ":" + std::to_string(kMainLines + 1) + ": main is longer than " +
                      std::to_string(kMainLines) + " lines");
    if (!allowed().contains(room)) continue;  // said above
    for (std::size_t i = 0; i < lines.size(); ++i) {
      std::smatch match;
      if (std::regex_search(lines[i], match, mortal) && name != "core/eigen.h" &&
          name != "core/json.h")
        found.push_back(name + ":" + std::to_string(i + 1) + ": " + match.str() +
                        " ends the process where there is no memory; core/eigen.h, core/json.h and "
                        "core/folder.h do not");
      if (!std::regex_search(lines[i], match, include)) continue;
      const std::string seen = match[1];
      if (seen != room && !allowed().at(room).contains(seen))
        found.push_back(name + ":" + std::to_string(i + 1) + ": " + room + " may not include " +
                        seen);
    }
  }
  return found;
}

TEST(Architecture, ArrowsPointDownOnly) {
  const fs::path root = EDICT_SOURCE_DIR "/src/edict";
  ASSERT_TRUE(fs::is_directory(root)) << root;
  for (const auto& offence : offences(root)) ADD_FAILURE() << "src/edict/" << offence;
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
  root.write("core/types.h", "#pragma once\n");
  root.write("math/good.h", "#include \"edict/core/types.h\"\n#include \"edict/math/good.h\"\n");
  root.write("ode/bad.h", "// a comment\n\n#include \"edict/nn/linear.h\"\n");
  root.write("core/upwards.cpp", "#  include <edict/cli/door.h>\n");
  root.write("data/mortal.cpp", "#include <nlohmann/json.hpp>\n");
  root.write("engine/helpers.h", "");
  root.write("attic/old.h", "");
  root.write("loose.h", "");
  std::string long_main;
  for (int i = 0; i < kMainLines + 1; ++i) long_main += "\n";
  root.write("cli/main.cpp", long_main);

  std::vector<std::string> places;
  for (const auto& offence : offences(root.path()))
    places.push_back(offence.substr(0, offence.find(": ")));
  EXPECT_EQ(places, (std::vector<std::string>{"attic:1", "cli/main.cpp:61", "core/upwards.cpp:1",
                                              "data/mortal.cpp:1", "engine/helpers.h:1",
                                              "loose.h:1", "ode/bad.h:3"}));
}

}  // namespace
}  // namespace edict
