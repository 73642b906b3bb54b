// Numbers that stand for "missing": -999 and its like, as somebody says or as they stand out.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace edict {

// What --missing says: a number or a text, of one column where its name stands before a "=", in
// lower or upper case.
class MissingCodes {
 public:
  MissingCodes() = default;
  explicit MissingCodes(const std::vector<std::string>& given);

  bool empty() const { return codes_.empty(); }
  // "none" was given: codes are not to be recognised either.
  bool recognise() const { return recognise_; }

  bool matches_text(std::string_view column, std::string_view text) const;
  std::vector<double> numbers(std::string_view column) const;

 private:
  struct Code {
    std::string all;            // as it was given, for any column
    std::string column, value;  // where there is a "="
    bool is_of(std::string_view name) const;
  };
  std::vector<Code> codes_;
  bool recognise_ = true;
};

// The lowest and highest numbers of a column, and how often each of them is there.
class Extremes {
 public:
  void add(double value) {
    ++count_;
    if (value <= low_.back().value) put(low_, value, 1);
    if (value >= high_.back().value) put(high_, -value, -1);
  }

  // Those that stand for "missing": of the numbers that are used so, they are far outside of what
  // the column holds otherwise.
  struct Sentinel {
    double value;
    std::size_t cells;
  };
  std::vector<Sentinel> sentinels() const;

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  struct Extreme {
    double value;
    std::size_t cells = 0;
  };
  using List = std::array<Extreme, 4>;
  static List filled(double value);
  // The list ascends by sign · value; `value` carries the sign already.
  static void put(List& list, double value, int sign);

  List low_ = filled(kInfinity), high_ = filled(-kInfinity);
  std::size_t count_ = 0;
};

}  // namespace edict
