#include "data/packed_file.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <numeric>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/mapped_file.h"
#include "base/files/read_file.h"
#include "base/files/temporary_file.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "base/json/json_values.h"
#include "base/text/utf8.h"
#include "data/packed_checksum.h"

namespace edict {
namespace {

using nlohmann::json;

static_assert(sizeof(std::size_t) == 8 && sizeof(double) == 8);

// As PNG's: a byte that no text begins with, and line ends that a transfer as text would spoil.
constexpr std::string_view kMark(
    "\x89"
    "edict\r\n",
    8);
constexpr std::string_view kEndMark("edictend", 8);
constexpr std::uint32_t kVersion = 1, kByteOrder = 0x01020304;
constexpr std::size_t kHead = 16, kTail = 32, kAlign = 64;

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
constexpr const char* kSectionNames[kSections] = {
    "id_bytes", "id_ends",           "labels",    "group_of",     "static_values",
    "origins",  "zone_series",       "zone_from", "zone_minutes", "first_event",
    "times",    "first_observation", "feature",   "value"};

std::size_t aligned(std::size_t at) { return (at + kAlign - 1) / kAlign * kAlign; }

std::string head() {
  std::string bytes(kMark);
  bytes.append(reinterpret_cast<const char*>(&kVersion), sizeof kVersion);
  bytes.append(reinterpret_cast<const char*>(&kByteOrder), sizeof kByteOrder);
  return bytes;
}

}  // namespace

bool is_packed(std::string_view first_bytes) { return first_bytes.starts_with(kMark); }

bool is_packed_file(const std::filesystem::path& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return false;
  return is_packed(read_file(path, kMark.size()));
}

// ---- writing ----

struct PackedWriter::State {
  struct Spool {
    TemporaryFile file;
    PackedChecksum checksum;

    template <class T>
    void add(std::span<const T> values) {
      checksum.add(values.data(), values.size_bytes());
      file.write(values.data(), values.size_bytes());
    }
    template <class T>
    requires std::is_arithmetic_v<T>
    void add(T value) { add(std::span<const T>(&value, 1)); }
  };

  explicit State(std::filesystem::path path) : out(std::move(path)) {
    // A device has no room beside it.
    const Destination to = destination_of(out);
    const std::filesystem::path folder = to.kind == Destination::Kind::stream
                                             ? std::filesystem::temp_directory_path()
                                             : to.path.parent_path();
    for (std::size_t s = 0; s < kSections; ++s) spools.push_back({TemporaryFile(folder), {}});
    spools[kFirstEvent].add(std::uint64_t{0});
    spools[kFirstObservation].add(std::uint64_t{0});
  }

