#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "base/error.h"
#include "base/text/utf8.h"
#include "data/read/cells/written_number.h"
#include "data/read/columns/column_choice.h"
#include "data/read/csv/rows/csv_row_reader.h"
#include "data/time/unix_time.h"

namespace edict {
namespace {

// Digits of a day and a year, in words that are not read.
bool may_be_date(std::string_view text) {
  constexpr std::ptrdiff_t kFewest = 3;
  return std::ranges::count_if(text, [](char c) { return c >= '0' && c <= '9'; }) >= kFewest;
}

std::string not_a_date() {
  return " is not a date that can be read; write 2024-03-01 12:30, or give " +
         option("time_format");
}

}  // namespace

// The number of a cell that took no quick way.
CsvRowReader::Number CsvRowReader::read_slowly(std::string_view text, double& value) {
  const auto read_decimal = [&](std::string_view digits) {
    digits = without_plus(digits);
    const char* end = digits.data() + digits.size();
    const auto [at, error] = std::from_chars(digits.data(), end, value);
    if (error == std::errc::invalid_argument || at != end) return Number::none;
    if (error == std::errc::result_out_of_range) return Number::out_of_range;
    return std::isfinite(value) ? Number::finite : Number::infinite;
  };
  const Number found = read_decimal(text);
  if (found != Number::none || !comma_is_point_) return found;
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos ||
      text.find_first_of(".,", comma + 1) != std::string_view::npos ||
      text.find('.') != std::string_view::npos)
    return found;
  std::string copy(text);
  copy[comma] = '.';
  const Number with_point = read_decimal(copy);
  table.comma_used |= with_point != Number::none;
  return with_point;
}

void CsvRowReader::note_infinite(const CsvCell& cell, std::size_t column, Number found) {
  const bool is_time = layout_.columns[column].kind == ColumnKind::time;
  problems_.add(
      CsvProblem::infinite, cell.at, layout_.names[column],
      in_quotes(cell.text) +
          (found == Number::out_of_range
               ? " is beyond the range of a double; scale the column"
               : " is not finite; write a finite number, or leave the cell empty if nothing is "
                 "known" +
                     (is_time ? std::string()
                              : fmt::format(" ({} says it of all)",
                                            option("missing", std::string(cell.text))))));
}

bool CsvRowReader::is_unknown(std::string_view text, const TextColumn* texts,
                              UnknownWords& words) const {
  const int word = unknown_word(text);
  if (word < 0) return false;
  if (word > 0 && texts && (texts->known ? texts->names.contains(text) : texts->keeps_words))
    return false;
  words.add(word);
  return true;
}

double CsvRowReader::value_of(const CsvCell& cell, std::size_t column, Texts& texts,
                              std::size_t index) {
  const bool is_static = &texts == &table.static_texts;
  auto& words = is_static ? table.static_words : table.words;
  if (index >= words.size()) words.resize(index + 1);
  const TextColumn* own = index < texts.size() ? texts[index].get() : nullptr;
  if (is_unknown(cell.text, own, words[index])) return kMissing;
  double value = 0.0;
  const bool grouped = layout_.points_group && cell.text.find('.') != std::string_view::npos;
  const Number found = grouped ? Number::none : read_slowly(cell.text, value);
  if (found == Number::finite) return value;
  if (found == Number::out_of_range || (found == Number::infinite && !says_missing(cell.text))) {
    const std::string& name =
        layout_.long_form && !is_static ? table.features.list()[index] : layout_.names[column];
    if (!codes_.matches_text(name, cell.text)) note_infinite(cell, column, found);
    return kMissing;
  }
  if (index >= texts.size()) texts.resize(index + 1);
  if (!texts[index]) texts[index] = std::make_unique<TextColumn>();
  return add_text(cell, column, *texts[index]);
}

double CsvRowReader::add_text(const CsvCell& cell, std::size_t column, TextColumn& texts) {
  if (!check_length(cell, column)) return kMissing;
  if (!valid_utf8(cell.text)) throw CsvNotUtf8{};
  row_texts_.push_back(&texts);
  return texts.add(cell.text, cell.at);
}

double CsvRowReader::category_of(const CsvCell& cell, std::size_t column, TextColumn& texts) {
  UnknownWords none;  // what the caller or a model named needs no word
  return is_unknown(cell.text, &texts, none) ? kMissing : add_text(cell, column, texts);
}

void CsvRowReader::note_time(const CsvCell& cell, std::size_t column, const std::string& what) {
  time_was_wrong_ = true;
  problems_.add(CsvProblem::time, cell.at, layout_.names[column], in_quotes(cell.text) + what);
}

