#include "data/read/cells/unpack.h"

#include <fmt/core.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "base/error.h"

namespace edict {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 18;

[[noreturn]] void refuse_large(const std::string& name, std::size_t limit) {
  throw Error(fmt::format(
      "{}: is larger than the limit of {} bytes when unpacked; split it or raise the limit", name,
      limit));
}

[[noreturn]] void refuse_damaged(const std::string& name) {
  throw Error(fmt::format("{}: is compressed and damaged, or was cut short; fetch it again", name));
}

std::string gunzip(std::string_view bytes, const std::string& name, std::size_t limit) {
  struct Inflate : z_stream {
    Inflate() : z_stream{} { ready = inflateInit2(this, 15 + 16) == Z_OK; }  // 16: gzip's header
    ~Inflate() {
      if (ready) inflateEnd(this);
    }
    Inflate(const Inflate&) = delete;
    Inflate& operator=(const Inflate&) = delete;
    bool ready = false;
  } stream;
  if (!stream.ready) throw Error(fmt::format("{}: cannot be unpacked: out of memory", name));
  std::string text;
  std::size_t size = 0, read = 0;
  for (int state = Z_OK; state != Z_STREAM_END || read < bytes.size();) {
    if (state == Z_STREAM_END) {  // another member follows, or padding, which is ignored
      if (packing_of(bytes.substr(read)) != Packing::gzip) break;
      if (inflateReset(&stream) != Z_OK) refuse_damaged(name);
    }
    if (size == text.size()) text.resize(std::max(2 * size, kPiece));
    const std::size_t most = std::numeric_limits<uInt>::max();
    const std::size_t in = std::min(bytes.size() - read, most);
    const std::size_t room = std::min(text.size() - size, most);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + read));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + size);
    stream.avail_out = static_cast<uInt>(room);
    state = inflate(&stream, Z_NO_FLUSH);
    const std::size_t consumed = in - stream.avail_in, made = room - stream.avail_out;
    read += consumed;
    size += made;
    if (size > limit) refuse_large(name, limit);
    if ((state != Z_OK && state != Z_STREAM_END) || (state == Z_OK && consumed + made == 0))
      refuse_damaged(name);
  }
  text.resize(size);
  return text;
}

std::string unzstd(std::string_view bytes, const std::string& name, std::size_t limit) {
  const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                             ZSTD_freeDStream);
  if (!stream) throw Error(fmt::format("{}: cannot be unpacked: out of memory", name));
  std::string text;
  std::size_t size = 0, state = 1;
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  while (in.pos < in.size || state != 0) {
    if (size == text.size()) text.resize(std::max(2 * size, kPiece));
    ZSTD_outBuffer out{text.data() + size, text.size() - size, 0};
    const std::size_t before = in.pos;
    state = ZSTD_decompressStream(stream.get(), &out, &in);
    size += out.pos;
    if (size > limit) refuse_large(name, limit);
    if (ZSTD_isError(state) || (in.pos == before && out.pos == 0)) refuse_damaged(name);
  }
  text.resize(size);
  return text;
}

}  // namespace

Packing packing_of(std::string_view bytes) {
  if (bytes.starts_with("\x1f\x8b")) return Packing::gzip;
  if (bytes.starts_with("\x28\xb5\x2f\xfd")) return Packing::zstd;
  return Packing::none;
}

std::string unpacked(std::string_view bytes, Packing packing, const std::string& name,
                     std::size_t limit) {
  switch (packing) {
    case Packing::gzip:
      return gunzip(bytes, name, limit);
    case Packing::zstd:
      return unzstd(bytes, name, limit);
    case Packing::none:
      break;
  }
  return std::string(bytes);
}

}  // namespace edict
