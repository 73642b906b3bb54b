// Numbers as few bytes inside a page: columns of small integers, which deflate shrinks well, as
// base64. page/explore.js reads them back.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace edict::report {

// Appends to a string of bytes; all numbers are little-endian.
class ByteWriter {
 public:
  void byte(std::uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  // Seven bits a byte, the lowest first; the script reads what is below 2⁵³.
  void varint(std::uint64_t value);
  // Small for small values of either sign: 0, −1, 1, −2, … are 0, 1, 2, 3, …
  void signed_varint(std::int64_t value);
  void float64(double value);
  void append(std::string_view bytes) { bytes_ += bytes; }

  // Integers as differences from one to the next.
  void deltas(std::span<const std::int64_t> values);

  // Numbers that come back bit by bit. Those that people write are whole multiples of a power of
  // ten: a byte tells how many decimals, and differences of the multiples follow. Where that does
  // not give each number exactly the byte is kRawNumbers, followed by the numbers as they are.
  static constexpr std::uint8_t kRawNumbers = 255;
  void exact(std::span<const double> values);

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// As zlib writes it, which a browser knows as the format "deflate".
std::string deflated(std::string_view bytes);

std::string base64(std::string_view bytes);

}  // namespace edict::report
