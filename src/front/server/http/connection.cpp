// Connections, by Beast and Asio.
#include "front/server/http/connection.h"

#include <fmt/core.h>

#include <array>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <optional>
#include <variant>

#include "front/server/http/event_stream.h"
#include "front/server/http/gzip.h"
#include "front/server/http/http_request.h"

namespace edict::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t kLeastPacked = 1024;     // bytes of an answer that is worth packing
constexpr std::size_t kMostPacked = 1 << 20;   // and of one that keeps no other waiting
constexpr std::size_t kSmallAnswer = 1 << 16;  // bytes that are sent whatever others hold

// Everything runs on the strand of its stream.
template <class Stream>
class Connection final : public Waiting, public std::enable_shared_from_this<Connection<Stream>> {
 public:
  template <class... Arguments>
  explicit Connection(Shared& shared, bool reserved, Arguments&&... arguments)
      : shared_(shared),
        reserved_(reserved),
        ticket_(shared),
        stream_(std::forward<Arguments>(arguments)...),
        executor_(stream_.get_executor()),
        body_(shared.bodies),
        answer_(shared.answers),
        buffer_(most_unparsed(shared.settings)) {}
  ~Connection() override { shared_.crowd.leave(place_); }

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

  // ---- waiting ----

  void wait_for_request() {
    if (place_ == 0) place_ = shared_.crowd.join(this->weak_from_this());
  }
  void stop_waiting() { shared_.crowd.leave(std::exchange(place_, 0)); }
  void give_way() override {
    asio::post(executor_, [self = this->shared_from_this()] {
      if (self->place_ != 0) self->close();
    });
  }

  // ---- a request ----

