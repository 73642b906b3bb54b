// A dataset in a file that is mapped into memory and not read: its arrays as they are in memory,
// one after the other, series by id. Data larger than memory can be worked on, opening takes one
// pass to check them, and the processes of a machine share what they look at.
//
//   16 bytes   mark, version, byte order
//   sections   an array each, at multiples of 64 bytes
//   footer     JSON: names, how times and columns came about, and of each section its place, size
//              and checksum
//   32 bytes   place, size and checksum of the footer, mark
//
// Numbers are those of the machine (another byte order is refused). Checksums cover every byte but
// the padding between sections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "data/dataset.h"

namespace edict {

// By the first bytes, whatever the file is called.
bool is_packed(std::string_view first_bytes);
// The same of a file; false where there is none, and for what is no plain file.
bool is_packed_file(const std::filesystem::path& path);

// Its columns are views of the file. Throws Error where the file is damaged.
Dataset open_packed(const std::filesystem::path& path);
// The bytes of such a file, which are copied; `name` is for messages.
Dataset packed_from(std::span<const std::byte> bytes, const std::string& name);

// Writes such a file, part after part, holding nothing of what was added.
class PackedWriter {
 public:
  // Other files of about the same size are needed for a while, in the same folder.
  explicit PackedWriter(std::filesystem::path path);
  ~PackedWriter();

  // These series of a dataset, in this order. All datasets have the same names of features,
  // statics, classes and groups and the same time axis but for its series, and ids ascend from call
  // to call.
  void add(const Dataset& data, std::span<const std::size_t> series);

  // The file appears. `reading` tells how the data were read.
  void finish(const Reading& reading);

  std::size_t series() const;
  std::size_t events() const;
  std::size_t observations() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// All of a dataset, by id.
void write_packed(const Dataset& data, const std::filesystem::path& path);

}  // namespace edict
