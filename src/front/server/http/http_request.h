// From the bytes of a connection to what is asked, for the files that see Beast.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>
#include <variant>

#include "front/server/http/http_server.h"

namespace edict::server {

using HttpMessage = boost::beast::http::request<boost::beast::http::string_body>;
using HttpParser = boost::beast::http::request_parser<boost::beast::http::string_body>;

// Gives it the limits.
void prepare_parser(HttpParser& parser, const HttpSettings& settings);

// The answer to bytes that are no request; nothing where a connection failed and nobody listens.
std::optional<ApiResponse> refusal_of(boost::system::error_code error,
                                      const HttpSettings& settings);

// What a header asks, without its body, or the answer that refuses it: it is known who asks, and
// for what, before a byte of a body is waited for.
std::variant<ApiRequest, ApiResponse> head_of(const HttpMessage& message,
                                              const HttpSettings& settings);
// Gives a request the body that came with it, unpacked; else the answer that refuses it.
std::optional<ApiResponse> take_body(ApiRequest& request, HttpMessage&& message,
                                     const HttpSettings& settings);

// A text as gzip packs it.
std::string packed(std::string_view text);
// "Wed, 18 Nov 2026 20:10:00 GMT", the moment at which it is called.
std::string http_date();

}  // namespace edict::server
