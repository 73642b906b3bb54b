// A study as one self-contained page, and a small page for each of its runs.
#pragma once

#include <filesystem>
#include <string>

#include "research/report/results.h"

namespace edict::report {

// `results` are results_of(study).
std::string study_page(const study::Study& study, const Results& results);

// Settings, commands and files of a run's folder.
std::string run_page(const study::StudiedRun& run, const std::filesystem::path& folder);

// index.html, results.json, results.md and the runs' pages in `out`; gives back the results.
Results write_report(const study::Study& study, const std::filesystem::path& out);

}  // namespace edict::report
