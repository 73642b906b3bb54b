// The files of the PhysioNet 2012 challenge in a download folder.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "research/import/download.h"
#include "research/import/import.h"

namespace edict {

inline constexpr Download kPhysionetDownload{"the PhysioNet/Computing in Cardiology Challenge 2012",
                                             "https://physionet.org/content/challenge-2012/1.0.0/",
                                             "ODC-By 1.0",
                                             "set-a.tar.gz and the other sets 6 to 8 MB with 4,000 "
                                             "stays each, Outcomes-a.txt and the others "
                                             "80 kB"};

struct PhysionetFiles {
  char letter;
  std::filesystem::path records, outcomes;
};

// Sets a, b and c, whichever are there. Throws Error where none is, or one without its outcomes.
std::vector<PhysionetFiles> find_physionet_sets(const std::filesystem::path& from,
                                                ImportReport& report);

// 132539.txt
bool is_physionet_record(std::string_view base_name);

}  // namespace edict
