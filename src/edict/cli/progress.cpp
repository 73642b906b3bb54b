#include "edict/cli/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace edict::cli {

using Clock = std::chrono::steady_clock;

std::string duration(double seconds) {
  const auto s = static_cast<long>(std::lround(seconds));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} h {:02} min", s / 3600, s / 60 % 60);
}

Progress::Progress(std::string title)
    : title_(std::move(title)),
      terminal_(isatty(STDERR_FILENO) != 0),
      start_(Clock::now()),
      last_(start_ - std::chrono::seconds(1)) {}

Progress::~Progress() { erase(); }

double Progress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void Progress::update(double share, const std::string& note) {
  if (first_share_ < 0) first_share_ = share;
  if (!terminal_) return;
  const auto now = Clock::now();
  if (now - last_ < std::chrono::milliseconds(100) && share < 1.0) return;
  last_ = now;
  constexpr int kWidth = 24;
  const int filled = static_cast<int>(std::clamp(share, 0.0, 1.0) * kWidth);
  std::string bar;
  for (int i = 0; i < kWidth; ++i) bar += i < filled ? "█" : "░";
  const double done = share - first_share_;
  const std::string left = done > 1e-3 ? duration(seconds() * (1.0 - share) / done) + " left" : "";
  fmt::print(stderr, "\r\033[2K{} {} {:3.0f} %  {}  {}", title_, bar, 100 * share, note, left);
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::line(const std::string& text) {
  erase();
  fmt::print(stderr, "{}\n", text);
}

void Progress::erase() {
  if (drawn_) fmt::print(stderr, "\r\033[2K");
  drawn_ = false;
}

}  // namespace edict::cli
