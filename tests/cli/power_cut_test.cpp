// The power goes at any moment. Whatever a file system may then have kept, a file is the old one or
// a new one, whole; the same command goes on to the same end; and what a command has told to be
// done is there.
#include "cli/fault_commands.h"

#ifdef EDICT_FAULTS

#include "faults/power_cut.h"

namespace edict {
namespace {

class PowerCut : public testing::TestWithParam<FaultCommand> {};

bool is_temporary(const std::string& name) { return name.ends_with(".tmp"); }

TEST_P(PowerCut, LeavesTheOldOrTheNewAndGoesOn) {
  FaultFolder folder(GetParam());
  const Tool records;
  folder.put(folder.start);
  const std::string journal = (records / "journal").string();
  ASSERT_EQ(folder
                .edict(GetParam().arguments,
                       "env LD_PRELOAD='" EDICT_JOURNAL "' EDICT_JOURNAL='" + journal + "'")
                .code,
            0);
  const Files end = folder.files();
  const std::vector<JournalEntry> entries = read_journal(journal);
  ASSERT_GE(entries.size(), 8u) << "nothing was written down";

  FallibleDisk disk(folder.start);
  std::map<std::string, std::set<std::string>> whole;  // what each file ever was
  for (const auto& [name, bytes] : folder.start) whole[name].insert(bytes);
  std::set<Files> states;
  for (const JournalEntry& entry : entries) {
    disk.follow(entry);
    for (const auto& [name, bytes] : disk.seen())
      if (!is_temporary(name)) whole[name].insert(bytes);
    for (Files& state : disk.possible()) states.insert(std::move(state));
  }
  for (const Files& state : states)
    for (const auto& [name, bytes] : state)
      EXPECT_TRUE(is_temporary(name) || whole[name].count(bytes)) << name << " is neither";
  for (const Files& state : states)
    for (const auto& [name, bytes] : folder.start)
      EXPECT_TRUE(state.count(name)) << name << " is gone";
  if (HasFailure()) return;

  // It said that it was done. Only what it removed may be there again.
  for (const Files& state : disk.possible())
    for (const auto& [name, bytes] : disk.seen())
      EXPECT_TRUE(state.count(name) && state.at(name) == bytes) << name << " was lost at the end";

  const std::vector<Files> all(states.begin(), states.end());
  const std::vector<Files> tried = some_of(all, 3);
  for (const Files& state : tried) {
    folder.put(state);
    std::string where = "left:";
    for (const auto& [name, bytes] : state)
      if (!folder.start.count(name) || folder.start[name] != bytes) where += " " + name;
    expect_same_end(folder, where);
    if (HasFailure()) break;
  }
  if (everything())
    std::printf("%s: %zu entries, %zu states, %zu gone on from\n", GetParam().name.c_str(),
                entries.size(), states.size(), tried.size());
}

const auto kCutName = [](const auto& command) { return command.param.name; };
INSTANTIATE_TEST_SUITE_P(OneFile, PowerCut, testing::ValuesIn(commands_of_one_file()), kCutName);
INSTANTIATE_TEST_SUITE_P(GoesOn, PowerCut, testing::ValuesIn(commands_that_go_on()), kCutName);

}  // namespace
}  // namespace edict

#endif
