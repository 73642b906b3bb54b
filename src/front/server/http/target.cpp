#include "front/server/http/target.h"

#include <algorithm>
#include <charconv>

#include "base/text/utf8.h"

namespace edict::server {
namespace {

std::optional<std::string> unescaped(std::string_view text, bool plus_is_blank) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      unsigned value = 0;
      if (i + 2 >= text.size()) return {};
      const auto [end, error] =
          std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16);
      if (error != std::errc{} || end != text.data() + i + 3) return {};
      result += static_cast<char>(value);
      i += 2;
    } else {
      result += plus_is_blank && text[i] == '+' ? ' ' : text[i];
    }
  }
  if (!valid_utf8(result)) return {};
  return result;
}

bool parse_path(std::string_view path, std::vector<std::string>& parts) {
  if (!path.starts_with('/')) return false;
  for (path.remove_prefix(1); !path.empty();) {
    const std::size_t end = std::min(path.find('/'), path.size());
    auto part = unescaped(path.substr(0, end), false);
    // /v1/streams//observations would be another stream than the one that was left out.
    if (!part || part->empty()) return false;
    parts.push_back(std::move(*part));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return true;
}

bool parse_query(std::string_view query, Target& to) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto key = unescaped(pair.substr(0, equals), true);
    auto value = unescaped(pair.substr(std::min(equals + 1, pair.size())), true);
    if (!key || !value) return false;
    if (pair.empty()) continue;
    auto [at, is_new] = to.query.emplace(*key, *value);
    if (is_new) continue;
    at->second += "," + *value;
    to.repeated.insert(*key);
  }
  return true;
}

}  // namespace

std::optional<Target> parse_target(std::string_view target) {
  Target result;
  const std::size_t question = std::min(target.find('?'), target.size());
  if (!parse_path(target.substr(0, question), result.path)) return {};
  if (!parse_query(target.substr(std::min(question + 1, target.size())), result)) return {};
  return result;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

}  // namespace edict::server
