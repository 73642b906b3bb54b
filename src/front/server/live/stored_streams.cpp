#include "front/server/live/stored_streams.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/error.h"
#include "base/json/json.h"
#include "base/json/json_text.h"

namespace edict::server {
namespace {

using nlohmann::json;

StreamAbout about_from(const std::string& text, const Model& model) {
  StreamAbout about;
  const json body = parse_json(text);
  if (!body.is_object()) return about;
  if (const auto statics = body.find("statics"); statics != body.end() && statics->is_object())
    for (const std::string& name : model.statics) {
      const auto value = statics->find(name);
      about.statics.push_back(value != statics->end() && value->is_number()
                                  ? value->get<double>()
                                  : std::numeric_limits<double>::quiet_NaN());
    }
  if (const auto labels = body.find("labels"); labels != body.end())
    about.labels = json_text(*labels);
  return about;
}

std::shared_ptr<LiveStream> stream_of(const KeptStream& kept, const LiveContext& context,
                                      const Registry& registry) {
  auto stream = std::make_shared<LiveStream>();
  stream->id = kept.id;
  stream->name = kept.name;
  stream->shard = registry.shard_of(kept.name);
  stream->origin = stream->written.origin = kept.origin;
  stream->pruned = stream->written.base = kept.base;
  stream->removed_first = stream->written.first = kept.first;
  stream->written.about_text = kept.about;
  stream->listed = true;
  if (kept.about != "{}")
    stream->about = std::make_shared<const StreamAbout>(about_from(kept.about, *context.model));
  return stream;
}

void read_alarms(Store& store, const std::unordered_map<std::int64_t, LiveStream*>& by_id,
                 StoredStreams& held) {
  if (const auto text = store.meta("alarms"))
    held.next_alarm =
        std::max<std::int64_t>(held.next_alarm, std::strtoll(text->c_str(), nullptr, 10));
  store.each_alarm([&](KeptAlarm&& kept) {
    held.next_alarm = std::max(held.next_alarm, kept.id + 1);
    const auto owner = by_id.find(kept.stream);
    if (owner == by_id.end()) return;
    LiveStream& stream = *owner->second;
    try {
      stream.alarms.push_back(alarm_from_json(parse_json(kept.body)));
    } catch (const json::exception&) {
      return;  // of another version; it will fire again
    }
    held.alarm_streams[kept.id] = stream.name;
    held.watchful[stream.shard].insert(&stream);
  });
}

void read_rules_of(Store& store, const Model& model, StoredStreams& held) {
  const auto kept = store.meta("rules");
  if (!kept) return;
  try {
    held.rules = read_rules(*kept, model);
  } catch (const BadInput& e) {
    held.notices.push_back(fmt::format(
        "the alarm rules in the store cannot be used (rule {}), and none is in force; set them "
        "again",
        e.what()));
  }
}

}  // namespace

std::string about_text(const StreamAbout& about, const Model& model) {
  json statics = json::object();
  for (std::size_t c = 0; c < about.statics.size(); ++c)
    if (std::isfinite(about.statics[c])) statics[model.statics[c]] = about.statics[c];
  return json_text({{"statics", statics}, {"labels", parse_json(about.labels)}});
}

StoredStreams read_streams(Store& store, const LiveContext& context, const Registry& registry) {
  StoredStreams held;
  held.of_shard.resize(registry.n_shards());
  held.watchful.resize(registry.n_shards());
  std::unordered_map<std::int64_t, LiveStream*> by_id;
  store.each_stream([&](KeptStream&& kept) {
    auto stream = stream_of(kept, context, registry);
    by_id[kept.id] = stream.get();
    held.of_shard[stream->shard].emplace(stream->name, stream);
    held.names.emplace(std::move(kept.name), std::move(stream));
  });
  read_alarms(store, by_id, held);
  read_rules_of(store, *context.model, held);
  return held;
}

void check_features(Store& store, const Intake& intake, std::vector<std::string>& notices) {
  const std::vector<std::string> kept = store.features();
  std::string unknown;
  std::size_t common = 0;
  for (const std::string& name : kept) {
    if (intake.feature(name) >= 0)
      ++common;
    else
      unknown += (unknown.empty() ? "" : ", ") + name;
  }
  if (kept.empty() || unknown.empty()) return;
  if (common == 0)
    throw Error(fmt::format(
        "--store: it has values of {}, and this model knows none of them; give the model that it "
        "belongs to, or another --store",
        unknown));
  notices.push_back(fmt::format(
      "the store also has values of {}, which this model does not know and does not see", unknown));
}

void check_times(Store& store, const StreamClock& clock, bool is_new) {
  if (!clock.calendar() && clock.seconds_in_unit() <= 0) return;
  const std::string own(clock.calendar() ? "dates" : clock.unit_name());
  const std::optional<std::string> kept = store.meta("times");
  if (kept == own) return;
  if (kept && !is_new) {
    if (*kept == "dates" || own == "dates")
      throw Error(fmt::format(
          "--store: its times are {}, and those of this model are {}; give the model that it "
          "belongs to, or another --store",
          *kept == "dates" ? "dates" : "plain numbers",
          own == "dates" ? "dates" : "plain numbers"));
    throw Error(fmt::format(
        "--store: its times count in {}, and this start counts in {}; give --time-unit {}, or "
        "another --store",
        *kept, own, *kept));
  }
  store.set_meta("times", own);
}

std::uint64_t first_event_number(Store& store) {
  const auto now = static_cast<std::uint64_t>(wall_seconds() * 1e6);
  std::uint64_t before = 0;
  if (const auto text = store.meta("events")) before = std::strtoull(text->c_str(), nullptr, 10);
  // Numbers ascend even where the clock was set back, as long as fewer than a million events a
  // second happen.
  const std::uint64_t first = std::max(now, before + 1000000);
  store.set_meta("events", std::to_string(first));
  return first;
}

}  // namespace edict::server
