#include "edict/sources/csv_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <unordered_set>

#include "edict/core/error.h"
#include "edict/core/utf8.h"
#include "edict/sources/csv_names.h"
#include "edict/sources/read_options.h"

namespace edict {
namespace {

constexpr std::string_view kStatic = "static:";
constexpr std::string_view kNobody = "none";

// In lower case; accents and the like are left alone.
constexpr std::string_view kIdNames[] = {
    "id",      "patient",    "patient_id", "patientid", "pid",        "patnr",   "patientennummer",
    "subject", "subject_id", "subjectid",  "stay_id",   "icustay_id", "hadm_id", "case_id",
    "fall",    "fallnr",     "fallnummer", "series",    "series_id",  "record",  "recordid",
    "unit_id", "device",     "device_id",  "sensor_id", "machine_id"};
constexpr std::string_view kTimeNames[] = {
    "time",       "t",         "zeit",      "zeitpunkt",   "zeitstempel", "datetime",
    "date_time",  "timestamp", "charttime", "chart_time",  "ts",          "date",
    "datum",      "hour",      "hours",     "stunde",      "stunden",     "day",
    "days",       "tag",       "tage",      "minute",      "minutes",     "minuten",
    "second",     "seconds",   "sekunden",  "observed_at", "measured_at", "recorded_at",
    "event_time", "eventtime", "time_s",    "time_h",      "time_min"};
constexpr std::string_view kFeatureNames[] = {"feature", "variable", "parameter", "item",
                                              "itemid",  "analyte",  "analyt",    "measurement",
                                              "signal",  "channel"};
constexpr std::string_view kValueNames[] = {"value",    "wert",   "val",
                                            "valuenum", "result", "ergebnis"};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The separator that the header has most of, outside of quotes. A first line `sep=;`, which
// spreadsheets understand, decides.
char find_separator(const char*& p) {
  constexpr std::array<char, 4> candidates{',', ';', '\t', '|'};
  if (p[0] == 's' && p[1] == 'e' && p[2] == 'p' && p[3] == '=' &&
      std::find(candidates.begin(), candidates.end(), p[4]) != candidates.end() &&
      (p[5] == '\n' || p[5] == '\r')) {
    const char separator = p[4];
    p = CsvText::next_line(p + 5);
    return separator;
  }
  std::array<std::size_t, 4> counts{};
  bool quoted = false;
  for (const char* q = p; *q != '\0' && (quoted || *q != '\n'); ++q) {
    if (*q == '"') quoted = !quoted;
    if (quoted) continue;
    const auto found = std::find(candidates.begin(), candidates.end(), *q);
    if (found != candidates.end()) ++counts[static_cast<std::size_t>(found - candidates.begin())];
  }
  return candidates[static_cast<std::size_t>(std::max_element(counts.begin(), counts.end()) -
                                             counts.begin())];
}

std::vector<std::string> read_names(const CsvText& text, const char*& p, const CsvLimits& limits) {
  const char* header = p;
  std::vector<std::string> names;
  std::string scratch;
  std::unordered_set<std::string> seen;
  for (;; ++p) {
    const CsvCell cell = text.read_cell(p, scratch);
    std::string name(cell.text.substr(0, limits.text));
    if (names.size() == limits.columns)
      text.fail(header, fmt::format("more than {} columns; use the long form", limits.columns));
    if (cell.text.size() > limits.text)
      text.fail(cell.at, fmt::format("column {}: its name is longer than {} bytes; shorten it",
                                     names.size() + 1, limits.text));
    if (!valid_utf8(cell.text)) throw CsvNotUtf8{};
    const std::string_view source(cell.at, static_cast<std::size_t>(p - cell.at));
    const bool quoted = source.substr(std::min(source.find_first_not_of(" \t"), source.size()))
                            .starts_with('"');  // where anything may be part of a name
    if (!quoted && name.find('\r') != std::string::npos)
      text.fail(cell.at,
                "a carriage return without line feed; save with Unix or Windows line ends");
    if (!name.empty() && !seen.insert(name).second)
      text.fail(cell.at, name, "the name appears twice; rename or remove one of them");
    names.push_back(std::move(name));
    if (*p != text.separator()) break;
  }
  p = CsvText::next_line(p);
  return names;
}

// The first rows, by columns; without cells that are missing.
class Sample {
 public:
  Sample(const CsvText& text, const char* rows, std::size_t columns) : text_(text), rows_(rows) {
    cells_.resize(columns);
    constexpr std::size_t kRows = 200, kCells = 40000;
    const std::size_t most = std::min(kRows, std::max<std::size_t>(5, kCells / columns));
    const char* p = rows;
    for (std::size_t row = 0; row < most && p != text.end(); ++row)
      if (!read_row(p, [&](std::size_t c, std::string_view cell) {
            if (!spells_unknown(cell)) cells_[c].emplace_back(cell);
          }))
        break;
  }

