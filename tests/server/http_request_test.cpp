// From bytes to requests, without sockets: what proxies, scanners and attackers send.
#include <gtest/gtest.h>

#include "front/server/http/http_server.h"

namespace edict::server {
namespace {

HttpSettings small_limits() {
  HttpSettings settings;
  settings.most_body = 1 << 20;
  settings.most_header = 1 << 12;
  return settings;
}

constexpr const char* kPost = "POST /v1/observations HTTP/1.1\r\nHost: localhost\r\n";
constexpr const char* kChunked = "Transfer-Encoding: chunked\r\n\r\n";

// 0: more bytes are waited for; 200: a request.
int status_of(const std::string& bytes) {
  const auto taken = request_from(bytes, small_limits());
  if (!taken) return 0;
  const auto* refusal = std::get_if<ApiResponse>(&*taken);
  return refusal ? refusal->status : 200;
}

ApiRequest request_of(const std::string& bytes) {
  auto taken = request_from(bytes, small_limits());
  if (!taken || !std::holds_alternative<ApiRequest>(*taken)) {
    ADD_FAILURE() << "is no request: " << bytes;
    return {};
  }
  return std::get<ApiRequest>(*taken);
}

std::string post(const std::string& headers, const std::string& rest = "0\r\n\r\n") {
  return kPost + headers + "\r\n" + rest;
}

// Each of these is read by some proxy as a request with another end.
TEST(HttpRequest, WhereABodyEndsIsBeyondDispute) {
  EXPECT_EQ(status_of(post("Transfer-Encoding: chunked\r\n")), 200);
  EXPECT_EQ(status_of(post("Transfer-Encoding: Chunked\r\n")), 200);
  for (const char* coding :
       {"gzip, chunked", "xchunked", "chunked, gzip", "chunked, chunked", "identity", "chunked;q=1",
        "\x0b"
        "chunked"})
    EXPECT_GE(status_of(post("Transfer-Encoding: " + std::string(coding) + "\r\n")), 400) << coding;
  EXPECT_GE(status_of(post("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n")), 400);
  EXPECT_GE(status_of(post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")), 400);
  EXPECT_EQ(status_of(post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")), 400);
  EXPECT_EQ(status_of(post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n")), 400);
  EXPECT_EQ(status_of(post("Transfer-Encoding: x\r\nContent-Length: 5\r\n")), 400);
  EXPECT_EQ(status_of(post("Transfer-Encoding : chunked\r\n")), 400);
  EXPECT_EQ(status_of("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400);
  EXPECT_EQ(status_of(post("Content-Length: 5\r\n")), 200);
  for (const char* length :
       {"5\r\nContent-Length: 5", "5, 5", "+5", "-1", "5x", "0x5", "", "99999999999999999999"})
    EXPECT_EQ(status_of(post("Content-Length: " + std::string(length) + "\r\n")), 400) << length;
  EXPECT_EQ(status_of(post("Transfer-Encoding: chunked\r\n", "5;a=\"\n\"\r\nabcde\r\n0\r\n\r\n")),
            400);
  EXPECT_EQ(status_of(post("Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\n")), 400);
}

TEST(HttpRequest, WhatChunksSayOfThemselvesIsBounded) {
  const auto chunk = [](std::size_t extension) {
    return "1;a=" + std::string(extension, 'a') + "\r\n \r\n";
  };
  EXPECT_EQ(status_of(kPost + std::string(kChunked) + chunk(1000) + "0\r\n\r\n"), 200);
  EXPECT_EQ(status_of(kPost + std::string(kChunked) + chunk(5000) + "0\r\n\r\n"), 431);
  std::string many = kPost + std::string(kChunked);
  for (int i = 0; i < 10; ++i) many += chunk(1000);
  EXPECT_EQ(status_of(many + "0\r\n\r\n"), 431) << "they add up";
  // Without an end they are not waited for.
  EXPECT_EQ(status_of(kPost + std::string(kChunked) + "1;" + std::string(100000, 'a')), 431);
  EXPECT_EQ(status_of(kPost + std::string(kChunked) + "0\r\na: " + std::string(100000, 'a')), 431);
  std::string trailers = kPost + std::string(kChunked) + "0\r\n";
  for (int i = 0; i < 20000; ++i) trailers += "a: b\r\n";
  EXPECT_EQ(status_of(trailers), 431);
}

TEST(HttpRequest, TrailersChangeNothing) {
  const std::string body = "{\"stream\":\"a\"}";
  const ApiRequest request = request_of(
      kPost + std::string(kChunked) + "e\r\n" + body +
      "\r\n0\r\nContent-Encoding: gzip\r\nAuthorization: Bearer x\r\nContent-Type: a/b\r\n\r\n");
  EXPECT_EQ(request.body, body);
  EXPECT_EQ(request.authorization, "");
  EXPECT_EQ(request.content_type, "");
}

TEST(HttpRequest, ATargetIsAPathOrAWholeAddress) {
  const auto target = [](const std::string& written, const std::string& host = "localhost") {
    return request_of("GET " + written + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n").target;
  };
  const auto status = [](const std::string& start, const std::string& host = "localhost") {
    return status_of(start + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
  };
  EXPECT_EQ(target("/v1/streams?q=a"), "/v1/streams?q=a");
  EXPECT_EQ(target("http://localhost:8080/v1/streams?q=a"), "/v1/streams?q=a");
  EXPECT_EQ(target("HTTPS://127.0.0.1"), "/");
  EXPECT_EQ(target("http://localhost?q=a"), "/?q=a");
  EXPECT_EQ(target("http://localhost/livez", "evil.example"), "/livez") << "its host counts";
  EXPECT_EQ(status("GET http://evil.example/livez"), 403);
  EXPECT_EQ(status("GET livez"), 400);
  EXPECT_EQ(status("GET ftp://localhost/livez"), 400);
  EXPECT_EQ(status("GET /livez#top"), 400);
  EXPECT_EQ(status("CONNECT localhost:80"), 400);
  EXPECT_EQ(status("GET *"), 400);
  EXPECT_EQ(status("OPTIONS *"), 200);
}

TEST(HttpRequest, OneTokenAndOneExpectation) {
  const auto status = [](const std::string& headers) {
    return status_of("GET /livez HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n");
  };
  EXPECT_EQ(status("Authorization: Bearer a\r\n"), 200);
  EXPECT_EQ(status("Authorization: Bearer a\r\nAuthorization: Bearer b\r\n"), 400);
  EXPECT_EQ(status("Expect: 100-Continue\r\n"), 200);
  EXPECT_EQ(status("Expect: a miracle\r\n"), 417);
  EXPECT_EQ(status("Content-Encoding: gzip, gzip\r\n"), 415);
  EXPECT_EQ(status("X: " + std::string(5000, 'a') + "\r\n"), 431);
}

}  // namespace
}  // namespace edict::server
