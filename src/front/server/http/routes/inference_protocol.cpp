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
#include <map>

#include "front/server/http/routes/call.h"
#include "front/server/http/routes/handlers.h"
#include "front/server/live/questions.h"

namespace edict::server {
namespace {

using nlohmann::json;

constexpr const char* kOutputs[] = {"mean", "aleatoric", "epistemic", "scale", "dof"};

// What a request says.
struct Inference {
  std::string stream, id;
  std::vector<Row> rows;
  AskedDistribution asked;
  bool ends = false;  // the sequence goes with the answer
};

// Throws BadInput where a shape holds another number of values.
void check_shape(const json& input, const std::string& name, std::size_t values) {
  const auto shape = input.find("shape");
  if (shape == input.end()) return;
  double size = 1;
  if (!shape->is_array()) throw BadInput({{0, name, "its shape is no array"}});
  for (const json& extent : *shape) {
    if (!extent.is_number_unsigned()) throw BadInput({{0, name, "its shape holds no number"}});
    size *= extent.get<double>();
  }
  if (size != static_cast<double>(values))
    throw BadInput(
        {{0, name, fmt::format("its shape holds {} values, its data {}", size, values)}});
}

// The data of the inputs by their names. Throws BadInput.
std::map<std::string, const json*> read_inputs(const json& body) {
  std::map<std::string, const json*> data_of{
      {"time", nullptr}, {"feature", nullptr}, {"value", nullptr}, {"at", nullptr}};
  const auto inputs = body.find("inputs");
  if (inputs == body.end() || inputs->is_null()) return data_of;
  if (!inputs->is_array()) throw BadInput({{0, "inputs", "is no array"}});
  for (const json& input : *inputs) {
    if (!input.is_object() || !input.contains("name") || !input["name"].is_string())
      throw BadInput({{0, "inputs", "holds an input without a name"}});
    const std::string name = input["name"].get<std::string>();
    const auto known = data_of.find(name);
    if (known == data_of.end())
      throw BadInput({{0, name, "is no input of this model; give time, feature, value or at"}});
    if (known->second) throw BadInput({{0, name, "is given more than once"}});
    const auto data = input.find("data");
    if (data == input.end() || !data->is_array())
      throw BadInput({{0, name, "its data are no array"}});
    const bool texts = name == "feature";
    for (const json& value : *data)
      if (texts ? !value.is_string() : !value.is_number())
        throw BadInput({{0, name, texts ? "holds what is no text" : "holds what is no number"}});
    check_shape(input, name, data->size());
    known->second = &*data;
  }
  return data_of;
}

std::string sequence_of(const json& parameters) {
  std::string name;
  if (parameters.is_object() && parameters.contains("sequence_id")) {
    const json& id = parameters["sequence_id"];
    name = id.is_string()            ? id.get<std::string>()
           : id.is_number_unsigned() ? std::to_string(id.get<std::uint64_t>())
           : id.is_number_integer()  ? std::to_string(id.get<std::int64_t>())
                                     : std::string();
  }
  if (const std::string why = name_problem(name); !why.empty())
    throw BadInput({{0, "parameters.sequence_id", why}});
  return name;
}

std::vector<Row> rows_of_inputs(const std::map<std::string, const json*>& inputs,
                                const std::string& stream, const Live& live) {
  const json *time = inputs.at("time"), *names = inputs.at("feature"), *values = inputs.at("value");
  std::vector<Row> rows;
  if (!names && !values) return rows;
  if (!names || !values || names->size() != values->size() || !time || time->size() != 1)
    throw BadInput({{0, "inputs", "time [1], feature [k] and value [k] belong together"}});
  for (std::size_t i = 0; i < names->size(); ++i) {
    const std::int32_t feature = live.intake().feature((*names)[i].get<std::string>());
    if (feature < 0) throw BadInput({{i + 1, "feature", "the model has no such feature"}});
    rows.push_back({stream, live.clock().from_number((*time)[0].get<double>()), feature,
                    (*values)[i].get<double>()});
  }
  return rows;
}

Inference read_inference(const Call& call) {
  const json body = call.object();
  const json parameters = body.value("parameters", json::object());
  Inference read;
  read.stream = sequence_of(parameters);
  const auto inputs = read_inputs(body);
  read.rows = rows_of_inputs(inputs, read.stream, call.live());
  if (const json* at = inputs.at("at"))
    read.asked.at = at->get<std::vector<double>>();
  else
    read.asked.ahead = {0.0};
  if (read.asked.at.size() > kMostMoments)
    throw BadInput({{0, "at", fmt::format("more than {} at once", kMostMoments)}});
  if (const auto given = body.find("id"); given != body.end()) {
    if (!given->is_string()) throw BadInput({{0, "id", "is no text"}});
    read.id = given->get<std::string>();
  }
  if (const auto end = parameters.find("sequence_end"); end != parameters.end()) {
    if (!end->is_boolean())
      throw BadInput({{0, "parameters.sequence_end", "is neither true nor false"}});
    read.ends = end->get<bool>();
  }
  return read;
}

double output_of(const Marginal& m, std::string_view output) {
  return output == "mean"        ? m.mean
         : output == "aleatoric" ? m.aleatoric
         : output == "epistemic" ? m.epistemic
         : output == "scale"     ? m.scale
                                 : m.dof;
}

json inference_answer(Live::Access access, const LiveStream& stream, const Inference& inference,
                      const std::string& model) {
  const std::vector<Moment> moments = moments_of(access, stream, inference.asked);
  json outputs = json::array();
  for (const char* output : kOutputs) {
    json data = json::array();
    for (const Moment& moment : moments)
      for (const Marginal& m : moment.marginals) {
        const double value = output_of(m, output);
        data.push_back(std::isfinite(value) ? json(value) : json());
      }
    outputs.push_back({{"name", output},
                       {"datatype", "FP64"},
                       {"shape", {moments.size(), access.live.model().features.size()}},
                       {"data", std::move(data)}});
  }
  json answer{{"model_name", model}, {"model_version", "1"}, {"outputs", std::move(outputs)}};
  if (!inference.id.empty()) answer["id"] = inference.id;
  answer["parameters"] = {{"sequence_id", inference.stream}};
  return answer;
}

// When the values of a request are absorbed.
void answer_inference(const CallPointer& call, const std::shared_ptr<const Inference>& inference) {
  call->live().on_stream(inference->stream, [=](Live::Access access, LiveStream* stream) {
    if (!stream)
      return call->fail(FailureCode::not_found, "there is no such sequence; send an observation");
    if (!inference->ends)
      return call->answer_with([&] {
        return json_answer(
            inference_answer(access, *stream, *inference, call->service.settings.name));
      });
    ApiResponse response;
    try {
      response =
          json_answer(inference_answer(access, *stream, *inference, call->service.settings.name));
    } catch (const std::exception&) {
      response = to_response(failure_at_hand());
    }
    // The client says that the sequence is over; what it was is no longer wanted.
    call->live().remove(
        inference->stream,
        [call, response](const Result<>& removed) {
          if (!removed && removed.failure().kind != Failure::Kind::not_found)
            return call->fail(failure_of(removed.failure()));
          call->done(response);
        },
        call->who);
  });
}

bool is_other_model(const CallPointer& call) {
  const std::string& name = call->service.settings.name;
  if (call->id == name) return false;
  call->fail(FailureCode::not_found, fmt::format("the model here is '{}'", name));
  return true;
}

}  // namespace

void get_inference_ready(const CallPointer& call) {
  if (!is_other_model(call)) call->done({200, "", ""});
}

void get_inference_model(const CallPointer& call) {
  if (is_other_model(call)) return;
  const Model& model = call->live().model();
  json inputs = json::array(), outputs = json::array();
  for (const auto& [name, type] :
       {std::pair("time", "FP64"), {"feature", "BYTES"}, {"value", "FP64"}, {"at", "FP64"}})
    inputs.push_back({{"name", name}, {"datatype", type}, {"shape", {-1}}});
  for (const char* name : kOutputs)
    outputs.push_back(
        {{"name", name}, {"datatype", "FP64"}, {"shape", {-1, model.features.size()}}});
  call->done(json_answer({{"name", call->service.settings.name},
                          {"versions", {"1"}},
                          {"platform", "edict"},
                          {"inputs", std::move(inputs)},
                          {"outputs", std::move(outputs)},
                          {"parameters", {{"features", model.features}}}}));
}

void infer(const CallPointer& call) {
  if (is_other_model(call)) return;
  auto inference = std::make_shared<Inference>(read_inference(*call));
  if (inference->ends && !call->may(Scope::admin))
    return call->fail(FailureCode::forbidden,
                      fmt::format("sequence_end removes the stream, and the token of '{}' "
                                  "does not allow this; it needs the scope admin",
                                  call->who));
  std::vector<Row> rows = std::move(inference->rows);
  call->live().submit(std::move(rows), [call, inference](const Outcome& outcome) {
    if (outcome.kind == Outcome::Kind::stored) return answer_inference(call, inference);
    call->fail(failure_of(outcome, {}));
  });
}

}  // namespace edict::server
