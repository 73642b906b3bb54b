// Open Inference Protocol v2, as Triton and KServe speak it. A sequence is a stream of the same
// name: its state outlives the server. Inputs of one request, all but the sequence optional:
//
//   time     FP64 [1]   when something was observed
//   feature  BYTES [k]  names of what was observed
//   value    FP64 [k]   the values
//   at       FP64 [q]   when to ask for the distribution; else at `time`, after it is absorbed
//
// Outputs are FP64 [q, features]: mean, aleatoric, epistemic, scale, dof.
#include <fmt/core.h>

#include <cmath>

#include "base/json/json.h"
#include "base/json/json_text.h"
#include "front/server/http/api.h"
#include "front/server/http/api_call.h"
#include "front/server/live/questions.h"

namespace edict::server {
namespace {

using nlohmann::json;

constexpr const char* kOutputs[] = {"mean", "aleatoric", "epistemic", "scale", "dof"};

// The data of an input, which must be an array of this type. Throws BadInput.
const json* input_of(const json& body, const char* name, bool texts) {
  const auto inputs = body.find("inputs");
  if (inputs == body.end() || !inputs->is_array()) return nullptr;
  for (const json& input : *inputs) {
    if (!input.is_object() || !input.contains("name") || input["name"] != name) continue;
    const auto data = input.find("data");
    if (data == input.end() || !data->is_array())
      throw BadInput({{0, name, "its data are no array"}});
    for (const json& value : *data)
      if (texts ? !value.is_string() : !value.is_number())
        throw BadInput({{0, name, texts ? "holds what is no text" : "holds what is no number"}});
    return &*data;
  }
  return nullptr;
}

}  // namespace

bool Api::is_other_model(const std::shared_ptr<Call>& call) const {
  if (call->part(2) == settings_.name) return false;
  call->done(problem(404, fmt::format("the model here is '{}'", settings_.name)));
  return true;
}

void Api::inference_ready(const std::shared_ptr<Call>& call) {
  if (is_other_model(call)) return;
  call->done({200, "", ""});
}

void Api::inference_model(const std::shared_ptr<Call>& call) {
  if (is_other_model(call)) return;
  const Model& model = live_.model();
  json inputs = json::array(), outputs = json::array();
  for (const auto& [name, type] :
       {std::pair("time", "FP64"), {"feature", "BYTES"}, {"value", "FP64"}, {"at", "FP64"}})
    inputs.push_back({{"name", name}, {"datatype", type}, {"shape", {-1}}});
  for (const char* name : kOutputs)
    outputs.push_back(
        {{"name", name}, {"datatype", "FP64"}, {"shape", {-1, model.features.size()}}});
  call->done(json_answer({{"name", settings_.name},
                          {"versions", {"1"}},
                          {"platform", "edict"},
                          {"inputs", std::move(inputs)},
                          {"outputs", std::move(outputs)},
                          {"parameters", {{"features", model.features}}}}));
}

void Api::infer(const std::shared_ptr<Call>& call) {
  if (is_other_model(call)) return;
  const json body = parse_json(call->request.body);
  if (!body.is_object()) throw BadInput({{0, "", "is no JSON object"}});
  const json parameters = body.value("parameters", json::object());
  std::string stream;
  if (parameters.contains("sequence_id")) {
    const json& id = parameters["sequence_id"];
    stream = id.is_string()           ? id.get<std::string>()
             : id.is_number_integer() ? std::to_string(id.get<std::int64_t>())
                                      : std::string();
  }
  if (const std::string why = name_problem(stream); !why.empty())
    throw BadInput({{0, "parameters.sequence_id", why}});
  const json* time = input_of(body, "time", false);
  const json* names = input_of(body, "feature", true);
  const json* values = input_of(body, "value", false);
  const json* at = input_of(body, "at", false);
  std::vector<Row> rows;
  if (names || values) {
    if (!names || !values || names->size() != values->size() || !time || time->size() != 1)
      throw BadInput({{0, "inputs", "time [1], feature [k] and value [k] belong together"}});
    for (std::size_t i = 0; i < names->size(); ++i) {
      const std::int32_t feature = live_.intake().feature((*names)[i].get<std::string>());
      if (feature < 0) throw BadInput({{i + 1, "feature", "the model has no such feature"}});
      rows.push_back({stream, live_.clock().from_number((*time)[0].get<double>()), feature,
                      (*values)[i].get<double>()});
    }
  }
  AskedDistribution asked;
  if (at)
    asked.at = at->get<std::vector<double>>();
  else
    asked.ahead = {0.0};
  if (asked.at.size() > 1000) throw BadInput({{0, "at", "more than 1000 at once"}});
  const std::string name = settings_.name;
  std::string id;
  if (const auto given = body.find("id"); given != body.end()) {
    if (!given->is_string()) throw BadInput({{0, "id", "is no text"}});
    id = given->get<std::string>();
  }
  Live& live = live_;
  const bool ends = parameters.contains("sequence_end") && parameters["sequence_end"] == true;
  if (ends && !call->may(Scope::admin))
    return call->done(
        problem(403, fmt::format("sequence_end removes the stream, and the token of '{}' "
                                 "does not allow this; it needs the scope admin",
                                 call->who)));
  const auto ask = [call, asked, stream, name, id, ends, &live] {
    live.on_stream(stream, [=, &live](Live::Access access, LiveStream* found) {
      if (!found) return call->done(problem(404, "there is no such sequence; send an observation"));
      ApiResponse response;
      try {
        const std::vector<Moment> moments = moments_of(access, *found, asked);
        const std::size_t features = access.live.model().features.size();
        json outputs = json::array();
        for (const char* output : kOutputs) {
          json data = json::array();
          for (const Moment& moment : moments)
            for (const Marginal& m : moment.marginals) {
              const std::string_view what = output;
              const double value = what == "mean"        ? m.mean
                                   : what == "aleatoric" ? m.aleatoric
                                   : what == "epistemic" ? m.epistemic
                                   : what == "scale"     ? m.scale
                                                         : m.dof;
              data.push_back(std::isfinite(value) ? json(value) : json());
            }
          outputs.push_back({{"name", output},
                             {"datatype", "FP64"},
                             {"shape", {moments.size(), features}},
                             {"data", std::move(data)}});
        }
        json told{{"model_name", name}, {"model_version", "1"}, {"outputs", std::move(outputs)}};
        if (!id.empty()) told["id"] = id;
        told["parameters"] = {{"sequence_id", stream}};
        response = {200, "application/json", json_text(told) + "\n"};
      } catch (const Error& e) {
        response = problem(422, e.what());
      }
      if (!ends) return call->done(std::move(response));
      // The client says that the sequence is over; what it was is no longer wanted.
      live.remove(
          stream,
          [call, response](const Result<>& removed) {
            const bool failed = !removed && removed.failure().kind != Failure::Kind::not_found;
            call->done(failed ? problem_of(removed.failure()) : response);
          },
          call->who);
    });
  };
  live_.submit(std::move(rows), [call, ask](const Outcome& outcome) {
    if (outcome.kind == Outcome::Kind::stored) return ask();
    call->done(problem(outcome.kind == Outcome::Kind::full      ? 429
                       : outcome.kind == Outcome::Kind::failed  ? 503
                       : outcome.kind == Outcome::Kind::crowded ? 403
                                                                : 422,
                       outcome.detail));
  });
}

}  // namespace edict::server
