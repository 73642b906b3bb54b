#include "front/cli/asked.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "app/find_name.h"
#include "base/error.h"
#include "front/cli/command.h"
#include "front/cli/given_data.h"

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

std::size_t feature_of(const std::string& option, const std::string& name, const Model& model) {
  const app::FoundName found = app::find_name(option, "feature", name, model.features);
  if (!found.note.empty()) print_notes({found.note});
  return found.place;
}

Limit parse_limit(const std::string& text, bool above, const Model& model) {
  const std::string name = above ? "above" : "below", option = "--" + name;
  const auto limit = split_limit(text);
  if (!limit)
    throw Error(
        fmt::format("{} {}: give a feature and a number, as {} lactate=4", option, text, option));
  return {feature_of(name, std::string(limit->feature), model), limit->number, above,
          std::string(limit->value)};
}

}  // namespace edict::cli
