#include "app/train/training_settings.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text/counted.h"
#include "data/pieces.h"

namespace edict::app {
namespace {

Config settings_beside(const SettingsRequest& request) {
  Config config = request.base.value_or(Config{});
  for (const std::string& assignment : request.assignments) assign(config, assignment);
  validate(config);
  return config;
}

}  // namespace

void check(const SettingsRequest& request) { settings_beside(request); }

ChosenSettings choose_settings(const SettingsRequest& request, const Dataset& data) {
  if (request.base) return {settings_beside(request), {}};
  FittedSettings fitted = fit_settings(data, request.assignments);
  Config config = fitted.config;
  return {std::move(config), std::move(fitted)};
}

bool assigns(const std::vector<std::string>& assignments, std::string_view key) {
  return std::ranges::any_of(assignments, [&](const std::string& assignment) {
    return assignment.starts_with(key) && assignment.substr(key.size(), 1) == "=";
  });
}

std::optional<CutData> cut_long_series(const Dataset& data) {
  const std::size_t piece = piece_length(data);
  if (piece == 0) return std::nullopt;
  CutData cut{in_pieces(data, piece), {}};
  cut.note = fmt::format(
      "{} series {} too few to split by series; cut into {} of {}, the last of each series for "
      "the test split",
      data.size(), data.size() == 1 ? "is" : "are", counted(cut.data.size(), "piece"),
      counted(piece, "event"));
  return cut;
}

}  // namespace edict::app
