#include "edict/model/stream_state.h"

#include <cmath>
#include <cstring>

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

Header header_of(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(Header))
    throw Error("a stream state that was never begun; make one with StreamEngine::begin");
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

}  // namespace

StreamState StreamState::from_bytes(std::span<const std::byte> bytes) {
  const auto refuse = [](const char* why) {
    return Error(std::string("not a usable stream state: ") + why + "; begin the stream again");
  };
  if (bytes.size() < sizeof(Header) + sizeof(std::uint64_t)) throw refuse("it is too short");
  const Header header = header_of(bytes);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
    throw refuse("it was not written by this version");
  if (bytes.size() != sizeof(Header) + header.hidden * sizeof(float) + sizeof(std::uint64_t))
    throw refuse("its size is wrong");
  std::uint64_t stored;
  std::memcpy(&stored, bytes.data() + bytes.size() - sizeof stored, sizeof stored);
  if (stored != hash_of_bytes(bytes.first(bytes.size() - sizeof stored)))
    throw refuse("it is damaged");
  StreamState state;
  state.bytes_.assign(bytes.begin(), bytes.end());
  if (!std::isfinite(header.time) || !(header.dt >= 0)) throw refuse("its clock is not finite");
  for (const float x : state.h())
    if (!std::isfinite(x)) throw refuse("its numbers are not finite");
  return state;
}

void StreamState::write(std::uint64_t model, double time, double dt, std::span<const float> h) {
  Header header{{}, model, time, dt, static_cast<std::uint32_t>(h.size()), 0};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  bytes_.resize(sizeof header + h.size_bytes() + sizeof(std::uint64_t));
  std::memcpy(bytes_.data(), &header, sizeof header);
  std::memcpy(bytes_.data() + sizeof header, h.data(), h.size_bytes());
  const std::uint64_t hash =
      hash_of_bytes(std::span(bytes_).first(bytes_.size() - sizeof(std::uint64_t)));
  std::memcpy(bytes_.data() + bytes_.size() - sizeof hash, &hash, sizeof hash);
}

double StreamState::time() const { return header_of(bytes_).time; }
double StreamState::dt() const { return header_of(bytes_).dt; }
std::uint64_t StreamState::model() const { return header_of(bytes_).model; }

std::span<const float> StreamState::h() const {
  // The header is a multiple of a float's alignment, and operator new gives more than that.
  return {reinterpret_cast<const float*>(bytes_.data() + sizeof(Header)),
          header_of(bytes_).hidden};
}

}  // namespace edict
