// How far a command is: one line on a terminal that fits its width and moves every second, plain
// lines in a log.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "front/cli/terminal/time_left.h"

namespace edict::cli {

class Progress {
 public:
  explicit Progress(std::string title);
  ~Progress();

  // What is being done from here on, of which this share is done already.
  void begin(const std::string& note = {}, double share = 0);
  // Redraws at most ten times a second.
  void update(double share, const std::string& note = {});
  // A line that stays, above the moving one.
  void line(const std::string& text);
  // Erases the moving line for good; whoever prints results calls it first.
  void end();
  double seconds() const;
  // Whether a line of this width would be broken in two. A log has no width.
  bool too_wide(std::size_t columns) const;

 private:
  using Clock = std::chrono::steady_clock;

  void beat(const std::stop_token& stopped);
  void draw();
  void erase();
  std::string composed(std::size_t columns) const;
  std::string times() const;

  const std::string title_;
  const bool terminal_;
  const Clock::time_point start_;

  std::mutex mutex_;  // of what follows, which the beat reads
  std::string note_;
  double share_ = -1.0;  // below zero: not known
  TimeLeft left_;
  bool begun_ = false, drawn_ = false, ended_ = false;
  Clock::time_point last_draw_, last_line_;
  std::condition_variable_any wake_;
  std::jthread beat_;  // last: it uses everything above
};

// 75 → "1 min 15 s".
std::string duration(double seconds);

}  // namespace edict::cli
