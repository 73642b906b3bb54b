// Connections, by Beast and Asio.
#include "front/server/http/http_server.h"

#include <fmt/core.h>
#include <openssl/ssl.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <boost/beast/version.hpp>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_set>
#include <utility>
#include <variant>

#include "base/error.h"
#include "front/server/http/http_request.h"

namespace edict::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;
using boost::system::error_code;

constexpr auto kWake = std::chrono::milliseconds(25);  // events are told together
constexpr auto kHeartbeat = std::chrono::seconds(5);   // a comment for those who watch
constexpr std::size_t kMostEventText = std::size_t{1} << 18;
constexpr std::size_t kReserve = 32;          // connections above the limit, for health alone
constexpr std::size_t kLeastPacked = 1024;    // bytes of an answer that is worth packing
constexpr std::size_t kMostPacked = 1 << 20;  // and of one that keeps no other waiting

std::chrono::nanoseconds seconds(double value) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(value * 1e9));
}

// A connection that waits for its client to ask something.
class Waiting {
 public:
  virtual ~Waiting() = default;
  // Closes it, unless a request has come meanwhile.
  virtual void give_way() = 0;
};

// All of them, in the order in which they began to wait. Half a request, or an idle
// connection, costs a client nothing; where there is no room for another, the oldest goes.
class Crowd {
 public:
  std::uint64_t join(std::weak_ptr<Waiting> one) {
    const std::lock_guard lock(mutex_);
    waiting_.emplace(++last_, std::move(one));
    return last_;
  }
  void leave(std::uint64_t place) {
    const std::lock_guard lock(mutex_);
    waiting_.erase(place);
  }
  // Whether there was one to be closed.
  bool make_room() {
    std::shared_ptr<Waiting> oldest;
    {
      const std::lock_guard lock(mutex_);
      while (!oldest && !waiting_.empty()) {
        oldest = waiting_.begin()->second.lock();
        waiting_.erase(waiting_.begin());
      }
    }
    if (oldest) oldest->give_way();
    return oldest != nullptr;
  }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::weak_ptr<Waiting>> waiting_;
  std::uint64_t last_ = 0;
};

bool takes_gzip(beast::string_view accepted) {
  for (const auto& [name, parameters] : http::ext_list(accepted)) {
    if (!beast::iequals(name, "gzip")) continue;
    for (const auto& [key, value] : parameters)
      if (beast::iequals(key, "q") && std::strtod(std::string(value).c_str(), nullptr) <= 0)
        return false;
    return true;
  }
  return false;
}

struct Shared {
  Api& api;
  EventLog& events;
  const HttpSettings& settings;
  Crowd crowd{};
  std::atomic<std::size_t> bodies{0};  // bytes of those that arrive or are being answered
  std::atomic<std::size_t> connections{0};
  std::atomic<bool> stopping{false};
  std::atomic<bool> stopped{false};  // nothing runs any more; only memory is given back
};

// One connection. Everything runs on its strand.
template <class Stream>
class Session final : public Waiting, public std::enable_shared_from_this<Session<Stream>> {
 public:
  // `reserved`: every other connection is taken, and this one may ask after the server's health.
  template <class... Arguments>
  explicit Session(Shared& shared, bool reserved, Arguments&&... arguments)
      : shared_(shared),
        reserved_(reserved),
        stream_(std::forward<Arguments>(arguments)...),
        buffer_(most_unparsed(shared.settings)) {
    ++shared_.connections;
  }
  ~Session() override {
    if (watcher_ != 0 && !shared_.stopped) shared_.events.unwatch(watcher_);
    shared_.crowd.leave(place_);
    let_go();
    --shared_.connections;
  }

  void start() {
    wait_for_request();
    asio::dispatch(stream_.get_executor(), [self = this->shared_from_this()] {
      if constexpr (kTls) {
        self->lowest().expires_after(seconds(self->shared_.settings.request_seconds));
        self->stream_.async_handshake(asio::ssl::stream_base::server, [self](error_code error) {
          if (!error) self->read();
        });
      } else {
        self->read();
      }
    });
  }

