#include "front/cli/asked.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/text/lower_case.h"
#include "base/text/number_text.h"
#include "front/cli/command.h"
#include "settings/settings.h"

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
    const bool number = read(part, value);
    if (number && value > 1 && value < 100)
      throw Error(fmt::format("{}: {}", option, percent_for_share(value)));
    if (!number || !(value > 0 && value < 1))
      throw Error(fmt::format("{}: '{}' is not a number between 0 and 1; give some, as 0.1,0.5,0.9",
                              option, part));
    result.push_back(value);
    from = to + 1;
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::size_t place_of(const std::string& where, const std::string& what, const std::string& name,
                     const std::vector<std::string>& known) {
  const auto place = [&](auto found) { return static_cast<std::size_t>(found - known.begin()); };
  if (const auto found = std::ranges::find(known, name); found != known.end()) return place(found);
  if (known.empty()) throw Error(fmt::format("{}: no {} '{}'; there is none", where, what, name));
  std::vector<std::string> lowered;
  for (const std::string& one : known) lowered.push_back(in_lower_case(one));
  const auto alike = std::ranges::find(lowered, in_lower_case(name));
  if (std::ranges::count(lowered, in_lower_case(name)) == 1) {
    const auto found = known.begin() + (alike - lowered.begin());
    fmt::print(stderr, "note: {}: '{}' is taken as {} '{}'\n", where, name, what, *found);
    return place(found);
  }
  const std::string nearest =
      settings::nearest(in_lower_case(name), {lowered.begin(), lowered.end()});
  const auto found = std::ranges::find(lowered, nearest) - lowered.begin();
  throw Error(fmt::format("{}: no {} '{}'; did you mean '{}'?", where, what, name,
                          known.at(static_cast<std::size_t>(found))));
}

std::size_t feature_of(const std::string& option, const std::string& name, const Model& model) {
  return place_of(option, "feature", name, model.features);
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
  limit.column = fmt::format("P({}{}", model.features[limit.feature], above ? '>' : '<');
  append_shortest(limit.column, value);
  limit.column += ')';
  return limit;
}

}  // namespace edict::cli