  std::span<const std::string> operator[](std::size_t column) const { return cells_[column]; }

  // The first cell of the column that is not missing, be it far below.
  std::string first(std::size_t column) const {
    if (!cells_[column].empty()) return cells_[column].front();
    std::string found;
    for (const char* p = rows_; p != text_.end() && found.empty();)
      if (!read_row(p, [&](std::size_t c, std::string_view cell) {
            if (c == column && !spells_unknown(cell)) found = cell;
          }))
        break;
    return found;
  }

 private:
  // False where a quote ends everything; the reader will tell of it.
  template <class Visit>
  bool read_row(const char*& p, Visit visit) const try {
    std::string scratch;
    for (std::size_t c = 0;; ++c, ++p) {
      const CsvCell cell = text_.read_cell(p, scratch);
      if (c < cells_.size()) visit(c, cell.text);
      if (*p != text_.separator()) break;
    }
    if (*p == '\0' && p != text_.end()) return false;
    p = CsvText::next_line(p);
    return true;
  } catch (const CsvQuoteError&) {
    return false;
  }

  const CsvText& text_;
  const char* rows_;
  std::vector<std::vector<std::string>> cells_;
};

std::string with_point(std::string text) {
  if (text.find('.') == std::string::npos) {
    const std::size_t comma = text.find(',');
    if (comma != std::string::npos && text.find(',', comma + 1) == std::string::npos)
      text[comma] = '.';
  }
  return text;
}

bool all_dates(std::span<const std::string> cells) {
  return !cells.empty() && std::all_of(cells.begin(), cells.end(), [](const std::string& cell) {
    return parse_date(cell).has_value();
  });
}

bool all_numbers(std::span<const std::string> cells) {
  return !cells.empty() && std::all_of(cells.begin(), cells.end(), [](const std::string& cell) {
    return finite_number(with_point(cell)).has_value();
  });
}

// Seconds or milliseconds since 1970 between 1980 and 2100, which nobody counts otherwise.
std::optional<TimeKind> unix_time(std::span<const std::string> cells) {
  const auto within = [&](double unit) {
    return !cells.empty() && std::all_of(cells.begin(), cells.end(), [&](const std::string& cell) {
      const auto number = finite_number(with_point(cell));
      return number && *number >= 3.15e8 * unit && *number < 4.1e9 * unit;
    });
  };
  if (within(1)) return TimeKind::unix_seconds;
  if (within(1000)) return TimeKind::unix_milliseconds;
  return std::nullopt;
}

class Chooser {
 public:
  Chooser(const CsvText& text, const char* header, const Sample& sample, const ReadOptions& options,
          CsvLayout& layout)
      : text_(text), header_(header), sample_(sample), options_(options), layout_(layout) {
    layout.columns.assign(layout.names.size(), {CsvColumn::ignored, 0, 0});
  }

  void choose() {
    const std::size_t time = choose_id_and_time();
    choose_named(options_.label, known([](const Reading& r) { return r.label; }), "label",
                 CsvColumn::label);
    choose_named(options_.group, known([](const Reading& r) { return r.group; }), "group",
                 CsvColumn::group);
    choose_statics();
    if (!choose_long_form()) choose_features();
    layout_.time_kind = time_kind(time);
    layout_.count_runs();
  }

