// The address that a request asks for.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace edict::server {

// A target in its parts, with percent signs resolved.
struct Target {
  std::vector<std::string> path;  // "v1", "streams", "bed 3"
  // A name that is given again adds to a list.
  std::map<std::string, std::string> query;
  std::set<std::string> repeated;  // names that were
};
// Nothing where a percent sign is not followed by two digits, a text is not UTF-8, or a part before
// the last one is empty.
std::optional<Target> parse_target(std::string_view target);

// The parts of "a,b"; none of an empty text.
std::vector<std::string> split_list(std::string_view text);

}  // namespace edict::server
