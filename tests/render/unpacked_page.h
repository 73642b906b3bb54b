// Reads the page of `edict explore` as its script does, written from the description of the bytes
// in render/explore/packed_series.h.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "render/explore/packed_series.h"

namespace edict::report {

inline std::string from_base64(std::string_view text) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t word = 0;
  int bits = 0;
  for (const char c : text) {
    const std::size_t value = digits.find(c);
    if (value == std::string_view::npos) break;
    word = word << 6 | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits >= 8) bytes.push_back(static_cast<char>(word >> (bits -= 8) & 0xff));
  }
  return bytes;
}

inline std::string inflated(const std::string& bytes) {
  std::string result(64, '\0');
  for (;;) {
    uLongf size = result.size();
    const int outcome = uncompress(reinterpret_cast<Bytef*>(result.data()), &size,
                                   reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    if (outcome == Z_OK) return result.substr(0, size);
    if (outcome != Z_BUF_ERROR || result.size() > (std::size_t{1} << 30)) break;
    result.resize(2 * result.size());
  }
  ADD_FAILURE() << "does not inflate";
  return {};
}

class ByteReader {
 public:
  explicit ByteReader(std::string bytes) : bytes_(std::move(bytes)) {}

  bool ended() const { return at_ >= bytes_.size(); }
  std::uint8_t byte() { return static_cast<std::uint8_t>(bytes_.at(at_++)); }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const std::uint8_t b = byte();
      value |= static_cast<std::uint64_t>(b & 127) << shift;
      if (b < 128) return value;
    }
  }
  std::int64_t signed_varint() {
    const std::uint64_t folded = varint();
    return static_cast<std::int64_t>(folded >> 1) ^ -static_cast<std::int64_t>(folded & 1);
  }
  template <class T>
  T raw() {
    T value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);  // both are little-endian
    at_ += sizeof value;
    return value;
  }
  std::string bytes(std::size_t count) { return bytes_.substr((at_ += count) - count, count); }
  std::vector<double> deltas(std::size_t count, double unit = 1.0) {
    std::vector<double> values;
    std::int64_t sum = 0;
    while (values.size() < count)
      values.push_back(static_cast<double>(sum += signed_varint()) / unit);
    return values;
  }
  std::vector<double> exact(std::size_t count) {
    const int decimals = byte();
    if (decimals != 255) return deltas(count, std::pow(10.0, decimals));
    std::vector<double> values;
    while (values.size() < count) values.push_back(raw<double>());
    return values;
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

struct UnpackedExpectations {
  std::vector<double> z, deviation, share;
};
struct UnpackedBand {
  std::vector<double> at, mean, half, deviation, share;
  double low = 0, high = 0;
};
struct UnpackedFeature {
  std::size_t feature = 0;
  std::vector<std::size_t> event;
  std::vector<double> value;
  UnpackedExpectations given, forecast;  // the latter of the last observations
  std::map<std::size_t, double> used;    // by place
  UnpackedBand given_band, forecast_band;
};
struct UnpackedSeries {
  double cut = 0;
  std::vector<double> times, grid;
  double origin = 0;
  std::vector<std::string> written;  // times, of dates
  std::vector<UnpackedFeature> features;
  std::vector<UnpackedBand> given_probability, forecast_probability;  // at and mean
};

inline UnpackedExpectations unpacked_expectations(ByteReader& from, std::size_t count, bool whole) {
  UnpackedExpectations told;
  for (std::size_t i = 0; i < count; ++i)
    told.z.push_back(static_cast<double>(from.signed_varint()) / (whole ? kZSteps : kCoarseZSteps));
  if (!whole) return told;
  for (const double q : from.deltas(count, kLogSteps)) told.deviation.push_back(std::exp2(q));
  told.share = from.deltas(count, kShareSteps);
  return told;
}

inline UnpackedBand unpacked_band(ByteReader& from) {
  UnpackedBand band;
  const std::size_t count = from.varint();
  if (count == 0) return band;
  band.low = from.raw<double>();
  band.high = from.raw<double>();
  const double unit = kBandSteps / (band.high - band.low);
  band.at = from.deltas(count);
  for (const double q : from.deltas(count, unit)) band.mean.push_back(band.low + q);
  band.half = from.deltas(count, unit);
  const std::vector<double> ratio = from.deltas(count, kLogSteps);
  for (std::size_t i = 0; i < count; ++i)
    band.deviation.push_back(band.half[i] / std::exp2(ratio[i]));
  band.share = from.deltas(count, kShareSteps);
  return band;
}

inline UnpackedSeries unpacked_series(const std::string& record) {
  ByteReader from(record);
  UnpackedSeries series;
  const std::size_t events = from.varint();
  series.times = from.exact(events);
  const int what = from.byte();
  series.cut = from.raw<double>();
  if (what & 16) {
    series.origin = from.raw<double>();
    std::istringstream lines(from.bytes(from.varint()));
    for (std::string line; std::getline(lines, line);) series.written.push_back(line);
  }
  const std::size_t features = from.varint();
  for (std::size_t j = 0; j < features; ++j) {
    UnpackedFeature& feature = series.features.emplace_back();
    feature.feature = from.varint();
    const std::size_t count = from.varint();
    std::size_t event = 0;
    for (std::size_t i = 0; i < count; ++i) feature.event.push_back(event += from.varint());
    feature.value = from.exact(count);
    if (what & 1) {
      feature.given = unpacked_expectations(from, count, what & 2);
      if (what & 2) {
        const std::size_t later = from.varint();
        feature.forecast = unpacked_expectations(from, later, true);
      }
    }
    if (what & 8) {
      const std::size_t clips = from.varint();
      std::size_t place = 0;
      for (std::size_t i = 0; i < clips; ++i) {
        place += from.varint();
        feature.used[place] = from.raw<double>();
      }
    }
    if (what & 2) {
      feature.given_band = unpacked_band(from);
      feature.forecast_band = unpacked_band(from);
    }
  }
  if (what & 6) {
    const std::size_t count = from.varint();
    const auto first = from.raw<double>(), last = from.raw<double>();
    for (const double q : from.deltas(count, kGridSteps))
      series.grid.push_back(first + (last - first) * q);
  }
  if (what & 4)
    for (auto* curves : {&series.given_probability, &series.forecast_probability})
      for (std::size_t k = from.varint(); k > 0; --k) {
        UnpackedBand& curve = curves->emplace_back();
        const std::size_t count = from.varint();
        curve.at = from.deltas(count);
        curve.mean = from.deltas(count, kShareSteps);
      }
  EXPECT_TRUE(from.ended()) << "bytes are left";
  return series;
}

struct UnpackedPage {
  nlohmann::json meta, index;
  std::vector<std::vector<std::string>> blocks;  // records

  explicit UnpackedPage(const std::string& html) {
    meta = nlohmann::json::parse(element(html, "application/json", "meta"));
    index = nlohmann::json::parse(inflated(from_base64(element(html, "text/plain", "index"))));
    for (std::size_t b = 0;
         html.find("id=\"block-" + std::to_string(b) + "\"") != std::string::npos; ++b) {
      ByteReader from(
          inflated(from_base64(element(html, "text/plain", "block-" + std::to_string(b)))));
      blocks.emplace_back();
      while (!from.ended()) {
        const std::size_t size = from.varint();
        blocks.back().push_back(from.bytes(size));
      }
    }
  }

  UnpackedSeries series(std::size_t row) const {
    return unpacked_series(blocks.at(index["block"][row].get<std::size_t>())
                               .at(index["place"][row].get<std::size_t>()));
  }

  // The text of a script element.
  static std::string element(const std::string& html, const std::string& type,
                             const std::string& id) {
    const std::string open = "<script type=\"" + type + "\" id=\"" + id + "\">";
    const std::size_t at = html.find(open);
    if (at == std::string::npos) {
      ADD_FAILURE() << "no element " << id;
      return "null";
    }
    const std::size_t begin = at + open.size();
    return html.substr(begin, html.find("</script>", begin) - begin);
  }
};

}  // namespace edict::report
