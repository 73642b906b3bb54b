#include "front/server/http/http_request.h"

#include <fmt/core.h>

#include <array>
#include <boost/beast/http.hpp>
#include <ctime>

#include "front/server/http/gzip.h"

namespace edict::server {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;

ApiResponse too_large(std::size_t most_body) {
  return problem(413, fmt::format("the body is larger than {} bytes; send it in parts", most_body));
}

// The name in "name:8080" and "[::1]:8080".
std::string_view host_name(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, std::min(host.find(']') + 1, host.size()));
  return host.substr(0, std::min(host.rfind(':'), host.size()));
}

// Where a body ends must be beyond dispute: a proxy that sees another end would pass on a second
// request inside of the first (RFC 9112, 6.3 and 11.2).
std::optional<ApiResponse> refuse_framing(const HttpMessage& message) {
  const std::size_t lengths = message.count(http::field::content_length);
  const std::size_t codings = message.count(http::field::transfer_encoding);
  if (lengths > 1 || message[http::field::content_length].find(',') != beast::string_view::npos)
    return problem(400, "the request has more than one Content-Length; send one");
  if (codings == 0) return {};
  if (lengths > 0)
    return problem(400, "the request has Content-Length and Transfer-Encoding; send one of them");
  if (message.version() < 11)
    return problem(400, "HTTP/1.0 has no Transfer-Encoding; send Content-Length");
  if (codings > 1 || !beast::iequals(message[http::field::transfer_encoding], "chunked"))
    return problem(501,
                   "the body may travel with Transfer-Encoding: chunked alone; send it so, or "
                   "with Content-Length");
  return {};
}

// A target is a path, or a whole address as a client writes it to a proxy, whose host counts then.
// Its path alone is left of it.
std::optional<ApiResponse> refuse_target(std::string& target, std::string& host,
                                         std::string_view method) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!beast::iequals(beast::string_view(target.data(), std::min(target.size(), scheme.size())),
                        beast::string_view(scheme.data(), scheme.size())))
      continue;
    const std::size_t end = std::min(target.find_first_of("/?", scheme.size()), target.size());
    host = target.substr(scheme.size(), end - scheme.size());
    target.erase(0, end);
    if (!target.starts_with('/')) target.insert(0, "/");
    break;
  }
  if (target.find('#') != std::string::npos)
    return problem(400, "the address holds '#'; write it as %23");
  if (target.starts_with('/') || (target == "*" && method == "OPTIONS")) return {};
  return problem(400, "the address does not begin with '/'");
}

}  // namespace

LimitedParser::LimitedParser(const HttpSettings& settings)
    : extensions_left_(settings.most_header) {
  header_limit(static_cast<std::uint32_t>(settings.most_header));
  body_limit(settings.most_body);
  eager(true);
  count_extensions_ = [this](std::uint64_t, beast::string_view extensions, error_code& error) {
    // A line end inside of quotes is one for some proxies.
    for (const char c : extensions)
      if (static_cast<unsigned char>(c) < 0x20 && c != '\t')
        error = http::error::bad_chunk_extension;
    if (extensions.size() > extensions_left_) error = http::error::header_limit;
    extensions_left_ -= std::min(extensions_left_, extensions.size());
  };
  on_chunk_header(count_extensions_);
}

std::size_t most_unparsed(const HttpSettings& settings) {
  return std::max<std::size_t>(settings.most_header, 1 << 16);
}

std::optional<ApiResponse> LimitedParser::limit_body(std::size_t most) {
  if (content_length() && *content_length() > most) return too_large(most);
  body_limit(most);
  return {};
}

std::optional<ApiResponse> refusal_of(error_code error, const HttpSettings& settings,
                                      std::size_t most_body) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return problem(431, fmt::format("the header, or what the chunks of the body say of themselves, "
                                    "is larger than {} bytes; shorten it",
                                    settings.most_header));
  if (error == http::error::body_limit) return too_large(most_body);
  if (error == http::error::bad_version)
    return problem(505, "the server speaks HTTP/1.1 and HTTP/1.0");
  if (error.category() == http::make_error_code(http::error::bad_method).category() &&
      error != http::error::end_of_stream && error != http::error::partial_message)
    return problem(400, "this is not HTTP/1.1 as it should be");
  return {};
}

