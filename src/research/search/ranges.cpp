#include "research/search/ranges.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/generator.h"

namespace edict::study {
namespace {

std::vector<std::string> cut(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(at);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool whole(std::string_view key) {
  Config config;
  return settings::find(keys(config), key, option("range")).kind == settings::Key::Kind::whole;
}

std::string number_text(const SearchRange& range, double value) {
  if (whole(range.key)) return fmt::format("{}", std::llround(value));
  // Rounding must not step over an end.
  double rounded = std::stod(fmt::format("{:.2e}", value));
  rounded = std::clamp(rounded, range.low, range.high);
  return fmt::format("{}", rounded);
}

void check_value(Config& config, const std::string& key, const std::string& value,
                 std::string_view given) {
  try {
    assign(config, key + "=" + value);
  } catch (const Error& e) {
    Error::Fields fields = e.fields();
    fields.subject = option("range", given);
    throw Error(e.code(), std::move(fields));
  }
}

}  // namespace

SearchRange parse_range(std::string_view text) {
  const auto refused = [&](const char* problem) {
    return Error(ErrorCode::invalid, {.subject = option("range", text), .problem = problem});
  };
  const auto malformed = [&] {
    return refused(
        "expected key=low:high, key=low:high:log or key=a,b,c, as in "
        "train.learning_rate=1e-4:1e-2:log");
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals + 1 == text.size()) throw malformed();
  SearchRange range;
  range.key = text.substr(0, equals);
  const std::string_view values = text.substr(equals + 1);
  Config scratch;
  if (values.find(':') == std::string_view::npos) {
    range.choices = cut(values, ',');
    for (const std::string& choice : range.choices) check_value(scratch, range.key, choice, text);
    return range;
  }
  const auto parts = cut(values, ':');
  if (parts.size() > 3 || (parts.size() == 3 && parts[2] != "log")) throw malformed();
  range.logarithmic = parts.size() == 3;
  const auto number = [&](const std::string& part) {
    double value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size() || !std::isfinite(value))
      throw malformed();
    check_value(scratch, range.key, part, text);
    return value;
  };
  range.low = number(parts[0]);
  range.high = number(parts[1]);
  if (!(range.low < range.high)) throw refused("its low end is not below its high end");
  if (range.logarithmic && range.low <= 0) throw refused("a logarithmic range begins above 0");
  return range;
}

std::vector<SearchRange> usual_ranges() {
  std::vector<SearchRange> ranges;
  for (const char* text :
       {"train.learning_rate=5e-4:1e-2:log", "train.batch=32,64,128", "train.forecast=0,0.25,0.5",
        "model.hidden=32,50,64,100", "loss.kl=1e-4:1e-2:log", "loss.evidence=1e-3:0.1:log"})
    ranges.push_back(parse_range(text));
  return ranges;
}

Config draw_settings(const Config& base, const std::vector<SearchRange>& ranges, std::uint64_t seed,
                     std::size_t trial) {
  Config config = base;
  Generator rng(seed, "search", trial);
  for (const SearchRange& range : ranges) {
    if (!range.choices.empty()) {
      assign(config, range.key + "=" + range.choices[rng.below(range.choices.size())]);
      continue;
    }
    const double value = range.logarithmic
                             ? std::exp(rng.uniform(std::log(range.low), std::log(range.high)))
                             : rng.uniform(range.low, range.high);
    assign(config, range.key + "=" + number_text(range, value));
  }
  validate(config);
  return config;
}

std::string setting_text(const Config& config, std::string_view key) {
  Config copy = config;
  return settings::value_text(settings::find(keys(copy), key, "table"));
}

}  // namespace edict::study
