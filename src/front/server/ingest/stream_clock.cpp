#include "front/server/ingest/stream_clock.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "data/time/unix_time.h"
#include "engine/propagators/stepped_gru_ode.h"

namespace edict::server {
namespace {

// In the model's unit. A closed form crosses any gap at once. An adaptive solver takes a step every
// few units, however long nothing has changed.
double longest_gap_of(const Model& model) {
  constexpr double kSteps = SteppedGruOde::kMaxSteps, kAdaptive = 1e5;
  const EngineSettings& s = model.config.model;
  if (s.propagator == Propagation::closed_form) return std::numeric_limits<double>::infinity();
  return tableau(s.solver).adaptive ? kAdaptive : kSteps * s.step;
}

}  // namespace

StreamClock::StreamClock(const Model& model, const std::string& unit)
    : axis_(model.time_axis.rules()),
      unit_(unit.empty() ? axis_.unit : time_unit_from_name(unit)),
      seconds_(seconds_in(unit_)),
      origin_(model.protocol.origin),
      longest_gap_(raw_duration(model.protocol.time_unit * longest_gap_of(model))),
      finest_(std::max(raw_duration(model.protocol.time_unit) / 1000,
                       calendar() ? 1.0 : 0.0)),  // microseconds
      start_(model.protocol.start) {
  if (calendar() && unit_ != axis_.unit)
    throw Error("--time-unit: the model knows that it counts in " +
                std::string(long_name_of(axis_.unit)) + "; leave it out");
}

std::string_view StreamClock::time_unit_name() const {
  if (!calendar()) return unit_ == TimeUnit::none ? std::string_view() : name_of(unit_);
  switch (axis_.kind) {
    case TimeKind::unix_milliseconds:
      return "ms";
    case TimeKind::unix_microseconds:
      return "us";
    case TimeKind::unix_nanoseconds:
      return "ns";
    default:
      return "s";
  }
}

TimeStamp StreamClock::from_number(double number) const {
  if (!calendar()) return {number, false};
  return {raw_from_unix(unix_kind(), number), true};
}

std::optional<TimeStamp> StreamClock::from_text(std::string_view text) const {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size()) {
    if (!std::isfinite(number)) return {};
    return from_number(number);
  }
  if (!takes_dates()) return {};
  if (const auto date = parse_date(text)) return TimeStamp{date->microseconds, true};
  return {};
}

double StreamClock::raw(const TimeStamp& time, double origin) const {
  if (calendar() || !time.wall) return time.value;
  return (time.value - origin) / (1e6 * seconds_);
}

double StreamClock::seconds_of_time() const {
  return calendar() ? 1 / unix_per_second(unix_kind()) : seconds_;
}

TimeKind StreamClock::unix_kind() const {
  return axis_.kind == TimeKind::date ? TimeKind::unix_seconds : axis_.kind;
}

double StreamClock::shown(double raw) const {
  if (!calendar()) return raw;
  return unix_from_raw(unix_kind(), raw);
}

double StreamClock::start(double first_model_time) const {
  const bool earlier = start_ == ClockStart::origin && first_model_time < origin_;
  return start_ == ClockStart::first || earlier ? first_model_time : origin_;
}

double StreamClock::earliest() const {
  if (start_ != ClockStart::zero || axis_.from_first)
    return -std::numeric_limits<double>::infinity();
  return raw_of_model_time(origin_, 0);
}

bool StreamClock::resolves(double raw) const {
  const double size = std::abs(raw);
  return std::nextafter(size, std::numeric_limits<double>::infinity()) - size <= finest_;
}

}  // namespace edict::server
