// Every command that reads or writes files, on data so small that it takes a moment: what is
// disturbed by faults_test.cpp, robbed of its power by power_cut_test.cpp and killed by
// kills_test.cpp.
#pragma once

#ifdef EDICT_FAULTS  // not with a sanitizer, whose runtime must be loaded first

#include <algorithm>
#include <cstdlib>
#include <map>
#include <ostream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "cli/tool.h"
#include "faults/some_of.h"

namespace edict {

struct FaultCommand {
  std::string name, arguments;
  std::vector<std::string> before = {};  // commands whose results it needs
  std::string again = {};                // what is added where it goes on

  friend void PrintTo(const FaultCommand& command, std::ostream* out) { *out << command.name; }
};

inline const std::string kOne = " --threads 1";

// Of one file each, which is there before: it is that or the new one, whatever happens.
inline std::vector<FaultCommand> commands_of_one_file() {
  const std::string shards = "predict m d.csv --at 3 --shard ";
  return {
      {"generate", "generate synthetic --series 30 --out new"},
      {"import", "import gestures --keep 1 --from down --out new"},
      {"pack", "pack d.csv --out new"},
      {"init", "init d.csv --out new"},
      {"classify", "classify m d.csv --set classify.epochs=1 --out new" + kOne},
      {"fine_tune", "classify m d.csv --fine-tune 1 --set classify.epochs=1 --out new" + kOne},
      {"calibrate", "calibrate m d.csv --out new" + kOne},
      {"predict", "predict m d.csv --at 3 --out new" + kOne},
      {"predict_shard", shards + "1/2 --out new" + kOne},
      {"predict_packed", "predict m p --at events --out new" + kOne, {"pack d.csv --out p"}},
      {"impute", "impute m d.csv --out new" + kOne},
      {"join", "join one two --out new", {shards + "1/2 --out one", shards + "2/2 --out two"}},
      {"evaluate", "evaluate m d.csv --json new" + kOne},
      {"evaluate_page", "evaluate m d.csv --html new" + kOne},
      {"explore", "explore m d.csv --megabytes 1 --out new" + kOne},
      {"stress",
       "stress clf d.csv --levels 0 --seeds 0 --json new" + kOne,
       {"classify m d.csv --set classify.epochs=1 --out clf"}},
  };
}

// Of several files or a folder: where they stopped, the same command goes on to the same end.
inline std::vector<FaultCommand> commands_that_go_on() {
  const std::string train = "train d.csv --out n" + kTiny + kOne, resume = " --resume";
  return {
      {"train", train, {}, resume},
      {"train_members", train + " --members 2 --set train.epochs=1", {}, resume},
      {"train_folds", train + " --folds 2 --set train.epochs=1", {}, resume},
      {"train_smooth", train + " --set train.smooth=true --set train.epochs=1", {}, resume},
      {"train_from", "train d.csv --from m --out n --set train.epochs=1" + kOne, {}, resume},
      {"search",
       "search d.csv --out s --budget 2 --rungs 1 --range model.hidden=4,6" + kTiny + kOne},
      {"reproduce", "reproduce --config plan.toml --out r" + kOne},
      {"benchmark",
       "benchmark --tasks ornstein-uhlenbeck --series 30 --out b --set train.epochs=1"
       " --set model.hidden=4 --set model.head_hidden=4 --set model.step=0.5" +
           kOne},
  };
}

// A claim of a worker that is gone is waited for, for a minute: this one is not killed.
inline std::vector<FaultCommand> commands_that_claim() {
  return {{"train_claim",
           "train d.csv --out n --members 2 --claim" + kTiny + "--set train.epochs=1" + kOne}};
}

// These write nothing but what they print.
inline std::vector<FaultCommand> commands_that_print() {
  return {{"info", "info d.csv"},   {"info_model", "info m"},
          {"settings", "settings"}, {"completion", "completion bash"},
          {"man", "man"},           {"help", "help train"}};
}

using Files = std::map<std::string, std::string>;

// The folder in which such a command runs.
class FaultFolder : public Tool {
 public:
  explicit FaultFolder(const FaultCommand& command) : command_(command) {
    undisturbed("generate synthetic --out d.csv --series 40 --seed 3");
    undisturbed("train d.csv --out m" + kTiny + "--set train.epochs=1");
    for (const std::string& arguments : command.before) undisturbed(arguments);
    write("new", "what was there before\n");
    for (const std::string axis : {"X", "Y", "Z"})
      write("down/UWaveGestureLibrary" + axis + "_TRAIN.tsv",
            "1\t0.1\t0.2\t0.3\n2\t0.4\t0.5\t0.6\n");
    write("plan.toml",
          "levels = [0]\nseeds = [0]\n[[dataset]]\nname = \"waves\"\ntitle = \"Waves\"\n"
          "file = \"d.csv\"\n[[experiment]]\nmethod = \"EDICT\"\npreset = \"own.toml\"\n");
    write("own.toml",
          "[model]\nhidden = 4\nhead_hidden = 4\nencoder_width = 3\nstep = 0.5\n"
          "[train]\nepochs = 1\nbatch = 8\n[classify]\nepochs = 1\n");
    start = files();
    undisturbed(command.arguments);
    end = files();
  }

