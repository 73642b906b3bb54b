// `edict-server serve`: its options, and the server from its start to a signal.
#include "front/server/program/serve.h"

#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "base/error.h"
#include "front/server/http/masked_uri.h"
#include "front/server/ingest/mqtt.h"
#include "front/server/server.h"

namespace edict::server {
namespace {

// Tells systemd, where it asked to be told.
void notify(const char* state) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  if (!path || !*path) return;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t size = std::strlen(path);
  if (size >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, path, size);
  if (path[0] == '@') address.sun_path[0] = '\0';
  const int to = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (to < 0) return;
  sendto(to, state, std::strlen(state), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address),
         static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + size));
  close(to);
}

struct ServeArguments {
  ServeSettings settings;
  MqttSettings mqtt;
  std::string listen = "127.0.0.1:8080";
  std::string guard = "none", sigma = "epistemic";
  double most_body_megabytes = 16, most_bodies_megabytes = 256;
};

void split_address(const std::string& listen, HttpSettings& http) {
  const std::size_t colon = listen.rfind(':');
  const std::string port = colon == std::string::npos ? "" : listen.substr(colon + 1);
  char* end = nullptr;
  const unsigned long number = std::strtoul(port.c_str(), &end, 10);
  if (port.empty() || *end != '\0' || number > 65535)
    throw Error(fmt::format("--listen {}: write ADDRESS:PORT, as 127.0.0.1:8080", listen));
  http.port = static_cast<std::uint16_t>(number);
  http.address = listen.substr(0, colon);
  if (http.address.starts_with('[') && http.address.ends_with(']'))
    http.address = http.address.substr(1, http.address.size() - 2);
}

// Waits for one of them, which every thread has blocked.
int wait_for_signal(const sigset_t& signals) {
  int signal = 0;
  sigwait(&signals, &signal);
  return signal;
}

void add_place_options(CLI::App& command, ServeArguments& o) {
  ServeSettings& s = o.settings;
  s.api.name.clear();
  command.add_option("MODEL", s.model, "the trained model")->required();
  command.add_option("--listen", o.listen, "address and port; port 0 takes a free one")
      ->take_last()
      ->capture_default_str();
  command
      .add_option(
          "--store", s.store,
          "where everything is kept: a file, or postgresql://USER@HOST/DATABASE; of several "
          "the last counts")
      ->take_last()
      ->capture_default_str();
  command.add_option("--store-limit", s.store_options.limit_megabytes,
                     "megabytes that the file may grow to; 0: no limit");
  command.add_option("--rules", s.rules, "alarm rules in TOML or JSON; else those set by PUT");
  command.add_option("--tokens", s.tokens, "who may come in; lines of `edict-server token`");
  command.add_option("--tls-cert", s.http.certificate, "certificate chain in PEM");
  command.add_option("--tls-key", s.http.key, "its private key in PEM");
  command.add_flag("--plain-http", s.plain_http,
                   "allow other addresses without TLS, where a proxy ends it");
}

void add_live_options(CLI::App& command, ServeArguments& o) {
  ServeSettings& s = o.settings;
  command.add_option("--time-unit", s.live.time_unit,
                     "what a model of plain numbers counts: s, min, h, d; needed for dates");
  command.add_option("--keep", s.live.keep,
                     "forget what was received longer ago than this, in the model's unit (of "
                     "plain numbers --time-unit says it); 0: keep everything");
  command
      .add_option("--future", s.live.future,
                  "seconds that a date may lie after its arrival; what lies further is refused")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  command.add_option("--guard", o.guard, "what to do with implausible values")
      ->check(CLI::IsMember({"none", "edgr", "pop-mean"}))
      ->capture_default_str();
  command.add_option("--eta", s.live.guard.eta, "how many deviations a guard allows")
      ->capture_default_str();
  command.add_option("--sigma", o.sigma, "whose deviation the guard takes")
      ->check(CLI::IsMember({"epistemic", "predictive"}))
      ->capture_default_str();
  command.add_option("--level", s.api.level, "of intervals where a request names no other")
      ->check(CLI::Range(1e-6, 1 - 1e-9))
      ->capture_default_str();
  command.add_option("--name", s.api.name, "what the model is called; else its file's name");
  command.add_option("--shards", s.live.shards, "threads that compute; 0: processors less one");
}

