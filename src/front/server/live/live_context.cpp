#include "front/server/live/live_context.h"

#include <fmt/core.h>

#include <chrono>

#include "base/hash.h"
#include "base/json/json.h"
#include "base/json/json_text.h"

namespace edict::server {

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

double running_seconds() {
  using Steady = std::chrono::steady_clock;
  static const double wall = wall_seconds();
  static const Steady::time_point begin = Steady::now();
  return wall + std::chrono::duration<double>(Steady::now() - begin).count();
}

std::string span_text(double seconds) {
  if (seconds < 120) return fmt::format("{:.3g} s", seconds);
  if (seconds < 7200) return fmt::format("{:.3g} min", seconds / 60);
  if (seconds < 2 * 86400) return fmt::format("{:.3g} h", seconds / 3600);
  return fmt::format("{:.6g} days", seconds / 86400);
}

LiveContext::LiveContext(std::shared_ptr<const Model> with, const LiveSettings& given,
                         std::uint64_t first_event)
    : model(std::move(with)),
      settings(given),
      clock(*model, settings.time_unit),
      intake(*model, clock),
      fingerprint(edict::fingerprint(*model)),
      events(first_event) {}

double LiveContext::now() const { return settings.clock ? settings.clock() : running_seconds(); }

void LiveContext::set_store_features(std::vector<std::int32_t> numbers) {
  store_feature = std::move(numbers);
  for (std::size_t j = 0; j < store_feature.size(); ++j)
    model_feature_of[store_feature[j]] = static_cast<std::int32_t>(j);
}

std::string LiveContext::row_text(const std::string& stream, double shown, std::int32_t feature,
                                  double value) const {
  return json_text(
      {{"stream", stream}, {"time", shown}, {"values", {{feature_name(feature), value}}}});
}

std::string LiveContext::gap_text(double raw) const {
  const double seconds = clock.seconds_of_raw(raw);
  return seconds > 0 ? span_text(seconds) : fmt::format("{:.6g}", raw);
}

}  // namespace edict::server
