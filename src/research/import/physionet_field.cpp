#include "research/import/physionet_field.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/threads/thread_pool.h"
#include "research/import/archive.h"
#include "research/import/physionet_parameters.h"
#include "research/import/physionet_sets.h"
#include "research/import/text_lines.h"

namespace edict {
namespace {

constexpr std::array<std::string_view, 4> kDescriptors{"Age", "Gender", "Height", "ICUType"};

// What a row "HH:MM,name,value" is.
struct Measurement {
  int minute;
  std::int32_t channel;  // −1: nothing that is kept
  double value;
};

class Channels {
 public:
  explicit Channels(const FieldRules& rules) : rules_(rules) {
    for (const PhysionetParameter& parameter : physionet_parameters())
      if (rules.descriptors || parameter.range.name != "MechVent") add(parameter.range.name);
    if (rules.descriptors)
      for (const std::string_view name : kDescriptors) add(name);
  }

  const std::vector<std::string>& names() const { return names_; }

  // Without a value for what no channel is made of, the descriptors at 00:00.
  std::optional<Measurement> read(std::string_view line, const TextLines& lines) const {
    const std::string_view time = take_cell(line), name = take_cell(line), text = take_cell(line);
    Measurement row{0, -1, 0};
    double hours = 0, minutes = 0;
    const std::size_t colon = time.find(':');
    if (colon == time.npos || !read_number(time.substr(0, colon), hours) ||
        !read_number(time.substr(colon + 1), minutes) || !(hours >= 0 && hours < 1e4) ||
        !(minutes >= 0 && minutes < 60))
      lines.fail(fmt::format("column 'Time': {} is not HH:MM", shown(time)));
    if (!read_number(text, row.value) || !std::isfinite(row.value))
      lines.fail(fmt::format("column 'Value': {} is not a number", shown(text)));
    row.minute = 60 * static_cast<int>(hours) + static_cast<int>(minutes);
    if (name == "RecordID") return std::nullopt;
    // Weight is both; at the start it describes the admission.
    if (row.minute == 0 && physionet_descriptor(name) != nullptr &&
        (!rules_.descriptors || row.value == -1.0))
      return std::nullopt;
    if (const auto found = places_.find(name); found != places_.end()) row.channel = found->second;
    return row;
  }

 private:
  void add(std::string_view name) {
    places_.emplace(name, static_cast<std::int32_t>(names_.size()));
    names_.emplace_back(name);
  }

  FieldRules rules_;
  std::vector<std::string> names_;
  std::map<std::string, std::int32_t, std::less<>> places_;
};

struct Bin {
  int index;
  std::map<std::int32_t, double> mean;  // by channel
};

std::vector<Bin> bins_of(const ArchiveEntry& entry, const Channels& channels,
                         const FieldRules& rules) {
  struct Sum {
    double sum = 0, count = 0;
  };
  std::vector<Bin> bins;
  std::map<std::int32_t, Sum> open;
  std::optional<int> index;
  const auto close = [&] {
    Bin bin{*index, {}};
    for (const auto& [channel, sum] : open) bin.mean[channel] = sum.sum / sum.count;
    if (!bins.empty() && bins.back().index >= bin.index)
      bins.back().mean.insert(bin.mean.begin(), bin.mean.end());
    else
      bins.push_back(std::move(bin));
    open.clear();
  };
  TextLines lines(entry.bytes, entry.name);
  std::string_view line;
  lines.next(line);  // the header
  while (lines.next(line)) {
    const std::optional<Measurement> row = channels.read(line, lines);
    if (!row) continue;
    const int own = row->minute / rules.bin_minutes;
    const bool opens = index && own != *index;
    if (opens) close();
    index = own;
    if (opens && rules.quirks) continue;
    if (row->channel < 0) continue;
    Sum& sum = open[row->channel];
    sum.sum += row->value;
    sum.count += 1;
  }
  if (index && !rules.quirks) close();
  return bins;
}

std::string id_of(const ArchiveEntry& entry) {
  const std::string_view name = base_name(entry.name);
  return std::string(name.substr(0, name.size() - 4));
}

}  // namespace

Dataset field_physionet(const std::filesystem::path& from, const FieldRules& rules,
                        ImportReport& report) {
  const Channels channels(rules);
  std::vector<ArchiveEntry> entries;
  for (const PhysionetFiles& set : find_physionet_sets(from, report))
    for (ArchiveEntry& entry : read_archive(set.records, is_physionet_record))
      entries.push_back(std::move(entry));
  std::vector<std::vector<Bin>> stays(entries.size());
  ThreadPool pool(0);
  pool.for_each(entries.size(), [&](std::size_t i, std::size_t) {
    stays[i] = bins_of(entries[i], channels, rules);
  });

  const std::size_t features = channels.names().size();
  std::vector<double> count(features), mean(features), squares(features);
  for (const auto& stay : stays)  // Welford, so that large values lose no digits
    for (const Bin& bin : stay)
      for (const auto& [channel, value] : bin.mean) {
        const auto j = static_cast<std::size_t>(channel);
        const double before = value - mean[j];
        mean[j] += before / ++count[j];
        squares[j] += before * (value - mean[j]);
      }
  Dataset data;
  data.features = channels.names();
  std::size_t far = 0;
  for (std::size_t i = 0; i < stays.size(); ++i) {
    data.add_series(id_of(entries[i]));
    for (const Bin& bin : stays[i]) {
      bool begun = false;
      for (const auto& [channel, value] : bin.mean) {
        const auto j = static_cast<std::size_t>(channel);
        const double deviation = std::sqrt(squares[j] / count[j]);
        const double z = deviation > 0 ? (value - mean[j]) / deviation : 0.0;
        if (!(std::abs(z) < rules.farthest)) {
          ++far;
          continue;
        }
        // A bin of nothing but that is no bin that could be asked for.
        if (!begun) data.add_event(bin.index * rules.bin_minutes / 60.0);
        begun = true;
        data.add_observation(channel, z);
      }
    }
  }
  report.add("kept", fmt::format("{} stays, {} values of {} channels in bins of {} minutes",
                                 grouped(data.size()), grouped(data.observations()), features,
                                 rules.bin_minutes));
  report.add("dropped",
             fmt::format("{} values beyond {:g} deviations", grouped(far), rules.farthest));
  return data;
}

Dataset first_events_after(const Dataset& data, double time, std::size_t count) {
  Dataset cut;
  cut.features = data.features;
  cut.statics = data.statics;
  cut.classes = data.classes;
  cut.groups = data.groups;
  for (std::size_t i = 0; i < data.size(); ++i) {
    cut.add_series(data.ids[i], data.labels[i], data.group_of[i], data.covariates(i));
    std::size_t after = 0;
    for (std::size_t e = data.first_event[i]; e < data.first_event[i + 1]; ++e) {
      if (data.times[e] > time && ++after > count) break;
      cut.add_event(data.times[e]);
      for (const Observation& o : data.observed(e)) cut.add_observation(o.feature, o.value);
    }
  }
  return cut;
}

}  // namespace edict
