// From the bytes of a connection to a request, for the files that see Beast.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <functional>
#include <optional>
#include <variant>

#include "front/server/http/http_server.h"

namespace edict::server {

using HttpMessage = boost::beast::http::request<boost::beast::http::string_body>;
using HttpParser = boost::beast::http::request_parser<boost::beast::http::string_body>;

// A parser with the limits of the settings. What chunks say of themselves counts as header.
class LimitedParser : public HttpParser {
 public:
  explicit LimitedParser(const HttpSettings& settings);
  LimitedParser(const LimitedParser&) = delete;
  LimitedParser& operator=(const LimitedParser&) = delete;

  // When the header has come: the answer to a body that will be larger, where that is known.
  std::optional<ApiResponse> limit_body(std::size_t most);

 private:
  std::size_t extensions_left_;  // bytes
  std::function<void(std::uint64_t, boost::beast::string_view, boost::system::error_code&)>
      count_extensions_;
};

// Bytes that may wait to be parsed: at least a header, and what one chunk says of itself.
std::size_t most_unparsed(const HttpSettings& settings);

// The answer to bytes that are no request; nothing where a connection failed.
std::optional<ApiResponse> refusal_of(boost::system::error_code error, const HttpSettings& settings,
                                      std::size_t most_body);

// A request before its body. What follows the last chunk of a body never changes it.
struct RequestHead {
  ApiRequest request;
  std::size_t most_body = 0;  // bytes, as it comes and unpacked
  bool packed = false;        // the body
  bool waits = false;         // for "100 Continue" before it sends the body
};
// What a header asks, or the answer that refuses it: it is known who asks, and for what, before a
// byte of a body is waited for.
std::variant<RequestHead, ApiResponse> head_of(const HttpMessage& message,
                                               const HttpSettings& settings);
// The request with the body that came with it, unpacked; else the answer that refuses it.
std::variant<ApiRequest, ApiResponse> with_body(RequestHead&& head, std::string&& body);

// "Wed, 18 Nov 2026 20:10:00 GMT", the moment at which it is called.
std::string http_date();

}  // namespace edict::server
