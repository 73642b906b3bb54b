// Observations from an MQTT broker, which is what sensors speak.
//
// A message is acknowledged when what it says is durable: Paho's callback runs before the
// acknowledgement is sent, and it returns only after the commit. After a crash the broker sends
// again what was not acknowledged, and an observation that is known already changes nothing. What
// cannot be understood goes into the table `rejected` and is acknowledged too, for it would come
// again forever.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "front/server/ingest/mqtt_message.h"

namespace edict::server {

struct MqttSettings {
  std::string url;  // mqtt://host[:1883] or mqtts://host[:8883]
  // Levels of a topic: {stream} and {feature} stand for one level each, + for any one, # at the end
  // for any others.
  std::string topic;
  std::string client = "edict";  // under this name the broker keeps what comes while we are away
  std::string user{}, password_file{}, ca_file{};
};

class MqttSource {
 public:
  // Connects in the background and comes back by itself. `say` is told, from another thread, what a
  // person who runs a server wants to read. Throws Error for settings that cannot work.
  MqttSource(Live& live, const MqttSettings& settings,
             std::function<void(const std::string&)> say = {});
  // What is not durable by then is left to the broker.
  ~MqttSource();
  MqttSource(const MqttSource&) = delete;
  MqttSource& operator=(const MqttSource&) = delete;

  bool connected() const;

 private:
  struct Client;
  std::unique_ptr<Client> client_;
};

}  // namespace edict::server
