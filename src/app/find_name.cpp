#include "app/find_name.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "base/text/lower_case.h"
#include "settings/settings.h"

namespace edict::app {

FoundName find_name(const std::string& given, const std::string& what, const std::string& name,
                    const std::vector<std::string>& known) {
  const auto place = [](const auto& in, auto found) {
    return static_cast<std::size_t>(found - in.begin());
  };
  if (const auto found = std::ranges::find(known, name); found != known.end())
    return {place(known, found), ""};
  const auto missing = [&](std::string remedy) {
    return Error(ErrorCode::not_found, {.subject = option(given),
                                        .problem = fmt::format("no {} '{}'", what, name),
                                        .remedy = std::move(remedy)});
  };
  if (known.empty()) throw missing("there is none");
  std::vector<std::string> lowered;
  for (const std::string& one : known) lowered.push_back(in_lower_case(one));
  const std::string wanted = in_lower_case(name);
  if (std::ranges::count(lowered, wanted) == 1) {
    const std::size_t found = place(lowered, std::ranges::find(lowered, wanted));
    return {found,
            fmt::format("{}: '{}' is taken as {} '{}'", option(given), name, what, known[found])};
  }
  const std::string nearest = settings::nearest(wanted, {lowered.begin(), lowered.end()});
  throw missing(fmt::format("did you mean '{}'?",
                            known.at(place(lowered, std::ranges::find(lowered, nearest)))));
}

}  // namespace edict::app
