// From the bytes of a connection to what is asked, for the files that see Beast.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>
#include <variant>

#include "edict/server/http_server.h"

namespace edict::server {

using HttpMessage = boost::beast::http::request<boost::beast::http::string_body>;
using HttpParser = boost::beast::http::request_parser<boost::beast::http::string_body>;

// Gives it the limits.
void prepare_parser(HttpParser& parser, const HttpSettings& settings);

// The answer to bytes that are no request; nothing where a connection failed and nobody listens.
std::optional<ApiResponse> refusal_of(boost::system::error_code error,
                                      const HttpSettings& settings);

// What a message asks, or the answer that refuses it.
std::variant<ApiRequest, ApiResponse> request_of(HttpMessage&& message,
                                                 const HttpSettings& settings);

}  // namespace edict::server
