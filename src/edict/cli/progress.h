// A progress bar on a terminal, plain lines in a log.
#pragma once

#include <chrono>
#include <string>

namespace edict::cli {

class Progress {
 public:
  explicit Progress(std::string title);
  ~Progress();

  // Redraws at most ten times a second, and only on a terminal.
  void update(double share, const std::string& note = {});
  // A line that stays, above the bar.
  void line(const std::string& text);
  double seconds() const;

 private:
  void erase();

  std::string title_;
  bool terminal_;
  bool drawn_ = false;
  double first_share_ = -1.0;  // where this run began, for the time left of a resumed one
  std::chrono::steady_clock::time_point start_, last_;
};

// 75 → "1 min 15 s".
std::string duration(double seconds);

}  // namespace edict::cli
