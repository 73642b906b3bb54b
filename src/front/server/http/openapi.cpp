// The description of the interface, written out of the table of routes.
#include <algorithm>
#include <cctype>

#include "base/json/json.h"
#include "base/json/json_text.h"
#include "front/server/http/api.h"
#include "front/server/http/openapi_schemas.h"
#include "front/server/http/routes/route.h"

namespace edict::server {
namespace {

using nlohmann::json;
using Kind = Parameter::Kind;

json reference(std::string_view schema) {
  if (schema.empty()) return {{"type", "string"}};
  return {{"$ref", "#/components/schemas/" + std::string(schema)}};
}

// Of one element, where the parameter is a list.
json element_schema(const Parameter& parameter) {
  switch (parameter.kind) {
    case Kind::number:
      return {{"type", "number"}, {"minimum", parameter.low}, {"maximum", parameter.high}};
    case Kind::integer:
      return {{"type", "integer"}, {"minimum", parameter.low}, {"maximum", parameter.high}};
    case Kind::numbers:
      return {{"type", "number"}};
    case Kind::choice:
    case Kind::choices:
      return {{"type", "string"}, {"enum", parameter.choices}};
    case Kind::time:
    case Kind::times:
      return {{"type", {"number", "string"}}};
    case Kind::limits:
      return {{"type", "string"}, {"pattern", "^.+[:=][^:=]+$"}};
    case Kind::text:
    case Kind::texts:
    case Kind::features:
      break;
  }
  return {{"type", "string"}};
}

json query_parameter(const Parameter& parameter) {
  json one{{"name", parameter.name}, {"in", "query"}, {"description", parameter.help}};
  if (parameter.is_list()) {
    one["schema"] = {{"type", "array"}, {"items", element_schema(parameter)}};
    one["style"] = "form";
    one["explode"] = false;
  } else {
    one["schema"] = element_schema(parameter);
  }
  return one;
}

json parameters_of(const Route& route) {
  json all = json::array();
  if (const std::size_t brace = route.path.find('{'); brace != std::string_view::npos) {
    const std::string_view name = route.path.substr(brace + 1, route.path.find('}') - brace - 1);
    all.push_back(
        {{"name", name}, {"in", "path"}, {"required", true}, {"schema", {{"type", "string"}}}});
  }
  for (const Parameter& parameter : route.query) all.push_back(query_parameter(parameter));
  return all;
}

json body_of(const BodyAbout& body) {
  json content = json::object();
  for (const std::string_view type : body.types)
    content[std::string(type)] = {
        {"schema", reference(type == "application/json" ? body.schema : "")}};
  return {{"required", !body.may_be_empty}, {"content", std::move(content)}};
}

json answers_of(const Route& route) {
  json done{{"description", "Done"}};
  if (!route.answers.type.empty())
    done["content"] = {
        {std::string(route.answers.type), {{"schema", reference(route.answers.schema)}}}};
  json all{{"default",
            {{"description", "What is wrong, as problem+json"},
             {"content", {{"application/problem+json", {{"schema", reference("Problem")}}}}}}}};
  if (route.answers.schema == "Stored") all["207"] = done;
  all[std::to_string(route.answers.status)] = std::move(done);
  return all;
}

// What a token must allow; nothing where none is needed.
json security_of(Need need) {
  if (need == Need::nothing) return json::array();
  return json::array({json::object(), {{"token", {name_of(need)}}}});
}

}  // namespace

std::string openapi_text() {
  json paths = json::object();
  for (const Route& route : routes()) {
    json one{{"summary", route.summary},
             {"security", security_of(route.need)},
             {"responses", answers_of(route)}};
    if (json parameters = parameters_of(route); !parameters.empty())
      one["parameters"] = std::move(parameters);
    if (!route.body.types.empty()) one["requestBody"] = body_of(route.body);
    std::string method(route.method);
    std::ranges::transform(method, method.begin(), [](unsigned char c) { return std::tolower(c); });
    paths.emplace(std::string(route.path), json::object()).first.value()[method] = std::move(one);
  }
  const json document{
      {"openapi", "3.1.0"},
      {"info",
       {{"title", "edict"},
        {"version", EDICT_VERSION},
        {"description",
         "Live streams of a model of irregular time series. Research software, not a medical "
         "device."}}},
      {"paths", std::move(paths)},
      {"components",
       {{"securitySchemes", {{"token", {{"type", "http"}, {"scheme", "bearer"}}}}},
        {"schemas", parse_json(openapi_schemas())}}}};
  return json_text(document) + "\n";
}

}  // namespace edict::server
