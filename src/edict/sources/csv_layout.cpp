#include "edict/sources/csv_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "edict/sources/csv.h"

namespace edict {
namespace {

constexpr std::string_view kStatic = "static:";

std::string listing(const std::vector<std::string>& names) {
  const std::size_t shown = std::min<std::size_t>(names.size(), 8);
  return fmt::format("'{}'{}",
                     fmt::join(names.begin(), names.begin() + static_cast<long>(shown), "', '"),
                     shown < names.size() ? ", …" : "");
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Long form is exactly `feature` and `value` beside the columns every file may have.
bool is_long_form(const std::vector<std::string>& names) {
  return contains(names, "feature") && contains(names, "value") &&
         std::none_of(names.begin(), names.end(), [](const std::string& name) {
           return name != "feature" && name != "value" && valid_feature_name(name);
         });
}

}  // namespace

bool valid_feature_name(std::string_view name) {
  return !name.empty() && name.find(':') == std::string_view::npos && name != "id" &&
         name != "time" && name != "label" && name != "group";
}

const std::string& CsvLayout::name_of(CsvColumn kind) const {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [kind](const Column& column) { return column.kind == kind; });
  return names[static_cast<std::size_t>(found - columns.begin())];
}

CsvLayout read_csv_header(const CsvText& text, const char*& p, const CsvLimits& limits) {
  while (*p == '\n' || *p == '\r') ++p;
  if (p == text.end())
    text.fail(p, "the file is empty; it needs a header line 'id,time,<feature>,…' and rows");

  const char* header = p;
  CsvLayout layout;
  std::string scratch;
  std::unordered_set<std::string> seen;
  for (;; ++p) {
    const CsvCell cell = text.read_cell(p, scratch);
    std::string name(cell.text.substr(0, limits.text));
    if (layout.names.size() == limits.columns)
      text.fail(header, fmt::format("more than {} columns; use the long form", limits.columns));
    if (cell.text.size() > limits.text)
      text.fail(cell.at, fmt::format("column {}: its name is longer than {} bytes; shorten it",
                                     layout.names.size() + 1, limits.text));
    if (name.empty())
      text.fail(cell.at, fmt::format("column {}: it has no name; name it or remove it",
                                     layout.names.size() + 1));
    text.check_utf8(cell);
    if (name.find('\r') != std::string::npos)
      text.fail(cell.at,
                "a carriage return without line feed; save with Unix or Windows line ends");
    if (!seen.insert(name).second)
      text.fail(cell.at, name, "the name appears twice; rename or remove one of them");
    layout.names.push_back(std::move(name));
    if (*p != ',') break;
  }
  p = CsvText::next_line(p);

  for (const char* needed : {"id", "time"})
    if (!contains(layout.names, needed))
      text.fail(header, fmt::format("column '{}': it is missing; add it to the header (found {})",
                                    needed, listing(layout.names)));
  layout.long_form = is_long_form(layout.names);
  for (const std::string& name : layout.names) {
    const auto add = [&](CsvColumn kind, std::size_t index = 0) {
      layout.columns.push_back({kind, static_cast<std::int32_t>(index), 0});
    };
    if (name == "id") {
      add(CsvColumn::id);
    } else if (name == "time") {
      add(CsvColumn::time);
    } else if (name == "label") {
      add(CsvColumn::label);
    } else if (name == "group") {
      add(CsvColumn::group);
    } else if (name.starts_with(kStatic)) {
      if (name.size() == kStatic.size())
        text.fail(header, name, "the covariate has no name; write static:<name>");
      add(CsvColumn::static_covariate, layout.statics.size());
      layout.statics.push_back(name.substr(kStatic.size()));
    } else if (name.find(':') != std::string::npos) {
      text.fail(header, name,
                "unknown kind before the colon; write static:<name> or a name without colon");
    } else if (layout.long_form) {
      add(name == "value" ? CsvColumn::value : CsvColumn::feature_name);
    } else {
      add(CsvColumn::feature, layout.features.size());
      layout.features.push_back(name);
    }
  }
  if (!layout.long_form && layout.features.empty())
    text.fail(header, fmt::format("no feature columns; add at least one (found {})",
                                  listing(layout.names)));
  std::uint32_t run = 0;
  for (auto column = layout.columns.rbegin(); column != layout.columns.rend(); ++column)
    column->run = run = column->kind == CsvColumn::feature ? run + 1 : 0;
  return layout;
}

}  // namespace edict
