// Alarms, the rules that they come from, and events.
#include <fmt/core.h>

#include <cmath>

#include "base/text/utf8.h"
#include "data/read/csv/csv_names.h"
#include "front/server/http/routes/call.h"
#include "front/server/http/routes/handlers.h"

namespace edict::server {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestText = 500;  // bytes of a name or a reason

// A member of the body, else `standard`.
std::string short_text(const json& body, const char* key, std::string standard,
                       std::vector<Problem>& problems) {
  std::string text = std::move(standard);
  if (body.contains(key) && body[key].is_string()) text = body[key].get<std::string>();
  if (text.empty() || text.size() > kLongestText || !valid_utf8(text))
    problems.push_back({0, key, fmt::format("is missing or longer than {} bytes", kLongestText)});
  return text;
}

}  // namespace

void list_alarms(const CallPointer& call) {
  call->live().alarms(call->text("stream"), call->texts("state"), call->count("limit", 1000),
                      [call](const std::vector<AlarmOfStream>& found) {
                        json list = json::array();
                        for (const AlarmOfStream& one : found)
                          list.push_back(to_json(one.alarm, one.stream));
                        call->done(json_answer({{"alarms", std::move(list)}}));
                      });
}

void acknowledge_alarm(const CallPointer& call) {
  const json body = call->object();
  check_members(body, {"by", "reason"});
  std::vector<Problem> problems;
  std::string by = short_text(body, "by", call->who, problems);
  const std::string reason = short_text(body, "reason", "", problems);
  const auto id = finite_number(call->id);
  if (!id || std::floor(*id) != *id || std::abs(*id) > 9e15)
    problems.push_back({0, "id", "is no number of an alarm"});
  if (!problems.empty()) throw BadInput(std::move(problems));
  // Who holds a token cannot sign as somebody else.
  if (!call->who.empty() && by != call->who) by = fmt::format("{} ({})", by, call->who);
  call->live().acknowledge(static_cast<std::int64_t>(*id), by, reason,
                           [call](const Result<AlarmOfStream>& changed) {
                             if (!changed) return call->fail(failure_of(changed.failure()));
                             const AlarmOfStream& now = changed.value();
                             call->done(json_answer(to_json(now.alarm, now.stream)));
                           });
}

void get_rules(const CallPointer& call) {
  call->done(json_answer(to_json(call->live().rules(), call->live().model())));
}

void put_rules(const CallPointer& call) {
  call->live().set_rules(read_rules(call->request.body, call->live().model()), call->who,
                         [call](const Result<>& changed) {
                           if (!changed) return call->fail(failure_of(changed.failure()));
                           get_rules(call);
                         });
}

// Sent by the connection itself; this is what HEAD is answered.
void answer_events(const CallPointer& call) { call->done({200, "text/event-stream", ""}); }

}  // namespace edict::server
