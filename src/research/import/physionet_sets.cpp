#include "research/import/physionet_sets.h"

#include <fmt/core.h>

#include <algorithm>

namespace edict {

namespace fs = std::filesystem;

std::vector<PhysionetFiles> find_physionet_sets(const fs::path& from, ImportReport& report) {
  std::vector<PhysionetFiles> sets;
  for (char letter : {'a', 'b', 'c'}) {
    const std::string stem = fmt::format("set-{}", letter);
    std::vector<fs::path> found;
    for (const char* ending : {".tar.gz", ".tgz", ".tar", ".zip", ""})
      if (fs::path path = from / (stem + ending); fs::exists(path)) found.push_back(path);
    if (found.empty()) continue;
    for (std::size_t i = 1; i < found.size(); ++i)
      report.add("ignored", fmt::format("{}, for {} is there too", found[i].filename().string(),
                                        found[0].filename().string()));
    const std::string outcomes = fmt::format("Outcomes-{}.txt", letter);
    if (!fs::exists(from / outcomes)) fail_missing(from, outcomes, kPhysionetDownload);
    sets.push_back({letter, found[0], from / outcomes});
  }
  if (sets.empty())
    fail_missing(from, "set-a, set-b or set-c (.tar.gz, .zip or folder)", kPhysionetDownload);
  return sets;
}

bool is_physionet_record(std::string_view name) {
  return name.size() > 4 && name.ends_with(".txt") &&
         std::all_of(name.begin(), name.end() - 4, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace edict
