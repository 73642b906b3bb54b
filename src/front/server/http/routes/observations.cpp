// Values that come in.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/json/json_text.h"
#include "base/not_finite.h"
#include "front/server/http/routes/call.h"
#include "front/server/http/routes/handlers.h"

namespace edict::server {
namespace {

using nlohmann::json;

// What became of a body of values, of which `refused` could not be read or stored.
ApiResponse outcome_answer(const Outcome& outcome, const Refused& refused) {
  if (outcome.kind != Outcome::Kind::stored) return to_response(failure_of(outcome, refused));
  json body{{"stored", outcome.stored},
            {"unchanged", outcome.unchanged},
            {"corrected", outcome.corrected},
            {"late", outcome.late},
            {"refused", refused.count}};
  if (refused.count > 0) body["errors"] = to_json(refused.problems);
  return json_answer(body, refused.count > 0 ? 207 : 200);
}

// The same as clients of InfluxDB know it: 204, or an error with the message that they log. That is
// also 400 where all other values were stored.
ApiResponse influx_answer(const ApiResponse& answer) {
  if (answer.status == 200) return {204, "", ""};
  const json body = parse_json(answer.body);
  ApiResponse response = answer;
  json extended = body;
  if (answer.status == 207) {
    const json& first = body["errors"][0];
    response = problem(
        400, fmt::format("partial write: {} values stored, {} refused: line {}: {}",
                         body["stored"].get<std::size_t>(), body["refused"].get<std::size_t>(),
                         first.value("line", 0), first["detail"].get<std::string>()));
    extended.update(parse_json(response.body));
  }
  extended["code"] = "invalid";
  extended["message"] = extended["detail"];
  response.body = json_text(extended) + "\n";
  return response;
}

// `refused`: what could not be read beside the rows.
void submit(Live& live, std::vector<Row> rows, Refused refused,
            std::function<void(ApiResponse)> done) {
  if (rows.empty() && refused.count > 0)
    return done(to_response({FailureCode::malformed, refused.text(), std::move(refused.problems)}));
  const auto answered = [done = std::move(done),
                         refused = std::move(refused)](const Outcome& outcome) {
    Refused all = refused;
    all.add(outcome.refused);
    std::ranges::stable_sort(all.problems, {}, &Problem::line);
    done(outcome_answer(outcome, all));
  };
  live.submit(std::move(rows), answered, Acceptance::partial);
}

}  // namespace

void post_observations(const CallPointer& call) {
  Refused refused;
  const Intake& intake = call->live().intake();
  std::vector<Row> rows = call->type == "text/csv" ? intake.csv(call->request.body, &refused)
                                                   : intake.json(call->request.body, &refused);
  submit(call->live(), std::move(rows), std::move(refused), call->done);
}

void write_line_protocol(const CallPointer& call) {
  std::size_t ignored = 0;
  Refused refused;
  std::vector<Row> rows =
      call->live().intake().line_protocol(call->request.body, call->text("precision"),
                                          std::floor(wall_seconds() * 1e6), ignored, &refused);
  submit(call->live(), std::move(rows), std::move(refused),
         [call](const ApiResponse& answer) { call->done(influx_answer(answer)); });
}

}  // namespace edict::server
