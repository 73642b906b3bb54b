#include "edict/model/stream_state.h"

#include <cmath>
#include <cstring>
#include <string>

#include "edict/core/error.h"
#include "edict/core/hash.h"

namespace edict {
namespace {

struct Header {
  char magic[8];
  std::uint64_t model;
  double time;
  double dt;
  std::uint32_t hidden;
  std::uint32_t zero;
};
static_assert(sizeof(Header) == 40);

constexpr char kMagic[8] = {'e', 'd', 'i', 'c', 't', 'S', 'T', '1'};

std::uint64_t hash_of_bytes(std::span<const std::byte> bytes) {
  return Hash().bytes(bytes.data(), bytes.size()).value();
}

}  // namespace

std::vector<std::byte> StreamState::to_bytes() const {
  Header header{{}, model_, time_, dt_, static_cast<std::uint32_t>(h_.size()), 0};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  const std::size_t size = h_.size() * sizeof(float);
  std::vector<std::byte> bytes(sizeof header + size + sizeof(std::uint64_t));
  std::memcpy(bytes.data(), &header, sizeof header);
  if (size > 0) std::memcpy(bytes.data() + sizeof header, h_.data(), size);
  const std::uint64_t hash = hash_of_bytes(std::span(bytes).first(sizeof header + size));
  std::memcpy(bytes.data() + sizeof header + size, &hash, sizeof hash);
  return bytes;
}

StreamState StreamState::from_bytes(std::span<const std::byte> bytes) {
  const auto refuse = [](const char* why) {
    return Error(std::string("not a usable stream state: ") + why + "; begin the stream again");
  };
  Header header;
  std::uint64_t stored;
  if (bytes.size() < sizeof header + sizeof stored) throw refuse("it is too short");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
    throw refuse("it was not written by this version");
  if (bytes.size() != sizeof header + header.hidden * sizeof(float) + sizeof stored)
    throw refuse("its size is wrong");
  std::memcpy(&stored, bytes.data() + bytes.size() - sizeof stored, sizeof stored);
  if (stored != hash_of_bytes(bytes.first(bytes.size() - sizeof stored)))
    throw refuse("it is damaged");
  StreamState state;
  state.model_ = header.model;
  state.time_ = header.time;
  state.dt_ = header.dt;
  state.h_.resize(header.hidden);
  if (header.hidden > 0)
    std::memcpy(state.h_.data(), bytes.data() + sizeof header, header.hidden * sizeof(float));
  if (!std::isfinite(header.time) || !(header.dt >= 0)) throw refuse("its clock is not finite");
  for (const float x : state.h_)
    if (!std::isfinite(x)) throw refuse("its numbers are not finite");
  return state;
}

}  // namespace edict
