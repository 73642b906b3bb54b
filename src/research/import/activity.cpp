#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "base/error.h"
#include "research/import/archive.h"
#include "research/import/download.h"
#include "research/import/import.h"
#include "research/import/text_lines.h"

namespace edict {
namespace {

constexpr Download kActivityDownload{
    "Localization Data for Person Activity",
    "https://archive.ics.uci.edu/dataset/196/localization+data+for+person+activity", "CC BY 4.0",
    "21 MB with 164,860 rows"};
constexpr std::string_view kFile = "ConfLongDemo_JSI.txt";
constexpr std::size_t kAllRows = 164860;
constexpr double kTicksPerSecond = 1e7;  // a tick is 100 ns
constexpr double kFarthest = 100.0;      // metres; the room is a few metres wide

struct Tag {
  std::string_view code, name;
};
constexpr std::array<Tag, 4> kTags{{{"010-000-024-033", "ankle_left"},
                                    {"010-000-030-096", "ankle_right"},
                                    {"020-000-033-111", "chest"},
                                    {"020-000-032-221", "belt"}}};

// The eleven activities as seven classes; the classes sorted as a CSV would be read back.
constexpr std::array<const char*, 7> kClasses{
    "falling",     "lying",  "on all fours", "sitting", "sitting on the ground",
    "standing up", "walking"};
constexpr std::array<std::pair<std::string_view, std::int32_t>, 11> kActivities{
    {{"falling", 0},
     {"lying", 1},
     {"lying down", 1},
     {"on all fours", 2},
     {"sitting", 3},
     {"sitting down", 3},
     {"sitting on the ground", 4},
     {"standing up from lying", 5},
     {"standing up from sitting", 5},
     {"standing up from sitting on the ground", 5},
     {"walking", 6}}};

struct Row {
  std::int64_t ticks;
  std::int32_t tag;
  std::int32_t activity;
  std::array<double, 3> place;
};

struct Counts {
  std::size_t rows = 0, absurd = 0, repeated = 0, shifted = 0, leftover = 0;
};

// Of a recording by name; the names in the order of the Dataset's groups.
using Recordings = std::map<std::string, std::vector<Row>>;

template <class Table, class Key>
std::int32_t index_in(const Table& table, const Key& matches) {
  const auto at = std::find_if(table.begin(), table.end(), matches);
  return at == table.end() ? -1 : static_cast<std::int32_t>(at - table.begin());
}

Recordings read_rows(const ArchiveEntry& entry, Counts& counts, const Progress& progress) {
  Recordings recordings;
  TextLines lines(entry.bytes, entry.name);
  for (std::string_view line; lines.next(line);) {
    const char* at = line.data();
    if (std::count(line.begin(), line.end(), ',') != 7)
      lines.fail(
          "has not 8 columns (sequence, tag, ticks, date, x, y, z, activity); the file may "
          "be cut short, download it again");
    const std::string recording(take_cell(line));
    const auto tag = take_cell(line);
    const auto ticks = take_cell(line);
    take_cell(line);  // the date says the same as the ticks
    Row row{};
    row.tag = index_in(kTags, [&](const Tag& known) { return known.code == tag; });
    if (row.tag < 0) lines.fail(fmt::format("column 'tag': {} is none of the four", shown(tag)));
    const auto [end, error] = std::from_chars(ticks.data(), ticks.data() + ticks.size(), row.ticks);
    if (error != std::errc() || end != ticks.data() + ticks.size())
      lines.fail(fmt::format("column 'ticks': {} is not a whole number", shown(ticks)));
    bool plausible = true;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto text = take_cell(line);
      if (!read_number(text, row.place[axis]))
        lines.fail(fmt::format("column '{}': {} is not a number", "xyz"[axis], shown(text)));
      plausible &= std::abs(row.place[axis]) <= kFarthest;  // false for NaN
    }
    const auto activity = take_cell(line);
    const auto known =
        index_in(kActivities, [&](const auto& item) { return item.first == activity; });
    if (known < 0)
      lines.fail(fmt::format("column 'activity': {} is none of the eleven", shown(activity)));
    row.activity = kActivities[static_cast<std::size_t>(known)].second;
    ++counts.rows;
    if (plausible)
      recordings[recording].push_back(row);
    else
      ++counts.absurd;
    if (progress && counts.rows % 4096 == 0)
      progress(0.9 * static_cast<double>(at - entry.bytes.data()) /
               static_cast<double>(entry.bytes.size()));
  }
  return recordings;
}

// By time, one row a tag and tick (the first), and no two rows at one tick: a later one moves on
// by a tick, 100 ns, until it is alone.
void put_in_order(std::vector<Row>& rows, Counts& counts) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::pair(a.ticks, a.tag) < std::pair(b.ticks, b.tag);
  });
  const auto end = std::unique(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.ticks == b.ticks && a.tag == b.tag;
  });
  counts.repeated += static_cast<std::size_t>(rows.end() - end);
  rows.erase(end, rows.end());
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].ticks > rows[i - 1].ticks) continue;
    rows[i].ticks = rows[i - 1].ticks + 1;
    ++counts.shifted;
  }
}

