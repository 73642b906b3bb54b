// A name that a person gives among those there are.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace edict::app {

struct FoundName {
  std::size_t place;
  std::string note;  // a sentence where another name was taken; else empty
};

// As it is written, or in another case where that is one name alone. `option`: where it was given;
// `what`: "feature". Throws Error with a suggestion where there is no such name.
FoundName find_name(const std::string& option, const std::string& what, const std::string& name,
                    const std::vector<std::string>& known);

}  // namespace edict::app
