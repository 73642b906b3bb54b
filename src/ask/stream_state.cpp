#include "ask/stream_state.h"

#include <cmath>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/hash.h"

namespace edict {
namespace {

struct Header {
  char magic[8];
  std::uint64_t model;
  double time;
  double dt;
  std::uint32_t hidden;
  std::uint32_t others;  // members of an ensemble after the first
};
static_assert(sizeof(Header) == 40);

constexpr char kMagic[8] = {'e', 'd', 'i', 'c', 't', 'S', 'T', '1'};

std::uint64_t hash_of_bytes(std::span<const std::byte> bytes) {
  return Hash().bytes(bytes.data(), bytes.size()).value();
}

}  // namespace

std::vector<std::byte> StreamState::to_bytes() const {
  Header header{{},
                model_,
                time_,
                dt_,
                static_cast<std::uint32_t>(h_.size()),
                static_cast<std::uint32_t>(other_dt_.size())};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  const std::size_t h_size = h_.size() * sizeof(float), dt_size = other_dt_.size() * sizeof(double);
  std::vector<std::byte> bytes(sizeof header + h_size + dt_size + sizeof(std::uint64_t));
  std::byte* at = bytes.data();
  const auto add = [&](const void* from, std::size_t size) {
    if (size > 0) std::memcpy(at, from, size);
    at += size;
  };
  add(&header, sizeof header);
  add(h_.data(), h_size);
  add(other_dt_.data(), dt_size);
  const std::uint64_t hash =
      hash_of_bytes(std::span(bytes).first(bytes.size() - sizeof(std::uint64_t)));
  add(&hash, sizeof hash);
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
  const std::size_t h_size = header.hidden * sizeof(float),
                    dt_size = header.others * sizeof(double);
  if (bytes.size() != sizeof header + h_size + dt_size + sizeof stored)
    throw refuse("its size is wrong");
  std::memcpy(&stored, bytes.data() + bytes.size() - sizeof stored, sizeof stored);
  if (stored != hash_of_bytes(bytes.first(bytes.size() - sizeof stored)))
    throw refuse("it is damaged");
  StreamState state;
  state.model_ = header.model;
  state.time_ = header.time;
  state.dt_ = header.dt;
  state.h_.resize(header.hidden);
  state.other_dt_.resize(header.others);
  if (h_size > 0) std::memcpy(state.h_.data(), bytes.data() + sizeof header, h_size);
  if (dt_size > 0)
    std::memcpy(state.other_dt_.data(), bytes.data() + sizeof header + h_size, dt_size);
  if (!(std::isfinite(header.time) || header.time == kNotStarted) || !(header.dt >= 0))
    throw refuse("its clock is not finite");
  for (const double dt : state.other_dt_)
    if (!(dt >= 0)) throw refuse("its clock is not finite");
  for (const float x : state.h_)
    if (!std::isfinite(x)) throw refuse("its numbers are not finite");
  return state;
}

}  // namespace edict
