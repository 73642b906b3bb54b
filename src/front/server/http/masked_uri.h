// A URI as it may be shown: on a screen, in a log, in a message.
#pragma once

#include <string>

namespace edict::server {

// postgresql://anna:secret@host/db?password=secret → postgresql://anna:***@host/db?password=***
inline std::string masked_uri(std::string uri) {
  static constexpr std::string_view kHidden = "***";
  const std::size_t authority = uri.find("://");
  if (authority == std::string::npos) return uri;
  // A sign that should have been escaped must not let half of a password be seen.
  const std::size_t begin = uri.find(':', authority + 3), end = uri.rfind('@');
  if (begin != std::string::npos && end != std::string::npos && begin < end)
    uri.replace(begin + 1, end - begin - 1, kHidden);
  for (std::size_t at = authority; (at = uri.find("password=", at)) != std::string::npos;) {
    at += std::string_view("password=").size();
    uri.replace(at, std::min(uri.find('&', at), uri.size()) - at, kHidden);
  }
  return uri;
}

}  // namespace edict::server
