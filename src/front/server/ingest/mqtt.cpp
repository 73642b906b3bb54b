#include "front/server/ingest/mqtt.h"

#include <MQTTAsync.h>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/files/read_file.h"
#include "front/server/http/masked_uri.h"

namespace edict::server {
namespace {

// A broker closes a connection that is silent for one and a half of it, which bounds how long a
// store that cannot be written to holds up the end of the program.
constexpr int kKeepAliveSeconds = 5;
constexpr std::chrono::seconds kConnectTime(10), kLongestPause(30), kStorePause(1);
constexpr int kAtLeastOnce = 1;

}  // namespace

struct MqttSource::Client {
  Client(Live& to, const MqttSettings& given, std::function<void(const std::string&)> told);
  ~Client();

  void keep_connected();
  void connect();
  int take(std::string_view topic, std::string_view payload, bool retained);
  void say_once(const std::string& text);

  // Paho calls these from threads of its own.
  static int on_message(void* context, char* topic, int length, MQTTAsync_message* message);
  static void on_lost(void* context, char* cause);
  static void on_connect(void* context, MQTTAsync_successData* data);
  static void on_failure(void* context, MQTTAsync_failureData* data);
  static void on_subscribed(void* context, MQTTAsync_successData* data);

  Live& live;
  const MqttSettings settings;
  const TopicPattern pattern;
  const std::function<void(const std::string&)> say;
  std::string password, uri;
  bool encrypted = false;
  MQTTAsync handle = nullptr;
  MQTTAsync_SSLOptions tls = MQTTAsync_SSLOptions_initializer;

