#include "research/import/physionet_record.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "research/import/text_lines.h"

namespace edict {
namespace {

constexpr int kLastMinute = 48 * 60;

// Of each parameter, its index among the kept ones.
std::vector<std::int32_t> feature_indices() {
  std::vector<std::int32_t> indices;
  std::int32_t next = 0;
  for (const auto& parameter : physionet_parameters())
    indices.push_back(parameter.kept ? next++ : -1);
  return indices;
}

// HH:MM to minutes, −1 where it is something else.
int read_minute(std::string_view text) {
  const auto digit = [&](std::size_t i) { return text[i] >= '0' && text[i] <= '9'; };
  const std::size_t colon = text.find(':');
  if (colon == text.npos || colon < 1 || colon > 4 || text.size() != colon + 3) return -1;
  int hours = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (i != colon && !digit(i)) return -1;
  for (std::size_t i = 0; i < colon; ++i) hours = 10 * hours + (text[i] - '0');
  const int minutes = 10 * (text[colon + 1] - '0') + (text[colon + 2] - '0');
  return minutes < 60 ? 60 * hours + minutes : -1;
}

// Repairs and checks a value; false where it is to be dropped.
bool accept(const PlausibleRange& range, double& value, PhysionetCounts::Parameter& count) {
  ++count.read;
  if (const UnitSlip* slip = physionet_slip(range.name, value)) {
    value = slip->repaired(value);
    ++count.repaired;
  }
  if (range.holds(value)) return true;
  ++count.implausible;
  return false;
}

struct Measured {
  int minute;
  int parameter;
  double value;
  auto key() const { return std::tuple(minute / kPhysionetBinMinutes, parameter, minute, value); }
};

// Sorted and without repetitions, then one value a bin and parameter.
std::vector<PhysionetStay::Value> bin(std::vector<Measured>& measured, PhysionetCounts& counts) {
  static const std::vector<std::int32_t> kFeatures = feature_indices();
  std::sort(measured.begin(), measured.end(),
            [](const Measured& a, const Measured& b) { return a.key() < b.key(); });
  const auto end =
      std::unique(measured.begin(), measured.end(),
                  [](const Measured& a, const Measured& b) { return a.key() == b.key(); });
  counts.repeated += static_cast<std::size_t>(measured.end() - end);
  measured.erase(end, measured.end());

  std::vector<PhysionetStay::Value> values;
  for (std::size_t i = 0, j; i < measured.size(); i = j) {
    const int bin = measured[i].minute / kPhysionetBinMinutes;
    double sum = 0.0;
    for (j = i; j < measured.size() && measured[j].parameter == measured[i].parameter &&
                measured[j].minute / kPhysionetBinMinutes == bin;
         ++j)
      sum += measured[j].value;
    const auto parameter = static_cast<std::size_t>(measured[i].parameter);
    const bool summed = physionet_parameters()[parameter].summed;
    values.push_back({bin, kFeatures[parameter], summed ? sum : sum / static_cast<double>(j - i)});
  }
  return values;
}

}  // namespace

PhysionetCounts::Parameter& PhysionetCounts::Parameter::operator+=(const Parameter& other) {
  read += other.read;
  implausible += other.implausible;
  repaired += other.repaired;
  return *this;
}

PhysionetCounts& PhysionetCounts::operator+=(const PhysionetCounts& other) {
  for (const auto& [name, count] : other.descriptors) descriptors[name] += count;
  for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i] += other.parameters[i];
  for (const auto& [name, count] : other.unknown) unknown[name] += count;
  values += other.values;
  missing += other.missing;
  late += other.late;
  repeated += other.repeated;
  return *this;
}

PhysionetStay read_physionet_record(const ArchiveEntry& entry, PhysionetCounts& counts) {
  PhysionetStay stay;
  stay.id = base_name(entry.name);
  if (stay.id.ends_with(".txt")) stay.id.resize(stay.id.size() - 4);
  stay.statics.fill(std::numeric_limits<double>::quiet_NaN());

  TextLines lines(entry.bytes, entry.name);
  std::string_view line;
  if (!lines.next(line) || line != "Time,Parameter,Value")
    lines.fail(
        fmt::format("begins with {}, not with 'Time,Parameter,Value'; unpack the original "
                    "archive again",
                    shown(line)));

  // The first row of a descriptor counts. Weight is both: its first row at 00:00 describes the
  // admission, all others are measurements.
  std::vector<std::string_view> described;
  const auto describe = [&](std::string_view name, double value) {
    described.push_back(name);
    auto& count = counts.descriptors[std::string(name)];
    if (value == -1.0) {
      ++count.read;
      return;
    }
    if (!accept(*physionet_descriptor(name), value, count)) return;
    if (name == "Age") stay.statics[0] = value;
    if (name == "Gender") stay.statics[1] = value;
    if (name == "Height") stay.statics[2] = value;
    if (name == "Weight") stay.statics[7] = value;
    if (name == "ICUType")
      for (int type = 1; type <= 4; ++type)
        stay.statics[static_cast<std::size_t>(2 + type)] = value == type ? 1.0 : 0.0;
  };

  std::vector<Measured> measured;
  while (lines.next(line)) {
    const auto time = take_cell(line);
    const auto name = take_cell(line);
    const auto text = take_cell(line);
    double value = 0.0;
    const int minute = read_minute(time);
    if (minute < 0) lines.fail(fmt::format("column 'Time': {} is not HH:MM", shown(time)));
    if (!read_number(text, value) || !line.empty())
      lines.fail(fmt::format("column 'Value': {} is not a number", shown(text)));
    if (name == "RecordID") {
      if (text != stay.id)
        lines.fail(fmt::format("RecordID {} contradicts the file's name", shown(text)));
      continue;
    }
    const int index = physionet_parameter(name);
    if (index < 0 && physionet_descriptor(name) == nullptr) {
      ++counts.unknown[std::string(name)];
      continue;
    }
    const bool again = std::find(described.begin(), described.end(), name) != described.end();
    if (index < 0 || (name == "Weight" && minute == 0 && !again)) {
      if (!again) describe(name, value);
      continue;
    }
    ++counts.values;
    const PhysionetParameter& parameter = physionet_parameters()[static_cast<std::size_t>(index)];
    if (value == -1.0) {
      ++counts.missing;
    } else if (minute > kLastMinute) {
      ++counts.late;
    } else if (accept(parameter.range, value, counts.parameters[static_cast<std::size_t>(index)])) {
      if (parameter.kept) measured.push_back({minute, index, value});
    }
  }
  stay.values = bin(measured, counts);
  return stay;
}

}  // namespace edict
