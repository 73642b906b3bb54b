#include "front/server/http/http_request.h"

#include <fmt/core.h>
#include <zlib.h>

#include <array>
#include <boost/beast/http.hpp>
#include <ctime>
#include <new>

namespace edict::server {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;

// What gzip holds, in one member or in several (RFC 1952); nothing where it is none, or more than
// `most`.
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

// The name in "name:8080" and "[::1]:8080".
std::string_view host_name(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, std::min(host.find(']') + 1, host.size()));
  return host.substr(0, std::min(host.rfind(':'), host.size()));
}

}  // namespace

void prepare_parser(HttpParser& parser, const HttpSettings& settings) {
  parser.header_limit(static_cast<std::uint32_t>(settings.most_header));
  parser.body_limit(settings.most_body);
  parser.eager(true);
}

std::optional<ApiResponse> refusal_of(error_code error, const HttpSettings& settings) {
  if (error == http::error::header_limit) return problem(431, "the header is too large");
  if (error == http::error::body_limit)
    return problem(
        413, fmt::format("the body is larger than {} bytes; send it in parts", settings.most_body));
  if (error.category() == http::make_error_code(http::error::bad_method).category() &&
      error != http::error::end_of_stream && error != http::error::partial_message)
    return problem(400, "this is not HTTP/1.1 as it should be");
  return {};
}

std::variant<ApiRequest, ApiResponse> head_of(const HttpMessage& message,
                                              const HttpSettings& settings) {
  const auto text = [&](http::field field) { return std::string(message[field]); };
  // Proxies that read another one than we do would let requests through to where they may not go.
  const std::size_t hosts = message.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && message.version() >= 11))
    return problem(400, fmt::format("the request has {} Host headers; send one", hosts));
  const std::string host = text(http::field::host), origin = text(http::field::origin);
  // Without tokens the browser of this machine is the way in for others: a page from elsewhere may
  // neither send here nor call this address by a name of its own.
  const std::string_view name = host_name(host);
  if (settings.open && !host.empty() && name != "localhost" && name != "127.0.0.1" &&
      name != "[::1]" && name != settings.address)
    return problem(403, "call the server by localhost or its address");
  if (!origin.empty() && origin != "http://" + host && origin != "https://" + host)
    return problem(403, "pages of other places may not ask here");
  const std::string coding = text(http::field::content_encoding);
  if (!coding.empty() && !beast::iequals(coding, "gzip") && !beast::iequals(coding, "identity"))
    return problem(415, "send the body plain or with gzip");
  ApiRequest request;
  request.method = std::string(message.method_string());
  request.target = std::string(message.target());
  request.content_type = text(http::field::content_type);
  request.authorization = text(http::field::authorization);
  request.if_none_match = text(http::field::if_none_match);
  return request;
}

std::optional<ApiResponse> take_body(ApiRequest& request, HttpMessage&& message,
                                     const HttpSettings& settings) {
  const bool gzip = beast::iequals(message[http::field::content_encoding], "gzip");
  request.body = std::move(message.body());
  if (!gzip) return {};
  auto plain = unpacked(request.body, settings.most_body);
  if (!plain) return problem(400, "the body is no gzip, or too large unpacked");
  request.body = std::move(*plain);
  return {};
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

std::string http_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text;
  return {text.data(),
          std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts)};
}

std::optional<std::variant<ApiRequest, ApiResponse>> request_from(std::string_view bytes,
                                                                  const HttpSettings& settings) {
  HttpParser parser;
  prepare_parser(parser, settings);
  while (!parser.is_done()) {
    error_code error;
    const std::size_t read = parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
    if (error == http::error::need_more) return {};
    if (error) return refusal_of(error, settings);
    bytes.remove_prefix(read);
    if (read == 0 && !parser.is_done()) return {};
  }
  HttpMessage message = parser.release();
  auto taken = head_of(message, settings);
  if (auto* request = std::get_if<ApiRequest>(&taken))
    if (auto refusal = take_body(*request, std::move(message), settings)) return *refusal;
  return taken;
}

}  // namespace edict::server