// The most frequent class; of equals the one seen first.
std::int32_t majority(const Row* rows, std::size_t count) {
  std::array<std::size_t, kClasses.size()> votes{};
  for (std::size_t i = 0; i < count; ++i) ++votes[static_cast<std::size_t>(rows[i].activity)];
  const auto most = *std::max_element(votes.begin(), votes.end());
  while (votes[static_cast<std::size_t>(rows->activity)] != most) ++rows;
  return rows->activity;
}

}  // namespace

Dataset import_activity(const std::filesystem::path& from, ImportReport& report, std::size_t window,
                        const Progress& progress) {
  if (window == 0) throw Error("a window of 0 rows holds nothing; give at least 1");
  const auto entries = read_download(from, [](std::string_view name) { return name == kFile; });
  if (entries.empty()) fail_missing(from, kFile, kActivityDownload);
  Counts counts;
  Recordings recordings = read_rows(entries[0], counts, progress);
  report.add("read",
             fmt::format("{}: {} rows of {} recordings{}", entries[0].name, grouped(counts.rows),
                         recordings.size(),
                         counts.rows == kAllRows
                             ? ""
                             : fmt::format(" (the whole file has {} rows)", grouped(kAllRows))));

  Dataset dataset;
  for (const Tag& tag : kTags)
    for (const char axis : {'x', 'y', 'z'})
      dataset.features.push_back(fmt::format("{}_{}", tag.name, axis));
  dataset.classes.assign(kClasses.begin(), kClasses.end());
  for (auto& [name, rows] : recordings) {
    put_in_order(rows, counts);
    dataset.groups.push_back(name);
    const auto group = static_cast<std::int32_t>(dataset.groups.size() - 1);
    counts.leftover += rows.size() % window;
    for (std::size_t first = 0; first + window <= rows.size(); first += window) {
      dataset.add_series(fmt::format("{}-{:04}", name, first / window),
                         majority(&rows[first], window), group);
      for (std::size_t i = first; i < first + window; ++i) {
        dataset.add_event(static_cast<double>(rows[i].ticks - rows[first].ticks) / kTicksPerSecond);
        for (std::int32_t axis = 0; axis < 3; ++axis)
          dataset.add_observation(3 * rows[i].tag + axis,
                                  rows[i].place[static_cast<std::size_t>(axis)]);
      }
    }
  }
  if (progress) progress(1.0);
  if (counts.absurd > 0)
    report.add("dropped", fmt::format("{} rows with a place that is no number or more than {:g} m "
                                      "away",
                                      grouped(counts.absurd), kFarthest));
  if (counts.repeated > 0)
    report.add("dropped",
               fmt::format("{} rows that repeat tag and time", grouped(counts.repeated)));
  if (counts.shifted > 0)
    report.add("shifted", fmt::format("{} rows by 100 ns, so that one tag is seen at a time",
                                      grouped(counts.shifted)));
  report.add("dropped", fmt::format("{} rows at the ends of recordings that fill no window of {}",
                                    grouped(counts.leftover), window));
  if (dataset.size() == 0)
    throw Error(
        fmt::format("{}: no recording has {} rows, so there is no window; download it "
                    "again from {}",
                    entries[0].name, window, kActivityDownload.page));
  report.add("kept", fmt::format("{} windows of {} rows from {} recordings, {} values",
                                 grouped(dataset.size()), window, dataset.groups.size(),
                                 grouped(dataset.observations())));
  return dataset;
}

}  // namespace edict
