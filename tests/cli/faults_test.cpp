// The disk is full, a file cannot be renamed, memory is gone: at every place in turn. A command
// then ends in the old state or in the new one, with one line, the exit code 1 and without litter.
// scripts/faults takes every number where ./test takes some.
#include <iterator>
#include <numeric>

#include "cli/fault_commands.h"

#ifdef EDICT_FAULTS

namespace edict {
namespace {

// One line of its own, after what it may have told of its progress; only `reproduce` lists under
// it which runs failed.
void expect_one_line(const Tool::Outcome& outcome, const std::string& where) {
  EXPECT_EQ(outcome.code, 1) << where << ": " << outcome.err;
  std::size_t own = 0;
  bool last = false;
  std::istringstream lines(outcome.err);
  for (std::string line; std::getline(lines, line);) {
    last = line.starts_with("edict: ") || (last && line.starts_with("  "));
    own += line.starts_with("edict: ");
  }
  EXPECT_TRUE(own == 1 && last) << where << ": " << outcome.err;
  EXPECT_EQ(outcome.err.find("unexpected"), std::string::npos) << where << ": " << outcome.err;
}

class FaultTest : public testing::TestWithParam<FaultCommand> {
 protected:
  // Returns how many faults happened.
  long expect_survives(const std::string& kind, const std::vector<long>& numbers,
                       const std::string& more = "") {
    long fired = 0;
    for (const long number : numbers) {
      const std::string where = GetParam().arguments + ", " + kind + " " + std::to_string(number);
      folder_.put(folder_.start);
      const Tool::Outcome outcome = folder_.disturbed(kind + ":" + std::to_string(number), more);
      fired += folder_.exists(".fired");
      if (outcome.code == 0 || kind == "short" || kind == "eintr") {
        EXPECT_EQ(outcome.code, 0) << where << ": " << outcome.err;
        EXPECT_TRUE(folder_.files() == folder_.end) << where << ": it said that it was done";
      } else {
        expect_one_line(outcome, where);
        expect_no_litter(folder_, where);
        if (goes_on())
          expect_same_end(folder_, where);
        else
          expect_old_or_new(folder_, where);
      }
      if (HasFailure()) break;
    }
    return fired;
  }

  // What writes one file or none has no business to need a second run.
  static bool goes_on() {
    const auto is_this = [](const auto& command) { return command.name == GetParam().name; };
    return std::ranges::none_of(commands_of_one_file(), is_this) &&
           std::ranges::none_of(commands_that_print(), is_this);
  }

  // Allocations to be tried, one of each place. Commands that go on are several runs for each
  // fault, and they have most places in common, as those that print: with scripts/faults, which
  // takes all of them, a place is tried in the first of `alike` that has it.
  std::vector<long> allocations(const std::vector<FaultCommand>& alike, bool parsed) const {
    std::set<std::string> known;
    for (const FaultCommand& other : alike) {
      if (!everything() || other.name == GetParam().name) break;
      for (const auto& [number, place] : places_of(other, parsed)) known.insert(place);
    }
    std::vector<long> numbers;
    for (const auto& [number, place] : folder_.places(parsed))
      if (!known.count(place)) numbers.push_back(number);
    return some_of(numbers, 4);
  }

  // Those of a command before this one, which are looked up for every command after it.
  static const FaultFolder::Places& places_of(const FaultCommand& other, bool parsed) {
    static std::map<std::pair<std::string, bool>, FaultFolder::Places> listed;
    const auto [found, is_new] = listed.try_emplace({other.name, parsed});
    if (is_new) found->second = FaultFolder(other).places(parsed);
    return found->second;
  }

  static void tell(const std::string& what, long fired, std::size_t tried) {
    RecordProperty(what, std::to_string(fired));
    if (!everything()) return;
    std::printf("%s: %s: %ld faults in %zu runs\n", GetParam().name.c_str(), what.c_str(), fired,
                tried);
    std::fflush(stdout);  // it takes long, and may be stopped
  }

  FaultFolder folder_{GetParam()};
};

TEST_P(FaultTest, OfFiles) {
  long all = 0;
  for (const auto& [kind, count] : folder_.counts()) {
    if (kind == "malloc" || kind == "memory") continue;
    std::vector<long> numbers(static_cast<std::size_t>(count));
    std::iota(numbers.begin(), numbers.end(), 1);
    const std::vector<long> tried = some_of(numbers, 2);
    const long fired = expect_survives(kind, tried);
    EXPECT_EQ(fired, std::ssize(tried)) << kind;
    if (count > 0) tell(kind, fired, tried.size());
    all += fired;
    if (HasFailure()) return;
  }
  EXPECT_GE(all, 3) << "nothing was disturbed";
}

TEST_P(FaultTest, OfMemory) {
  std::vector<FaultCommand> alike;
  if (goes_on()) {
    alike = commands_that_go_on();
    std::ranges::copy(commands_that_claim(), std::back_inserter(alike));
  }
  const std::vector<long> tried = allocations(alike, true);
  for (const std::string kind : {"malloc", "memory"}) {
    const long fired = expect_survives(kind, tried, " EDICT_PARSED=1");
    // Durations are printed, whose length differs from run to run: the last allocation, and one in
    // a thousand of the others, may not come again.
    EXPECT_GE(fired + 1 + std::ssize(tried) / 1000, std::ssize(tried)) << kind;
    tell(kind, fired, tried.size());
    if (HasFailure()) return;
  }
  EXPECT_TRUE(everything() || tried.size() >= 3) << "nothing was disturbed";
}

const auto kName = [](const auto& command) { return command.param.name; };
INSTANTIATE_TEST_SUITE_P(OneFile, FaultTest, testing::ValuesIn(commands_of_one_file()), kName);
INSTANTIATE_TEST_SUITE_P(GoesOn, FaultTest, testing::ValuesIn(commands_that_go_on()), kName);
INSTANTIATE_TEST_SUITE_P(Claims, FaultTest, testing::ValuesIn(commands_that_claim()), kName);

// The command line is read by all commands alike, so that one command stands for all; `info` also
// reads files.
class PrintingFaultTest : public FaultTest {};

TEST_P(PrintingFaultTest, WhateverFails) {
  for (const auto& [kind, count] : folder_.counts()) {
    if (kind == "malloc" || kind == "memory") continue;
    std::vector<long> numbers(static_cast<std::size_t>(count));
    std::iota(numbers.begin(), numbers.end(), 1);
    expect_survives(kind, some_of(numbers, 2));
  }
  const std::vector<long> tried = allocations(commands_that_print(), false);
  for (const std::string kind : {"malloc", "memory"})
    tell(kind, expect_survives(kind, tried), tried.size());
}

INSTANTIATE_TEST_SUITE_P(Prints, PrintingFaultTest, testing::ValuesIn(commands_that_print()),
                         kName);

}  // namespace
}  // namespace edict

#endif