 private:
  template <class Member>
  std::string known(Member member) const {
    return options_.like ? std::string(member(options_.like->reading)) : std::string();
  }
  bool free(std::size_t column) const {
    return layout_.columns[column].kind == CsvColumn::ignored && !taken_[column];
  }
  void take(std::size_t column, CsvColumn kind, std::size_t index = 0) {
    layout_.columns[column] = {kind, static_cast<std::int32_t>(index), 0};
    taken_[column] = true;
  }
  std::optional<std::size_t> find(std::string_view name) const {
    const auto exact = std::find(layout_.names.begin(), layout_.names.end(), name);
    if (exact != layout_.names.end())
      return static_cast<std::size_t>(exact - layout_.names.begin());
    std::optional<std::size_t> alike;  // in another case, where no other name could be meant
    for (std::size_t c = 0; c < layout_.names.size(); ++c)
      if (lower(layout_.names[c]) == lower(name)) {
        if (alike) return std::nullopt;
        alike = c;
      }
    return alike;
  }
  // Somebody named it, so it must be there; lower and upper case may differ.
  std::size_t demand(std::string_view name, std::string_view option) const {
    if (const auto column = find(name)) return *column;
    const std::string wanted = lower(name);
    for (std::size_t c = 0; c < layout_.names.size(); ++c)
      if (lower(layout_.names[c]) == wanted) return c;
    text_.fail(header_, fmt::format("--{}: there is no column '{}'; it has {}", option, name,
                                    quoted_list(layout_.names)));
  }
  template <class Names>
  std::optional<std::size_t> find_usual(const Names& names) const {
    for (const std::string_view name : names)
      for (std::size_t c = 0; c < layout_.names.size(); ++c)
        if (free(c) && lower(layout_.names[c]) == name) return c;
    return std::nullopt;
  }

  std::size_t choose_id_and_time() {
    taken_.assign(layout_.names.size(), false);
    std::optional<std::size_t> id, time;
    // What was named first, so that guessing does not take it.
    for (const auto& [name, option] :
         {std::pair(&options_.label, "label"), std::pair(&options_.group, "group")})
      if (!name->empty() && *name != kNobody) taken_[demand(*name, option)] = true;
    for (const std::string& name : options_.statics) taken_[demand(name, "static")] = true;
    for (const std::string& name : options_.features) taken_[demand(name, "features")] = true;

    const std::string known_id = known([](const Reading& r) { return r.id; });
    const std::string known_time = known([](const Reading& r) { return r.time; });
    if (!options_.time.empty())
      time = demand(options_.time, "time");
    else if (!known_time.empty() && find(known_time))
      time = find(known_time);
    else if (find("time"))
      time = find("time");
    else
      time = find_usual(kTimeNames);
    if (time) taken_[*time] = true;

    if (options_.id == kNobody) {
      layout_.one_series = true;
    } else if (!options_.id.empty()) {
      id = demand(options_.id, "id");
    } else if (!known_id.empty() && find(known_id)) {
      id = find(known_id);
    } else if (find("id")) {
      id = find("id");
    } else {
      id = find_usual(kIdNames);
      if (!id && known_id == kNobody) layout_.one_series = true;
      if (!id && !layout_.one_series) {
        // The first column, unless that holds the times.
        std::size_t first = 0;
        while (first < layout_.names.size() && layout_.names[first].empty()) ++first;
        if (first == layout_.names.size() || !free(first) || all_dates(sample_[first]))
          text_.fail(header_, fmt::format("column 'id': it is missing; name it with --id, or give "
                                          "--id none where the table is one series (found {})",
                                          quoted_list(layout_.names)));
        id = first;
      }
    }
    if (id && time && *id == *time)
      text_.fail(header_, layout_.names[*id], "is to be both id and time; name them apart");
    if (id) take(*id, CsvColumn::id);
    if (!time) time = time_by_content();
    if (!time)
      text_.fail(header_,
                 fmt::format("column 'time': it is missing; name it with --time, or add it to the "
                             "header (found {})",
                             quoted_list(layout_.names)));
    take(*time, CsvColumn::time);
    return *time;
  }

  std::optional<std::size_t> time_by_content() const {
    for (std::size_t c = 0; c < layout_.names.size(); ++c)
      if (free(c) && !layout_.names[c].empty() && all_dates(sample_[c])) return c;
    for (std::size_t c = 0; c < layout_.names.size(); ++c)
      if (free(c) && !layout_.names[c].empty() && !layout_.names[c].starts_with(kStatic) &&
          all_numbers(sample_[c]))
        return c;
    return std::nullopt;
  }

