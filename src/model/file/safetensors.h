// The safetensors file format: a JSON header with names, shapes and offsets, then the numbers. Only
// what edict writes is read back (32-bit floats); anything else, damaged or hostile, is an Error.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace edict {

struct NamedTensor {
  std::string name;
  std::vector<Index> shape;
  std::vector<float> values;
};

struct TensorFile {
  std::vector<NamedTensor> tensors;
  std::map<std::string, std::string> metadata;
};

// What to do about a file that cannot be used; it ends every message of read_tensors.
inline constexpr const char* kTrainAgain = "train it again or restore a copy";

// Throws Error for every file that the format does not allow: names that repeat, shapes that do not
// fit their numbers, numbers that overlap, leave gaps or are not all there. "-" is standard input.
TensorFile read_tensors(const std::filesystem::path& path, const char* remedy = kTrainAgain);
// The bytes of a file; `name` is for messages.
TensorFile tensors_from(std::string_view bytes, const std::filesystem::path& name,
                        const char* remedy = kTrainAgain);
void write_tensors(const TensorFile& file, const std::filesystem::path& path);
// What write_tensors writes.
std::string tensor_bytes(const TensorFile& file);

}  // namespace edict
