#include "front/cli/terminal/progress.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/text/utf8.h"
#include "front/cli/terminal/interrupt.h"

namespace edict::cli {
namespace {

// A log gets a line after this much silence, or a tenth of the time so far where that is longer: a
// run of days does not fill a disk with them.
constexpr double kSilentSeconds = 5.0, kSilentShare = 0.1;

bool is_terminal() {
  const char* kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && !(kind && std::string_view(kind) == "dumb");
}

// Asked anew for every line, since a window changes its size.
std::size_t terminal_columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const int given = columns ? std::atoi(columns) : 0;
  return given > 0 ? static_cast<std::size_t>(given) : 80;
}

// Nobody may be reading; that is no reason to end the work.
void tell(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

double since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

}  // namespace

std::string duration(double seconds) {
  const auto s = static_cast<long>(std::lround(seconds));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} h {:02} min", s / 3600, s / 60 % 60);
}

Progress::Progress(std::string title)
    : title_(std::move(title)),
      terminal_(is_terminal()),
      start_(Clock::now()),
      left_(start_),
      last_line_(start_),
      beat_([this](const std::stop_token& stopped) { beat(stopped); }) {}

Progress::~Progress() { end(); }

double Progress::seconds() const { return since(start_); }

bool Progress::too_wide(std::size_t columns) const {
  return terminal_ && columns > terminal_columns();
}

void Progress::begin(const std::string& note, double share) {
  const std::lock_guard lock(mutex_);
  left_.start(share, Clock::now());
  note_ = note;
  begun_ = true;
  draw();
}

void Progress::update(double share, const std::string& note) {
  const std::lock_guard lock(mutex_);
  left_.reached(share, Clock::now());
  share_ = share;
  note_ = note;
  begun_ = true;
  if (since(last_draw_) >= 0.1 || share >= 1.0) draw();
}

void Progress::line(const std::string& text) {
  const std::lock_guard lock(mutex_);
  erase();
  tell(text + "\n");
  last_line_ = Clock::now();
}

void Progress::end() {
  if (!beat_.joinable()) return;
  beat_.request_stop();
  beat_.join();
  ended_ = true;
  erase();
}

void Progress::beat(const std::stop_token& stopped) {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, stopped, std::chrono::seconds(1), [] { return false; })) {
    if (stopped.stop_requested()) return;
    if (!begun_) continue;
    if (terminal_) {
      draw();
    } else if (since(last_line_) >= std::max(kSilentSeconds, kSilentShare * seconds())) {
      tell(fmt::format("{}: {}{}{}{}\n", title_,
                       share_ < 0 ? "" : fmt::format("{:.0f} %, ", 100 * share_), note_,
                       note_.empty() ? "" : ", ", times()));
      last_line_ = Clock::now();
    }
  }
}

// The cursor stays at the start of the line. When the window becomes narrower and the terminal
// breaks the line in two, erasing from the cursor on still removes all of it.
void Progress::draw() {
  if (!terminal_ || !begun_ || ended_) return;
  tell("\r\033[J" + composed(terminal_columns()) + "\r");
  last_draw_ = Clock::now();
  drawn_ = true;
  set_line_drawn(true);
}

void Progress::erase() {
  if (drawn_) tell("\r\033[J");
  drawn_ = false;
  set_line_drawn(false);
}

// "12 s, 3 min 20 s left".
std::string Progress::times() const {
  const auto left = left_.at(Clock::now());
  return left ? fmt::format("{}, {} left", duration(seconds()), duration(*left))
              : duration(seconds());
}

// One column less than there are: some terminals begin a new line when the last one is filled.
std::string Progress::composed(std::size_t columns) const {
  const std::size_t room = columns - 1;
  std::string text = title_;
  if (share_ >= 0) {
    const std::size_t width = columns >= 70 ? 24 : columns >= 40 ? 8 : 0;
    const auto filled =
        static_cast<std::size_t>(std::clamp(share_, 0.0, 1.0) * static_cast<double>(width));
    if (width > 0) text += ' ';
    for (std::size_t i = 0; i < width; ++i) text += i < filled ? "█" : "░";
    text += fmt::format(" {:3.0f} %", 100 * share_);
  }
  // The note yields before the time does.
  const std::string time = "  " + times();
  const std::size_t taken = display_width(text) + display_width(time);
  constexpr std::size_t kShortest = 8;
  if (!note_.empty() && taken + 2 + kShortest <= room)
    text += "  " + shortened(note_, room - taken - 2);
  return shortened(text + time, room);
}

}  // namespace edict::cli
