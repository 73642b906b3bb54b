#include "data/read/columns/choose_values.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/error.h"

namespace edict {
namespace {

void refuse_two_purposes(const ColumnChoice& choice, std::size_t column) {
  if (choice.layout.columns[column].kind != ColumnKind::ignored)
    choice.fail(column, "is named for two purposes; name them apart");
}

void choose_one(ColumnChoice& choice, const std::string& given, const std::string& from_model,
                std::string_view usual, ColumnKind kind) {
  std::optional<std::size_t> column;
  if (given == kNoColumn) {
    // It may still be called so; then it is not to be a feature either.
    if (const auto named = choice.find_free(usual)) choice.take(*named, ColumnKind::ignored);
    return;
  }
  if (!given.empty())
    column = choice.demand(given, usual);
  else if (!from_model.empty() && choice.find(from_model))
    column = choice.find(from_model);
  else
    for (std::size_t c = 0; c < choice.size() && !column; ++c)
      if (choice.free(c) && lower(choice.name(c)) == usual) column = c;
  if (!column) return;
  refuse_two_purposes(choice, *column);
  choice.take(*column, kind);
}

// By an option, or because it counts the rows.
bool is_said_to_be_nothing(const ColumnChoice& choice, std::size_t column,
                           const std::vector<bool>& ignored) {
  return ignored[column] || contains(choice.layout.row_index, choice.name(column));
}

std::vector<bool> marked(const ColumnChoice& choice, const std::vector<std::string>& names,
                         std::string_view by) {
  std::vector<bool> result(choice.size(), false);
  for (const std::size_t column : choice.demand_all(names, by)) result[column] = true;
  return result;
}

void take_long_form(ColumnChoice& choice, std::size_t variable, std::size_t value) {
  choice.take(variable, ColumnKind::feature_name);
  choice.take(value, ColumnKind::value);
  choice.layout.long_form = true;
}

// Exactly two columns are left, and they are called as in long form.
bool choose_exact_long_form(ColumnChoice& choice, const std::vector<bool>& wanted) {
  std::vector<std::size_t> left;
  for (std::size_t c = 0; c < choice.size(); ++c)
    if ((choice.free(c) || (wanted[c] && choice.layout.columns[c].kind == ColumnKind::ignored)) &&
        !choice.name(c).empty())
      left.push_back(c);
  if (left.size() != 2 || choice.options.variable == kNoColumn) return false;
  if (is_long_form(choice.name(left[1]), choice.name(left[0]))) std::swap(left[0], left[1]);
  if (!is_long_form(choice.name(left[0]), choice.name(left[1]))) return false;
  take_long_form(choice, left[0], left[1]);
  return true;
}

void ignore_the_rest(ColumnChoice& choice, const std::vector<bool>& ignored) {
  if (const auto unit = choice.find_usual(ColumnRole::unit);
      unit && (!all_numbers(choice.sample[*unit]) || names_items(choice.name(*unit))))
    choice.take(*unit, ColumnKind::unit);
  for (std::size_t c = 0; c < choice.size(); ++c)
    if (choice.layout.columns[c].kind == ColumnKind::ignored &&
        !is_said_to_be_nothing(choice, c, ignored))
      choice.layout.ignored.push_back(choice.name(c));
}

void choose_features(ColumnChoice& choice, std::vector<bool> wanted,
                     const std::vector<bool>& ignored) {
  ColumnLayout& layout = choice.layout;
  bool restricted = !choice.options.features.empty();
  for (std::size_t c = 0; c < choice.size(); ++c)
    if (wanted[c]) {
      refuse_two_purposes(choice, c);
      layout.named.push_back(choice.name(c));
    }
  if (const Reading* known = choice.known(); known && !restricted)
    for (const std::string& name : known->features)
      if (const auto column = choice.find_free(name)) restricted = wanted[*column] = true;
  for (std::size_t c = 0; c < choice.size(); ++c) {
    if (layout.columns[c].kind != ColumnKind::ignored) continue;
    const bool feature = restricted ? wanted[c] : choice.free(c) && !choice.name(c).empty();
    if (!feature) {
      if (!is_said_to_be_nothing(choice, c, ignored)) layout.ignored.push_back(choice.name(c));
      continue;
    }
    choice.take(c, ColumnKind::feature, layout.features.size());
    layout.features.push_back(choice.name(c));
  }
  if (layout.features.empty())
    ColumnChoice::fail(
        fmt::format("no feature columns; add at least one (found {})", quoted_list(layout.names)));
}

}  // namespace

bool is_long_form(std::string_view variable, std::string_view value) {
  return has_usual_name(variable, ColumnRole::variable) && has_usual_name(value, ColumnRole::value);
}

void choose_long_form(ColumnChoice& choice) {
  const ReadOptions& options = choice.options;
  if (options.variable == kNoColumn) return;
  const auto choose = [&](const std::string& given, const std::string& from_model, const char* by,
                          ColumnRole role) {
    if (!given.empty()) return std::optional(choice.demand(given, by));
    if (!from_model.empty())
      if (const auto found = choice.find_free(from_model)) return found;
    return choice.find_usual(role);
  };
  const Reading* known = choice.known();
  const auto variable = choose(options.variable, known ? known->variable : std::string(),
                               "variable", ColumnRole::variable);
  const auto value =
      choose(options.value, known ? known->value : std::string(), "value", ColumnRole::value);
  const bool said = !options.variable.empty() || !options.value.empty();
  if (said && (!variable || !value || *variable == *value))
    ColumnChoice::fail(fmt::format("long form: give both {} and {} (found {})", option("variable"),
                                   option("value"), quoted_list(choice.layout.names)));
  if (!variable || !value || *variable == *value) return;
  const auto cells = choice.sample[*variable];
  if (!said && (all_numbers(cells) || cells.empty()) && !names_items(choice.name(*variable)))
    return;
  // Home Assistant's; elsewhere a state is one of several columns.
  if (!said && squeezed(choice.name(*value)) == "state" &&
      squeezed(choice.name(*variable)) != "entityid")
    return;
  take_long_form(choice, *variable, *value);
}

void choose_label_and_group(ColumnChoice& choice) {
  const Reading* known = choice.known();
  choose_one(choice, choice.options.label, known ? known->label : std::string(), "label",
             ColumnKind::label);
  choose_one(choice, choice.options.group, known ? known->group : std::string(), "group",
             ColumnKind::group);
}

void choose_statics(ColumnChoice& choice) {
  ColumnLayout& layout = choice.layout;
  const auto bare = [](const std::string& name) {
    return name.starts_with(kStaticPrefix) ? name.substr(kStaticPrefix.size()) : name;
  };
  std::vector<bool> wanted = marked(choice, choice.options.statics, "static");
  for (std::size_t c = 0; c < choice.size(); ++c)
    if (wanted[c]) layout.named.push_back(choice.name(c));
  if (const Reading* known = choice.known(); known && choice.options.statics.empty())
    for (const std::string& name : known->statics)
      if (const auto column = choice.find_free(name)) wanted[*column] = true;
  for (std::size_t c = 0; c < choice.size(); ++c) {
    const std::string& name = choice.name(c);
    if (name == kStaticPrefix) choice.fail(c, "the covariate has no name; write static:<name>");
    if (!wanted[c] && !(choice.free(c) && name.starts_with(kStaticPrefix))) continue;
    refuse_two_purposes(choice, c);
    if (contains(layout.statics, bare(name)))
      choice.fail(c, "the covariate is there twice; rename one");
    choice.take(c, ColumnKind::static_covariate, layout.statics.size());
    layout.statics.push_back(bare(name));
  }
}

void choose_observed(ColumnChoice& choice) {
  const std::vector<bool> wanted = marked(choice, choice.options.features, "features");
  const std::vector<bool> ignored = marked(choice, choice.options.ignored, "ignore");
  if (choice.layout.long_form || choose_exact_long_form(choice, wanted))
    ignore_the_rest(choice, ignored);
  else
    choose_features(choice, wanted, ignored);
}

}  // namespace edict
