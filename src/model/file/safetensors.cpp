#include "model/file/safetensors.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <set>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/file_kind.h"
#include "base/files/read_file.h"
#include "base/json/json.h"
#include "base/json/json_text.h"

namespace edict {
namespace {

constexpr std::uint64_t kMaxHeader = std::uint64_t{100} << 20;  // the format's own limit

// What is wrong with a file; read_tensors adds which one and what to do.
struct Unusable {
  std::string why;
};

// The header as JSON. The parser would silently keep the last of two entries of one name.
nlohmann::json parse_header(std::string_view text) {
  std::vector<std::set<std::string>> open;  // the names so far of every object that is not closed
  std::string repeated;
  const auto look = [&](int, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    if (event == Event::object_start) open.emplace_back();
    if (event == Event::object_end) open.pop_back();
    if (event == Event::key && !open.back().insert(parsed.get<std::string>()).second)
      repeated = parsed.get<std::string>();
    return true;
  };
  if (nests_deeply(text)) throw Unusable{"its header is not a JSON object"};
  nlohmann::json json = nlohmann::json::parse(text, look, /*allow_exceptions=*/false);
  if (!json.is_object()) throw Unusable{"its header is not a JSON object"};
  if (!repeated.empty()) throw Unusable{"its header holds '" + repeated + "' twice"};
  return json;
}

// Whole and not negative: the library would round a fraction, and so read a damaged file.
std::uint64_t whole(const nlohmann::json& value) {
  if (!value.is_number_unsigned()) throw Unusable{"its header is malformed"};
  return value.get<std::uint64_t>();
}

struct Place {
  std::uint64_t begin, end;  // of a tensor's numbers, in bytes after the header
  NamedTensor tensor;        // without its numbers
};

Place place_of(const std::string& name, const nlohmann::json& entry, std::uint64_t data_size) {
  // As a text: to compare with JSON, one is made of "F32", and a lack of memory ends the process.
  const auto* const type = entry.at("dtype").get_ptr<const std::string*>();
  if (!type || *type != "F32") throw Unusable{"tensor '" + name + "' is not of 32-bit floats"};
  const nlohmann::json &shape = entry.at("shape"), &offsets = entry.at("data_offsets");
  if (!shape.is_array() || !offsets.is_array() || offsets.size() != 2)
    throw Unusable{"its header is malformed"};
  Place place{whole(offsets[0]), whole(offsets[1]), {name, {}, {}}};
  if (place.begin > place.end || place.end > data_size)
    throw Unusable{"tensor '" + name + "' lies outside of the file"};
  // Divided and not multiplied: the product of the shape may exceed every integer. An empty tensor
  // may have any other sizes beside its 0.
  const std::uint64_t bytes = place.end - place.begin;
  std::uint64_t left = bytes / sizeof(float);
  bool empty = false, fits = bytes % sizeof(float) == 0;
  for (const auto& size : shape) {
    const std::uint64_t n = whole(size);
    if (n > static_cast<std::uint64_t>(std::numeric_limits<Index>::max())) fits = false;
    place.tensor.shape.push_back(static_cast<Index>(n));
    if (n == 0)
      empty = true;
    else if (left % n != 0)
      fits = false;
    else
      left /= n;
  }
  if (!fits || (empty ? bytes != 0 : left != 1))
    throw Unusable{"the shape of tensor '" + name + "' does not fit its numbers"};
  return place;
}

TensorFile parse(std::string_view bytes) {
  std::uint64_t header_size = 0;
  if (bytes.size() < sizeof header_size) throw Unusable{"it is too short"};
  std::memcpy(&header_size, bytes.data(), sizeof header_size);
  bytes.remove_prefix(sizeof header_size);
  if (header_size > kMaxHeader || header_size > bytes.size())
    throw Unusable{"its header does not fit into the file"};
  const std::string_view header = bytes.substr(0, header_size), data = bytes.substr(header_size);
  const std::uint64_t data_size = data.size();

  TensorFile file;
  std::vector<Place> places;
  const nlohmann::json entries = parse_header(header);
  for (const auto& [name, entry] : entries.items())
    if (name == "__metadata__")
      file.metadata = entry.get<std::map<std::string, std::string>>();
    else
      places.push_back(place_of(name, entry, data_size));
  // The format wants the numbers without gaps: then nothing can overlap, nothing is asked for that
  // is not in the file, and a file that was cut off anywhere is noticed.
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  std::uint64_t end = 0;
  for (Place& place : places) {
    if (place.begin != end)
      throw Unusable{"tensor '" + place.tensor.name + "' does not begin where the last one ends"};
    end = place.end;
    place.tensor.values.resize((place.end - place.begin) / sizeof(float));
    if (place.end > place.begin)
      std::memcpy(place.tensor.values.data(), data.data() + place.begin, place.end - place.begin);
    file.tensors.push_back(std::move(place.tensor));
  }
  if (end != data_size) throw Unusable{"its tensors do not end with the file"};
  return file;
}

}  // namespace

TensorFile read_tensors(const std::filesystem::path& path, const char* remedy) {
  return tensors_from(read_file(path), name_of_file(path), remedy);
}

TensorFile tensors_from(std::string_view bytes, const std::filesystem::path& name,
                        const char* remedy) {
  const auto refuse = [&](const std::string& why) {
    return Error(fmt::format("{}: not a usable model file: {}; {}", name.string(), why, remedy));
  };
  if (looks_like_table(bytes))
    throw Error(fmt::format("{}: this is a CSV file and no model; {}", name.string(),
                            remedy == std::string_view(kTrainAgain)
                                ? "the model comes first and the data second"
                                : remedy));
  try {
    return parse(bytes);
  } catch (const Unusable& unusable) {
    throw refuse(unusable.why);
  } catch (const nlohmann::json::exception&) {
    throw refuse("its header is malformed");
  }
}

namespace {

// write(bytes) for each part of the file, in order.
template <class Write>
void each_part(const TensorFile& file, const Write& write) {
  nlohmann::json header{{"__metadata__", file.metadata}};
  std::uint64_t offset = 0;
  for (const NamedTensor& tensor : file.tensors) {
    const std::uint64_t end = offset + tensor.values.size() * sizeof(float);
    header[tensor.name] = {
        {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = json_text(header);
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the numbers start aligned
  const std::uint64_t header_size = text.size();
  write({reinterpret_cast<const char*>(&header_size), sizeof header_size});
  write(text);
  for (const NamedTensor& tensor : file.tensors)
    write({reinterpret_cast<const char*>(tensor.values.data()),
           tensor.values.size() * sizeof(float)});
}

}  // namespace

void write_tensors(const TensorFile& file, const std::filesystem::path& path) {
  AtomicFile out(path);
  each_part(file, [&](std::string_view bytes) { out.write(bytes); });
  out.commit();
}

std::string tensor_bytes(const TensorFile& file) {
  std::string all;
  each_part(file, [&](std::string_view bytes) { all += bytes; });
  return all;
}

}  // namespace edict
