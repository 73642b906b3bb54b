// How a table became a dataset: which of its columns is what. A model carries it, so that another
// table of the same kind is read alike without being told again.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace edict {

// A column of texts, which became one column `name=value` of zeros and ones for each value.
struct CategoryColumn {
  std::string column;
  bool is_static = false;
  std::vector<std::string> values;  // sorted

  bool operator==(const CategoryColumn&) const = default;
};

struct Reading {
  // Names of columns, empty where there is none. "none" as id: the table is one series.
  std::string id, time, label, group;
  std::string clock;                  // the time of day, where it stands beside the date
  std::string variable, value;        // of the long form
  std::vector<std::string> statics;   // as the file calls them
  std::vector<std::string> features;  // empty in long form, where rows name them
  std::vector<std::string> columns;   // the names of all, of a table without a header
  std::vector<CategoryColumn> categories;
  std::string duplicates;            // what became of them: mean, first, last or error
  std::vector<std::string> missing;  // what stands for a missing value, as --missing says it
  // Of columns whose cells name one.
  struct Unit {
    std::string column, unit;
    bool operator==(const Unit&) const = default;
  };
  std::vector<Unit> units;
  std::size_t piece = 0;  // events of the pieces that a model learnt from; 0: whole series

  // What had to be guessed, in lines for the reader of the output; empty for a file as write_csv
  // makes it. These are not stored in a model.
  std::vector<std::string> recognised;

  std::string unit_of(const std::string& column) const;  // empty where none is known
  const CategoryColumn* category(const std::string& column, bool is_static) const;
};

// from_json throws Error or nlohmann's exception where the text is not what to_json writes.
nlohmann::json to_json(const Reading& reading);
Reading reading_from_json(const nlohmann::json& json);

}  // namespace edict
