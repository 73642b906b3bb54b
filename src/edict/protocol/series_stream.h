// Random streams that belong to a series by its id, so that what is drawn for a series depends
// neither on its place in the file nor on the other series there.
#pragma once

#include <cstdint>
#include <string_view>

namespace edict {

// FNV-1a over the id, continued over `purpose`, so that two uses with one seed stay independent.
inline std::uint64_t series_stream(std::string_view id, std::string_view purpose) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto absorb = [&hash](char byte) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  };
  for (char byte : id) absorb(byte);
  absorb('\0');
  for (char byte : purpose) absorb(byte);
  return hash;
}

}  // namespace edict
