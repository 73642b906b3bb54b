#include "settings/settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "base/text/utf8.h"
#include "front/cli/command.h"
#include "model/registry.h"
#include "settings/declarations.h"

namespace edict::cli {
namespace {

struct Table {
  std::string_view name, about;
};
constexpr Table kTables[] = {
    {"data", "how the data are divided, measured and cut"},
    {"model", "the network and its solver"},
    {"loss", "what is minimised"},
    {"train", "how it is minimised"},
    {"classify", "the classifier of `edict classify`"},
    {"readout", "its networks that read summaries of the series"},
};

std::string table_of(const settings::Key& key) { return key.name.substr(0, key.name.find('.')); }

// The kinds of model that alone know a setting; empty for a setting of all.
std::vector<std::string> only_of(const settings::Key& key) {
  std::vector<std::string> kinds;
  for (const ModelKind& kind : model_kinds())
    for (const settings::Own& own : kind.settings)
      if (own.name == key.name) kinds.emplace_back(kind.name);
  return kinds;
}

nlohmann::json to_json(const settings::Key& key) {
  nlohmann::json json = settings::declaration(key);
  if (const auto kinds = only_of(key); !kinds.empty()) json["only_of"] = kinds;
  return json;
}

void print(const settings::Key& key) {
  constexpr std::size_t kWidth = 80;
  const std::string indent(6, ' ');
  fmt::print("  {} = {}\n", key.name, settings::value_text(key));
  const auto kinds = only_of(key);
  const std::string only =
      kinds.empty() ? "" : fmt::format(" (only {})", fmt::join(kinds, " and "));
  for (const std::string& paragraph : {key.help + only, "allowed: " + key.allowed()})
    for (const std::string& line : wrapped(paragraph, kWidth - indent.size()))
      fmt::print("{}{}\n", indent, line);
}

// The keys of one name or of one table; all of them where none is named.
settings::Keys wanted(const settings::Keys& all, const std::string& name) {
  if (name.empty()) return all;
  settings::Keys some;
  for (const settings::Key& key : all)
    if (key.name == name || table_of(key) == name) some.push_back(key);
  if (some.empty()) some.push_back(settings::find(all, name, "settings"));  // tells the nearest
  return some;
}

void run(const std::string& name, bool as_json) {
  Config defaults;
  const settings::Keys some = wanted(keys(defaults), name);
  if (as_json) {
    nlohmann::json json = nlohmann::json::array();
    for (const settings::Key& key : some) json.push_back(to_json(key));
    fmt::print("{}\n", json_text(json, 2));
    return;
  }
  for (const Table& table : kTables) {
    bool opened = false;
    for (const settings::Key& key : some) {
      if (table_of(key) != table.name) continue;
      if (!opened) fmt::print("[{}] {}\n\n", table.name, table.about);
      opened = true;
      print(key);
    }
    if (opened) fmt::print("\n");
  }
  fmt::print(
      "Each with its default, which holds for what a --config file leaves out. Without\n"
      "--config `edict train` chooses for the data; `edict init DATA.csv` shows what.\n");
}

}  // namespace

void add_settings(CLI::App& app) {
  struct Options {
    std::string key;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "settings", "Explain every setting: its meaning, its default and what it may be");
  command->add_option("key", options->key, "one setting, as train.epochs, or one table, as train")
      ->type_name("KEY");
  command->add_flag("--json", options->json, "as JSON, for programs");
  command->callback([options] { run(options->key, options->json); });
}

}  // namespace edict::cli
