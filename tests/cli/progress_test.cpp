// The moving line on a terminal of any width, as a terminal receives it.
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <vector>

#include "base/text/utf8.h"
#include "cli/tool.h"

namespace edict {
namespace {

class ProgressTest : public ToolTest, public testing::WithParamInterface<int> {
 protected:
  void SetUp() override { ASSERT_EQ(edict("generate synthetic --out d.csv --series 400").code, 0); }

  // Runs it with its messages on a terminal of this width, which becomes `then` columns wide once
  // something was drawn, and returns everything that the terminal was sent.
  std::string on_terminal(const std::string& arguments, int columns, int then) {
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    EXPECT_GE(terminal, 0);
    EXPECT_EQ(grantpt(terminal), 0);
    EXPECT_EQ(unlockpt(terminal), 0);
    const std::string name = ptsname(terminal);
    const int keep = open(name.c_str(), O_RDWR | O_NOCTTY);  // or its size would be forgotten
    winsize size{};
    size.ws_col = static_cast<unsigned short>(columns);
    size.ws_row = 24;
    EXPECT_EQ(ioctl(terminal, TIOCSWINSZ, &size), 0);
    const pid_t child = fork();
    if (child == 0) {
      const std::string line = "cd '" + path().string() + "' && unset TERM COLUMNS && exec '" +
                               EDICT_TOOL "' " + arguments + " </dev/null >.out 2>'" + name + "'";
      execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      _exit(3);
    }
    std::string received;
    for (bool ended = false;;) {
      pollfd ready{terminal, POLLIN, 0};
      if (poll(&ready, 1, 20) > 0 && (ready.revents & POLLIN)) {
        char piece[4096];
        const ssize_t got = read(terminal, piece, sizeof piece);
        if (got > 0) received.append(piece, static_cast<std::size_t>(got));
        if (then != columns && received.find(" %") != std::string::npos) {
          size.ws_col = static_cast<unsigned short>(then);
          EXPECT_EQ(ioctl(terminal, TIOCSWINSZ, &size), 0);
          mark_ = received.size();
          then = columns;
        }
      } else if (ended) {
        break;
      } else {
        ended = waitpid(child, &status_, WNOHANG) == child;
      }
    }
    close(keep);
    close(terminal);
    return received;
  }
  using Tool::read;
  static ssize_t read(int file, char* to, std::size_t size) { return ::read(file, to, size); }

  // What was drawn between "erase from here" and "back to the start".
  static std::vector<std::string> drawn(const std::string& received) {
    std::vector<std::string> lines;
    const std::string erase = "\r\033[J";
    for (std::size_t at = received.find(erase); at != std::string::npos;) {
      at += erase.size();
      const std::size_t end = received.find('\r', at);
      if (end == std::string::npos) break;
      // A line that stays ends in a line feed, which a terminal receives as "\r\n".
      if (received.compare(end, 2, "\r\n") != 0) lines.push_back(received.substr(at, end - at));
      at = received.find(erase, at);
    }
    return lines;
  }

  const std::string train_ =
      "train d.csv --force --out m --set train.epochs=20 --set train.batch=8 --set model.hidden=16";
  int status_ = 0;
  std::size_t mark_ = 0;  // what came after the window changed
};

TEST_P(ProgressTest, FitsAndLeavesNothing) {
  const int columns = GetParam();
  const std::string received = on_terminal(train_, columns, columns);
  ASSERT_EQ(status_, 0) << received;
  const auto lines = drawn(received);
  EXPECT_GE(lines.size(), 3u);
  std::size_t widest = 0;
  for (const std::string& line : lines) {
    EXPECT_LT(display_width(line), static_cast<std::size_t>(columns)) << line;
    EXPECT_TRUE(valid_utf8(line)) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_TRUE(line.empty() || line.starts_with("training")) << line;
    widest = std::max(widest, display_width(line));
  }
  EXPECT_GT(widest, 10u);
  // The last thing that happens to the line is that it is erased.
  EXPECT_GT(received.rfind("\r\033[J"), received.rfind("training"));
  for (const char* epoch : {"epoch   1 ", "epoch   2 ", "epoch  20 "})
    EXPECT_NE(received.find(epoch), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Columns, ProgressTest, testing::Values(20, 80, 200));

TEST_F(ProgressTest, FollowsAWindowThatBecomesNarrower) {
  const std::string received = on_terminal(train_, 120, 30);
  ASSERT_EQ(status_, 0) << received;
  ASSERT_GT(mark_, 0u);
  auto lines = drawn(received.substr(mark_));
  ASSERT_GE(lines.size(), 2u);
  lines.erase(lines.begin());  // may have been composed before
  for (const std::string& line : lines) EXPECT_LT(display_width(line), 30u) << line;
}

// A narrow terminal gets a shorter account of an epoch rather than a broken line.
TEST_F(ProgressTest, TheLineOfAnEpochFitsEightyColumns) {
  for (const int columns : {80, 120}) {
    const std::string received = on_terminal(train_, columns, columns);
    ASSERT_EQ(status_, 0) << received;
    const std::size_t at = received.find("epoch   2  nll");
    ASSERT_NE(at, std::string::npos) << received;
    const std::string line = received.substr(at, received.find_first_of("\r\n", at) - at);
    EXPECT_LT(display_width(line), static_cast<std::size_t>(columns)) << line;
    EXPECT_NE(line.find("validation nll"), std::string::npos) << line;
    EXPECT_EQ(line.find("evidence") != std::string::npos, columns == 120) << line;
  }
}

TEST_F(ProgressTest, ALogGetsPlainLines) {
  const Outcome outcome = edict(train_);
  ASSERT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err.find('\r'), std::string::npos);
  EXPECT_EQ(outcome.err.find('\033'), std::string::npos);
}

}  // namespace
}  // namespace edict
