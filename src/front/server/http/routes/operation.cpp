// How the server is, and what is done to it as a whole.
#include <fmt/core.h>

#include "base/error.h"
#include "base/json/json_text.h"
#include "base/text/utf8.h"
#include "front/server/http/routes/call.h"
#include "front/server/http/routes/handlers.h"

namespace edict::server {
namespace {

using nlohmann::json;

// Answers with a list that `read` takes from the store, apart from every stream.
template <class Read>
void answer_from_store(const CallPointer& call, const char* name, Read read) {
  call->live().aside([call, name, read](Live::Access access) {
    call->answer_with(
        [&] {
          return json_answer({{name, read(access.store)}});
        },
        FailureCode::unavailable);
  });
}

}  // namespace

void get_livez(const CallPointer& call) { call->done(json_answer({{"status", "ok"}})); }

void get_readyz(const CallPointer& call) {
  json states = json::object();
  bool ready = true;
  for (const Health::Check& check : call->service.checks()) {
    states[check.name] = check.problem.empty() ? "ok" : check.problem;
    ready = ready && check.problem.empty();
  }
  call->done(json_answer({{"status", ready ? "ok" : "failing"}, {"checks", std::move(states)}},
                         ready ? 200 : 503));
}

void get_healthz(const CallPointer& call) {
  for (const Health::Check& check : call->service.checks())
    if (!check.problem.empty())
      return call->done(
          json_answer({{"status", check.name + " failing"}, {"detail", check.problem}}, 503));
  call->done(json_answer({{"status", "ok"},
                          {"streams", call->live().streams()},
                          {"pending", call->live().pending()},
                          {"uptime", running_seconds() - call->service.started}}));
}

void get_metrics(const CallPointer& call) {
  Live& live = call->live();
  const Counters& c = live.counters();
  const std::vector<Health::Check> checks = call->service.checks();
  std::string text;
  const auto add = [&](const char* name, const char* kind, const char* help, double value) {
    text += fmt::format("# HELP edict_{0} {1}\n# TYPE edict_{0} {2}\nedict_{0} {3:.15g}\n", name,
                        help, kind, value);
  };
  const auto n = [](const std::atomic<std::uint64_t>& value) {
    return static_cast<double>(value.load());
  };
  add("values_total", "counter", "Values stored, new or corrected.", n(c.values));
  add("values_unchanged_total", "counter", "Values that were known already.", n(c.unchanged));
  add("values_corrected_total", "counter", "Values that replaced another.", n(c.corrected));
  add("values_late_total", "counter", "Values that came behind later ones.", n(c.late));
  add("events_absorbed_total", "counter", "Events absorbed in order.", n(c.events));
  add("replays_total", "counter", "Streams read again for late or corrected values.", n(c.replays));
  add("commits_total", "counter", "Durable commits.", n(c.commits));
  add("commit_seconds_total", "counter", "Time in commits.", c.commit_seconds.load());
  add("refused_full_total", "counter", "Requests answered 429.", n(c.refused_full));
  add("store_failures_total", "counter", "Transactions that failed.", n(c.store_failures));
  add("faults_total", "counter", "Events that no model could absorb.", n(c.faults));
  add("rejected_total", "counter", "Messages put into the table of rejected ones.", n(c.rejected));
  add("alarms_fired_total", "counter", "Alarms that came to firing.", n(c.alarms));
  add("streams", "gauge", "Streams known.", static_cast<double>(live.streams()));
  add("pending_values", "gauge", "Values taken and not answered.",
      static_cast<double>(live.pending()));
  add("event_watchers", "gauge", "Clients of /v1/events.",
      static_cast<double>(live.event_log().watchers()));
  add("store_healthy", "gauge", "1 while the store can be written to.",
      checks.front().problem.empty() ? 1 : 0);
  add("uptime_seconds", "gauge", "Since the server began.",
      running_seconds() - call->service.started);
  text +=
      "# HELP edict_ready 1 while this part works, as /readyz says.\n# TYPE edict_ready gauge\n";
  for (const Health::Check& check : checks)
    text += fmt::format("edict_ready{{part=\"{}\"}} {:d}\n", check.name, check.problem.empty());
  text += fmt::format(
      "# HELP edict_build_info The version that runs.\n# TYPE edict_build_info gauge\n"
      "edict_build_info{{version=\"{}\",model=\"{:016x}\"}} 1\n",
      EDICT_VERSION, call->service.fingerprint);
  call->done({200, "text/plain; version=0.0.4; charset=utf-8", std::move(text)});
}

void get_audit(const CallPointer& call) {
  answer_from_store(call, "audit", [limit = call->count("limit", 100)](Store& store) {
    json list = json::array();
    for (const AuditLine& line : store.audit(limit))
      list.push_back({{"at", line.at},
                      {"what", line.what},
                      {"who", line.who},
                      {"stream", line.stream},
                      {"detail", line.detail}});
    return list;
  });
}

void get_rejected(const CallPointer& call) {
  answer_from_store(call, "rejected", [limit = call->count("limit", 100)](Store& store) {
    json list = json::array();
    for (const RejectedLine& line : store.rejected(limit))
      list.push_back({{"at", line.at},
                      {"source", line.source},
                      {"detail", line.detail},
                      {"payload", valid_utf8(line.payload) ? line.payload : "(not UTF-8)"}});
    return list;
  });
}

void post_backup(const CallPointer& call) {
  const json body = call->object();
  check_members(body, {"to"});
  if (!body.contains("to") || !body["to"].is_string())
    throw BadInput({{0, "to", "is missing; name the file that is to be written"}});
  const std::string to = body["to"].get<std::string>();
  call->live().aside([call, to](Live::Access access) {
    try {
      access.store.backup(to);
    } catch (const MachineError&) {
      return call->fail(failure_at_hand());
    } catch (const std::exception& e) {
      return call->fail(FailureCode::invalid, e.what());
    }
    access.live.write(
        [call, to](Store& store) {
          store.add_audit({wall_seconds(), "backup", call->who, "", to});
        },
        [call, to](const Result<>&) {
          call->done(json_answer({{"backup", to}}));
        });
  });
}

}  // namespace edict::server