void add_limits(CLI::App& command, ServeArguments& o) {
  ServeSettings& s = o.settings;
  command
      .add_option("--most-pending", s.live.most_pending,
                  "values that may wait before 429 is answered")
      ->capture_default_str();
  command
      .add_option("--most-streams", s.live.most_streams,
                  "streams that there may be; a new name beyond is refused")
      ->capture_default_str();
  command
      .add_option("--most-connections", s.http.most_connections,
                  "at the same time; one more closes the one that has waited longest")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command
      .add_option("--request-seconds", s.http.request_seconds,
                  "for a request to arrive, and for an answer to be taken")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--most-body", o.most_body_megabytes, "megabytes of one request")
      ->check(CLI::Range(0.001, 1024.0))
      ->capture_default_str();
  command
      .add_option("--most-bodies", o.most_bodies_megabytes,
                  "megabytes of all requests together, and of all answers that clients have not "
                  "taken yet; 503 beyond; at least --most-body")
      ->check(CLI::Range(0.001, 1048576.0))
      ->capture_default_str();
  command
      .add_option("--alarm-interval", s.live.alarm_interval,
                  "seconds between two judgements of one stream")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
}

void add_mqtt_options(CLI::App& command, ServeArguments& o) {
  CLI::Option* mqtt = command.add_option(
      "--mqtt", o.mqtt.url, "a broker to listen to, as mqtt://127.0.0.1:1883 or mqtts://…");
  CLI::Option* topic =
      command.add_option("--mqtt-topic", o.mqtt.topic,
                         "which topics: ward/{stream}/{feature} with a value each, ward/{stream} "
                         "with JSON, or one topic for all; + and # as usual");
  mqtt->needs(topic);
  topic->needs(mqtt);
  command.add_option("--mqtt-client", o.mqtt.client, "our name, under which the broker remembers")
      ->capture_default_str()
      ->needs(mqtt);
  command.add_option("--mqtt-user", o.mqtt.user, "at the broker")->needs(mqtt);
  command.add_option("--mqtt-password", o.mqtt.password_file, "a file that holds it")->needs(mqtt);
  command.add_option("--mqtt-ca", o.mqtt.ca_file, "certificates to trust instead of the system's")
      ->needs(mqtt);
}

ServeSettings settings_of(const ServeArguments& options) {
  ServeSettings settings = options.settings;
  split_address(options.listen, settings.http);
  settings.live.guard.kind = guard_from_name(options.guard);
  settings.live.guard.deviation = deviation_from_name(options.sigma);
  check(settings.live.guard);
  const auto bytes = [](double megabytes) { return static_cast<std::size_t>(megabytes * 1048576); };
  settings.http.most_body = bytes(options.most_body_megabytes);
  settings.http.most_bodies = bytes(options.most_bodies_megabytes);
  if (settings.http.most_bodies < settings.http.most_body)
    throw Error(fmt::format("--most-bodies {}: is less than --most-body {}; raise it",
                            options.most_bodies_megabytes, options.most_body_megabytes));
  return settings;
}

// Blocked in this thread, and so in every one that is made from now on.
sigset_t blocked_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

// Serves until a signal ends it, which is returned.
int serve(const ServeArguments& options, const sigset_t& signals) {
  const ServeSettings settings = settings_of(options);
  const auto say = [](const std::string& text) { fmt::print(stderr, "edict-server: {}\n", text); };
  Server server(settings);
  for (const std::string& notice : server.notices()) say(notice);
  fmt::print("serving {} at {}, {} streams in {}\n", settings.model.string(), server.url(),
             server.live().streams(), masked_uri(settings.store));
  std::fflush(stdout);
  std::unique_ptr<MqttSource> source;
  if (!options.mqtt.url.empty()) {
    source = std::make_unique<MqttSource>(server.live(), options.mqtt, say);
    server.health().watch("mqtt", [&source, &url = options.mqtt.url] {
      return source->connected() ? "" : fmt::format("{} is not connected", url);
    });
  }
  notify("READY=1");
  int signal = 0;
  while ((signal = wait_for_signal(signals)) == SIGHUP)
    for (const std::string& line : server.reload()) say(line);
  notify("STOPPING=1");
  server.health().forget("mqtt");
  return signal;
}

}  // namespace

void add_serve(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand(
      "serve", "Serve a model live: observations in, distributions, alarms and events out");
  auto options = std::make_shared<ServeArguments>();
  add_place_options(*command, *options);
  add_live_options(*command, *options);
  add_limits(*command, *options);
  add_mqtt_options(*command, *options);
  command->callback([options, &code] {
    const int signal = serve(*options, blocked_signals());
    fmt::print("stopped\n");
    code = signal == SIGINT ? 130 : 0;
  });
}

}  // namespace edict::server
