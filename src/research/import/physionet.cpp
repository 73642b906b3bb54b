#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/threads/thread_pool.h"
#include "research/import/archive.h"
#include "research/import/import.h"
#include "research/import/physionet_record.h"
#include "research/import/physionet_sets.h"
#include "research/import/text_lines.h"

namespace edict {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kStaysPerSet = 4000;
constexpr double kUnpackShare = 0.4;  // of the whole time; parsing is the rest

struct Set : PhysionetFiles {
  std::vector<ArchiveEntry> entries;
  std::unordered_map<std::string, std::int32_t> died;
};

// Which stays ended in death; those with anything but 0 or 1 stay without label.
void read_outcomes(Set& set) {
  const auto files = read_archive(set.outcomes, [](std::string_view) { return true; });
  TextLines lines(files.at(0).bytes, set.outcomes.string());
  std::string_view line;
  lines.next(line);
  int id_column = -1, death_column = -1, columns = 0;
  for (; !line.empty(); ++columns) {
    const auto name = take_cell(line);
    if (name == "RecordID") id_column = columns;
    if (name == "In-hospital_death") death_column = columns;
  }
  if (id_column < 0 || death_column < 0)
    lines.fail("the header lacks 'RecordID' or 'In-hospital_death'; download the file again");
  while (lines.next(line)) {
    std::string id;
    std::string_view death;
    int column = 0;
    for (; !line.empty(); ++column) {
      const auto cell = take_cell(line);
      if (column == id_column) id = cell;
      if (column == death_column) death = cell;
    }
    if (column != columns)
      lines.fail(fmt::format("has {} columns and not {} as the header; download the file again",
                             column, columns));
    const std::int32_t label = death == "1" ? 1 : death == "0" ? 0 : Dataset::kNone;
    const auto [at, added] = set.died.emplace(id, label);
    if (!added && at->second != label)
      lines.fail(fmt::format("RecordID {} was listed with another outcome before", shown(id)));
  }
}

void describe(const PhysionetCounts& counts, ImportReport& report) {
  const auto removed = [&](const PlausibleRange& range, const PhysionetCounts::Parameter& count,
                           std::string_view kind) {
    if (count.repaired > 0)
      report.add("repaired", fmt::format("{}{}: {} values in another unit", kind, range.name,
                                         grouped(count.repaired)));
    if (count.implausible > 0)
      report.add("removed", fmt::format("{}{}: {} of {} values outside {:g} to {:g} {}", kind,
                                        range.name, grouped(count.implausible), grouped(count.read),
                                        range.low, range.high, range.unit));
  };
  for (const auto& [name, count] : counts.descriptors)
    removed(*physionet_descriptor(name), count, "descriptor ");
  std::size_t rare = 0;
  std::string rare_names;
  for (std::size_t i = 0; i < counts.parameters.size(); ++i) {
    const PhysionetParameter& parameter = physionet_parameters()[i];
    if (parameter.kept) {
      removed(parameter.range, counts.parameters[i], "");
      continue;
    }
    rare += counts.parameters[i].read;
    rare_names += fmt::format("{}{}", rare_names.empty() ? "" : ", ", parameter.range.name);
  }
  report.add("dropped",
             fmt::format("{} values of the rarest parameters, {}", grouped(rare), rare_names));
  for (const auto& [name, count] : counts.unknown)
    report.add("dropped",
               fmt::format("{} rows of the unknown parameter {}", grouped(count), shown(name)));
  if (counts.missing > 0)
    report.add("dropped", fmt::format("{} values marked missing by -1", grouped(counts.missing)));
  if (counts.late > 0)
    report.add("dropped", fmt::format("{} values after the first 48 hours", grouped(counts.late)));
  if (counts.repeated > 0)
    report.add("dropped", fmt::format("{} repeated rows", grouped(counts.repeated)));
}

void add_stay(Dataset& dataset, const PhysionetStay& stay, std::int32_t label) {
  dataset.add_series(stay.id, label, Dataset::kNone, stay.statics);
  std::int32_t bin = -1;
  for (const auto& value : stay.values) {
    if (value.bin != bin) dataset.add_event(value.bin * kPhysionetBinMinutes / 60.0);
    bin = value.bin;
    dataset.add_observation(value.feature, value.value);
  }
}

}  // namespace

