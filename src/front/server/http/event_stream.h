// A connection that watches: server-sent events until its client goes. For connection.cpp.
#pragma once

#include <fmt/core.h>

#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <memory>
#include <string>
#include <utility>

#include "front/server/http/connection.h"
#include "front/server/http/http_request.h"

namespace edict::server {

// Everything runs on the strand of its stream.
template <class Stream>
class EventStream final : public std::enable_shared_from_this<EventStream<Stream>> {
 public:
  EventStream(Shared& shared, Ticket ticket, Stream&& stream, ApiRequest request, Api::Watch watch)
      : shared_(shared),
        ticket_(std::move(ticket)),
        stream_(std::move(stream)),
        heartbeat_(stream_.get_executor()),
        request_(std::move(request)),
        watch_(std::move(watch)) {}
  ~EventStream() {
    if (watcher_ != 0 && !shared_.stopped) shared_.events.unwatch(watcher_);
  }

  void start() {
    // The system would keep megabytes for a watcher that does not read.
    boost::system::error_code ignored;
    lowest().socket().set_option(boost::asio::socket_base::send_buffer_size(1 << 16), ignored);
    // Watching begins before the first look, so that nothing falls between.
    watcher_ = shared_.events.watch([weak = this->weak_from_this()] {
      if (const auto self = weak.lock())
        boost::asio::post(self->stream_.get_executor(), [self] { self->tell(); });
    });
    seen_ = watch_.since.value_or(shared_.events.last());
    text_ = std::make_shared<const std::string>(fmt::format(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
        "X-Accel-Buffering: no\r\nConnection: close\r\nServer: edict/" EDICT_VERSION
        "\r\nDate: {2}\r\n\r\nretry: 1000\nid: {0}\nevent: hello\ndata: {{\"id\":{0},{1}}}\n\n",
        seen_, shared_.api.hello(), http_date()));
    beat();
    listen();
    write_text();
  }

 private:
  static constexpr auto kHeartbeat = std::chrono::seconds(5);  // a comment for those who watch
  static constexpr std::size_t kMostText = std::size_t{1} << 18;

  boost::beast::tcp_stream& lowest() { return boost::beast::get_lowest_layer(stream_); }

  // Only to notice that the client has gone.
  void listen() {
    stream_.async_read_some(
        boost::asio::buffer(scrap_),
        [self = this->shared_from_this()](boost::system::error_code error, std::size_t) {
          if (error) return self->end();
          self->listen();
        });
  }

  void beat() {
    heartbeat_.expires_after(kHeartbeat);
    heartbeat_.async_wait([self = this->shared_from_this()](boost::system::error_code error) {
      if (error || self->ended_) return;
      // The token may have been taken away meanwhile.
      if (self->shared_.api.admit(self->request_).refusal) return self->end();
      if (!self->writing_) {
        self->text_ = std::make_shared<const std::string>(": still here\n\n");
        self->write_text();
      }
      self->beat();
    });
  }

  void tell() {
    if (writing_ || ended_) return;
    text_ = shared_.events.after(seen_, watch_.streams, kMostText);
    if (!text_->empty()) write_text();
  }

  void write_text() {
    writing_ = true;
    // Who takes nothing for this long is gone.
    lowest().expires_after(seconds(shared_.settings.request_seconds));
    boost::asio::async_write(
        stream_, boost::asio::buffer(*text_),
        [self = this->shared_from_this()](boost::system::error_code error, std::size_t) {
          self->writing_ = false;
          if (error || self->shared_.stopping) return self->end();
          self->lowest().expires_never();
          self->tell();
        });
  }

  void end() {
    if (ended_) return;
    ended_ = true;
    heartbeat_.cancel();
    if (watcher_ != 0) shared_.events.unwatch(watcher_);
    watcher_ = 0;
    boost::system::error_code ignored;
    lowest().socket().shutdown(boost::asio::ip::tcp::socket::shutdown_both, ignored);
    lowest().close();
  }

  Shared& shared_;
  const Ticket ticket_;
  Stream stream_;
  boost::asio::steady_timer heartbeat_;
  const ApiRequest request_;
  const Api::Watch watch_;
  std::uint64_t watcher_ = 0, seen_ = 0;
  std::shared_ptr<const std::string> text_;
  std::array<char, 4096> scrap_;
  bool writing_ = false, ended_ = false;
};

}  // namespace edict::server
