#include "research/plan.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "base/files/read_file.h"
#include "render/embedded.h"
#include "settings/toml.h"

namespace edict::study {
namespace {

// The entries of one table, each asked for once; what nobody asked for is unknown.
class Entries {
 public:
  Entries(const toml::table& table, const std::string& file) : table_(table), file_(file) {}

  bool has(std::string_view key) const { return table_.contains(key); }

  template <class T>
  T get(std::string_view key, const char* kind) {
    known_.push_back(key);
    const toml::node* node = table_.get(key);
    if (!node) throw Error(fmt::format("{}: '{}' is missing; give {}", where(table_), key, kind));
    return value<T>(*node, key, kind);
  }
  template <class T>
  T get_or(std::string_view key, T otherwise, const char* kind) {
    known_.push_back(key);
    return has(key) ? value<T>(*table_.get(key), key, kind) : otherwise;
  }
  template <class T>
  std::vector<T> list(std::string_view key, const char* kind) {
    known_.push_back(key);
    std::vector<T> result;
    const toml::node* node = table_.get(key);
    if (!node) return result;
    const toml::array* array = node->as_array();
    if (!array) throw Error(fmt::format("{}: '{}' must be a list of {}", where(*node), key, kind));
    for (const toml::node& entry : *array) result.push_back(value<T>(entry, key, kind));
    return result;
  }
  std::vector<const toml::table*> tables(std::string_view key) {
    known_.push_back(key);
    std::vector<const toml::table*> result;
    const toml::node* node = table_.get(key);
    const toml::array* array = node ? node->as_array() : nullptr;
    if (node && !array)
      throw Error(fmt::format("{}: write [[{}]], once for each", where(*node), key));
    if (array)
      for (const toml::node& entry : *array) {
        if (!entry.is_table())
          throw Error(fmt::format("{}: write [[{}]], once for each", where(entry), key));
        result.push_back(entry.as_table());
      }
    return result;
  }
  void refuse_unknown() const {
    for (auto&& [key, node] : table_)
      if (std::find(known_.begin(), known_.end(), key.str()) == known_.end())
        throw Error(fmt::format("{}: unknown key '{}'; did you mean '{}'?", where(node), key.str(),
                                settings::nearest(key.str(), known_)));
  }
  std::string where(const toml::node& node) const {
    return fmt::format("{}:{}", file_, node.source().begin.line);
  }
  std::string where() const { return where(table_); }

 private:
  template <class T>
  T value(const toml::node& node, std::string_view key, const char* kind) const {
    if (const auto found = node.value<T>()) return *found;
    throw Error(fmt::format("{}: '{}' must be {}", where(node), key, kind));
  }

  const toml::table& table_;
  const std::string& file_;
  std::vector<std::string_view> known_;
};

PlannedData read_data(Entries entries) {
  PlannedData data;
  data.name = entries.get<std::string>("name", "a name");
  const auto plain = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; };
  if (data.name.empty() || !std::all_of(data.name.begin(), data.name.end(), plain))
    throw Error(fmt::format("{}: the name '{}' may only have letters, digits, - and _",
                            entries.where(), data.name));
  data.title = entries.get_or<std::string>("title", data.name, "a text");
  data.file = entries.get_or<std::string>("file", "", "the name of a file");
  if (data.file.empty() && data.name != "synthetic")
    throw Error(fmt::format("{}: dataset '{}' needs a file; only synthetic can be generated",
                            entries.where(), data.name));
  const auto series = entries.get_or<std::int64_t>("series", 10000, "a whole number");
  data.seed = entries.get_or<std::int64_t>("seed", 0, "a whole number");
  data.rate = entries.get_or<double>("rate", data.rate, "a number");
  data.rate_unit = entries.get_or<double>("rate_unit", data.rate_unit, "a number");
  data.time_unit = entries.get_or<std::string>("time", "", "a text");
  if (series < 10 || data.seed < 0 || !(data.rate >= 0) || !(data.rate_unit > 0))
    throw Error(
        fmt::format("{}: series must be at least 10, seed and rate not negative, rate_unit above 0",
                    entries.where()));
  data.series = static_cast<std::size_t>(series);
  entries.refuse_unknown();
  return data;
}

// One entry for each dataset that the experiment names; all of the plan's, if none.
void read_experiment(Entries entries, Plan& plan) {
  PlannedModel model;
  model.method = entries.get<std::string>("method", "a name");
  const auto preset = entries.get<std::string>("preset", "the name of a file");
  model.set = entries.list<std::string>("set", "texts, as \"train.epochs=10\"");
  model.train_seeds = entries.list<std::int64_t>("train_seeds", "whole numbers");
  if (entries.has("guards")) model.guards.clear();
  for (const auto& name : entries.list<std::string>("guards", "names"))
    model.guards.push_back({guard_from_name(name)});
  if (model.guards.empty())
    throw Error(fmt::format("{}: guards is empty; write [\"none\"]", entries.where()));
  std::vector<std::string> names = entries.list<std::string>("datasets", "names");
  if (names.empty())
    for (const PlannedData& data : plan.datasets) names.push_back(data.name);
  entries.refuse_unknown();
  for (const std::string& name : names) {
    model.dataset = plan.dataset(name).name;
    model.preset = preset;
    if (const auto at = preset.find("{dataset}"); at != std::string::npos)
      model.preset.replace(at, 9, name);
    plan.models.push_back(model);
  }
}

Plan carried(const std::string& name) { return read_plan_text(embedded(name).value(), name); }

}  // namespace

