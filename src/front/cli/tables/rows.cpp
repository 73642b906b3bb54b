#include "front/cli/tables/rows.h"

#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "base/text/number_text.h"
#include "data/read/csv/csv.h"
#include "data/time/time_axis.h"
#include "front/cli/command.h"
#include "front/cli/outputs.h"

namespace edict::cli {

void RowOutput::add_to(CLI::App& command, const std::string& type) {
  add_output(command, "--out", path, "where to write; - is standard output")->type_name(type);
  add_output(command, "--json", json, "the same as --out FILE --format json")->type_name("FILE");
  command.add_option("--format", format, "default: json for a file that ends in .json, else csv")
      ->check(one_of({"csv", "json"}));
}

const std::string& RowOutput::destination() const {
  if (path.empty() == json.empty())
    throw Error(path.empty() ? "--out is missing: name the file to write, or - for standard output"
                             : "--out and --json both say where to write; give one of them");
  if (!json.empty() && format == "csv")
    throw Error("--json writes JSON; give --out FILE with --format csv");
  return path.empty() ? json : path;
}

RowFormat RowOutput::resolved() const {
  // A spreadsheet would refuse to open CSV under such a name, and Python would as well.
  if (format.empty() && json.empty())
    for (const char* other : {".xlsx", ".xls", ".ods", ".parquet", ".feather", ".db", ".sqlite"})
      if (path.ends_with(other))
        throw Error(path + ": CSV and JSON are written and no " + other +
                    "; give a name that ends in .csv, or --format csv");
  if (!format.empty()) return format == "json" ? RowFormat::json : RowFormat::csv;
  return !json.empty() || path.ends_with(".json") ? RowFormat::json : RowFormat::csv;
}

RowLayout::RowLayout(RowFormat format, std::vector<std::string> columns, const Shard& shard)
    : format_(format), shard_(shard), columns_(std::move(columns)) {
  if (sharded() && format == RowFormat::json)
    throw Error(
        "--shard writes CSV, which `edict join` puts together; leave --json and --format "
        "json out");
  for (const std::string& name : columns_) {
    const bool first = before_.empty();
    before_.push_back(format == RowFormat::json ? (first ? "{" : ",") + cell(name) + ":"
                                                : (first ? "" : ","));
  }
}

std::string RowLayout::cell(std::string_view text) const {
  return format_ == RowFormat::json ? json_text(nlohmann::json(std::string(text))) : csv_cell(text);
}

std::string RowLayout::time_cell(const Dataset& data, std::size_t series, double time) const {
  const std::string text = written_time(data, series, time);
  return data.time_axis.kind == TimeKind::date ? cell(text) : text;
}

std::string RowLayout::header() const {
  if (format_ == RowFormat::json) return "[";
  std::string line;
  for (const std::string& name : columns_) line += (line.empty() ? "" : ",") + cell(name);
  if (sharded()) line += "," + shard_.column();
  return line + "\n";
}

void RowText::name(std::string_view cell) {
  text_ += layout_.before(column_++);
  text_ += cell;
}

// What no number can be written for.
bool RowText::written(double value) {
  text_ += layout_.before(column_++);
  if (std::isfinite(value)) return false;
  if (layout_.format() == RowFormat::json)
    text_ += "null";
  else if (std::isinf(value))
    text_ += value > 0 ? "inf" : "-inf";
  return true;
}

void RowText::exact(double value) {
  if (!written(value)) append_shortest(text_, value);
}

void RowText::number(double value) {
  if (!written(value)) append_nine_digits(text_, value);
}

void RowText::none() {
  text_ += layout_.before(column_++);
  if (layout_.format() == RowFormat::json) text_ += "null";
}

void RowText::end() {
  if (layout_.sharded()) {
    text_ += ',';
    text_ += std::to_string(series_);
  }
  text_ += layout_.format() == RowFormat::json ? "},\n" : "\n";
  ++rows_;
}

RowFile::RowFile(const std::string& path, const RowLayout& layout)
    : RowFile(path, layout.format(), layout.header()) {}

RowFile::RowFile(const std::string& path, RowFormat format, std::string_view header)
    : format_(format), file_(path) {
  file_.write(header);
}

// In JSON a comma stands between rows and not behind the last one: each is written before the next.
void RowFile::write(std::string_view rows) {
  if (format_ == RowFormat::json && !rows.empty()) {
    file_.write(first_ ? "\n" : ",\n");
    rows.remove_suffix(2);
    first_ = false;
  }
  file_.write(rows);
}

void RowFile::commit() {
  if (format_ == RowFormat::json) file_.write(first_ ? "]\n" : "\n]\n");
  file_.commit();
}

}  // namespace edict::cli