  void choose_named(const std::string& given, const std::string& from_model, std::string_view usual,
                    CsvColumn kind) {
    std::optional<std::size_t> column;
    if (given == kNobody) {
      // It may still be called so; then it is not to be a feature either.
      if (const auto named = find(usual); named && free(*named)) take(*named, CsvColumn::ignored);
      return;
    }
    if (!given.empty())
      column = demand(given, usual);
    else if (!from_model.empty() && find(from_model))
      column = find(from_model);
    else
      column = find_usual(std::array{usual});
    if (!column) return;
    if (layout_.columns[*column].kind != CsvColumn::ignored)
      text_.fail(header_, layout_.names[*column], "is named for two purposes; name them apart");
    take(*column, kind);
  }

  void choose_statics() {
    const auto add = [&](std::size_t column, std::string name) {
      if (layout_.columns[column].kind != CsvColumn::ignored)
        text_.fail(header_, layout_.names[column], "is named for two purposes; name them apart");
      if (contains(layout_.statics, name))
        text_.fail(header_, layout_.names[column], "the covariate is there twice; rename one");
      take(column, CsvColumn::static_covariate, layout_.statics.size());
      layout_.statics.push_back(std::move(name));
    };
    const auto bare = [](const std::string& name) {
      return name.starts_with(kStatic) ? name.substr(kStatic.size()) : name;
    };
    std::vector<bool> wanted(layout_.names.size(), false);
    for (const std::string& name : options_.statics) wanted[demand(name, "static")] = true;
    if (options_.statics.empty() && options_.like)
      for (const std::string& name : options_.like->reading.statics)
        if (const auto column = find(name); column && free(*column)) wanted[*column] = true;
    for (std::size_t c = 0; c < layout_.names.size(); ++c) {
      const std::string& name = layout_.names[c];
      if (name == kStatic)
        text_.fail(header_, name, "the covariate has no name; write static:<name>");
      if (wanted[c] || (free(c) && name.starts_with(kStatic))) add(c, bare(name));
    }
  }

  // Exactly two columns are left, and they are called as in long form.
  bool choose_long_form() {
    std::vector<std::size_t> left;
    for (std::size_t c = 0; c < layout_.names.size(); ++c)
      if ((free(c) || is_named_feature(c)) && !layout_.names[c].empty()) left.push_back(c);
    if (left.size() != 2) return false;
    if (is_long_form(layout_.names[left[1]], layout_.names[left[0]])) std::swap(left[0], left[1]);
    if (!is_long_form(layout_.names[left[0]], layout_.names[left[1]])) return false;
    take(left[0], CsvColumn::feature_name);
    take(left[1], CsvColumn::value);
    layout_.long_form = true;
    return true;
  }

  bool is_named_feature(std::size_t column) const {
    return layout_.columns[column].kind == CsvColumn::ignored &&
           contains(options_.features, layout_.names[column]);
  }

  void choose_features() {
    std::vector<bool> wanted(layout_.names.size(), false);
    bool restricted = !options_.features.empty();
    for (const std::string& name : options_.features) {
      const std::size_t column = demand(name, "features");
      if (layout_.columns[column].kind != CsvColumn::ignored)
        text_.fail(header_, layout_.names[column], "is named for two purposes; name them apart");
      wanted[column] = true;
    }
    if (!restricted && options_.like)
      for (const std::string& name : options_.like->reading.features)
        if (const auto column = find(name); column && free(*column))
          restricted = wanted[*column] = true;
    for (std::size_t c = 0; c < layout_.names.size(); ++c) {
      if (layout_.columns[c].kind != CsvColumn::ignored) continue;
      const bool feature = restricted ? wanted[c] : free(c) && !layout_.names[c].empty();
      if (!feature) {
        layout_.ignored.push_back(layout_.names[c]);
        continue;
      }
      take(c, CsvColumn::feature, layout_.features.size());
      layout_.features.push_back(layout_.names[c]);
    }
    if (layout_.features.empty())
      text_.fail(header_, fmt::format("no feature columns; add at least one (found {})",
                                      quoted_list(layout_.names)));
  }

