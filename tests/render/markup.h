// Looking into SVG and HTML as text.
#pragma once

#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace edict::report {

// What the first group of `pattern` matched, everywhere in `text`.
inline std::vector<std::string> all(const std::string& text, const std::string& pattern) {
  std::vector<std::string> found;
  const std::regex expression(pattern);
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
    found.push_back((*at)[1]);
  return found;
}

// The values of an attribute in every such element, in order.
inline std::vector<std::string> attributes(const std::string& text, const std::string& element,
                                           const std::string& name) {
  std::vector<std::string> found;
  const std::string open = "<" + element + " ", key = " " + name + "=\"";
  for (std::size_t at = text.find(open); at != std::string::npos; at = text.find(open, at + 1)) {
    const std::size_t close = text.find('>', at), from = text.find(key, at);
    if (from >= close) continue;
    const std::size_t begin = from + key.size();
    found.push_back(text.substr(begin, text.find('"', begin) - begin));
  }
  return found;
}

// "1.0,2.0 3.0,4.0"
inline std::vector<std::pair<double, double>> coordinates(const std::string& points) {
  std::vector<std::pair<double, double>> result;
  std::istringstream in(points);
  char comma = 0;
  for (double x = 0, y = 0; in >> x >> comma >> y;) result.emplace_back(x, y);
  return result;
}

inline std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + what.size()))
    ++found;
  return found;
}

}  // namespace edict::report
