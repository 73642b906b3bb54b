// Small downloads for the importers' tests: folders, tar.gz and zip archives of given files, in a
// folder of their own that goes away with the object.
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "research/import/import.h"
#include "temporary_folder.h"

namespace edict {

using Files = std::vector<std::pair<std::string, std::string>>;  // name, text

class DownloadFolder : public TemporaryFolder {
 public:
  using TemporaryFolder::write;
  void write(const Files& files) const {
    for (const auto& [name, text] : files) write(name, text);
  }
  // By the ending of `name`: .tar.gz or .zip.
  void pack(const std::string& name, const Files& files) const {
    archive* out = archive_write_new();
    if (name.ends_with(".zip")) {
      archive_write_set_format_zip(out);
    } else {
      archive_write_set_format_pax_restricted(out);
      archive_write_add_filter_gzip(out);
    }
    check(archive_write_open_filename(out, (path() / name).c_str()));
    for (const auto& [file, text] : files) {
      archive_entry* entry = archive_entry_new();
      archive_entry_set_pathname(entry, file.c_str());
      archive_entry_set_size(entry, static_cast<la_int64_t>(text.size()));
      archive_entry_set_filetype(entry, AE_IFREG);
      archive_entry_set_perm(entry, 0644);
      check(archive_write_header(out, entry));
      archive_write_data(out, text.data(), text.size());
      archive_entry_free(entry);
    }
    check(archive_write_close(out));
    archive_write_free(out);
  }
  void cut(const std::string& name, double share) const {
    const auto size = std::filesystem::file_size(path() / name);
    std::filesystem::resize_file(path() / name,
                                 static_cast<std::uintmax_t>(share * static_cast<double>(size)));
  }

 private:
  static void check(int result) {
    if (result != ARCHIVE_OK) throw std::runtime_error("the archive cannot be written");
  }
};

// The message of the Error that `call` throws; a failure where it throws none.
template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no Error was thrown";
  return {};
}

inline void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

inline std::string text_of(const ImportReport& report) {
  std::string text;
  for (const auto& [what, details] : report.lines) text += what + ": " + details + "\n";
  return text;
}

// The value of a feature in an event; fails where it was not observed.
inline double value_of(const Dataset& dataset, std::size_t event, const std::string& feature) {
  for (const Observation& seen : dataset.observed(event))
    if (dataset.features[static_cast<std::size_t>(seen.feature)] == feature) return seen.value;
  ADD_FAILURE() << feature << " was not observed in event " << event;
  return 0.0;
}

inline void expect_same(const Dataset& a, const Dataset& b) {
  EXPECT_EQ(a.features, b.features);
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.first_event, b.first_event);
  EXPECT_EQ(a.times, b.times);
  EXPECT_EQ(a.first_observation, b.first_observation);
  ASSERT_EQ(a.observations(), b.observations());
  for (std::size_t i = 0; i < a.observations(); ++i) {
    EXPECT_EQ(a.feature[i], b.feature[i]);
    EXPECT_EQ(a.value[i], b.value[i]);
  }
}

}  // namespace edict
