// Instead of mqtt.cpp in a build with -DEDICT_MQTT=OFF.
#include "base/error.h"
#include "front/server/ingest/mqtt.h"

namespace edict::server {

struct MqttSource::Client {};

MqttSource::MqttSource(Live&, const MqttSettings& settings,
                       std::function<void(const std::string&)>) {
  throw Error(ErrorCode::unsupported, {.subject = settings.url,
                                       .problem = "this build of edict has no MQTT",
                                       .remedy = "configure it with -DEDICT_MQTT=ON"});
}

MqttSource::~MqttSource() = default;

bool MqttSource::connected() const { return false; }

}  // namespace edict::server