const PlannedData& Plan::dataset(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const PlannedData& data : datasets) {
    if (data.name == name) return data;
    names.push_back(data.name);
  }
  if (names.empty()) throw Error("the plan declares no [[dataset]]");
  throw Error(fmt::format("the plan has no dataset '{}'; did you mean '{}'?", name,
                          settings::nearest(name, names)));
}

Plan read_plan_text(std::string_view text, const std::string& name) {
  toml::table document;
  try {
    document = toml::parse(text, name);
  } catch (const toml::parse_error& e) {
    throw Error(fmt::format("{}:{}: {}", name, e.source().begin.line, e.description()));
  }
  Entries entries(document, name);
  Plan plan;
  for (const auto level : entries.list<std::int64_t>("levels", "levels from 0 to 9")) {
    if (level < 0 || level > 9)
      throw Error(fmt::format("{}: level {} is not allowed; give levels from 0 to 9", name, level));
    plan.levels.push_back(static_cast<int>(level));
  }
  plan.seeds = entries.list<std::int64_t>("seeds", "whole numbers");
  for (const toml::table* table : entries.tables("dataset"))
    plan.datasets.push_back(read_data({*table, name}));
  for (const toml::table* table : entries.tables("experiment"))
    read_experiment({*table, name}, plan);
  entries.refuse_unknown();
  if (plan.levels.empty() || plan.seeds.empty() || plan.models.empty())
    throw Error(
        fmt::format("{}: a plan needs levels, seeds and at least one [[experiment]]", name));
  for (const std::int64_t seed : plan.seeds)
    if (seed < 0) throw Error(fmt::format("{}: seed {} is negative", name, seed));
  return plan;
}

Plan read_plan(const std::filesystem::path& file) {
  Plan plan = read_plan_text(read_file(file), file.string());
  plan.folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  return plan;
}

Plan full_plan() { return carried("presets/reproduce.toml"); }
Plan quick_plan() { return carried("presets/reproduce-quick.toml"); }

void keep_datasets(Plan& plan, const std::vector<std::string>& names) {
  for (const std::string& name : names) plan.dataset(name);
  const auto unwanted = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) == names.end();
  };
  std::erase_if(plan.datasets, [&](const PlannedData& data) { return unwanted(data.name); });
  std::erase_if(plan.models, [&](const PlannedModel& model) { return unwanted(model.dataset); });
}

Config config_of(const Plan& plan, const PlannedModel& model) {
  Config config;
  if (const auto file = plan.folder / model.preset;
      !plan.folder.empty() && std::filesystem::is_regular_file(file))
    read_toml(file, config);
  else if (const auto text = embedded("presets/" + model.preset))
    read_toml_text(*text, model.preset, config);
  else
    throw Error(fmt::format("preset {} does not exist; put it beside the plan", model.preset));
  for (const std::string& assignment : model.set) assign(config, assignment);
  validate(config);
  return config;
}

}  // namespace edict::study