std::variant<RequestHead, ApiResponse> head_of(const HttpMessage& message,
                                               const HttpSettings& settings) {
  const auto text = [&](http::field field) { return std::string(message[field]); };
  if (auto refusal = refuse_framing(message)) return *refusal;
  // Proxies that read another one than we do would let requests through to where they may not go.
  const std::size_t hosts = message.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && message.version() >= 11))
    return problem(400, fmt::format("the request has {} Host headers; send one", hosts));
  if (message.count(http::field::authorization) > 1)
    return problem(400, "the request has more than one Authorization; send one");
  RequestHead head;
  head.most_body = settings.most_body;
  ApiRequest& request = head.request;
  request.method = std::string(message.method_string());
  request.target = std::string(message.target());
  std::string host = text(http::field::host);
  const std::string origin = text(http::field::origin);
  if (auto refusal = refuse_target(request.target, host, request.method)) return *refusal;
  // Without tokens the browser of this machine is the way in for others: a page from elsewhere may
  // neither send here nor call this address by a name of its own.
  const std::string_view name = host_name(host);
  if (settings.open && !host.empty() && name != "localhost" && name != "127.0.0.1" &&
      name != "[::1]" && name != settings.address)
    return problem(403, "call the server by localhost or its address");
  if (!origin.empty() && origin != "http://" + host && origin != "https://" + host)
    return problem(403, "pages of other places may not ask here");
  const std::string coding = text(http::field::content_encoding);
  head.packed = beast::iequals(coding, "gzip");
  if (!coding.empty() && !head.packed && !beast::iequals(coding, "identity"))
    return problem(415, "send the body plain or with gzip");
  if (const std::string expected = text(http::field::expect);
      !expected.empty() && message.version() >= 11) {
    head.waits = beast::iequals(expected, "100-continue");
    if (!head.waits)
      return problem(417, fmt::format("'{}' cannot be expected here, but 100-continue", expected));
  }
  request.content_type = text(http::field::content_type);
  request.authorization = text(http::field::authorization);
  request.if_none_match = text(http::field::if_none_match);
  request.last_event_id = std::string(message["Last-Event-ID"]);
  return head;
}

std::variant<ApiRequest, ApiResponse> with_body(RequestHead&& head, std::string&& body) {
  ApiRequest request = std::move(head.request);
  request.body = std::move(body);
  if (!head.packed) return request;
  auto plain = unpacked(request.body, head.most_body);
  if (!plain) return problem(400, "the body is no gzip, or too large unpacked");
  request.body = std::move(*plain);
  return request;
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
  LimitedParser parser(settings);
  parser.eager(false);  // the header first
  std::optional<RequestHead> head;
  while (!head || !parser.is_done()) {
    if (!parser.is_done()) {
      // As much at once as a connection has.
      const std::size_t waiting = std::min(bytes.size(), most_unparsed(settings));
      error_code error;
      const std::size_t read = parser.put(boost::asio::buffer(bytes.data(), waiting), error);
      bytes.remove_prefix(read);
      if (error == http::error::need_more && read == 0) {
        if (waiting < most_unparsed(settings)) return {};
        error = http::error::buffer_overflow;
      }
      if (error && error != http::error::need_more)
        return refusal_of(error, settings, settings.most_body);
      if (!error && read == 0 && !parser.is_done()) return {};
    }
    if (head || !parser.is_header_done()) continue;
    auto taken = head_of(parser.get(), settings);
    if (auto* refusal = std::get_if<ApiResponse>(&taken)) return std::move(*refusal);
    head = std::move(std::get<RequestHead>(taken));
  }
  return with_body(std::move(*head), std::move(parser.get().body()));
}

}  // namespace edict::server