  std::mutex mutex;
  std::condition_variable changed;
  enum class State { away, connecting, here } state = State::away;
  bool stopping = false;
  std::string last_said;
  std::thread keeper;
};

MqttSource::Client::Client(Live& to, const MqttSettings& given,
                           std::function<void(const std::string&)> told)
    : live(to), settings(given), pattern(given.topic), say(std::move(told)) {
  std::string_view rest = settings.url;
  if (rest.starts_with("mqtts://"))
    encrypted = true, rest.remove_prefix(8);
  else if (rest.starts_with("mqtt://"))
    rest.remove_prefix(7);
  else
    throw Error(
        fmt::format("{}: give a broker as mqtt://host:1883 or mqtts://host:8883", settings.url));
  while (rest.ends_with('/')) rest.remove_suffix(1);
  if (rest.empty() || rest.find_first_of("/@") != std::string_view::npos)
    throw Error(
        fmt::format("{}: a broker has a host and perhaps a port; give its user by --mqtt-user and "
                    "--mqtt-password FILE",
                    masked_uri(settings.url)));
  const bool port = rest.find(':', rest.starts_with('[') ? rest.find(']') : 0) != rest.npos;
  uri = fmt::format("{}://{}{}", encrypted ? "ssl" : "tcp", rest,
                    port        ? ""
                    : encrypted ? ":8883"
                                : ":1883");
  if (!settings.password_file.empty()) {
    password = read_file(settings.password_file);
    while (password.ends_with('\n') || password.ends_with('\r')) password.pop_back();
  }
  if (const int code = MQTTAsync_create(&handle, uri.c_str(), settings.client.c_str(),
                                        MQTTCLIENT_PERSISTENCE_NONE, nullptr);
      code != MQTTASYNC_SUCCESS)
    throw Error(fmt::format("{}: the MQTT library refuses it ({})", settings.url, code));
  MQTTAsync_setCallbacks(handle, this, on_lost, on_message, nullptr);
  keeper = std::thread([this] { keep_connected(); });
}

MqttSource::Client::~Client() {
  {
    const std::lock_guard lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  keeper.join();
  MQTTAsync_disconnectOptions options = MQTTAsync_disconnectOptions_initializer;
  options.timeout = 0;
  MQTTAsync_disconnect(handle, &options);
  MQTTAsync_destroy(&handle);
}

// Each new state of affairs is told once, however often it is met again.
void MqttSource::Client::say_once(const std::string& text) {
  {
    const std::lock_guard lock(mutex);
    if (text == last_said) return;
    last_said = text;
  }
  if (say) say(text);
}

void MqttSource::Client::connect() {
  MQTTAsync_connectOptions options = MQTTAsync_connectOptions_initializer;
  options.cleansession = 0;
  options.keepAliveInterval = kKeepAliveSeconds;
  options.connectTimeout = static_cast<int>(kConnectTime.count());
  options.MQTTVersion = MQTTVERSION_3_1_1;
  options.context = this;
  options.onSuccess = on_connect;
  options.onFailure = on_failure;
  if (!settings.user.empty()) options.username = settings.user.c_str();
  if (!password.empty()) options.password = password.c_str();
  if (encrypted) {
    if (!settings.ca_file.empty()) tls.trustStore = settings.ca_file.c_str();
    tls.verify = 1;
    options.ssl = &tls;
  }
  if (const int code = MQTTAsync_connect(handle, &options); code != MQTTASYNC_SUCCESS) {
    const std::lock_guard lock(mutex);
    state = State::away;
  }
}

void MqttSource::Client::keep_connected() {
  std::chrono::seconds pause(1);
  std::unique_lock lock(mutex);
  while (!stopping) {
    if (state == State::here) {
      pause = std::chrono::seconds(1);
      changed.wait(lock, [&] { return stopping || state != State::here; });
      continue;
    }
    state = State::connecting;
    lock.unlock();
    connect();
    lock.lock();
    changed.wait_for(lock, kConnectTime + std::chrono::seconds(2),
                     [&] { return stopping || state != State::connecting; });
    if (state == State::here) continue;
    changed.wait_for(lock, pause, [&] { return stopping; });
    pause = std::min(2 * pause, kLongestPause);
  }
}

// Whether the message is done with; it always is, or the broker has it still.
int MqttSource::Client::take(std::string_view topic, std::string_view payload, bool retained) {
  const auto began = std::chrono::steady_clock::now();
  const double now = 1e6 * wall_seconds();
  for (;;) {
    std::string problem;
    try {
      const auto match = pattern.match(topic);
      if (!match) return 1;
      std::vector<Row> rows;
      Refused refused;
      try {
        rows = rows_of_message(*match, payload, now, live, &refused);
        // What the broker kept from earlier and has no time of its own says nothing of the present.
        if (retained && std::ranges::any_of(rows, [&](const Row& row) {
              return row.time.wall && row.time.value == now;
            }))
          return 1;
        const Outcome outcome = live.submit_and_wait(std::move(rows), Acceptance::partial);
        if (outcome.kind == Outcome::Kind::full || outcome.kind == Outcome::Kind::failed) {
          problem = outcome.detail;
        } else {
          refused.add(outcome.refused);
          if (refused.count == refused.kept) return 1;
          throw Error(fmt::format("{} stored, some refused: {}", outcome.stored, refused.text()));
        }
      } catch (const Error& error) {
        live.reject("mqtt", std::string(payload), fmt::format("{}: {}", topic, error.what()));
        return 1;
      }
    } catch (const std::exception& error) {
      problem = error.what();  // not even `rejected` can be written
    }
    // Full, or the store cannot be written to: it is tried until it can. When the program ends
    // meanwhile, the broker has to lose patience first, or it would take this for acknowledged.
    say_once(fmt::format("MQTT waits: {}", problem));
    std::unique_lock lock(mutex);
    if (stopping &&
        std::chrono::steady_clock::now() - began > std::chrono::seconds(2 * kKeepAliveSeconds))
      return 1;
    changed.wait_for(lock, kStorePause, [&] { return stopping; });
    if (stopping) {
      lock.unlock();
      std::this_thread::sleep_for(kStorePause);
    }
  }
}

int MqttSource::Client::on_message(void* context, char* topic, int length,
                                   MQTTAsync_message* message) {
  auto& self = *static_cast<Client*>(context);
  const std::string_view name =
      length > 0 ? std::string_view(topic, static_cast<std::size_t>(length)) : topic;
  const std::string_view payload(static_cast<const char*>(message->payload),
                                 static_cast<std::size_t>(message->payloadlen));
  const int done = self.take(name, payload, message->retained != 0);
  MQTTAsync_freeMessage(&message);
  MQTTAsync_free(topic);
  return done;
}

void MqttSource::Client::on_lost(void* context, char*) {
  auto& self = *static_cast<Client*>(context);
  self.say_once(fmt::format("MQTT: the connection to {} is lost; trying again", self.settings.url));
  {
    const std::lock_guard lock(self.mutex);
    self.state = State::away;
  }
  self.changed.notify_all();
}

void MqttSource::Client::on_failure(void* context, MQTTAsync_failureData* data) {
  auto& self = *static_cast<Client*>(context);
  self.say_once(fmt::format("MQTT: {} cannot be reached{}; trying again", self.settings.url,
                            data && data->message ? fmt::format(" ({})", data->message) : ""));
  {
    const std::lock_guard lock(self.mutex);
    self.state = State::away;
  }
  self.changed.notify_all();
}

void MqttSource::Client::on_connect(void* context, MQTTAsync_successData*) {
  auto& self = *static_cast<Client*>(context);
  MQTTAsync_responseOptions options = MQTTAsync_responseOptions_initializer;
  options.context = &self;
  options.onSuccess = on_subscribed;
  options.onFailure = on_failure;
  MQTTAsync_subscribe(self.handle, self.pattern.filter().c_str(), kAtLeastOnce, &options);
}

void MqttSource::Client::on_subscribed(void* context, MQTTAsync_successData*) {
  auto& self = *static_cast<Client*>(context);
  self.say_once(
      fmt::format("MQTT: listening to {} at {}", self.pattern.filter(), self.settings.url));
  {
    const std::lock_guard lock(self.mutex);
    self.state = State::here;
  }
  self.changed.notify_all();
}

MqttSource::MqttSource(Live& live, const MqttSettings& settings,
                       std::function<void(const std::string&)> say)
    : client_(std::make_unique<Client>(live, settings, std::move(say))) {}

MqttSource::~MqttSource() = default;

bool MqttSource::connected() const {
  const std::lock_guard lock(client_->mutex);
  return client_->state == Client::State::here;
}

}  // namespace edict::server
