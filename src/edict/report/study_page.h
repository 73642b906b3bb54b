// A study as one self-contained page, and a small page for each of its runs.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "edict/study/study.h"

namespace edict {

// `results` are results_of(study).
std::string study_page(const Study& study, const nlohmann::json& results);

// Settings, commands and files of a run's folder.
std::string run_page(const StudiedRun& run, const std::filesystem::path& folder);

// index.html, results.json, results.md and the runs' pages in `out`; gives back the results.
nlohmann::json write_report(const Study& study, const std::filesystem::path& out);

}  // namespace edict
