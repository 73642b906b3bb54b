#include "edict/model/safetensors.h"

#include <fmt/core.h>

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>

#include "edict/core/atomic_file.h"
#include "edict/core/error.h"
#include "edict/core/json_text.h"
#include "edict/core/read_file.h"

namespace edict {
namespace {

constexpr std::uint64_t kMaxHeader = std::uint64_t{100} << 20;  // the format's own limit

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw Error(fmt::format("{}: not a usable model file: {}; train it again or restore a copy",
                          path.string(), why));
}

}  // namespace

const NamedTensor& TensorFile::tensor(const std::string& name) const {
  for (const NamedTensor& t : tensors)
    if (t.name == name) return t;
  throw Error(fmt::format("the model file has no tensor '{}'", name));
}

TensorFile read_tensors(const std::filesystem::path& path) {
  return tensors_from(read_file(path), name_of_file(path));
}

TensorFile tensors_from(std::string_view bytes, const std::filesystem::path& path) {
  std::uint64_t header_size = 0;
  if (bytes.size() < sizeof header_size) refuse(path, "it is too short");
  std::memcpy(&header_size, bytes.data(), sizeof header_size);
  bytes.remove_prefix(sizeof header_size);
  if (header_size > kMaxHeader || header_size > bytes.size())
    refuse(path, "its header does not fit into the file");
  const std::string_view header = bytes.substr(0, header_size), data = bytes.substr(header_size);
  const std::uint64_t data_size = data.size();

  const nlohmann::json json = parse_json(header);
  if (!json.is_object()) refuse(path, "its header is not JSON");
  TensorFile file;
  try {
    for (const auto& [name, entry] : json.items()) {
      if (name == "__metadata__") {
        file.metadata = entry.get<std::map<std::string, std::string>>();
        continue;
      }
      if (entry.at("dtype") != "F32") refuse(path, "tensor '" + name + "' is not 32-bit float");
      NamedTensor tensor{name, entry.at("shape").get<std::vector<Index>>(), {}};
      const auto offsets = entry.at("data_offsets").get<std::vector<std::uint64_t>>();
      std::uint64_t count = 1;
      for (Index n : tensor.shape) {
        if (n < 0 || (n > 0 && count > data_size / static_cast<std::uint64_t>(n) + 1))
          refuse(path, "tensor '" + name + "' has an impossible shape");
        count *= static_cast<std::uint64_t>(n);
      }
      if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data_size ||
          offsets[1] - offsets[0] != count * sizeof(float))
        refuse(path, "tensor '" + name + "' lies outside the file");
      tensor.values.resize(count);
      if (count) std::memcpy(tensor.values.data(), data.data() + offsets[0], count * sizeof(float));
      file.tensors.push_back(std::move(tensor));
    }
  } catch (const nlohmann::json::exception& e) {
    refuse(path, "its header is malformed");
  }
  return file;
}

void write_tensors(const TensorFile& file, const std::filesystem::path& path) {
  nlohmann::ordered_json header;
  header["__metadata__"] = file.metadata;
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
  AtomicFile out(path);
  out.write({reinterpret_cast<const char*>(&header_size), sizeof header_size});
  out.write(text);
  for (const NamedTensor& tensor : file.tensors)
    out.write({reinterpret_cast<const char*>(tensor.values.data()),
               tensor.values.size() * sizeof(float)});
  out.commit();
}

}  // namespace edict
