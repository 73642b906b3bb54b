#include "front/server/ingest/mqtt.h"

#include <MQTTAsync.h>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/files/read_file.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "front/server/http/masked_uri.h"

namespace edict::server {
namespace {

// A broker closes a connection that is silent for one and a half of it, which bounds how long a
// store that cannot be written to holds up the end of the program.
constexpr int kKeepAliveSeconds = 5;
constexpr std::chrono::seconds kConnectTime(10), kLongestPause(30), kStorePause(1);
constexpr int kAtLeastOnce = 1;

std::vector<std::string_view> levels_of(std::string_view topic) {
  std::vector<std::string_view> levels;
  for (;;) {
    const std::size_t slash = topic.find('/');
    levels.push_back(topic.substr(0, slash));
    if (slash == std::string_view::npos) return levels;
    topic.remove_prefix(slash + 1);
  }
}

[[noreturn]] void refuse(std::string field, std::string detail) {
  throw BadInput({{0, std::move(field), std::move(detail)}});
}

TimeStamp time_of(const nlohmann::json& said, double now, const Live& live) {
  const auto found = said.find("time");
  if (found == said.end()) {
    if (!live.clock().takes_dates())
      refuse("time", "is missing, and this model's times are plain numbers of no known unit");
    return {now, true};
  }
  if (found->is_number()) return live.clock().from_number(found->get<double>());
  if (found->is_string())
    if (const auto time = live.clock().from_text(found->get_ref<const std::string&>()))
      return *time;
  refuse("time", "is neither a number nor a date");
}

double number_of(const nlohmann::json& value, const std::string& field) {
  if (value.is_boolean()) return value.get<bool>() ? 1.0 : 0.0;
  if (!value.is_number()) refuse(field, "is not a number");
  return value.get<double>();
}

// One value, with or without a time of its own.
std::vector<Row> one_value(const TopicPattern::Match& match, std::string_view payload, double now,
                           const Live& live) {
  const std::int32_t feature = live.intake().feature(match.feature);
  if (feature < 0) return {};
  nlohmann::json said = parse_json(payload);
  if (said.is_number() || said.is_boolean()) said = {{"value", said}};
  if (!said.is_object() || !said.contains("value"))
    refuse("", R"(is neither a number nor {"value": …, "time": …})");
  if (said["value"].is_null()) return {};
  return {{std::string(match.stream), time_of(said, now, live), feature,
           number_of(said["value"], "value")}};
}

// {"HR": 80, "battery": 97}: what is no feature is somebody else's.
std::vector<Row> flat_values(const nlohmann::json& said, std::string_view stream, double now,
                             const Live& live, Refused* refused) {
  std::vector<Row> rows;
  const TimeStamp time = time_of(said, now, live);
  for (const auto& [name, value] : said.items()) {
    const std::int32_t feature = live.intake().feature(name);
    if (feature < 0 || value.is_null()) continue;
    if (refused && !value.is_number() && !value.is_boolean())
      refused->add({0, name, "is not a number"});
    else
      rows.push_back({std::string(stream), time, feature, number_of(value, name)});
  }
  return rows;
}

}  // namespace

TopicPattern::TopicPattern(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    throw Error(fmt::format("{}: {}, as in ward/{{stream}}/{{feature}}", text, why));
  };
  if (text.empty()) wrong("give a pattern of topics");
  const auto parts = levels_of(text);
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const std::string_view part = parts[k];
    std::string level(part);
    if (part == "{stream}" || part == "{feature}") {
      auto& place = part == "{stream}" ? stream_level_ : feature_level_;
      if (place) wrong("a name stands in it twice");
      place = k;
      level = "+";
    } else if (part == "#") {
      if (k + 1 < parts.size()) wrong("# can only be the last level");
      open_end_ = true;
    } else if (part != "+" && part.find_first_of("{}+#") != std::string_view::npos) {
      wrong("a level is a name, {stream}, {feature}, + or #");
    }
    filter_ += (k > 0 ? "/" : "") + level;
    if (!open_end_) levels_.push_back(std::move(level));
  }
  if (feature_level_ && !stream_level_) wrong("a feature alone does not tell whose it is");
}

std::optional<TopicPattern::Match> TopicPattern::match(std::string_view topic) const {
  const auto levels = levels_of(topic);
  if (levels.size() < levels_.size() || (levels.size() > levels_.size() && !open_end_))
    return std::nullopt;
  for (std::size_t k = 0; k < levels_.size(); ++k)
    if (levels_[k] != "+" && levels_[k] != levels[k]) return std::nullopt;
  Match match;
  if (stream_level_) match.stream = levels[*stream_level_];
  if (feature_level_) match.feature = levels[*feature_level_];
  return match;
}

std::vector<Row> rows_of_message(const TopicPattern::Match& match, std::string_view payload,
                                 double now, const Live& live, Refused* refused) {
  if (match.stream.empty()) {
    const std::size_t first = payload.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && (payload[first] == '{' || payload[first] == '['))
      return live.intake().json(payload, refused);
    std::size_t ignored = 0;
    return live.intake().line_protocol(payload, "ns", now, ignored, refused);
  }
  if (const std::string problem = name_problem(match.stream); !problem.empty())
    refuse("stream", problem);
  if (!match.feature.empty()) return one_value(match, payload, now, live);
  const nlohmann::json said = parse_json(payload);
  if (said.is_object() && !said.contains("values"))
    return flat_values(said, match.stream, now, live, refused);
  return live.intake().json_of_stream(payload, std::string(match.stream), refused);
}

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
