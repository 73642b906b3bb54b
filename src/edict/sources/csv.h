// A dataset as one CSV file.
//
// Wide form: header `id,time,<feature>…`, one row an event, an empty cell where a feature was not
// observed. Long form: exactly `id,time,feature,value`, one row an observation. Both may carry
// `label`, `group` and `static:<name>` columns, constant within an id; their cells may be empty in
// some rows of an id. Columns and rows come in any order; series keep the order in which their ids
// first appear, events are sorted by time. A row without any observed value declares its series
// (and may leave the time empty) but adds no event, so a series without events can be expressed.
//
// Cells may be quoted as in RFC 4180; blanks around an unquoted cell are dropped; a byte-order
// mark, Windows line ends, blank lines and a missing last line end are accepted. A colon in a
// column name marks its kind, so a feature's name cannot contain one. A label or group that is
// empty or spelled NA, N/A, NaN or null is none. Labels and groups are sorted: by number if all of
// them are numbers, else by text.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "edict/data/dataset.h"

namespace edict {

// What a file may ask of the machine; beyond it an Error. For files from strangers, lower them.
struct CsvLimits {
  std::size_t bytes = std::size_t{1} << 36;
  std::size_t columns = std::size_t{1} << 16;
  std::size_t text = 4096;  // bytes of an id, label, group or name
};

// Throws Error `file:line: column 'x': what is wrong; what to do`.
Dataset read_csv(const std::filesystem::path& path, const CsvLimits& limits = {});
Dataset read_csv_text(std::string_view text, const std::string& name, const CsvLimits& limits = {});

// Wide form, numbers in the shortest text that reads back as the same double. The file appears
// whole or not at all. Throws Error where a name could not be read back.
void write_csv(const Dataset& dataset, const std::filesystem::path& path);

// `text` as one cell, quoted where it has to be.
std::string csv_cell(std::string_view text);

}  // namespace edict
