#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/error.h"
#include "data/read/csv/csv.h"
#include "data/read/csv/csv_text.h"
#include "research/import/download.h"
#include "research/import/mimic/mimic_builder.h"
#include "research/import/mimic/mimic_files.h"
#include "research/import/text_lines.h"

namespace edict {
namespace {

// A CSV file row by row, every row with as many cells as the first.
class CsvRows {
 public:
  explicit CsvRows(const std::filesystem::path& path)
      : text_(CsvText::from_file(path, CsvLimits{})), at_(text_.begin()) {}

  bool next() {
    while (at_ < text_.end() && (*at_ == '\n' || *at_ == '\r')) ++at_;
    if (at_ >= text_.end()) return false;
    const std::size_t width = cells_.size();
    line_ = at_;
    cells_.clear();
    for (;;) {
      cells_.emplace_back(text_.read_cell(at_, scratch_).text);
      if (*at_ != ',') break;
      ++at_;
    }
    at_ = CsvText::next_line(at_);
    if (width > 0 && cells_.size() != width)
      fail(fmt::format("has {} cells and the lines before {}; the file may be cut short",
                       cells_.size(), width));
    return true;
  }

  const std::vector<std::string>& cells() const { return cells_; }
  std::optional<std::size_t> find(std::string_view name) const {
    const auto at = std::find(cells_.begin(), cells_.end(), name);
    if (at == cells_.end()) return {};
    return static_cast<std::size_t>(at - cells_.begin());
  }
  // NaN where the cell is empty.
  double number(std::size_t column, std::string_view name) const {
    double value = kNaN;
    const std::string& cell = cells_[column];
    if (!cell.empty() && !read_number(cell, value))
      text_.fail(line_, name, fmt::format("{} is not a number", shown(cell)));
    return value;
  }
  std::int64_t whole(std::size_t column, std::string_view name) const {
    const double value = number(column, name);
    if (!(value == std::floor(value) && std::abs(value) < 1e15))
      text_.fail(line_, name, fmt::format("{} is not a whole number", shown(cells_[column])));
    return static_cast<std::int64_t>(value);
  }
  double share() const {
    return static_cast<double>(at_ - text_.begin()) /
           static_cast<double>(std::max<std::ptrdiff_t>(1, text_.end() - text_.begin()));
  }
  [[noreturn]] void fail(std::string_view what) const { text_.fail(line_, what); }

 private:
  CsvText text_;
  const char* at_;
  const char* line_ = at_;
  std::vector<std::string> cells_;
  std::string scratch_;
};

struct VitalsHeader {
  std::size_t stay = 0, hour = 0;
  std::optional<std::size_t> died;
  std::vector<std::size_t> columns;
  std::vector<std::string> features;
  bool row_pending = false;  // the first row of data was read while looking for the header's end
};

// A name that pandas wrote as a Python tuple, as ('heart rate', 'mean'), is its first text.
std::string plain_name(const std::string& name, std::string& level) {
  if (!name.starts_with("('") || !name.ends_with("')")) return name;
  const auto between = name.find("', '");
  if (between == name.npos) return name;
  level = name.substr(between + 4, name.size() - between - 6);
  return name.substr(2, between - 2);
}

// One line of names; or above it lines with the levels of the columns, as DataFrame.to_csv writes
// them; or below it a line with the second level, as after reset_index.
VitalsHeader read_header(CsvRows& rows) {
  std::vector<std::vector<std::string>> lines;
  do {
    if (lines.size() == 8 || !rows.next())
      rows.fail("no header with 'icustay_id' and 'hours_in'; give MIMIC-Extract's hourly means");
    lines.push_back(rows.cells());
  } while (!rows.find("icustay_id") || !rows.find("hours_in"));
  VitalsHeader header;
  header.stay = *rows.find("icustay_id");
  header.hour = *rows.find("hours_in");
  header.died = rows.find("mort_icu");
  header.row_pending = rows.next();
  if (header.row_pending && rows.cells()[header.stay].empty()) {
    lines.push_back(rows.cells());
    header.row_pending = false;
  }
  for (std::size_t c = 0; c < lines[0].size(); ++c) {
    std::string name, level;
    for (const auto& line : lines) {
      if (line[c].empty()) continue;
      if (name.empty())
        name = plain_name(line[c], level);
      else
        level = line[c];
    }
    const bool is_index = c == header.stay || c == header.hour || c == header.died ||
                          std::any_of(lines.begin(), lines.end(), [&](const auto& line) {
                            return line[c] == "subject_id" || line[c] == "hadm_id";
                          });
    if (is_index || name.empty() || name.starts_with("Unnamed:")) continue;
    if (!level.empty() && level != "mean") continue;
    header.columns.push_back(c);
    header.features.push_back(name);
  }
  return header;
}

std::int32_t outcome(double died) {
  return died == 0.0 || died == 1.0 ? static_cast<std::int32_t>(died) : Dataset::kNone;
}

MimicPatients read_patients(const std::filesystem::path& path, ImportReport& report) {
  CsvRows rows(path);
  if (!rows.next()) throw Error(fmt::format("{}: is empty; export it again", path.string()));
  const auto stay = rows.find("icustay_id"), died = rows.find("mort_icu");
  const auto age = rows.find("age"), gender = rows.find("gender");
  if (!stay || !died)
    rows.fail("the header lacks 'icustay_id' or 'mort_icu'; give MIMIC-Extract's patients");
  MimicPatients patients;
  std::size_t repeated = 0;
  while (rows.next()) {
    MimicPatient patient{outcome(rows.number(*died, "mort_icu")), kNaN, kNaN};
    if (age) patient.age = unmasked_age(rows.number(*age, "age"));
    if (gender && rows.cells()[*gender] == "M") patient.male = 1.0;
    if (gender && rows.cells()[*gender] == "F") patient.male = 0.0;
    repeated += !patients.emplace(rows.whole(*stay, "icustay_id"), patient).second;
  }
  report.add("read",
             fmt::format("{}: {} stays", path.filename().string(), grouped(patients.size())));
  if (repeated > 0)
    report.add("dropped", fmt::format("{} repeated rows of patients", grouped(repeated)));
  return patients;
}

}  // namespace

Dataset read_mimic_csv(const std::filesystem::path& vitals, const std::filesystem::path& patients,
                       const MimicWindow& window, ImportReport& report, const Progress& progress) {
  MimicPatients known;
  if (!patients.empty()) known = read_patients(patients, report);
  CsvRows rows(vitals);
  const VitalsHeader header = read_header(rows);
  if (patients.empty() && !header.died)
    rows.fail("has no column 'mort_icu', and there is no patients.csv beside it with that column");
  report.add("read", vitals.filename().string());
  MimicBuilder builder(header.features, known, window, vitals.string());
  std::vector<double> values(header.columns.size());
  std::size_t count = 0;
  for (bool more = header.row_pending || rows.next(); more; more = rows.next()) {
    const auto stay = rows.whole(header.stay, "icustay_id");
    if (header.died && patients.empty())
      known.try_emplace(stay,
                        MimicPatient{outcome(rows.number(*header.died, "mort_icu")), kNaN, kNaN});
    for (std::size_t c = 0; c < values.size(); ++c)
      values[c] = rows.number(header.columns[c], header.features[c]);
    builder.add_row(stay, rows.number(header.hour, "hours_in"), values);
    if (progress && ++count % 4096 == 0) progress(rows.share());
  }
  if (progress) progress(1.0);
  return builder.finish(report);
}

}  // namespace edict