  TimeKind time_kind(std::size_t column) const {
    const std::string first = sample_.first(column);
    if (parse_date(first)) return TimeKind::date;
    const bool calendar_known = options_.like && options_.like->time_axis.is_calendar();
    if (first.empty() && calendar_known) return options_.like->time_axis.kind;
    if (options_.time_unit == kNobody || (options_.like && !calendar_known))
      return TimeKind::number;
    const auto cells = sample_[column];
    return unix_time(cells.empty() ? std::span(&first, 1) : cells).value_or(TimeKind::number);
  }

  const CsvText& text_;
  const char* header_;
  const Sample& sample_;
  const ReadOptions& options_;
  CsvLayout& layout_;
  std::vector<bool> taken_;
};

// Whether numbers have a comma or a point in the first rows.
void look_at_decimals(const Sample& sample, CsvLayout& layout) {
  for (std::size_t c = 0; c < layout.columns.size(); ++c) {
    const CsvColumn kind = layout.columns[c].kind;
    if (kind != CsvColumn::feature && kind != CsvColumn::value &&
        kind != CsvColumn::static_covariate && kind != CsvColumn::time)
      continue;
    for (const std::string& cell : sample[c]) {
      const bool comma = cell.find(',') != std::string::npos;
      if (finite_number(with_point(cell))) layout.decimal_comma |= comma;
      if (!comma && cell.find('.') != std::string::npos && finite_number(cell))
        layout.decimal_point = true;
    }
  }
}

}  // namespace

std::string quoted_list(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 12;
  const auto shown = static_cast<std::ptrdiff_t>(std::min(names.size(), kShown));
  return fmt::format(
      "'{}'{}", fmt::join(names.begin(), names.begin() + shown, "', '"),
      names.size() > kShown ? fmt::format(" and {} more", names.size() - kShown) : "");
}

bool is_long_form(std::string_view feature, std::string_view value) {
  const auto is_any = [](std::string_view name, const auto& names) {
    return std::find(std::begin(names), std::end(names), lower(name)) != std::end(names);
  };
  return is_any(feature, kFeatureNames) && is_any(value, kValueNames);
}

bool valid_feature_name(std::string_view name) {
  return !name.empty() && !name.starts_with(kStatic) && name != "id" && name != "time" &&
         lower(name) != "label" && lower(name) != "group";
}

void CsvLayout::count_runs() {
  std::uint32_t run = 0;
  for (std::size_t c = columns.size(); c-- > 0;)
    columns[c].run = run = columns[c].kind == CsvColumn::feature ? run + 1 : 0;
}

std::string CsvLayout::name_of(CsvColumn kind) const {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [kind](const Column& column) { return column.kind == kind; });
  return found == columns.end() ? std::string()
                                : names[static_cast<std::size_t>(found - columns.begin())];
}

std::string CsvLayout::static_column(std::size_t index) const {
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (columns[c].kind == CsvColumn::static_covariate &&
        static_cast<std::size_t>(columns[c].index) == index)
      return names[c];
  return {};
}

CsvLayout read_csv_layout(CsvText& text, const ReadOptions& options) {
  const char* p = text.begin();
  while (*p == '\n' || *p == '\r') ++p;
  if (p == text.end())
    text.fail(p, "the file is empty; it needs a header line 'id,time,<feature>,…' and rows");
  text.set_separator(find_separator(p));
  const char* header = p;
  CsvLayout layout;
  layout.names = read_names(text, p, options.limits);
  layout.rows = p;
  const Sample sample(text, p, layout.names.size());
  Chooser(text, header, sample, options, layout).choose();
  if (text.separator() != ',') look_at_decimals(sample, layout);
  const auto called = [&](CsvColumn kind, std::string_view usual) {
    const std::string name = layout.name_of(kind);
    return name.empty() || name == usual;
  };
  layout.plain = text.separator() == ',' && !layout.one_series && called(CsvColumn::id, "id") &&
                 called(CsvColumn::time, "time") && called(CsvColumn::label, "label") &&
                 called(CsvColumn::group, "group") && called(CsvColumn::feature_name, "feature") &&
                 called(CsvColumn::value, "value") && layout.ignored.empty();
  for (std::size_t c = 0; c < layout.columns.size(); ++c)
    if (layout.columns[c].kind == CsvColumn::static_covariate)
      layout.plain &= layout.names[c].starts_with(kStatic);
  return layout;
}

}  // namespace edict
