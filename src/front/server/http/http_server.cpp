// The port, and the threads that serve its connections.
#include "front/server/http/http_server.h"

#include <fmt/core.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "front/server/http/connection.h"

namespace edict::server {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using boost::system::error_code;

constexpr auto kWake = std::chrono::milliseconds(25);  // events are sent together
constexpr std::size_t kReserve = 32;  // connections above the limit, for health alone

std::shared_ptr<asio::ssl::context> tls_of(const HttpSettings& settings) {
  auto tls = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  SSL_CTX_set_min_proto_version(tls->native_handle(), TLS1_2_VERSION);
  error_code error;
  tls->use_certificate_chain_file(settings.certificate, error);
  if (error)
    throw Error(fmt::format("--tls-cert {}: {}; give a certificate in PEM", settings.certificate,
                            error.message()));
  tls->use_private_key_file(settings.key, asio::ssl::context::pem, error);
  if (error)
    throw Error(fmt::format("--tls-key {}: {}; give the certificate's key in PEM", settings.key,
                            error.message()));
  return tls;
}

}  // namespace

bool is_loopback(const std::string& address) {
  error_code error;
  const auto parsed = asio::ip::make_address(address == "localhost" ? "127.0.0.1" : address, error);
  if (error)
    throw Error(
        fmt::format("--listen {}: is no address; write 127.0.0.1:8080 or [::1]:8080", address));
  return parsed.is_loopback();
}

struct HttpServer::Parts {
  Parts(Api& api, EventLog& events, const HttpSettings& given)
      : settings(given),
        shared(api, events, settings),
        acceptor(asio::make_strand(context)),
        timer(context) {}

  void accept() {
    acceptor.async_accept(asio::make_strand(context), [this](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted || shared.stopping) return;
      if (!error) {
        // Where all of them are at work, none can make room.
        const bool reserved =
            shared.connections >= settings.most_connections && !shared.crowd.close_oldest();
        if (!reserved || shared.connections < settings.most_connections + kReserve)
          serve_connection(shared, std::move(socket), tls.get(), reserved);
        return accept();
      }
      // Out of descriptors: others may give some back.
      pause.expires_after(std::chrono::milliseconds(50));
      pause.async_wait([this](error_code) { accept(); });
    });
  }

  void wake() {
    timer.expires_after(kWake);
    timer.async_wait([this](error_code error) {
      if (error) return;
      shared.events.wake_watchers();
      wake();
    });
  }

  const HttpSettings settings;
  Shared shared;  // outlives the connections, the last of which go with the context
  asio::io_context context;
  std::shared_ptr<asio::ssl::context> tls;  // the acceptor's
  tcp::acceptor acceptor;
  asio::steady_timer timer;
  asio::steady_timer pause{context};
  std::vector<std::thread> threads;
};

HttpServer::HttpServer(Api& api, EventLog& events, const HttpSettings& settings)
    : parts_(std::make_unique<Parts>(api, events, settings)) {
  Parts& p = *parts_;
  if (!settings.certificate.empty()) p.tls = tls_of(settings);
  error_code error;
  const tcp::endpoint where(
      asio::ip::make_address(settings.address == "localhost" ? "127.0.0.1" : settings.address),
      settings.port);
  p.acceptor.open(where.protocol(), error);
  if (!error) p.acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) p.acceptor.bind(where, error);
  if (!error) p.acceptor.listen(1024, error);
  if (error)
    throw Error(fmt::format("--listen {}:{}: {}; choose another port, or stop who has it",
                            settings.address, settings.port, error.message()));
  p.accept();
  p.wake();
  for (std::size_t i = 0; i < std::max<std::size_t>(1, settings.threads); ++i)
    p.threads.emplace_back([&p] {
      while (true) try {
          p.context.run();
          return;
        } catch (const std::exception&) {
          // Of one connection, which is gone with it.
        }
    });
}

std::uint16_t HttpServer::port() const { return parts_->acceptor.local_endpoint().port(); }

std::size_t HttpServer::connections() const { return parts_->shared.connections; }

void HttpServer::reload_certificate() {
  if (parts_->settings.certificate.empty()) return;
  asio::post(parts_->acceptor.get_executor(),
             [this, fresh = tls_of(parts_->settings)] { parts_->tls = fresh; });
}

void HttpServer::stop_accepting() {
  parts_->shared.stopping = true;
  asio::post(parts_->acceptor.get_executor(), [this] {
    error_code ignored;
    parts_->acceptor.close(ignored);
  });
}

void HttpServer::stop() {
  parts_->shared.stopping = true;
  parts_->context.stop();
  for (std::thread& thread : parts_->threads) thread.join();
  parts_->threads.clear();
  parts_->shared.stopped = true;
}

HttpServer::~HttpServer() { stop(); }

}  // namespace edict::server
