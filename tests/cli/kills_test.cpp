// Killed at random moments, every command that writes goes on to the bytes of a run that nobody
// killed, and of what it was writing nothing stays. EDICT_KILLS says how often each of them is
// killed; scripts/faults takes more than a thousand in all.
#include "cli/fault_commands.h"

#ifdef EDICT_FAULTS

#include "base/generator.h"

namespace edict {
namespace {

class Kills : public testing::TestWithParam<FaultCommand> {};

TEST_P(Kills, LoseNothing) {
  const char* const asked = std::getenv("EDICT_KILLS");
  const long wanted = asked ? std::atol(asked) : 1;
  const FaultFolder folder(GetParam());
  folder.put(folder.start);
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(folder.edict(GetParam().arguments).code, 0);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  Generator random(31);
  long kills = 0, early = 0;
  for (long attempt = 0; kills < wanted && attempt < 4 * wanted + 20; ++attempt) {
    folder.put(folder.start);
    // Sometimes what goes on is killed again.
    for (bool first = true; first || random.uniform(0, 1) < 0.3; first = false) {
      const pid_t child = folder.start_again(first);
      usleep(static_cast<useconds_t>(1e6 * random.uniform(0, seconds)));
      kill(child, SIGKILL);
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      kills += WIFSIGNALED(status);
      if (!WIFSIGNALED(status)) break;
    }
    early += folder.files() == folder.start;
    expect_same_end(folder, GetParam().name + ", attempt " + std::to_string(attempt));
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GE(kills, wanted) << "it was over before it could be killed";
  if (asked)
    std::printf("%s: %ld kills, %ld ends with nothing written\n", GetParam().name.c_str(), kills,
                early);
}

const auto kKilledName = [](const auto& command) { return command.param.name; };
INSTANTIATE_TEST_SUITE_P(OneFile, Kills, testing::ValuesIn(commands_of_one_file()), kKilledName);
INSTANTIATE_TEST_SUITE_P(GoesOn, Kills, testing::ValuesIn(commands_that_go_on()), kKilledName);

}  // namespace
}  // namespace edict

#endif
