#include "data/read/columns/recognise_columns.h"

#include <utility>

#include "base/error.h"
#include "data/read/columns/choose_series.h"
#include "data/read/columns/choose_time.h"
#include "data/read/columns/choose_values.h"
#include "data/read/csv/csv_names.h"

namespace edict {
namespace {

// What options name first, so that guessing does not take it.
void reserve_named(ColumnChoice& choice) {
  const ReadOptions& options = choice.options;
  for (const auto& [name, by] :
       {std::pair(&options.label, "label"), std::pair(&options.group, "group"),
        std::pair(&options.variable, "variable"), std::pair(&options.value, "value")})
    if (!name->empty() && *name != kNoColumn) choice.reserve(choice.demand(*name, by));
  for (const auto& [names, by] :
       {std::pair(&options.statics, "static"), std::pair(&options.features, "features"),
        std::pair(&options.ignored, "ignore")})
    for (const std::size_t column : choice.demand_all(*names, by)) choice.reserve(column);
}

// Id, time and, of the long form, variable and value; returns the place of the time.
std::size_t choose_columns_of_rows(ColumnChoice& choice) {
  std::optional<std::size_t> time = choose_named_time(choice);
  if (time) choice.reserve(*time);
  leave_out_row_index(choice);
  const std::optional<std::size_t> id = choose_named_id(choice);
  if (id && time && *id == *time) choice.fail(*id, "is to be both id and time; name them apart");
  if (id) choice.take(*id, ColumnKind::id);
  choose_long_form(choice);
  if (!time) time = choose_time_by_dates(choice);
  refuse_divided_date(choice, time);
  if (!id && !choice.layout.one_series) choose_id_by_place(choice, time);
  if (!time) time = choose_time_by_numbers(choice);
  choose_clock(choice, *time);
  choice.take(*time, ColumnKind::time);
  return *time;
}

// COLUMN=-999; a text with a "=" in it is a text. Rows of the long form name the features.
void check_columns_of_missing(const ColumnChoice& choice) {
  if (choice.layout.long_form) return;
  for (const std::string& code : choice.options.missing)
    if (const std::size_t equals = code.rfind('='); equals != std::string::npos && equals > 0)
      if (finite_number(std::string_view(code).substr(equals + 1)))
        choice.demand(code.substr(0, equals), "missing");
}

// Columns whose values are names. In long form they are features, which the rows name.
void note_categories(ColumnChoice& choice) {
  ColumnLayout& layout = choice.layout;
  if (layout.long_form) {
    layout.categories = choice.options.categories;
    return;
  }
  std::vector<std::string> names = choice.options.categories;
  for (std::string& name : names)  // static:ward may be called ward
    if (const std::string full = std::string(kStaticPrefix) + name;
        !choice.find_in_any_case(name) && choice.find_in_any_case(full))
      name = full;
  for (const std::size_t column : choice.demand_all(names, "category")) {
    layout.categories.push_back(choice.name(column));
    layout.named.push_back(choice.name(column));
  }
}

}  // namespace

void recognise_columns(const TableSample& sample, const ReadOptions& options,
                       ColumnLayout& layout) {
  ColumnChoice choice(sample, options, layout);
  refuse_days_as_columns(choice);
  reserve_named(choice);
  const std::size_t time = choose_columns_of_rows(choice);
  choose_label_and_group(choice);
  choose_statics(choice);
  choose_observed(choice);
  choose_time_form(choice, time);
  check_columns_of_missing(choice);
  note_categories(choice);
  layout.count_runs();
}

}  // namespace edict
