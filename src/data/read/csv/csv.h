// A dataset as one table in a text file.
//
// Wide form: a row an event, an empty cell where a feature was not observed. Long form: a row an
// observation, with a column that names the feature and one for its value. Both may have a label, a
// group and static covariates, which are constant within an id; their cells may be empty in some
// rows of an id. Columns and rows come in any order; series keep the order in which their ids first
// appear, events are sorted by time. A row without any observed value declares its series (and may
// leave the time empty) but adds no event, so a series without events can be expressed.
//
// What write_csv makes has the columns id, time, label, group, static:<name> and a column a
// feature, or feature and value. Of other tables it is recognised what they are (docs/how-to/tables.md):
// separator and decimal comma, encoding, which column is what, dates, categories. A cell that is
// empty or spelled NA, NaN, null, None, -, . or ? is missing. Cells may be quoted as in RFC 4180;
// blanks around an unquoted cell are dropped; a byte-order mark, Windows line ends, blank lines and
// a missing last line end are accepted. Labels and groups are sorted: by number if all of them are
// numbers, else by text.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "data/dataset.h"
#include "data/read/read_options.h"

namespace edict {

// Throws Error `file:line: column 'x': what is wrong; what to do`, or a list of such lines where
// there is more than one thing wrong.
Dataset read_csv(const std::filesystem::path& path, const ReadOptions& options = {});
Dataset read_csv_text(std::string_view text, const std::string& name,
                      const ReadOptions& options = {});

// A table of any size: parts of its dataset, series by id, each part with the names of all of them.
// About `memory` bytes hold rows at a time, others are in files without a name in `folder`; what is
// known of every series stays in memory. How it was read comes back. A file that is compressed or
// in another encoding is unpacked in memory first.
using TakePart = std::function<void(const Dataset& part)>;
Reading read_csv_by_id(const std::filesystem::path& path, const ReadOptions& options,
                       std::size_t memory, const std::filesystem::path& folder,
                       const TakePart& take);

// Wide form, numbers in the shortest text that reads back as the same double, dates as they were
// written. The file appears
// whole or not at all. Throws Error where a name could not be read back.
void write_csv(const Dataset& dataset, const std::filesystem::path& path);

// `text` as one cell, quoted where it has to be.
std::string csv_cell(std::string_view text);

}  // namespace edict