 private:
  static constexpr bool kTls = !std::is_same_v<Stream, beast::tcp_stream>;

  beast::tcp_stream& lowest() { return beast::get_lowest_layer(stream_); }

  void wait_for_request() {
    if (place_ == 0) place_ = shared_.crowd.join(this->weak_from_this());
  }
  void stop_waiting() { shared_.crowd.leave(std::exchange(place_, 0)); }
  void give_way() override {
    asio::post(stream_.get_executor(), [self = this->shared_from_this()] {
      if (self->place_ != 0) self->close();
    });
  }

  void read() {
    wait_for_request();
    parser_.emplace(shared_.settings);
    lowest().expires_after(
        seconds(first_ ? shared_.settings.request_seconds : shared_.settings.idle_seconds));
    first_ = false;
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = this->shared_from_this()](error_code error, std::size_t) {
                              self->header_came(error);
                            });
  }

  void header_came(error_code error) {
    if (error) return failed(error);
    const HttpMessage& message = parser_->get();
    keep_alive_ = message.keep_alive() && !shared_.stopping && !reserved_;
    head_ = message.method() == http::verb::head;
    gzip_ = takes_gzip(message[http::field::accept_encoding]);
    auto taken = head_of(message, shared_.settings);
    if (auto* answer = std::get_if<ApiResponse>(&taken)) return refuse(std::move(*answer));
    asked_ = std::move(std::get<RequestHead>(taken));
    if (reserved_ && !Api::is_about_health(asked_.request.target))
      return refuse(problem(503, fmt::format("all {} connections are in use; try again in a moment",
                                             shared_.settings.most_connections)));
    if (auto refusal = shared_.api.refuses(asked_.request)) {
      // Without a body the connection is as good as before.
      if (!parser_->is_done()) return refuse(std::move(*refusal));
      stop_waiting();
      return respond(std::move(*refusal));
    }
    lowest().expires_after(seconds(shared_.settings.request_seconds));
    if (asked_.waits && !parser_->is_done()) {
      static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
      asio::async_write(stream_, asio::buffer(kContinue.data(), kContinue.size()),
                        [self = this->shared_from_this()](error_code unsent, std::size_t) {
                          if (unsent) return self->close();
                          self->read_body();
                        });
      return;
    }
    read_body();
  }

  void read_body() {
    if (parser_->is_done()) return request_came();
    http::async_read_some(stream_, buffer_, *parser_,
                          [self = this->shared_from_this()](error_code error, std::size_t) {
                            if (error) return self->failed(error);
                            if (!self->hold(self->parser_->get().body().size()))
                              return self->refuse(self->too_much());
                            self->read_body();
                          });
  }

  // Whether a body may take so many bytes of memory, together with those of all other requests.
  bool hold(std::size_t bytes) {
    const std::size_t all = shared_.bodies += bytes - held_;
    held_ = bytes;
    return all <= shared_.settings.most_bodies;
  }
  void let_go() { shared_.bodies -= std::exchange(held_, 0); }
  ApiResponse too_much() const {
    return problem(503, fmt::format("the bodies of all requests hold {} MB of memory already; try "
                                    "again in a moment",
                                    shared_.settings.most_bodies >> 20));
  }

  void failed(error_code error) {
    if (auto answer = refusal_of(error, shared_.settings)) return refuse(std::move(*answer));
    close();
  }

  void request_came() {
    stop_waiting();
    const std::string last_id = asked_.last_event_id;
    auto taken = with_body(std::move(asked_), std::move(parser_->get().body()), shared_.settings);
    if (auto* answer = std::get_if<ApiResponse>(&taken)) return refuse(std::move(*answer));
    request_ = std::move(std::get<ApiRequest>(taken));
    if (!hold(request_.body.size())) return refuse(too_much());
    const std::string_view path =
        std::string_view(request_.target)
            .substr(0, std::min(request_.target.find('?'), request_.target.size()));
    if (path == "/v1/events" && request_.method == "GET") return watch(last_id);
    // An answer may take as long as the disk; the client is not to blame for it.
    lowest().expires_never();
    shared_.api.handle(std::move(request_), [self = this->shared_from_this()](ApiResponse answer) {
      asio::post(self->stream_.get_executor(), [self, answer = std::move(answer)]() mutable {
        self->respond(std::move(answer));
      });
    });
  }

  void refuse(ApiResponse answer) {
    stop_waiting();
    keep_alive_ = false;
    unread_ = true;
    parser_.reset();
    request_.body = {};
    respond(std::move(answer));
  }

  void respond(ApiResponse answer) {
    let_go();
    response_.emplace(static_cast<http::status>(answer.status), 11);
    response_->set(http::field::server, "edict/" EDICT_VERSION);
    response_->set(http::field::date, http_date());
    if (!answer.type.empty()) response_->set(http::field::content_type, answer.type);
    response_->set("X-Content-Type-Options", "nosniff");
    for (const auto& [name, value] : answer.headers) response_->set(name, value);
    response_->keep_alive(keep_alive_);
    if (answer.body.size() >= kLeastPacked && answer.body.size() <= kMostPacked) {
      response_->set(http::field::vary, "Accept-Encoding");
      if (gzip_ && !head_) {
        answer.body = packed(answer.body);
        response_->set(http::field::content_encoding, "gzip");
      }
    }
    const std::size_t size = answer.body.size();
    if (!head_) response_->body() = std::move(answer.body);
    if (answer.status != 204 && answer.status != 304) response_->content_length(size);
    lowest().expires_after(seconds(shared_.settings.request_seconds));
    const auto written = [self = this->shared_from_this()](error_code error, std::size_t) {
      self->response_.reset();
      if (!error && self->unread_) return self->drain();
      if (error || !self->keep_alive_) return self->close();
      self->read();
    };
    if (head_) {
      head_writer_.emplace(*response_);
      http::async_write_header(stream_, *head_writer_, written);
    } else {
      http::async_write(stream_, *response_, written);
    }
  }

  // A client that is still sending would lose the answer if its bytes met a closed door.
  void drain() {
    error_code ignored;
    lowest().socket().shutdown(tcp::socket::shutdown_send, ignored);
    lowest().expires_after(std::chrono::seconds(2));
    discard();
  }
  void discard() {
    lowest().async_read_some(asio::buffer(scrap_),
                             [self = this->shared_from_this()](error_code error, std::size_t size) {
                               self->drained_ += size;
                               if (error || self->drained_ > self->shared_.settings.most_body)
                                 return self->close();
                               self->discard();
                             });
  }

  // ---- watching ----

  void watch(const std::string& last_id) {
    // The system would keep megabytes for a watcher that does not read.
    error_code ignored;
    lowest().socket().set_option(asio::socket_base::send_buffer_size(1 << 16), ignored);
    const auto target = parse_target(request_.target);
    if (const auto wanted = target->query.find("streams"); wanted != target->query.end()) {
      std::string_view rest = wanted->second;
      while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(','), rest.size());
        streams_.emplace(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
    std::string since = last_id;
    if (const auto given = target->query.find("since"); given != target->query.end())
      since = given->second;
    // Watching begins before the first look, so that nothing falls between.
    watcher_ = shared_.events.watch([weak = this->weak_from_this()] {
      if (const auto self = weak.lock())
        asio::post(self->stream_.get_executor(), [self] { self->tell(); });
    });
    seen_ = since.empty() ? shared_.events.last() : std::strtoull(since.c_str(), nullptr, 10);
    text_ = std::make_shared<const std::string>(fmt::format(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
        "X-Accel-Buffering: no\r\nConnection: close\r\nServer: edict/" EDICT_VERSION
        "\r\nDate: {2}\r\n\r\nretry: 1000\nid: {0}\nevent: hello\ndata: {{\"id\":{0},{1}}}\n\n",
        seen_, shared_.api.hello(), http_date()));
    heartbeat_.emplace(stream_.get_executor());
    beat();
    listen();
    write_text();
  }

  // Only to notice that the client has gone.
  void listen() {
    stream_.async_read_some(asio::buffer(scrap_),
                            [self = this->shared_from_this()](error_code error, std::size_t) {
                              if (error) return self->end_watching();
                              self->listen();
                            });
  }

  void beat() {
    heartbeat_->expires_after(kHeartbeat);
    heartbeat_->async_wait([self = this->shared_from_this()](error_code error) {
      if (error || self->ended_) return;
      // The token may have been taken away meanwhile.
      if (self->shared_.api.refuses(self->request_)) return self->end_watching();
      if (!self->writing_) {
        self->text_ = std::make_shared<const std::string>(": still here\n\n");
        self->write_text();
      }
      self->beat();
    });
  }

  void tell() {
    if (writing_ || ended_) return;
    text_ = shared_.events.after(seen_, streams_, kMostEventText);
    if (!text_->empty()) write_text();
  }

  void write_text() {
    writing_ = true;
    // Who takes nothing for this long is gone.
    lowest().expires_after(seconds(shared_.settings.request_seconds));
    asio::async_write(stream_, asio::buffer(*text_),
                      [self = this->shared_from_this()](error_code error, std::size_t) {
                        self->writing_ = false;
                        if (error || self->shared_.stopping) return self->end_watching();
                        self->lowest().expires_never();
                        self->tell();
                      });
  }

  void end_watching() {
    if (ended_) return;
    ended_ = true;
    heartbeat_->cancel();
    if (watcher_ != 0) shared_.events.unwatch(watcher_);
    watcher_ = 0;
    close();
  }

  void close() {
    error_code ignored;
    lowest().socket().shutdown(tcp::socket::shutdown_both, ignored);
    lowest().close();
  }

  Shared& shared_;
  const bool reserved_;
  Stream stream_;
  std::uint64_t place_ = 0;  // in the crowd; 0: a request is being answered
  std::size_t held_ = 0;     // bytes of its body
  RequestHead asked_;        // while its body arrives
  ApiRequest request_;
  beast::flat_buffer buffer_;
  std::optional<LimitedParser> parser_;
  std::optional<http::response<http::string_body>> response_;
  std::optional<http::response_serializer<http::string_body>> head_writer_;
  bool keep_alive_ = true, head_ = false, gzip_ = false, first_ = true, unread_ = false;

  std::uint64_t watcher_ = 0, seen_ = 0;
  std::unordered_set<std::string> streams_;
  std::shared_ptr<const std::string> text_;
  std::optional<asio::steady_timer> heartbeat_;
  std::array<char, 4096> scrap_;
  std::size_t drained_ = 0;
  bool writing_ = false, ended_ = false;
};

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
        shared{api, events, settings},
        acceptor(asio::make_strand(context)),
        timer(context) {}

  void accept() {
    acceptor.async_accept(asio::make_strand(context), [this](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted || shared.stopping) return;
      if (!error) {
        // Where all of them are at work, none can make room.
        const bool reserved =
            shared.connections >= settings.most_connections && !shared.crowd.make_room();
        if (!reserved || shared.connections < settings.most_connections + kReserve)
          begin(std::move(socket), reserved);
        return accept();
      }
      // Out of descriptors: others may give some back.
      pause.expires_after(std::chrono::milliseconds(50));
      pause.async_wait([this](error_code) { accept(); });
    });
  }

  void begin(tcp::socket socket, bool reserved) {
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    if (tls)
      std::make_shared<Session<beast::ssl_stream<beast::tcp_stream>>>(
          shared, reserved, beast::tcp_stream(std::move(socket)), *tls)
          ->start();
    else
      std::make_shared<Session<beast::tcp_stream>>(shared, reserved, std::move(socket))->start();
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
