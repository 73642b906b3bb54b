// What is called through edict.h.
#include "fuzz/call_sequence.h"
#include "fuzz/promise.h"
#include "model/file/safetensors.h"

namespace edict::fuzz {
namespace {

void calls(std::string_view bytes) {
  static const std::string model_bytes = tensor_bytes(to_tensors(*smallest()));
  call_sequence(bytes, model_bytes);
}

std::vector<std::string> call_scripts() {
  using namespace std::string_literals;
  return {"\x00\x02\x03\x00\x00\x01\x02\x00\x00\x01\x01\x80\x90\x85\x95\x04\x00\x06\x01\x99"s,
          "\x07\x04\x00\x08\x01\x00\x01\x00\x90\x80\x09\x00\xa0\x0a\x00\x0b\x01\x00\x09\x00\xa0"s};
}

}  // namespace

std::vector<Target> call_targets() { return {{"calls", calls, call_scripts}}; }

}  // namespace edict::fuzz
