#include "settings/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "settings/toml.h"

namespace edict::settings {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

std::string text_of(const Value& value) {
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
}

[[noreturn]] void refuse(const Key& key, const std::string& given, std::string_view where) {
  throw Error(ErrorCode::invalid,
              {.subject = std::string(where),
               .problem = fmt::format("{} = {} is not allowed", key.name, given),
               .remedy = "it must be " + key.allowed()});
}

// `given` as the key's own type, or nothing where it is not allowed.
std::optional<Value> converted(const Key& key, const Value& given) {
  const auto* text = std::get_if<std::string>(&given);
  const auto inside = [&](double v) { return v >= key.low && v <= key.high; };
  switch (key.kind) {
    case Key::Kind::number: {
      if (key.may_be_auto && text && *text == kAuto) return given;
      const auto* whole = std::get_if<std::int64_t>(&given);
      const auto* number = std::get_if<double>(&given);
      if (!whole && !number) return {};
      const double v = number ? *number : static_cast<double>(*whole);
      return inside(v) ? std::optional<Value>(v) : std::nullopt;
    }
    case Key::Kind::whole: {
      const auto* whole = std::get_if<std::int64_t>(&given);
      return whole && inside(static_cast<double>(*whole)) ? std::optional(given) : std::nullopt;
    }
    case Key::Kind::flag:
      return std::holds_alternative<bool>(given) ? std::optional(given) : std::nullopt;
    case Key::Kind::text:
      return text && std::ranges::find(key.choices, *text) != key.choices.end()
                 ? std::optional(given)
                 : std::nullopt;
  }
  return {};
}

void put(const Key& key, const Value& given, std::string_view where) {
  const auto value = converted(key, given);
  if (!value) refuse(key, text_of(given), where);
  key.set(*value);
}

// --set gives text; TOML and JSON give typed values.
Value parse_text(const Key& key, std::string_view text) {
  const char* end = text.data() + text.size();
  if (key.kind == Key::Kind::text) return std::string(text);
  if (text == "true") return true;
  if (text == "false") return false;
  std::int64_t i = 0;
  if (auto [p, e] = std::from_chars(text.data(), end, i); e == std::errc() && p == end) return i;
  double d = 0;
  if (auto [p, e] = std::from_chars(text.data(), end, d); e == std::errc() && p == end) return d;
  return std::string(text);
}

[[noreturn]] void fail(const toml::parse_error& e, const std::string& name) {
  const auto line = e.source().begin.line;
  throw Error(line ? fmt::format("{}:{}: {}", name, line, e.description())
                   : fmt::format("{}: {}", name, e.description()));
}

void apply(const toml::table& document, const std::string& name, const Keys& keys) {
  for (auto&& [table_name, node] : document) {
    const auto at = [&](const toml::node& n) {
      return fmt::format("{}:{}", name, n.source().begin.line);
    };
    const std::string table(table_name.str());
    const toml::table* entries = node.as_table();
    if (!entries) {
      std::string tables;
      for (const Key& key : keys)
        if (const std::string own = fmt::format("[{}]", key.name.substr(0, key.name.find('.')));
            tables.find(own) == std::string::npos)
          tables += (tables.empty() ? "" : ", ") + own;
      throw Error(fmt::format("{}: '{}' stands outside a table; put it under one of {}", at(node),
                              table, tables));
    }
    for (auto&& [key_name, value] : *entries) {
      const Key& key = find(keys, table + "." + std::string(key_name.str()), at(value));
      if (auto b = value.value_exact<bool>())
        put(key, *b, at(value));
      else if (auto i = value.value_exact<std::int64_t>())
        put(key, *i, at(value));
      else if (auto d = value.value_exact<double>())
        put(key, *d, at(value));
      else if (auto s = value.value_exact<std::string>())
        put(key, *s, at(value));
      else
        refuse(key, "a list, table or date", at(value));
    }
  }
}

template <class T>
Key bound(std::string name, std::string help, Key::Kind kind, T& target, double low, double high,
          std::vector<std::string> choices = {}) {
  return {std::move(name),
          std::move(help),
          kind,
          low,
          high,
          std::move(choices),
          false,
          [&target] { return Value(target); },
          [&target](const Value& value) { target = std::get<T>(value); }};
}

}  // namespace

std::string Key::allowed() const {
  switch (kind) {
    case Kind::number:
      return fmt::format("a number from {} to {}{}", low, high,
                         may_be_auto ? fmt::format(", or \"{}\"", kAuto) : "");
    case Kind::whole:
      return fmt::format("a whole number from {} to {}", low, high);
    case Kind::flag:
      return "true or false";
    case Kind::text:
      return fmt::format("one of {}", fmt::join(choices, ", "));
  }
  return {};
}

Key number(std::string name, std::string help, double& target, double low, double high) {
  return bound(std::move(name), std::move(help), Key::Kind::number, target, low, high);
}

Key number_or_auto(std::string name, std::string help, std::optional<double>& target, double low,
                   double high) {
  return {std::move(name),
          std::move(help),
          Key::Kind::number,
          low,
          high,
          {},
          true,
          [&target] { return target ? Value(*target) : Value(std::string(kAuto)); },
          [&target](const Value& value) {
            const auto* given = std::get_if<double>(&value);
            target = given ? std::optional(*given) : std::nullopt;
          }};
}