  void read() {
    wait_for_request();
    parser_.emplace(shared_.settings);
    head_.most_body = shared_.settings.most_body;
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
    is_head_ = message.method() == http::verb::head;
    takes_gzip_ = takes_gzip(std::string(message[http::field::accept_encoding]));
    auto taken = head_of(message, shared_.settings);
    if (auto* answer = std::get_if<ApiResponse>(&taken)) return refuse(std::move(*answer));
    head_ = std::move(std::get<RequestHead>(taken));
    Api::Admission admission = shared_.api.admit(head_.request);
    if (reserved_ && !admission.about_health)
      return refuse(problem(503, fmt::format("all {} connections are in use; try again in a moment",
                                             shared_.settings.most_connections)));
    if (admission.refusal) {
      // Without a body the connection is as good as before.
      if (!parser_->is_done()) return refuse(std::move(*admission.refusal));
      stop_waiting();
      return respond(std::move(*admission.refusal));
    }
    watch_ = std::move(admission.watch);
    head_.most_body = std::min(head_.most_body, admission.most_body);
    if (auto refusal = parser_->limit_body(head_.most_body)) return refuse(std::move(*refusal));
    lowest().expires_after(seconds(shared_.settings.request_seconds));
    if (!head_.waits || parser_->is_done()) return read_body();
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(kContinue.data(), kContinue.size()),
                      [self = this->shared_from_this()](error_code unsent, std::size_t) {
                        if (unsent) return self->close();
                        self->read_body();
                      });
  }

  void read_body() {
    if (parser_->is_done()) return request_came();
    http::async_read_some(stream_, buffer_, *parser_,
                          [self = this->shared_from_this()](error_code error, std::size_t) {
                            if (error) return self->failed(error);
                            if (!self->body_.hold(self->parser_->get().body().size()))
                              return self->refuse(self->too_many_bodies());
                            self->read_body();
                          });
  }

  ApiResponse too_many_bodies() const {
    return problem(503, fmt::format("the bodies of all requests hold {} MB of memory already; try "
                                    "again in a moment",
                                    shared_.bodies.most() >> 20));
  }

  void failed(error_code error) {
    if (auto answer = refusal_of(error, shared_.settings, head_.most_body))
      return refuse(std::move(*answer));
    close();
  }

  void request_came() {
    stop_waiting();
    auto taken = with_body(std::move(head_), std::move(parser_->get().body()));
    if (auto* answer = std::get_if<ApiResponse>(&taken)) return refuse(std::move(*answer));
    ApiRequest& request = std::get<ApiRequest>(taken);
    if (!body_.hold(request.body.size())) return refuse(too_many_bodies());
    if (watch_) return watch(std::move(request));
    // An answer may take as long as the disk; the client is not to blame for it.
    lowest().expires_never();
    shared_.api.handle(std::move(request), [self = this->shared_from_this()](ApiResponse answer) {
      asio::post(self->stream_.get_executor(), [self, answer = std::move(answer)]() mutable {
        self->respond(std::move(answer));
      });
    });
  }

  void watch(ApiRequest request) {
    std::make_shared<EventStream<Stream>>(shared_, std::move(ticket_), std::move(stream_),
                                          std::move(request), std::move(*watch_))
        ->start();
  }

  // ---- its answer ----

  void refuse(ApiResponse answer) {
    stop_waiting();
    keep_alive_ = false;
    unread_ = true;
    parser_.reset();
    respond(std::move(answer));
  }

  void respond(ApiResponse answer) {
    body_.let_go();
    bool packs = answer.body.size() >= kLeastPacked && answer.body.size() <= kMostPacked;
    if (packs && takes_gzip_ && !is_head_) {
      answer.body = packed(answer.body);
      answer.headers.emplace_back("Content-Encoding", "gzip");
    }
    if (!is_head_ && !answer_.hold(answer.body.size()) && answer.body.size() > kSmallAnswer) {
      answer = problem(503, fmt::format("answers that clients have not taken yet hold {} MB of "
                                        "memory already; try again in a moment",
                                        shared_.answers.most() >> 20));
      answer_.hold(answer.body.size());
      packs = false;
    }
    if (packs) answer.headers.emplace_back("Vary", "Accept-Encoding");
    write(std::move(answer));
  }

  void write(ApiResponse answer) {
    response_.emplace(static_cast<http::status>(answer.status), 11);
    response_->set(http::field::server, "edict/" EDICT_VERSION);
    response_->set(http::field::date, http_date());
    if (!answer.type.empty()) response_->set(http::field::content_type, answer.type);
    response_->set("X-Content-Type-Options", "nosniff");
    for (const auto& [name, value] : answer.headers) response_->set(name, value);
    response_->keep_alive(keep_alive_);
    if (answer.status != 204 && answer.status != 304) response_->content_length(answer.body.size());
    if (!is_head_) response_->body() = std::move(answer.body);
    lowest().expires_after(seconds(shared_.settings.request_seconds));
    const auto done = [self = this->shared_from_this()](error_code error, std::size_t) {
      self->written(error);
    };
    if (is_head_) {
      head_writer_.emplace(*response_);
      http::async_write_header(stream_, *head_writer_, done);
    } else {
      http::async_write(stream_, *response_, done);
    }
  }

  void written(error_code error) {
    response_.reset();
    answer_.let_go();
    if (!error && unread_) return drain();
    if (error || !keep_alive_) return close();
    read();
  }

  // A client that is still sending would lose the answer if its bytes met a closed connection.
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

  void close() {
    error_code ignored;
    lowest().socket().shutdown(tcp::socket::shutdown_both, ignored);
    lowest().close();
  }

  Shared& shared_;
  const bool reserved_;
  Ticket ticket_;
  Stream stream_;  // until events take it over
  const typename Stream::executor_type executor_;
  std::uint64_t place_ = 0;  // in the crowd; 0: a request is being answered
  Budget::Share body_, answer_;
  RequestHead head_;  // while its body arrives
  std::optional<Api::Watch> watch_;
  beast::flat_buffer buffer_;
  std::optional<LimitedParser> parser_;
  std::optional<http::response<http::string_body>> response_;
  std::optional<http::response_serializer<http::string_body>> head_writer_;
  bool keep_alive_ = true, is_head_ = false, takes_gzip_ = false, first_ = true, unread_ = false;
  std::array<char, 4096> scrap_;
  std::size_t drained_ = 0;
};

}  // namespace

void serve_connection(Shared& shared, tcp::socket socket, asio::ssl::context* tls, bool reserved) {
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  if (tls)
    std::make_shared<Connection<beast::ssl_stream<beast::tcp_stream>>>(
        shared, reserved, beast::tcp_stream(std::move(socket)), *tls)
        ->start();
  else
    std::make_shared<Connection<beast::tcp_stream>>(shared, reserved, std::move(socket))->start();
}

}  // namespace edict::server
