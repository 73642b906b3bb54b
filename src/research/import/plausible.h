// What a measured quantity can be in a living patient and on its instrument: wide limits that keep
// the sickest and remove typing slips, artefacts and placeholders.
#pragma once

#include <string_view>

namespace edict {

struct PlausibleRange {
  std::string_view name;
  double low, high;  // both still plausible
  std::string_view unit;

  bool holds(double value) const { return value >= low && value <= high; }  // false for NaN
};

// A slip so regular that the meant value is certain: values in [low, high] are
// offset + factor × themselves.
struct UnitSlip {
  std::string_view name;
  double low, high, factor, offset;

  bool matches(double value) const { return value >= low && value <= high; }
  double repaired(double value) const { return offset + factor * value; }
};

}  // namespace edict
