// The parts of a packed file, for who writes and who reads it (packed_file.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace edict::packed {

static_assert(sizeof(std::size_t) == 8 && sizeof(double) == 8);

// As PNG's: a byte that no text begins with, and line ends that a transfer as text would spoil.
inline constexpr std::string_view kMark(
    "\x89"
    "edict\r\n",
    8);
inline constexpr std::string_view kEndMark("edictend", 8);
inline constexpr std::uint32_t kVersion = 1, kByteOrder = 0x01020304;
inline constexpr std::size_t kHead = 16, kTail = 32, kAlign = 64;

// Of every section, in the order of the file.
enum Section : std::size_t {
  kIdBytes,
  kIdEnds,
  kLabels,
  kGroupOf,
  kStaticValues,
  kOrigins,
  kZoneSeries,
  kZoneFrom,
  kZoneMinutes,
  kFirstEvent,
  kTimes,
  kFirstObservation,
  kFeature,
  kValue,
  kSections,
};
inline constexpr const char* kSectionNames[kSections] = {
    "id_bytes", "id_ends",           "labels",    "group_of",     "static_values",
    "origins",  "zone_series",       "zone_from", "zone_minutes", "first_event",
    "times",    "first_observation", "feature",   "value"};

inline std::size_t aligned(std::size_t at) { return (at + kAlign - 1) / kAlign * kAlign; }

inline std::string head() {
  std::string bytes(kMark);
  bytes.append(reinterpret_cast<const char*>(&kVersion), sizeof kVersion);
  bytes.append(reinterpret_cast<const char*>(&kByteOrder), sizeof kByteOrder);
  return bytes;
}

}  // namespace edict::packed
