#include "front/server/http/gzip.h"

#include <zlib.h>

#include <array>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <cstdlib>
#include <new>

namespace edict::server {

std::optional<std::string> unpacked(const std::string& packed, std::size_t most) {
  z_stream z{};
  if (inflateInit2(&z, 15 + 32) != Z_OK) return {};
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  z.avail_in = static_cast<uInt>(packed.size());
  std::string text;
  std::array<char, 65536> piece;
  int code = Z_OK;
  while (code == Z_OK && text.size() <= most) {
    z.next_out = reinterpret_cast<Bytef*>(piece.data());
    z.avail_out = static_cast<uInt>(piece.size());
    code = inflate(&z, Z_NO_FLUSH);
    text.append(piece.data(), piece.size() - z.avail_out);
    if (code == Z_OK && z.avail_in == 0 && z.avail_out > 0) break;  // it ends too early
    if (code == Z_STREAM_END && z.avail_in > 0) code = inflateReset(&z);
  }
  inflateEnd(&z);
  if (code != Z_STREAM_END || text.size() > most) return {};
  return text;
}

std::string packed(std::string_view text) {
  z_stream z{};
  // Quickly: an answer waits for it.
  if (deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string result(deflateBound(&z, static_cast<uLong>(text.size())), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(result.data());
  z.avail_out = static_cast<uInt>(result.size());
  deflate(&z, Z_FINISH);
  result.erase(z.total_out);
  deflateEnd(&z);
  return result;
}

bool takes_gzip(std::string_view accepted) {
  namespace beast = boost::beast;
  const beast::string_view list(accepted.data(), accepted.size());
  for (const auto& [name, parameters] : beast::http::ext_list(list)) {
    if (!beast::iequals(name, "gzip")) continue;
    for (const auto& [key, value] : parameters)
      if (beast::iequals(key, "q") && std::strtod(std::string(value).c_str(), nullptr) <= 0)
        return false;
    return true;
  }
  return false;
}

}  // namespace edict::server