  Files start, end;  // what lies there before the command and after it

  // Temporary files too, so that litter is seen. Without what tells of the time it took.
  Files files() const {
    static const std::set<std::string> own = {".out", ".err", ".fired", ".counts", ".stacks"};
    static const std::regex seconds("\"seconds\": [-+.e0-9]+");
    const std::string log_link = "<li><a href=\"log.txt\">log.txt</a></li>";
    Files result;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path())) {
      const std::string name = std::filesystem::relative(entry.path(), path()).string();
      if (!entry.is_regular_file() || own.count(name) || entry.path().filename() == "log.txt")
        continue;
      result[name] = read(name);
      if (entry.path().filename().string().starts_with("rung-") && name.ends_with(".json"))
        result[name] = std::regex_replace(result[name], seconds, "");
      if (entry.path().filename() == "trials.csv") result[name] = without_fourth(result[name]);
      const std::size_t link = result[name].find(log_link);  // a log is linked where there is one
      if (link != std::string::npos) result[name].erase(link, log_link.size());
    }
    return result;
  }

  void put(const Files& files) const {
    for (const auto& entry : std::filesystem::directory_iterator(path()))
      std::filesystem::remove_all(entry.path());
    for (const auto& [name, bytes] : files) write(name, bytes);
  }

  // With the shim, which does not wait for the disk.
  Outcome disturbed(const std::string& fault, const std::string& more = "") const {
    return edict(command_.arguments, preloaded(fault) + more);
  }
  // Does not wait for it to end, and waits for the disk.
  pid_t start_again(bool first) const {
    return Tool::start(command_.arguments + (first ? "" : command_.again));
  }
  Outcome again() const { return edict(command_.arguments + command_.again, preloaded("write:0")); }

  // How often a fault of every kind could happen.
  std::map<std::string, long> counts() const {
    put(start);
    disturbed("write:0", " EDICT_PARSED=1 EDICT_COUNTS=.counts");
    std::map<std::string, long> result;
    std::ifstream in(path() / ".counts");
    std::string kind;
    for (long count = 0; in >> kind >> count;) result[kind] = count;
    return result;
  }
  // The first allocation from each of its places, and a hash of the place, which is the same in
  // every command; `parsed`: after the command line was read.
  using Places = std::vector<std::pair<long, std::string>>;
  Places places(bool parsed) const {
    put(start);
    edict(command_.arguments, "setarch -R " + preloaded("write:0") + " EDICT_STACKS=.stacks" +
                                  (parsed ? " EDICT_PARSED=1" : ""));
    Places result;
    std::ifstream in(path() / ".stacks");
    std::string place;
    for (long number = 0; in >> number >> place;) result.emplace_back(number, place);
    return result;
  }

 private:
  static std::string preloaded(const std::string& fault) {
    return "env LD_PRELOAD='" EDICT_FAULTS "' EDICT_FAULT_LOG=.fired EDICT_FAULT=" + fault;
  }
  void undisturbed(const std::string& arguments) const {
    const Outcome outcome = edict(arguments, preloaded("write:0"));
    if (outcome.code != 0) throw std::runtime_error(arguments + ": " + outcome.err);
  }
  static std::string without_fourth(const std::string& table) {
    return std::regex_replace(table, std::regex("(^|\n)([^,\n]*,[^,\n]*,[^,\n]*),[^,\n]*"), "$1$2");
  }

  FaultCommand command_;
};

// No temporary file, and each file as it was or as it shall be.
inline void expect_old_or_new(const FaultFolder& folder, const std::string& where) {
  const Files now = folder.files();
  for (const auto& [name, bytes] : now) {
    const auto old = folder.start.find(name), made = folder.end.find(name);
    EXPECT_TRUE((old != folder.start.end() && old->second == bytes) ||
                (made != folder.end.end() && made->second == bytes))
        << where << ": " << name;
  }
  for (const auto& [name, bytes] : folder.start)
    EXPECT_TRUE(now.count(name)) << where << ": " << name << " is gone";
}

inline void expect_no_litter(const FaultFolder& folder, const std::string& where) {
  for (const auto& [name, bytes] : folder.files()) EXPECT_FALSE(name.ends_with(".tmp")) << where;
}

// Goes on and ends where an undisturbed run ends.
inline void expect_same_end(const FaultFolder& folder, const std::string& where) {
  const Tool::Outcome outcome = folder.again();
  EXPECT_EQ(outcome.code, 0) << where << ", again: " << outcome.err;
  const Files now = folder.files();
  for (const auto& [name, bytes] : now) {
    const auto same = folder.end.find(name);
    EXPECT_TRUE(same != folder.end.end()) << where << ", again: " << name << " is there";
    if (same != folder.end.end()) {
      EXPECT_TRUE(same->second == bytes) << where << ", again: " << name << " differs";
    }
  }
  for (const auto& [name, bytes] : folder.end)
    EXPECT_TRUE(now.count(name)) << where << ", again: " << name << " is missing";
}

}  // namespace edict

#endif
