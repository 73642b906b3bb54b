#include "edict/cli/asked.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "edict/core/error.h"
#include "edict/core/number_text.h"
#include "edict/settings/settings.h"

namespace edict::cli {
namespace {

bool read(std::string_view text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

}  // namespace

std::vector<double> parse_probabilities(const std::string& option, const std::string& text) {
  std::vector<double> result;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    const std::string part = text.substr(from, to - from);
    double value = 0;
    if (!read(part, value) || !(value > 0 && value < 1))
      throw Error(fmt::format("{}: '{}' is not a number between 0 and 1; give some, as 0.1,0.5,0.9",
                              option, part));
    result.push_back(value);
    from = to + 1;
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::size_t feature_of(const std::string& option, const std::string& name, const Model& model) {
  const auto found = std::find(model.features.begin(), model.features.end(), name);
  if (found != model.features.end())
    return static_cast<std::size_t>(found - model.features.begin());
  const std::vector<std::string_view> known(model.features.begin(), model.features.end());
  throw Error(fmt::format("{}: the model has no feature '{}'; did you mean '{}'?", option, name,
                          settings::nearest(name, known)));
}

Limit parse_limit(const std::string& text, bool above, const Model& model) {
  const std::string option = above ? "--above" : "--below";
  const std::size_t equals = text.rfind('=');
  double value = 0;
  if (equals == std::string::npos || !read(std::string_view(text).substr(equals + 1), value))
    throw Error(
        fmt::format("{} {}: give a feature and a number, as {} lactate=4", option, text, option));
  const std::string name = text.substr(0, equals);
  Limit limit{feature_of(option, name, model), value, above, ""};
  limit.column = fmt::format("P({}{}", name, above ? '>' : '<');
  append_shortest(limit.column, value);
  limit.column += ')';
  return limit;
}

}  // namespace edict::cli
