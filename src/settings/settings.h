// What a declared setting is: a name, a meaning, what may be written and where it is kept. Every
// folder that has settings declares its own as a struct with defaults and a function `declare` that
// lists a Key for each; TOML files, `--set`, `--help` and the JSON inside a model file all derive
// from such lists. This folder knows none of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace edict::settings {

using Value = std::variant<double, std::int64_t, bool, std::string>;

// What a number may be instead, if its key allows it: chosen from the data.
inline constexpr std::string_view kAuto = "auto";

// The largest seed: exactly representable in JSON's doubles.
inline constexpr double kMaxSeed = 9e15;

struct Key {
  enum class Kind { number, whole, flag, text };

  std::string name;  // "table.key"
  std::string help;
  Kind kind;
  double low = 0.0, high = 0.0;      // numbers: the closed range allowed
  std::vector<std::string> choices;  // texts: what may be written
  bool may_be_auto = false;
  std::function<Value()> get;
  std::function<void(const Value&)> set;  // of a value that was checked

  std::string allowed() const;  // "a number from 0 to 1", "one of niw, gaussian", …
};

// A setting of an earlier version.
struct Retired {
  std::string_view name;
  std::string_view instead;  // what became of it, and what to set now: the rest of a sentence
};

struct Keys : std::vector<Key> {
  Keys() = default;
  Keys(std::initializer_list<Key> keys) : std::vector<Key>(keys) {}

  std::vector<Retired> retired = {};  // refused in their own words
};

// Keys that keep their value in a variable.
Key number(std::string name, std::string help, double& target, double low, double high);
Key number_or_auto(std::string name, std::string help, std::optional<double>& target, double low,
                   double high);
Key whole(std::string name, std::string help, std::int64_t& target, double low, double high);
Key flag(std::string name, std::string help, bool& target);
Key text(std::string name, std::string help, std::string& target, std::vector<std::string> choices);

// How the values of an enum are written: specialised beside the enum, with a member
//   static constexpr std::pair<E, std::string_view> all[] = {…};
// in the order in which they are offered. A value that is not among them has no name.
template <class E>
struct Names;

template <class E>
concept Named = requires {
  Names<E>::all;
};

template <Named E>
constexpr std::string_view name_of(E value) {
  for (const auto& [each, name] : Names<E>::all)
    if (each == value) return name;
  return {};
}
template <Named E>
constexpr std::optional<E> from_name(std::string_view name) {
  for (const auto& [each, own] : Names<E>::all)
    if (own == name) return each;
  return {};
}

// One of the named values of an enum; read and written by its name.
template <Named E>
Key choice(std::string name, std::string help, E& target) {
  std::vector<std::string> choices;
  for (const auto& each : Names<E>::all) choices.emplace_back(each.second);
  return {std::move(name),
          std::move(help),
          Key::Kind::text,
          0,
          0,
          std::move(choices),
          false,
          [&target] { return Value(std::string(name_of(target))); },
          [&target](const Value& value) { target = *from_name<E>(std::get<std::string>(value)); }};
}

// A setting that only one model knows. It is declared in that model's file and kept, if it differs
// from its default, by name: nothing else has to know of it.
struct Own {
  std::string_view name, help;
  Key::Kind kind;
  Value initial;
  double low = 0.0, high = 0.0;
  std::vector<std::string> choices = {};
  bool may_be_auto = false;
};

// The values of such settings.
class Values {
 public:
  double number(const Own& own) const { return std::get<double>(get(own)); }
  std::optional<double> number_or_auto(const Own& own) const;
  std::int64_t whole(const Own& own) const { return std::get<std::int64_t>(get(own)); }
  bool flag(const Own& own) const { return std::get<bool>(get(own)); }
  std::string text(const Own& own) const { return std::get<std::string>(get(own)); }

  Value get(const Own& own) const;
  void set(std::string_view name, const Value& value);

 private:
  std::map<std::string, Value, std::less<>> values_;
};

Key key(const Own& own, Values& values);

// Reads a TOML file over the keys' values; an unknown key, a wrong type or a value out of range is
// an Error that names file, line and, for an unknown key, the nearest known one.
void read_toml(const std::filesystem::path& file, const Keys& keys);
// The same from text; messages call it `name`.
void read_toml_text(std::string_view text, const std::string& name, const Keys& keys);

// Every key with its value; reads back as the same settings.
std::string to_toml(const Keys& keys);

// Throws Error, said of `where`, for a value that could not be read back.
void check(const Keys& keys, std::string_view where);

// One `table.key=value` as given to --set.
void assign(const Keys& keys, std::string_view assignment);

// The key of this name. Error, said of `where`, if there is none.
const Key& find(const Keys& keys, std::string_view name, std::string_view where);

// The value as it is written in a table or after --set.
std::string value_text(const Key& key);

nlohmann::json to_json(const Keys& keys);
void from_json(const nlohmann::json& json, const Keys& keys);

// The entry of `known` with the smallest edit distance to `word`.
std::string nearest(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace edict::settings
