// The rows of a table that is larger than memory, on their way from the order of the file to that
// of the ids: sorted runs in temporary files, merged when all of them are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/files/temporary_file.h"
#include "data/read/event_rows.h"

namespace edict {

class RowRuns {
 public:
  // Keeps its files in `folder`.
  explicit RowRuns(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Writes the rows away and empties them. `ids` are those of the series that they name, `zone` is
  // that of rows that do not say theirs. Rows are counted from call to call.
  void add(EventRows& rows, const std::vector<std::string>& ids, std::int16_t zone);
  std::size_t rows() const { return rows_; }

  // After the last add: where each series stands by id.
  void begin_reading(std::vector<std::int32_t> rank);
  // Appends the rows of the series that stands at this place, in the order of the file, as rows of
  // `series`, and tells where each of them stood. Places are asked for in ascending order.
  void take(std::int32_t place, std::int32_t series, EventRows& rows,
            std::vector<std::size_t>& row_numbers);

 private:
  struct Row {  // as it stands in a file, followed by its observations
    std::uint64_t number;
    double time;
    std::int32_t series;
    std::uint32_t observations;
    std::int32_t zone;
    std::int32_t unused = 0;
  };
  struct Run {
    TemporaryFile file;
    Row next;
    bool ended = false;
  };
  static void advance(Run& run);

  std::filesystem::path folder_;
  std::vector<Run> runs_;
  std::vector<std::int32_t> rank_;
  std::size_t rows_ = 0;
};

}  // namespace edict