  std::filesystem::path out;
  std::vector<Spool> spools;
  Dataset names;  // without series
  bool begun = false, has_origins = false;
  std::string last_id;
  std::uint64_t series = 0, events = 0, observations = 0, id_bytes = 0;
};

PackedWriter::PackedWriter(std::filesystem::path path)
    : state_(std::make_unique<State>(std::move(path))) {}
PackedWriter::~PackedWriter() = default;

std::size_t PackedWriter::series() const { return state_->series; }
std::size_t PackedWriter::events() const { return state_->events; }
std::size_t PackedWriter::observations() const { return state_->observations; }

void PackedWriter::add(const Dataset& data, std::span<const std::size_t> series) {
  State& s = *state_;
  const auto refuse = [](const std::string& what) { throw Error("packed data: " + what); };
  if (!s.begun) {
    s.names.features = data.features;
    s.names.statics = data.statics;
    s.names.classes = data.classes;
    s.names.groups = data.groups;
    s.names.time_axis = data.time_axis.rules();
    s.has_origins = !data.time_axis.origin.empty();
    s.begun = true;
  }
  if (data.features != s.names.features || data.statics != s.names.statics ||
      data.classes != s.names.classes || data.groups != s.names.groups)
    refuse("the parts have other names of features, statics, classes or groups");
  auto& spools = s.spools;
  // Zones are listed by series and time.
  std::vector<std::pair<std::size_t, std::size_t>> zones_of(
      data.time_axis.zones.empty() ? 0 : data.size());
  for (std::size_t k = 0; k < data.time_axis.zones.size(); ++k) {
    auto& [first, count] = zones_of[data.time_axis.zones[k].series];
    if (count++ == 0) first = k;
  }
  for (const std::size_t i : series) {
    const std::string& id = data.ids[i];
    if (s.series > 0 && !(s.last_id < id))
      refuse(fmt::format("series '{}' comes after '{}'; add them by id, each once", id, s.last_id));
    s.last_id = id;
    spools[kIdBytes].add(std::span<const char>(id));
    s.id_bytes += id.size();
    spools[kIdEnds].add(s.id_bytes);
    spools[kLabels].add(data.labels[i]);
    spools[kGroupOf].add(data.group_of[i]);
    spools[kStaticValues].add(data.covariates(i));
    if (s.has_origins) spools[kOrigins].add(data.time_axis.origin[i]);
    if (!zones_of.empty())
      for (std::size_t k = 0; k < zones_of[i].second; ++k) {
        const TimeAxis::ZoneChange& change = data.time_axis.zones[zones_of[i].first + k];
        spools[kZoneSeries].add(s.series);
        spools[kZoneFrom].add(change.from);
        spools[kZoneMinutes].add(change.zone);
      }
    const std::size_t first = data.first_event[i], last = data.first_event[i + 1];
    const std::size_t from = data.first_observation[first], to = data.first_observation[last];
    for (std::size_t e = first; e < last; ++e)
      spools[kFirstObservation].add(
          std::uint64_t{s.observations + data.first_observation[e + 1] - from});
    spools[kTimes].add(std::span(data.times).subspan(first, last - first));
    spools[kFeature].add(std::span(data.feature).subspan(from, to - from));
    spools[kValue].add(std::span(data.value).subspan(from, to - from));
    ++s.series;
    s.events += last - first;
    s.observations += to - from;
    spools[kFirstEvent].add(s.events);
  }
}

void PackedWriter::finish(const Reading& reading) {
  State& s = *state_;
  json sections = json::object();
  AtomicFile file(s.out);
  file.write(head());
  std::size_t at = kHead;
  std::vector<char> piece(std::size_t{1} << 18);
  for (std::size_t k = 0; k < kSections; ++k) {
    const std::size_t start = aligned(at);
    file.write(std::string(start - at, '\0'));
    TemporaryFile& content = s.spools[k].file;
    sections[kSectionNames[k]] = {
        {"offset", start}, {"bytes", content.size()}, {"checksum", s.spools[k].checksum.hex()}};
    at = start + content.size();
    content.rewind();
    while (const std::size_t got = content.read(piece.data(), piece.size()))
      file.write({piece.data(), got});
  }
  const std::string footer = json_text({{"series", s.series},
                                        {"events", s.events},
                                        {"observations", s.observations},
                                        {"features", s.names.features},
                                        {"statics", s.names.statics},
                                        {"classes", s.names.classes},
                                        {"groups", s.names.groups},
                                        {"time_axis", to_json(s.names.time_axis)},
                                        {"reading", to_json(reading)},
                                        {"sections", std::move(sections)}},
                                       -1);
  file.write(footer);
  const std::uint64_t tail[] = {at, footer.size(),
                                Hash().bytes(head().data(), kHead).text(footer).number(at).value()};
  file.write({reinterpret_cast<const char*>(tail), sizeof tail});
  file.write(kEndMark);
  file.commit();
}

void write_packed(const Dataset& data, const std::filesystem::path& path) {
  std::vector<std::size_t> order(data.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return data.ids[a] < data.ids[b]; });
  PackedWriter writer(path);
  writer.add(data, order);
  writer.finish(data.reading);
}

// ---- reading ----

namespace {

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
