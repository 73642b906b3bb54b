#include "data/packed_file.h"

#include <fmt/core.h>

#include <cstring>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/mapped_file.h"
#include "base/files/read_file.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "base/json/json_values.h"
#include "base/text/utf8.h"
#include "data/packed_checksum.h"
#include "data/packed_format.h"

namespace edict {

using namespace packed;

namespace {

using nlohmann::json;

class PackedReader {
 public:
  // `owner` keeps the bytes.
  PackedReader(std::string name, std::span<const std::byte> bytes,
               std::shared_ptr<const void> owner)
      : name_(std::move(name)), owner_(std::move(owner)), bytes_(bytes) {}

  Dataset read() {
    const json footer = read_footer();
    Dataset data;
    try {
      fill(footer, data);
    } catch (const json::exception&) {
      damaged("its description is not complete");
    }
    try {
      data.check();
    } catch (const Error& error) {
      damaged(error.what());
    }
    return data;
  }

 private:
  [[noreturn]] void damaged(const std::string& what) const {
    throw Error(fmt::format("{}: damaged ({}); pack the data again", name_, what));
  }

  std::uint64_t number_at(std::size_t at) const {
    std::uint64_t value;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }
  std::string_view text_at(std::size_t at, std::size_t count) const {
    return {reinterpret_cast<const char*>(bytes_.data()) + at, count};
  }

  json read_footer() {
    const std::size_t size = bytes_.size();
    if (size < kHead || !is_packed(text_at(0, kMark.size())))
      throw Error(fmt::format("{}: no packed data; make them with `edict pack`", name_));
    if (text_at(0, kHead) != head()) {
      std::uint32_t version, order;
      std::memcpy(&version, bytes_.data() + 8, 4);
      std::memcpy(&order, bytes_.data() + 12, 4);
      throw Error(fmt::format(
          "{}: {}; pack the data again", name_,
          order == kByteOrder ? fmt::format("packed in version {} of the format, and this program "
                                            "reads version {}",
                                            version, kVersion)
                              : std::string("packed on a machine with another byte order")));
    }
    if (size < kHead + kTail || text_at(size - kEndMark.size(), kEndMark.size()) != kEndMark)
      damaged("its end is missing");
    const std::uint64_t at = number_at(size - kTail), count = number_at(size - kTail + 8);
    if (at < kHead || at > size - kTail || count != size - kTail - at)
      damaged("its description is not where it should be");
    const std::string_view footer = text_at(at, count);
    if (Hash().bytes(bytes_.data(), kHead).text(footer).number(at).value() !=
        number_at(size - kTail + 16))
      damaged("the checksum of its description does not fit");
    json found = parse_json(std::string(footer));
    if (!found.is_object()) damaged("its description cannot be read");
    end_ = at;
    return found;
  }

  // The array of a section. Its bytes are checked.
  template <class T>
  std::span<const T> section(const json& footer, Section which, std::size_t count) const {
    const json& entry = footer.at("sections").at(kSectionNames[which]);
    const auto offset = count_from_json(entry.at("offset")),
               size = count_from_json(entry.at("bytes"));
    if (offset % kAlign != 0 || offset > end_ || size > end_ - offset || size % sizeof(T) != 0 ||
        size / sizeof(T) != count)
      damaged(fmt::format("its {} are not as many as they should be", kSectionNames[which]));
    PackedChecksum sum;
    sum.add(bytes_.data() + offset, size);
    if (sum.hex() != entry.at("checksum").get<std::string>())
      damaged(fmt::format("the checksum of its {} does not fit", kSectionNames[which]));
    return {reinterpret_cast<const T*>(bytes_.data() + offset), count};
  }
  template <class T>
  Column<T> column(const json& footer, Section which, std::size_t count) const {
    return Column<T>::view(section<T>(footer, which, count), owner_);
  }
  std::size_t count_of(const json& footer, Section which, std::size_t entry) const {
    return count_from_json(footer.at("sections").at(kSectionNames[which]).at("bytes")) / entry;
  }

