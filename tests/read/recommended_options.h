// What a message about a table recommends, as it would be typed behind the command.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "data/read/csv/csv.h"

namespace edict {

inline std::vector<std::string> list_of(const std::string& value) {
  std::vector<std::string> parts;
  std::istringstream all(value);
  for (std::string part; std::getline(all, part, ',');) parts.push_back(part);
  return parts;
}

inline void set_option(ReadOptions& options, const std::string& name, const std::string& value) {
  if (name == "id") options.id = value;
  if (name == "time") options.time = value;
  if (name == "label") options.label = value;
  if (name == "decimal") options.decimal = value;
  if (name == "duplicates") options.duplicates = value;
  if (name == "time-format") options.time_format = value;
  if (name == "missing") options.missing = {value};
  if (name == "ignore") options.ignored = list_of(value);
  if (name == "category") options.categories = list_of(value);
  if (name == "columns") options.columns = list_of(value);
}

// The options with a value that a message words for the command line: --id 'Bed no'.
inline std::vector<std::pair<std::string, std::string>> recommended(const std::string& message) {
  std::vector<std::pair<std::string, std::string>> found;
  for (std::size_t at = 0; (at = message.find("--", at)) != std::string::npos;) {
    at += 2;
    const std::size_t end = message.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", at);
    const std::string name = message.substr(at, end - at);
    if (end == std::string::npos || message[end] != ' ' || end + 1 >= message.size()) continue;
    const bool quoted = message[end + 1] == '\'';
    const std::size_t from = end + (quoted ? 2 : 1);
    std::size_t to = std::min(message.find_first_of(quoted ? "'" : " ;)\n", from), message.size());
    if (!quoted && message[to - 1] == ',') --to;
    const std::string value = message.substr(from, to - from);
    // Words of the sentence: "--id, or …", "--missing names …", "--time; …".
    if (value == "or" || value == "names" || value == "and" || value == "where" || value == "may")
      continue;
    if (std::ranges::find(found, std::pair(name, value)) == found.end())
      found.emplace_back(name, value);
  }
  return found;
}

inline std::string message_of(const std::string& text, const ReadOptions& options) {
  try {
    read_csv_text(text, "f.csv", options).check();
  } catch (const Error& error) {
    return error.message(command_line_option);
  }
  return {};
}

// What is said where each of the options that a message recommends is given to the table in turn,
// beside those that were given: empty where every one reads it.
inline std::string what_remedies_say(const std::string& message, const std::string& text,
                                     const ReadOptions& given = {}) {
  std::string said;
  for (const auto& [name, value] : recommended(message)) {
    ReadOptions options = given;
    set_option(options, name, value);
    if (const std::string answer = message_of(text, options); !answer.empty())
      said += "--" + name + " " + value + ": " + answer + "\n";
  }
  return said;
}

}  // namespace edict
