#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/generator.h"
#include "research/import/archive.h"
#include "research/import/download.h"
#include "research/import/import.h"
#include "research/import/ucr_file.h"

namespace edict {
namespace {

namespace fs = std::filesystem;

constexpr Download kGesturesDownload{
    "UWaveGestureLibraryX, Y and Z of the UCR archive",
    "https://www.timeseriesclassification.com/ (or "
    "https://www.cs.ucr.edu/~eamonn/time_series_data_2018/)",
    "free for research, cite Liu et al. 2009",
    "3 MB each TRAIN file with 896 gestures, 13 MB each TEST file with 3,582"};
constexpr std::array<char, 3> kAxes{'X', 'Y', 'Z'};
constexpr std::array<const char*, 2> kParts{"TRAIN", "TEST"};
constexpr std::array<const char*, 2> kPartIds{"train", "test"};
constexpr std::array<std::size_t, 2> kPartSizes{896, 3582};
constexpr double kHertz = 100.0;

std::string stem(char axis, const char* part) {
  return fmt::format("UWaveGestureLibrary{}_{}", axis, part);
}

// Better endings first, where a file is there in several.
int rank(std::string_view name, const std::string& stem) {
  int rank = 0;
  for (const char* ending : {".tsv", ".ts", ".txt", ""}) {
    if (name == stem + ending) return rank;
    ++rank;
  }
  return -1;
}

const ArchiveEntry* find(const std::vector<ArchiveEntry>& entries, const std::string& stem) {
  const ArchiveEntry* best = nullptr;
  for (const ArchiveEntry& entry : entries) {
    const int now = rank(base_name(entry.name), stem);
    if (now >= 0 && (!best || now < rank(base_name(best->name), stem))) best = &entry;
  }
  return best;
}

// X, Y and Z of one part, of which row i is one gesture.
using Part = std::array<UcrFile, 3>;

std::optional<Part> read_part(const fs::path& from, const std::vector<ArchiveEntry>& entries,
                              const char* name, ImportReport& report) {
  std::array<const ArchiveEntry*, 3> found{};
  for (std::size_t a = 0; a < 3; ++a) found[a] = find(entries, stem(kAxes[a], name));
  if (std::all_of(found.begin(), found.end(), [](auto entry) { return !entry; })) return {};
  Part part;
  for (std::size_t a = 0; a < 3; ++a) {
    if (!found[a])
      fail_missing(from, stem(kAxes[a], name) + " (.tsv, .ts or .txt)", kGesturesDownload);
    part[a] = read_ucr_file(*found[a]);
    report.add("read", fmt::format("{}: {} series of {} values", found[a]->name,
                                   grouped(part[a].series.size()), part[a].series[0].size()));
    if (part[a].labels.size() != part[0].labels.size() ||
        part[a].series[0].size() != part[0].series[0].size())
      throw Error(
          fmt::format("{}: has {} series of {} values, but {} has {} of {}; download both "
                      "again",
                      found[a]->name, part[a].series.size(), part[a].series[0].size(),
                      found[0]->name, part[0].series.size(), part[0].series[0].size()));
    for (std::size_t i = 0; i < part[a].labels.size(); ++i)
      if (part[a].labels[i] != part[0].labels[i])
        throw Error(fmt::format(
            "{}: gesture {} is of class {}, but of class {} in {}; the files "
            "do not belong together, download both again",
            found[a]->name, i + 1, part[a].labels[i], part[0].labels[i], found[0]->name));
  }
  return part;
}

// Adds the kept values of gesture i, in order of time; those that are missing or infinite in the
// file are counted and left out.
void add_gesture(Dataset& dataset, const Part& part, std::size_t i, double keep, Generator rng,
                 std::size_t& unusable) {
  const std::size_t length = part[0].series[i].size();
  std::vector<std::size_t> cells(3 * length);  // 3 · time + axis
  std::iota(cells.begin(), cells.end(), std::size_t{0});
  // At least one, so that no gesture is empty; the margin is for products such as 0.1 · 30.
  const auto count = std::max<std::size_t>(
      1, static_cast<std::size_t>(std::floor(keep * static_cast<double>(cells.size()) + 1e-9)));
  for (std::size_t k = 0; k < count; ++k)
    std::swap(cells[k], cells[k + rng.below(cells.size() - k)]);
  cells.resize(count);
  std::sort(cells.begin(), cells.end());
  std::size_t last = length;
  for (const std::size_t cell : cells) {
    const std::size_t step = cell / 3;
    const double value = part[cell % 3].series[i][step];
    if (!std::isfinite(value)) {
      ++unusable;
      continue;
    }
    if (step != last) dataset.add_event(static_cast<double>(step) / kHertz);
    last = step;
    dataset.add_observation(static_cast<std::int32_t>(cell % 3), value);
  }
}

}  // namespace

Dataset import_gestures(const fs::path& from, ImportReport& report, std::uint64_t seed,
                        double keep_fraction, const Progress& progress) {
  if (!(keep_fraction > 0.0 && keep_fraction <= 1.0))
    throw Error(fmt::format("the share of values to keep is {}; give one above 0 and up to 1",
                            keep_fraction));
  const auto entries = read_download(
      from,
      [](std::string_view name) {
        for (const char axis : kAxes)
          for (const char* part : kParts)
            if (rank(name, stem(axis, part)) >= 0) return true;
        return false;
      },
      [&](double share) {
        if (progress) progress(0.3 * share);
      });

  std::array<std::optional<Part>, 2> parts;
  std::set<int> labels;
  std::size_t gestures = 0;
  for (std::size_t p = 0; p < 2; ++p) {
    parts[p] = read_part(from, entries, kParts[p], report);
    if (parts[p]) {
      labels.insert((*parts[p])[0].labels.begin(), (*parts[p])[0].labels.end());
      gestures += (*parts[p])[0].labels.size();
    }
    if (progress) progress(0.3 + 0.3 * static_cast<double>(p + 1));
  }
  if (gestures == 0)
    fail_missing(from, "UWaveGestureLibrary{X,Y,Z}_{TRAIN,TEST} (.tsv, .ts or .txt)",
                 kGesturesDownload);

  Dataset dataset;
  dataset.features = {"x", "y", "z"};
  for (int label : labels) dataset.classes.push_back(std::to_string(label));
  std::size_t unusable = 0, values = 0;
  for (std::size_t p = 0; p < 2; ++p) {
    if (!parts[p]) {
      report.add("missing",
                 fmt::format("{} files, so {} of the {} gestures are not there", kParts[p],
                             grouped(kPartSizes[p]), grouped(kPartSizes[0] + kPartSizes[1])));
      continue;
    }
    const Part& part = *parts[p];
    for (std::size_t i = 0; i < part[0].labels.size(); ++i) {
      const std::string id = fmt::format("{}{:04}", kPartIds[p], i + 1);
      const auto label = std::distance(labels.begin(), labels.find(part[0].labels[i]));
      dataset.add_series(id, static_cast<std::int32_t>(label));
      add_gesture(dataset, part, i, keep_fraction, Generator(seed, "gestures", hash_of(id)),
                  unusable);
      values += 3 * part[0].series[i].size();
    }
  }
  if (progress) progress(1.0);
  report.add("dropped", fmt::format("{} of {} values at random, seed {}, to keep {:g} %",
                                    grouped(values - dataset.observations() - unusable),
                                    grouped(values), seed, 100 * keep_fraction));
  if (unusable > 0)
    report.add("dropped", fmt::format("{} values that are missing or infinite", grouped(unusable)));
  report.add("kept", fmt::format("{} gestures of {} classes, {} values at {} times",
                                 grouped(dataset.size()), dataset.classes.size(),
                                 grouped(dataset.observations()), grouped(dataset.events())));
  return dataset;
}

}  // namespace edict