  void fill(const json& footer, Dataset& data) const {
    const auto series = count_from_json(footer.at("series")),
               events = count_from_json(footer.at("events")),
               observations = count_from_json(footer.at("observations"));
    // More of anything than there are bytes would overflow what is computed from it.
    if (series >= bytes_.size() || events >= bytes_.size() || observations >= bytes_.size())
      damaged("it counts more than it holds");
    footer.at("features").get_to(data.features);
    footer.at("statics").get_to(data.statics);
    footer.at("classes").get_to(data.classes);
    footer.at("groups").get_to(data.groups);
    try {
      data.time_axis = time_axis_from_json(footer.at("time_axis"));
      data.reading = reading_from_json(footer.at("reading"));
    } catch (const Error& error) {
      damaged(error.what());
    }
    read_ids(footer, series, data);
    data.labels = column<std::int32_t>(footer, kLabels, series);
    data.group_of = column<std::int32_t>(footer, kGroupOf, series);
    if (data.statics.size() >= bytes_.size()) damaged("it counts more than it holds");
    data.static_values = column<double>(footer, kStaticValues, series * data.statics.size());
    read_axis(footer, series, data.time_axis);
    data.first_event = column<std::size_t>(footer, kFirstEvent, series + 1);
    data.times = column<double>(footer, kTimes, events);
    data.first_observation = column<std::size_t>(footer, kFirstObservation, events + 1);
    data.feature = column<std::int32_t>(footer, kFeature, observations);
    data.value = column<double>(footer, kValue, observations);
  }

  void read_ids(const json& footer, std::size_t series, Dataset& data) const {
    const auto ends = section<std::uint64_t>(footer, kIdEnds, series);
    const auto bytes = section<char>(footer, kIdBytes, count_of(footer, kIdBytes, 1));
    std::uint64_t begin = 0;
    data.ids.reserve(series);
    for (const std::uint64_t end : ends) {
      if (end < begin || end > bytes.size()) damaged("its ids are not where they should be");
      data.ids.emplace_back(bytes.data() + begin, end - begin);
      if (data.ids.back().empty() || !valid_utf8(data.ids.back())) damaged("an id is no text");
      begin = end;
    }
    if (begin != bytes.size()) damaged("its ids are not where they should be");
  }

  void read_axis(const json& footer, std::size_t series, TimeAxis& axis) const {
    const std::size_t origins = count_of(footer, kOrigins, sizeof(double));
    if (origins != 0 && origins != series) damaged("its origins are not one a series");
    const auto origin = section<double>(footer, kOrigins, origins);
    axis.origin.assign(origin.begin(), origin.end());
    const std::size_t changes = count_of(footer, kZoneSeries, sizeof(std::uint64_t));
    const auto of = section<std::uint64_t>(footer, kZoneSeries, changes);
    const auto from = section<double>(footer, kZoneFrom, changes);
    const auto minutes = section<std::int16_t>(footer, kZoneMinutes, changes);
    for (std::size_t k = 0; k < changes; ++k) {
      if (of[k] >= series || (k > 0 && of[k] < of[k - 1]))
        damaged("its time zones are not those of its series");
      axis.zones.push_back({of[k], from[k], minutes[k]});
    }
  }

  std::string name_;
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
  std::size_t end_ = 0;  // of the sections
};

}  // namespace

bool is_packed(std::string_view first_bytes) { return first_bytes.starts_with(kMark); }

bool is_packed_file(const std::filesystem::path& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return false;
  return is_packed(read_file(path, kMark.size()));
}

Dataset open_packed(const std::filesystem::path& path) {
  const auto file = std::make_shared<const MappedFile>(path);
  Dataset data = PackedReader(path.string(), file->bytes(), file).read();
  // Checking has looked at every page; who trains on them looks at others first.
  file->let_go();
  return data;
}

Dataset packed_from(std::span<const std::byte> bytes, const std::string& name) {
  const auto copy = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
  return PackedReader(name, *copy, copy).read();
}

}  // namespace edict
