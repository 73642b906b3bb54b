// One stay of the PhysioNet 2012 challenge: a text `Time,Parameter,Value` with times as HH:MM.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "research/import/archive.h"
#include "research/import/physionet_parameters.h"

namespace edict {

inline constexpr int kPhysionetBinMinutes = 10;

struct PhysionetStay {
  struct Value {
    std::int32_t bin;      // minutes / 10
    std::int32_t feature;  // among the kept parameters
    double value;
  };
  std::string id;
  std::array<double, kPhysionetStatics> statics;  // NaN where missing
  std::vector<Value> values;                      // by bin, then feature; one for each pair
};

// What happened to the rows, summed over stays.
struct PhysionetCounts {
  struct Parameter {
    std::size_t read = 0, implausible = 0, repaired = 0;
    Parameter& operator+=(const Parameter& other);
  };
  std::map<std::string, Parameter, std::less<>> descriptors;
  std::vector<Parameter> parameters{physionet_parameters().size()};
  std::map<std::string, std::size_t, std::less<>> unknown;  // rows by parameter name
  std::size_t values = 0;                                   // rows of time-varying parameters
  std::size_t missing = 0;                                  // of these, marked by −1
  std::size_t late = 0;                                     // of these, after 48:00
  std::size_t repeated = 0;  // of these, the same time, parameter and value again
  PhysionetCounts& operator+=(const PhysionetCounts& other);
};

// The stay's id is the file's base name without ".txt". Throws Error with file and line where the
// text is not in the format.
PhysionetStay read_physionet_record(const ArchiveEntry& entry, PhysionetCounts& counts);

}  // namespace edict
