#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/temporary_file.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "data/packed_checksum.h"
#include "data/packed_file.h"
#include "data/packed_format.h"

namespace edict {

using namespace packed;

namespace {

[[noreturn]] void refuse_parts(const std::string& what) { throw Error("packed data: " + what); }

}  // namespace

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

  void begin_with(const Dataset& data);
  void add_facts(const Dataset& data, std::size_t i);
  void add_events(const Dataset& data, std::size_t i);

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

void PackedWriter::State::begin_with(const Dataset& data) {
  if (!begun) {
    names.features = data.features;
    names.statics = data.statics;
    names.classes = data.classes;
    names.groups = data.groups;
    names.time_axis = data.time_axis.rules();
    has_origins = !data.time_axis.origin.empty();
    begun = true;
  }
  if (data.features != names.features || data.statics != names.statics ||
      data.classes != names.classes || data.groups != names.groups)
    refuse_parts("the parts have other names of features, statics, classes or groups");
}

// What is known of the series.
void PackedWriter::State::add_facts(const Dataset& data, std::size_t i) {
  const std::string& id = data.ids[i];
  if (series > 0 && !(last_id < id))
    refuse_parts(
        fmt::format("series '{}' comes after '{}'; add them by id, each once", id, last_id));
  last_id = id;
  spools[kIdBytes].add(std::span<const char>(id));
  id_bytes += id.size();
  spools[kIdEnds].add(id_bytes);
  spools[kLabels].add(data.labels[i]);
  spools[kGroupOf].add(data.group_of[i]);
  spools[kStaticValues].add(data.covariates(i));
  if (has_origins) spools[kOrigins].add(data.time_axis.origin[i]);
}

void PackedWriter::State::add_events(const Dataset& data, std::size_t i) {
  const std::size_t first = data.first_event[i], last = data.first_event[i + 1];
  const std::size_t from = data.first_observation[first], to = data.first_observation[last];
  for (std::size_t e = first; e < last; ++e)
    spools[kFirstObservation].add(
        std::uint64_t{observations + data.first_observation[e + 1] - from});
  spools[kTimes].add(std::span(data.times).subspan(first, last - first));
  spools[kFeature].add(std::span(data.feature).subspan(from, to - from));
  spools[kValue].add(std::span(data.value).subspan(from, to - from));
  ++series;
  events += last - first;
  observations += to - from;
  spools[kFirstEvent].add(events);
}

void PackedWriter::add(const Dataset& data, std::span<const std::size_t> series) {
  State& s = *state_;
  s.begin_with(data);
  // Zones are listed by series and time.
  std::vector<std::pair<std::size_t, std::size_t>> zones_of(
      data.time_axis.zones.empty() ? 0 : data.size());
  for (std::size_t k = 0; k < data.time_axis.zones.size(); ++k) {
    auto& [first, count] = zones_of[data.time_axis.zones[k].series];
    if (count++ == 0) first = k;
  }
  for (const std::size_t i : series) {
    s.add_facts(data, i);
    if (!zones_of.empty())
      for (std::size_t k = 0; k < zones_of[i].second; ++k) {
        const TimeAxis::ZoneChange& change = data.time_axis.zones[zones_of[i].first + k];
        s.spools[kZoneSeries].add(s.series);
        s.spools[kZoneFrom].add(change.from);
        s.spools[kZoneMinutes].add(change.zone);
      }
    s.add_events(data, i);
  }
}

void PackedWriter::finish(const Reading& reading) {
  State& s = *state_;
  nlohmann::json sections = nlohmann::json::object();
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

}  // namespace edict