Dataset import_physionet(const fs::path& from, ImportReport& report, const Progress& progress) {
  std::vector<Set> sets;
  for (PhysionetFiles& files : find_physionet_sets(from, report))
    sets.push_back({std::move(files), {}, {}});
  ThreadPool pool(0);
  std::mutex mutex;  // of the progress

  std::vector<double> unpacked(sets.size(), 0.0);
  pool.for_each(sets.size(), [&](std::size_t i, std::size_t) {
    sets[i].entries = read_archive(sets[i].records, is_physionet_record, [&, i](double share) {
      if (!progress) return;
      std::lock_guard lock(mutex);
      unpacked[i] = share;
      double sum = 0.0;
      for (double part : unpacked) sum += part;
      progress(kUnpackShare * sum / static_cast<double>(sets.size()));
    });
    if (sets[i].entries.empty())
      throw Error(fmt::format("{}: holds no record such as 132539.txt; download it again from {}",
                              sets[i].records.string(), kPhysionetDownload.page));
    read_outcomes(sets[i]);
  });

  // A stay may be in the files twice; the first one counts.
  struct Job {
    const ArchiveEntry* entry;
    const Set* set;
  };
  std::vector<Job> jobs;
  std::set<std::string_view> seen;
  std::size_t repeated = 0;
  for (const Set& set : sets) {
    for (const ArchiveEntry& entry : set.entries) {
      if (seen.insert(base_name(entry.name)).second)
        jobs.push_back({&entry, &set});
      else
        ++repeated;
    }
    const auto remark = set.entries.size() == kStaysPerSet
                            ? std::string()
                            : fmt::format(" (the whole set has {})", grouped(kStaysPerSet));
    report.add("read", fmt::format("{}: {} stays{}", set.records.filename().string(),
                                   grouped(set.entries.size()), remark));
  }
  if (repeated > 0)
    report.add("dropped", fmt::format("{} stays that were there twice", grouped(repeated)));

  std::vector<PhysionetStay> stays(jobs.size());
  std::vector<PhysionetCounts> worker_counts(pool.size());
  std::size_t parsed = 0;
  pool.for_each(jobs.size(), [&](std::size_t i, std::size_t worker) {
    stays[i] = read_physionet_record(*jobs[i].entry, worker_counts[worker]);
    if (!progress) return;
    std::lock_guard lock(mutex);
    if (++parsed % 64 == 0 || parsed == jobs.size())
      progress(kUnpackShare +
               (1 - kUnpackShare) * static_cast<double>(parsed) / static_cast<double>(jobs.size()));
  });
  PhysionetCounts counts;
  for (const PhysionetCounts& part : worker_counts) counts += part;
  report.add("read", fmt::format("{} values", grouped(counts.values)));
  describe(counts, report);

  Dataset dataset;
  for (const auto& parameter : physionet_parameters())
    if (parameter.kept) dataset.features.emplace_back(parameter.range.name);
  for (const auto name : physionet_statics()) dataset.statics.emplace_back(name);
  dataset.classes = {"0", "1"};
  std::size_t empty = 0, unlabelled = 0, deaths = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (stays[i].values.empty()) {
      ++empty;
      continue;
    }
    const auto outcome = jobs[i].set->died.find(stays[i].id);
    const auto label = outcome == jobs[i].set->died.end() ? Dataset::kNone : outcome->second;
    unlabelled += label == Dataset::kNone;
    deaths += label == 1;
    add_stay(dataset, stays[i], label);
  }
  if (empty > 0) report.add("dropped", fmt::format("{} stays without any series", grouped(empty)));
  if (unlabelled > 0)
    report.add("kept",
               fmt::format("{} stays without an outcome, so without label", grouped(unlabelled)));
  report.add("kept",
             fmt::format("{} stays, {} of them ending in death; {} values in {} bins of "
                         "{} minutes",
                         grouped(dataset.size()), grouped(deaths), grouped(dataset.observations()),
                         grouped(dataset.events()), kPhysionetBinMinutes));
  return dataset;
}

}  // namespace edict
