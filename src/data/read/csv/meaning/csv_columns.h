// What the columns of a table hold, counted while its rows are read, and what they mean once all
// rows are known: numbers, categories, codes for "missing", mistakes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/read/cells/missing_codes.h"
#include "data/read/cells/text_values.h"
#include "data/read/csv/csv_problems.h"
#include "data/read/csv/layout/csv_layout.h"
#include "data/read/csv/meaning/csv_recognised.h"
#include "data/read/csv/rows/csv_table.h"
#include "data/read/read_options.h"

namespace edict {

// Thrown inside of the reader where words such as None turn out to be categories of columns.
struct CsvKeptWords {
  std::vector<std::string> columns;
};

// Whether such words are categories beside these: of None, Mild, Moderate, Severe, and of -, + and
// ++ every one says something.
bool words_belong(const UnknownWords& words, const std::vector<std::string>& categories);

class CsvColumns {
 public:
  struct Meanings {
    std::vector<ColumnMeaning> features, statics;
  };

  CsvColumns(const CsvLayout& layout, const ReadOptions& options, CsvTable& table,
             CsvProblems& problems);

  // Counts what the rows hold, and takes out what was said to stand for "missing".
  void take_stock(EventRows& rows);

  // After the last row. Notes what is wrong. Throws CsvKeptWords.
  Meanings meanings(const std::vector<std::string>& features);

  // Texts that are numbers become numbers, and codes for "missing" what they mean.
  void settle(EventRows& rows, const Meanings& meanings);

  // Whether values turned out to be missing.
  bool some_missing() const { return some_missing_; }
  // What stands for "missing", as options would say it.
  std::vector<std::string> missing() const;
  const std::vector<RecognisedTable::Code>& codes_found() const { return codes_found_; }

 private:
  // Of each feature.
  struct Stock {
    std::size_t numbers = 0;     // cells that hold one
    bool fractions = false;      // some of them with decimals
    double largest = 0;          // the greatest amount of them
    std::int64_t exponents = 0;  // the sum of those that are not zero
    std::size_t not_zero = 0;
    Extremes extremes;
    std::vector<double> said, codes;  // that stand for "missing": said to, and found
    void add(double value);
  };

  void add_stock(std::size_t feature);
  void note_code(double value, std::size_t feature);
  bool known_as_numbers(const std::string& name, bool is_static) const;
  ColumnContext context_of(const std::string& name, bool is_static) const;
  ColumnMeaning meaning_of_feature(const std::string& name, std::size_t feature);
  std::vector<ColumnMeaning> meanings_of_statics();
  void refuse_left_out(const TextColumn& texts, const ColumnMeaning& meaning,
                       const std::string& column);
  void find_sentinels(const std::vector<std::string>& features);
  void leave_out_empty(const std::vector<std::string>& features,
                       std::vector<ColumnMeaning>& meanings) const;
  void keep_words(const std::vector<std::string>& features, const Meanings& meanings) const;

  const CsvLayout& layout_;
  const ReadOptions& options_;
  CsvTable& table_;
  CsvProblems& problems_;
  std::vector<Stock> stock_;
  const std::vector<std::string> missing_;
  const MissingCodes codes_;
  std::vector<std::string> sentinels_;  // as options would say them
  std::vector<RecognisedTable::Code> codes_found_;
  bool some_missing_ = false;
};

}  // namespace edict
