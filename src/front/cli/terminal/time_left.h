// How long work will still take, by the share of it that is done.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace edict::cli {

class TimeLeft {
 public:
  using Clock = std::chrono::steady_clock;

  explicit TimeLeft(Clock::time_point now) : first_time_(now) {}

  // Work starts with this share done already, as a resumed run does.
  void start(double share, Clock::time_point now) {
    first_share_ = share;
    first_time_ = now;
    left_.reset();
  }

  void reached(double share, Clock::time_point now) {
    constexpr double kLeast = 1e-3;  // less tells nothing yet
    const double done = share - first_share_;
    if (done <= kLeast) return;
    left_ = seconds(now - first_time_) * (1.0 - share) / done;
    then_ = now;
  }

  // Seconds, or nothing while that is not known. Between two shares it counts down: that one step
  // takes long does not mean that all the others will.
  std::optional<double> at(Clock::time_point now) const {
    if (!left_) return std::nullopt;
    const double left = *left_ - seconds(now - then_);
    return left < 0 && *left_ > 0 ? std::nullopt : std::optional(std::max(0.0, left));
  }

 private:
  static double seconds(Clock::duration duration) {
    return std::chrono::duration<double>(duration).count();
  }

  double first_share_ = 0;
  Clock::time_point first_time_, then_;
  std::optional<double> left_;  // at `then_`
};

}  // namespace edict::cli