double CsvRowReader::time_number_of(const CsvCell& cell, std::size_t column) {
  if (spells_unknown(cell.text)) return kMissing;
  double value = 0;
  const Number found = read_slowly(cell.text, value);
  if (found == Number::finite) return value;
  if (found != Number::none) {
    time_was_wrong_ = true;
    note_infinite(cell, column, found);
  } else if (parse_date(cell.text)) {
    note_time(cell, column, " is a date, and the first times are numbers; write all alike");
  } else if (may_be_date(cell.text)) {
    note_time(cell, column, not_a_date());
  } else {
    note_time(cell, column, " is neither a number nor a date; write 1.5 or 2024-03-01 12:30");
  }
  return kMissing;
}

double CsvRowReader::unix_time_of(double number, const char* at, std::size_t column) {
  const double raw = raw_from_unix(layout_.time.kind, number);
  constexpr double kLargest = 9e15;  // up to here a double holds every microsecond
  if (std::isnan(raw) || std::abs(raw) <= kLargest) return raw;
  time_was_wrong_ = true;
  problems_.add(CsvProblem::time, at, layout_.names[column],
                fmt::format("{} is no Unix time as the ones before are", number));
  return kMissing;
}

double CsvRowReader::date_of(const CsvCell& cell, std::size_t column, std::int16_t& zone) {
  if (cell.text == last_date_ && !cell.text.empty()) {
    zone = last_zone_;
    return last_time_;
  }
  if (spells_unknown(cell.text)) return kMissing;
  const auto date = parse_date(cell.text, style_);
  if (!date) {
    const bool in_format = style_ && !style_->format.empty();
    note_time(cell, column,
              in_format ? " is not in the format that " + option("time_format") +
                              " gives; correct the format or the date"
                        : not_a_date());
    return kMissing;
  }
  const bool zoned = date->style.zone != DateStyle::Zone::none;
  if (dates_ > 0 && zoned != (table.style.zone != DateStyle::Zone::none)) {
    note_time(cell, column,
              zoned ? " names a time zone, and the times before do not; write all alike"
                    : " names no time zone, and the times before do; write all alike");
    return kMissing;
  }
  if (dates_++ == 0) {
    table.style = date->style;
    table.zone = date->zone;
  } else if (date->style != table.style) {
    table.style = fuller(table.style, date->style);
  }
  last_date_.assign(cell.text);
  last_time_ = date->microseconds;
  zone = last_zone_ = date->zone;
  return last_time_;
}

double CsvRowReader::clock_of(const CsvCell& cell, std::size_t column) {
  if (spells_unknown(cell.text)) return kMissing;
  if (const auto clock = read_clock_cell(cell.text, layout_.clock, clock_style_)) return *clock;
  note_time(cell, column, " is not a time of day; write 12:30");
  return kMissing;
}

void CsvRowReader::finish_times() {
  if (clock_style_.clock && table.style.format.empty())
    table.style = fuller(table.style, clock_style_);
  else if (clock_style_.clock)
    table.style.format += kClockFormat;
  // Without any time they are no rows that a device wrote before its data.
  if (any_time_ || table.rows_before_times == 0) return;
  problems_.begin_row();
  note_no_time(first_without_time_);
  problems_.count(CsvProblem::no_time, table.rows_before_times - 1);
}

std::int32_t CsvRowReader::name_of(const CsvCell& cell, std::size_t column, CsvNames& names,
                                   UnknownWords* words) {
  names.remember({});
  if (cell.text.empty()) return Dataset::kNone;
  if (words && !contains(layout_.categories, layout_.names[column])) {
    if (const int word = unknown_word(cell.text); word > 0) {
      words->add(word);
      return Dataset::kNone;
    }
    if (contains(options_.missing, cell.text)) return Dataset::kNone;
  }
  if (!check_length(cell, column)) return Dataset::kNone;
  const std::size_t known = names.list().size();
  const std::int32_t index = names.index_of(cell.text);
  if (names.list().size() > known && !valid_utf8(cell.text)) throw CsvNotUtf8{};
  return index;
}

bool CsvRowReader::check_length(const CsvCell& cell, std::size_t column) {
  if (cell.text.size() <= options_.limits.text) return true;
  problems_.add(CsvProblem::text, cell.at, layout_.names[column],
                fmt::format("the text is longer than {} bytes; shorten it or mend a quote",
                            options_.limits.text));
  name_was_long_ = true;
  return false;
}

}  // namespace edict