Key whole(std::string name, std::string help, std::int64_t& target, double low, double high) {
  return bound(std::move(name), std::move(help), Key::Kind::whole, target, low, high);
}

Key flag(std::string name, std::string help, bool& target) {
  return bound(std::move(name), std::move(help), Key::Kind::flag, target, 0, 0);
}

Key text(std::string name, std::string help, std::string& target,
         std::vector<std::string> choices) {
  return bound(std::move(name), std::move(help), Key::Kind::text, target, 0, 0, std::move(choices));
}

Key key(const Own& own, Values& values) {
  return {std::string(own.name),
          std::string(own.help),
          own.kind,
          own.low,
          own.high,
          own.choices,
          own.may_be_auto,
          [&own, &values] { return values.get(own); },
          [&own, &values](const Value& value) { values.set(own.name, value); }};
}

Value Values::get(const Own& own) const {
  const auto found = values_.find(own.name);
  return found == values_.end() ? own.initial : found->second;
}

std::optional<double> Values::number_or_auto(const Own& own) const {
  const Value value = get(own);
  const auto* given = std::get_if<double>(&value);
  return given ? std::optional(*given) : std::nullopt;
}

void Values::set(std::string_view name, const Value& value) {
  values_.insert_or_assign(std::string(name), value);
}

const Key& find(const Keys& keys, std::string_view name, std::string_view where) {
  for (const Key& key : keys)
    if (key.name == name) return key;
  for (const Retired& gone : keys.retired)
    if (gone.name == name)
      throw Error(ErrorCode::not_found, {.subject = std::string(where),
                                         .problem = fmt::format("there is no {} any more", name),
                                         .remedy = std::string(gone.instead)});
  std::vector<std::string_view> names;
  for (const Key& key : keys) names.push_back(key.name);
  throw Error(ErrorCode::not_found,
              {.subject = std::string(where),
               .problem = fmt::format("unknown key '{}'", name),
               .remedy = fmt::format("did you mean '{}'?", nearest(name, names))});
}

std::string nearest(std::string_view word, const std::vector<std::string_view>& known) {
  std::string_view best;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const std::string_view candidate : known) {
    const auto [shorter, longer] = std::minmax({word.size(), candidate.size()});
    if (longer - shorter >= least) continue;  // at least so many letters are missing
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < least) best = candidate, least = distance;
  }
  return std::string(best);
}

void read_toml(const std::filesystem::path& file, const Keys& keys) {
  toml::table document;
  try {
    document = toml::parse_file(file.string());
  } catch (const toml::parse_error& e) {
    fail(e, file.string());
  }
  apply(document, file.string(), keys);
}

void read_toml_text(std::string_view text, const std::string& name, const Keys& keys) {
  toml::table document;
  try {
    document = toml::parse(text, name);
  } catch (const toml::parse_error& e) {
    fail(e, name);
  }
  apply(document, name, keys);
}

std::string value_text(const Key& key) { return text_of(key.get()); }

std::string to_toml(const Keys& keys) {
  std::string text, open;
  for (const Key& key : keys) {
    const std::size_t dot = key.name.find('.');
    if (const std::string table = key.name.substr(0, dot); table != open) {
      text += fmt::format("{}[{}]\n", open.empty() ? "" : "\n", table);
      open = table;
    }
    const Value value = key.get();
    std::string written = text_of(value);
    if (std::holds_alternative<std::string>(value)) written = fmt::format("\"{}\"", written);
    // TOML tells 1 from 1.0.
    if (std::holds_alternative<double>(value) && written.find_first_of(".e") == std::string::npos)
      written += ".0";
    text += fmt::format("{} = {}\n", key.name.substr(dot + 1), written);
  }
  return text;
}

void check(const Keys& keys, std::string_view where) {
  for (const Key& key : keys)
    if (!converted(key, key.get())) refuse(key, value_text(key), where);
}

void assign(const Keys& keys, std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos)
    throw Error(ErrorCode::invalid, {.subject = option(kAssignment, assignment),
                                     .problem = "expected table.key=value, as in model.hidden=64"});
  const std::string where = option(kAssignment);
  const Key& key = find(keys, assignment.substr(0, equals), where);
  put(key, parse_text(key, assignment.substr(equals + 1)), where);
}

nlohmann::json to_json(const Keys& keys) {
  nlohmann::json json = nlohmann::json::object();
  for (const Key& key : keys) {
    const std::size_t dot = key.name.find('.');
    auto table = json.emplace(key.name.substr(0, dot), nlohmann::json::object()).first;
    auto& entry = (*table)[key.name.substr(dot + 1)];
    std::visit([&](const auto& value) { entry = value; }, key.get());
  }
  return json;
}

void from_json(const nlohmann::json& json, const Keys& keys) {
  for (const auto& [table, entries] : json.items())
    for (const auto& [name, value] : entries.items()) {
      const Key& key = find(keys, fmt::format("{}.{}", table, name), "configuration");
      if (value.is_boolean())
        put(key, value.get<bool>(), "configuration");
      else if (value.is_number_integer())
        put(key, value.get<std::int64_t>(), "configuration");
      else if (value.is_number())
        put(key, value.get<double>(), "configuration");
      else if (value.is_string())
        put(key, value.get<std::string>(), "configuration");
      else
        refuse(key, json_text(value), "configuration");
    }
}

}  // namespace edict::settings
