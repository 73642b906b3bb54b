#include "front/server/http/api.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/hash.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "base/not_finite.h"
#include "base/text/utf8.h"
#include "data/read/csv/csv_names.h"
#include "front/server/http/api_call.h"
#include "front/server/live/questions.h"

namespace edict::server {
namespace {

using nlohmann::json;

std::string_view title_of(int status) {
  switch (status) {
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    default:
      return "Internal Server Error";
  }
}

std::optional<std::string> unescaped(std::string_view text, bool plus_is_blank) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      unsigned value = 0;
      if (i + 2 >= text.size()) return {};
      const auto [end, error] =
          std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16);
      if (error != std::errc{} || end != text.data() + i + 3) return {};
      result += static_cast<char>(value);
      i += 2;
    } else {
      result += plus_is_blank && text[i] == '+' ? ' ' : text[i];
    }
  }
  if (!valid_utf8(result)) return {};
  return result;
}

json json_of(const std::vector<Problem>& problems) {
  json list = json::array();
  for (const Problem& p : problems) {
    json one{{"detail", p.detail}};
    if (p.line > 0) one["line"] = p.line;
    if (!p.field.empty()) one["field"] = p.field;
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace

std::optional<Target> parse_target(std::string_view target) {
  Target result;
  const std::size_t question = std::min(target.find('?'), target.size());
  std::string_view path = target.substr(0, question);
  std::string_view query = target.substr(std::min(question + 1, target.size()));
  if (!path.starts_with('/')) return {};
  for (path.remove_prefix(1); !path.empty();) {
    const std::size_t end = std::min(path.find('/'), path.size());
    auto part = unescaped(path.substr(0, end), false);
    // /v1/streams//observations would be another stream than the one that was left out.
    if (!part || part->empty()) return {};
    result.path.push_back(std::move(*part));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto key = unescaped(pair.substr(0, equals), true);
    auto value = unescaped(pair.substr(std::min(equals + 1, pair.size())), true);
    if (!key || !value) return {};
    // A name that is given again adds to a list.
    auto [at, is_new] = result.query.emplace(*key, *value);
    if (!is_new) at->second += "," + *value;
  }
  return result;
}

ApiResponse problem(int status, const std::string& detail, const std::vector<Problem>& problems) {
  json body{
      {"type", "about:blank"}, {"title", title_of(status)}, {"status", status}, {"detail", detail}};
  if (!problems.empty()) body["errors"] = json_of(problems);
  ApiResponse response{status, "application/problem+json", json_text(body) + "\n"};
  if (status == 429 || status == 503) response.headers.emplace_back("Retry-After", "1");
  if (status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

ApiResponse problem_of(const Failure& failure) {
  switch (failure.kind) {
    case Failure::Kind::conflict:
      return problem(409, failure.text);
    case Failure::Kind::not_found:
      return problem(404, failure.text);
    case Failure::Kind::store:
      break;
  }
  return problem(503, failure.text);
}

Api::Api(Live& live, ApiSettings settings, std::shared_ptr<const Tokens> tokens,
         const Health* health)
    : live_(live),
      settings_(std::move(settings)),
      health_(health),
      started_(running_seconds()),
      fingerprint_(fingerprint(live.model())),
      tokens_(std::move(tokens)) {}

Api::~Api() = default;

void Api::set_tokens(std::shared_ptr<const Tokens> tokens) {
  const std::lock_guard lock(tokens_mutex_);
  tokens_ = std::move(tokens);
}

std::string Api::hello() const {
  return fmt::format("\"model\":\"{:016x}\",\"now\":{:.3f}", fingerprint_, running_seconds());
}

// ---- who may ask for what ----

struct Api::Route {
  std::string_view method;  // GET stands for HEAD too
  std::string_view path;    // a star is one part, two are any number of them
  Need need;
  void (Api::*answer)(const std::shared_ptr<Call>&);

  bool matches(const Target& target) const {
    std::string_view rest = path;
    std::size_t at = 0;
    while (!rest.empty()) {
      rest.remove_prefix(1);  // the slash
      const std::string_view part = rest.substr(0, rest.find('/'));
      rest.remove_prefix(part.size());
      if (part == "**") return true;
      if (part.empty()) break;
      if (at >= target.path.size() || (part != "*" && part != target.path[at])) return false;
      ++at;
    }
    return at == target.path.size();
  }
};

std::span<const Api::Route> Api::routes() {
  static constexpr Route kRoutes[]{
      {"GET", "/livez", Need::nothing, &Api::livez},
      {"GET", "/readyz", Need::nothing, &Api::readyz},
      {"GET", "/healthz", Need::nothing, &Api::healthz},
      {"GET", "/v2/health/live", Need::nothing, &Api::livez},
      {"GET", "/v2/health/ready", Need::nothing, &Api::readyz},
      {"GET", "/", Need::nothing, &Api::page},
      {"GET", "/page/**", Need::nothing, &Api::page},
      {"GET", "/openapi.json", Need::nothing, &Api::openapi},
      {"GET", "/metrics", Need::read, &Api::metrics},
      {"POST", "/v1/observations", Need::write, &Api::observations},
      {"POST", "/api/v2/write", Need::write, &Api::line_protocol},
      {"GET", "/v1/model", Need::read, &Api::model},
      {"GET", "/v1/streams", Need::read, &Api::streams},
      {"GET", "/v1/streams/*", Need::read, &Api::stream},
      {"PUT", "/v1/streams/*", Need::write, &Api::put_stream},
      {"DELETE", "/v1/streams/*", Need::admin, &Api::delete_stream},
      {"GET", "/v1/streams/*/distribution", Need::read, &Api::stream},
      {"GET", "/v1/streams/*/trajectory", Need::read, &Api::stream},
      {"GET", "/v1/streams/*/history", Need::read, &Api::history},
      {"DELETE", "/v1/streams/*/observations", Need::admin, &Api::erase},
      {"GET", "/v1/trajectories", Need::read, &Api::trajectories},
      {"GET", "/v1/alarms", Need::read, &Api::alarms},
      {"POST", "/v1/alarms/*/acknowledge", Need::write, &Api::acknowledge},
      {"GET", "/v1/rules", Need::read, &Api::rules},
      {"PUT", "/v1/rules", Need::admin, &Api::put_rules},
      {"GET", "/v1/events", Need::read, &Api::events},
      {"GET", "/v1/audit", Need::read, &Api::audit},
      {"GET", "/v1/rejected", Need::read, &Api::rejected},
      {"POST", "/v1/backup", Need::admin, &Api::backup},
      {"GET", "/v2/models/*", Need::read, &Api::inference_model},
      {"GET", "/v2/models/*/ready", Need::read, &Api::inference_ready},
      {"POST", "/v2/models/*/infer", Need::write, &Api::infer}};
  return kRoutes;
}

std::vector<Api::Address> Api::addresses() {
  std::vector<Address> all;
  for (const Route& route : routes())
    all.push_back({std::string(route.method), std::string(route.path), route.need});
  return all;
}

bool Api::is_about_health(std::string_view target) {
  const auto read = parse_target(target);
  return read && std::ranges::any_of(routes(), [&](const Route& route) {
           return (route.answer == &Api::livez || route.answer == &Api::readyz ||
                   route.answer == &Api::healthz) &&
                  route.matches(*read);
         });
}

// A request before it is answered: either where it leads, or why it leads nowhere.
struct Api::Admission {
  Call call{};
  const Route* route = nullptr;
  std::optional<ApiResponse> refusal{};
};

Api::Admission Api::admit(const ApiRequest& head) const {
  Admission admission;
  if (head.target == "*") {  // OPTIONS of the server as a whole
    admission.refusal =
        ApiResponse{204, "", "", {{"Allow", "GET, HEAD, POST, PUT, DELETE, OPTIONS"}}};
    return admission;
  }
  auto target = parse_target(head.target);
  if (!target) {
    admission.refusal = problem(400, "the address has an empty part or a wrong percent sign");
    return admission;
  }
  Call& call = admission.call;
  call.target = std::move(*target);
  std::string allowed;
  for (const Route& route : routes()) {
    if (!route.matches(call.target)) continue;
    if (route.method == head.method || (route.method == "GET" && head.method == "HEAD"))
      admission.route = &route;
    allowed += fmt::format("{}{}", route.method, route.method == "GET" ? ", HEAD, " : ", ");
  }
  if (allowed.empty()) {
    admission.refusal = problem(404, "there is no such address; /openapi.json lists them");
  } else if (!admission.route) {
    allowed += "OPTIONS";
    admission.refusal =
        head.method == "OPTIONS"
            ? ApiResponse{204, "", ""}
            : problem(405, fmt::format("{} is not possible here, but {}", head.method, allowed));
    admission.refusal->headers.emplace_back("Allow", allowed);
  } else {
    admission.refusal = check_token(call, head.authorization, admission.route->need);
  }
  return admission;
}

std::optional<ApiResponse> Api::check_token(Call& call, std::string_view token, Need need) const {
  const std::shared_ptr<const Tokens> tokens = [&] {
    const std::lock_guard lock(tokens_mutex_);
    return tokens_;
  }();
  if (!tokens || need == Need::nothing) return {};
  if (token.starts_with("Bearer ") || token.starts_with("bearer "))
    token.remove_prefix(7);
  else if (token.starts_with("Token "))  // InfluxDB's clients
    token.remove_prefix(6);
  else
    token = {};
  // A browser's EventSource cannot send a header.
  const auto query = call.target.query.find("token");
  if (token.empty() && query != call.target.query.end() && call.is({"v1", "events"}))
    token = query->second;
  const Tokens::Holder* holder = token.empty() ? nullptr : tokens->find(token);
  if (!holder) return problem(401, "send Authorization: Bearer TOKEN with a token of this server");
  call.who = holder->name;
  call.scopes = holder->scopes;
  const Scope scope = need == Need::read    ? Scope::read
                      : need == Need::write ? Scope::write
                                            : Scope::admin;
  if (call.may(scope)) return {};
  return problem(403, fmt::format("the token of '{}' does not allow this; it needs the scope {}",
                                  holder->name, name_of(scope)));
}

std::optional<ApiResponse> Api::refuses(const ApiRequest& head) const {
  return admit(head).refusal;
}

void Api::handle(ApiRequest request, std::function<void(ApiResponse)> done) {
  Admission admission = admit(request);
  if (admission.refusal) return done(std::move(*admission.refusal));
  auto call = std::make_shared<Call>(std::move(admission.call));
  call->request = std::move(request);
  call->done = std::move(done);
  try {
    (this->*admission.route->answer)(call);
  } catch (const BadInput& e) {
    call->done(problem(400, e.what(), e.problems()));
  } catch (const Error& e) {
    call->done(problem(422, e.what()));
  } catch (const std::exception& e) {
    call->done(problem(500, e.what()));
  }
}

// ---- in ----

namespace {

int status_of(Outcome::Kind kind) {
  switch (kind) {
    case Outcome::Kind::stored:
      return 200;
    case Outcome::Kind::full:
      return 429;
    case Outcome::Kind::failed:
      return 503;
    case Outcome::Kind::invalid:
      return 422;
    case Outcome::Kind::crowded:
      return 403;
  }
  return 500;
}

// What became of a body of values, of which `refused` could not be read.
ApiResponse outcome_answer(const Outcome& outcome, const Refused& refused) {
  if (outcome.kind == Outcome::Kind::full || outcome.kind == Outcome::Kind::failed)
    return problem(status_of(outcome.kind), outcome.detail);
  if (outcome.kind != Outcome::Kind::stored)
    return problem(status_of(outcome.kind), refused.text(), refused.problems);
  json body{{"stored", outcome.stored},
            {"unchanged", outcome.unchanged},
            {"corrected", outcome.corrected},
            {"late", outcome.late},
            {"refused", refused.count}};
  if (refused.count > 0) body["errors"] = json_of(refused.problems);
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

}  // namespace

void Api::observations(const std::shared_ptr<Call>& call) {
  const std::string& type = call->request.content_type;
  const std::string_view kind =
      std::string_view(type).substr(0, std::min(type.find(';'), type.size()));
  Refused refused;
  std::vector<Row> rows;
  if (kind == "text/csv")
    rows = live_.intake().csv(call->request.body, &refused);
  else if (kind.empty() || kind == "application/json" || kind == "application/x-ndjson" ||
           kind == "application/ndjson" || kind == "application/x-www-form-urlencoded")
    rows = live_.intake().json(call->request.body, &refused);
  else
    return call->done(problem(415, "send application/x-ndjson, application/json or text/csv"));
  submit(std::move(rows), std::move(refused), call->done);
}

void Api::line_protocol(const std::shared_ptr<Call>& call) {
  std::size_t ignored = 0;
  Refused refused;
  std::vector<Row> rows =
      live_.intake().line_protocol(call->request.body, call->text("precision"),
                                   std::floor(wall_seconds() * 1e6), ignored, &refused);
  submit(std::move(rows), std::move(refused),
         [call](const ApiResponse& answer) { call->done(influx_answer(answer)); });
}

// `refused`: what could not be read beside the rows.
void Api::submit(std::vector<Row> rows, Refused refused, Done done) {
  if (rows.empty() && refused.count > 0)
    return done(problem(400, refused.text(), refused.problems));
  const auto answered = [done = std::move(done),
                         refused = std::move(refused)](const Outcome& outcome) {
    Refused all = refused;
    all.add(outcome.refused);
    std::ranges::stable_sort(all.problems, {}, &Problem::line);
    done(outcome_answer(outcome, all));
  };
  live_.submit(std::move(rows), answered, Acceptance::partial);
}

// ---- streams ----

void Api::streams(const std::shared_ptr<Call>& call) {
  const std::string sort = call->text("sort").empty() ? "urgency" : call->text("sort");
  if (sort != "urgency" && sort != "id" && sort != "received")
    throw BadInput({{0, "sort", "give urgency, id or received"}});
  const std::size_t limit = call->count("limit", 100, 10000);
  const std::size_t offset = call->count("offset", 0, 100000000);
  const std::string q = call->text("q");
  struct Entry {
    std::string name;
    double urgency, received;
  };
  struct Found {
    std::vector<Entry> entries;
    std::size_t total = 0;
  };
  const auto before = [sort](const Entry& a, const Entry& b) {
    if (sort == "urgency" && a.urgency != b.urgency) return a.urgency > b.urgency;
    if (sort == "received" && a.received != b.received) return a.received > b.received;
    return a.name < b.name;
  };
  auto found = std::make_shared<Found>();
  Live& live = live_;
  live_.on_every_shard([=, &live](Live::Access, Live::Streams& own, std::size_t remaining) {
    for (const auto& [name, stream] : own) {
      if (!q.empty() && name.find(q) == std::string::npos) continue;
      ++found->total;
      found->entries.push_back({name, stream->urgency(), stream->received});
    }
    const std::size_t wanted = std::min(offset + limit, found->entries.size());
    std::partial_sort(found->entries.begin(),
                      found->entries.begin() + static_cast<std::ptrdiff_t>(wanted),
                      found->entries.end(), before);
    found->entries.resize(wanted);
    if (remaining > 0) return;
    found->entries.erase(
        found->entries.begin(),
        found->entries.begin() + static_cast<std::ptrdiff_t>(std::min(offset, wanted)));
    // Each is described where it lives, into its place.
    struct Told {
      std::vector<json> streams;
      std::atomic<std::size_t> remaining;
    };
    auto told = std::make_shared<Told>();
    told->streams.resize(found->entries.size());
    told->remaining = found->entries.size() + 1;
    const auto one_less = [=] {
      if (--told->remaining > 0) return;
      json list = json::array();
      for (json& one : told->streams)
        if (one.is_object()) list.push_back(std::move(one));
      call->done(json_answer({{"total", found->total}, {"streams", std::move(list)}}));
    };
    for (std::size_t i = 0; i < found->entries.size(); ++i)
      live.on_stream(found->entries[i].name, [=](Live::Access access, LiveStream* stream) {
        try {
          if (stream) told->streams[i] = described(access, *stream, false);
        } catch (const std::exception&) {
          // Left out; asking for it alone says why.
        }
        one_less();
      });
    one_less();
  });
}

// The stream itself, its distribution or its trajectory.
void Api::stream(const std::shared_ptr<Call>& call) {
  const std::string what = call->parts() > 3 ? call->part(3) : "";
  std::vector<std::size_t> features;
  for (const std::string& name : split(call->text("features"), ',')) {
    const std::int32_t j = live_.intake().feature(name);
    if (j < 0) throw BadInput({{0, "features", fmt::format("the model has no '{}'", name)}});
    features.push_back(static_cast<std::size_t>(j));
  }
  if (features.empty())
    for (std::size_t j = 0; j < live_.model().features.size(); ++j) features.push_back(j);
  const double level = call->number("level", settings_.level, 1e-6, 1 - 1e-9);
  const auto time = [&](const char* key) -> std::optional<double> {
    const std::string text = call->text(key);
    if (text.empty()) return {};
    const auto read = live_.clock().from_text(text);
    if (!read || (read->wall && !live_.clock().calendar()))
      throw BadInput({{0, key, fmt::format("'{}' is no time of this model", text)}});
    return live_.clock().shown(read->value);
  };
  AskedDistribution distribution_asked;
  AskedTrajectory trajectory_asked;
  if (what == "distribution") {
    AskedDistribution& asked = distribution_asked;
    asked.features = features;
    asked.level = level;
    for (const std::string& text : split(call->text("at"), ',')) {
      const auto read = live_.clock().from_text(text);
      if (!read || (read->wall && !live_.clock().calendar()))
        throw BadInput({{0, "at", fmt::format("'{}' is no time of this model", text)}});
      asked.at.push_back(live_.clock().shown(read->value));
    }
    asked.ahead = call->numbers("ahead");
    if (asked.at.empty() && asked.ahead.empty()) asked.ahead = {0.0};
    if (asked.at.size() > kMostMoments)
      throw BadInput({{0, "at", fmt::format("more than {} at once", kMostMoments)}});
    for (const double ahead : asked.ahead)
      if (ahead < 0) throw BadInput({{0, "ahead", "lies before the newest observation; use at"}});
    asked.quantiles = call->numbers("quantiles");
    for (const std::string& text : split(call->text("quantiles"), ','))
      asked.quantile_texts.push_back(text);
    for (const double p : asked.quantiles)
      if (!(p > 0 && p < 1)) throw BadInput({{0, "quantiles", "lie between 0 and 1"}});
    for (const bool above : {true, false})
      for (const std::string& text : split(call->text(above ? "above" : "below"), ',')) {
        const std::size_t colon = text.rfind(':');
        const std::int32_t j =
            colon == std::string::npos ? -1 : live_.intake().feature(text.substr(0, colon));
        const auto limit = colon == std::string::npos
                               ? std::nullopt
                               : finite_number(std::string_view(text).substr(colon + 1));
        if (j < 0 || !limit)
          throw BadInput({{0, above ? "above" : "below", "write FEATURE:LIMIT, as HR:120"}});
        asked.limits.push_back(
            {static_cast<std::size_t>(j), above, *limit, text.substr(colon + 1)});
      }
    if (!call->text("within").empty()) asked.within = call->number("within", 0, 0, 1e12);
  } else if (what == "trajectory") {
    trajectory_asked.features = features;
    trajectory_asked.level = level;
    trajectory_asked.from = time("from");
    trajectory_asked.to = time("to");
    trajectory_asked.points = call->count("points", 120, 2000);
  }
  live_.on_stream(call->part(2), [=](Live::Access access, LiveStream* stream) {
    if (!stream) return call->done(problem(404, "there is no such stream"));
    ApiResponse response;
    try {
      if (what == "distribution")
        response = json_answer(distribution(access, *stream, distribution_asked));
      else if (what == "trajectory")
        response = json_answer(trajectory(access, *stream, trajectory_asked));
      else
        response = json_answer(described(access, *stream, true));
    } catch (const Error& e) {
      response = problem(stream->loaded ? 422 : 503, e.what());
    } catch (const std::exception& e) {
      response = problem(500, e.what());
    }
    call->done(std::move(response));
  });
}

// Small charts of many streams in one answer, each of the feature that says most.
void Api::trajectories(const std::shared_ptr<Call>& call) {
  constexpr std::size_t kMostStreams = 100;
  std::string wanted = call->text("streams");
  if (!call->text("stream").empty()) wanted += (wanted.empty() ? "" : ",") + call->text("stream");
  const std::vector<std::string> names = split(wanted, ',');
  if (names.empty() || names.size() > kMostStreams)
    throw BadInput({{0, "streams", fmt::format("give 1 to {} streams", kMostStreams)}});
  AskedTrajectory asked;
  asked.level = call->number("level", settings_.level, 1e-6, 1 - 1e-9);
  asked.points = call->count("points", 48, 500);
  struct Told {
    std::vector<json> charts;
    std::atomic<std::size_t> remaining;
  };
  auto told = std::make_shared<Told>();
  told->charts.resize(names.size());
  told->remaining = names.size();
  for (std::size_t i = 0; i < names.size(); ++i)
    live_.on_stream(names[i], [=](Live::Access access, LiveStream* stream) {
      try {
        if (stream && stream->events > 0) {
          AskedTrajectory own = asked;
          own.features = {telling_feature(access, *stream)};
          told->charts[i] = trajectory(access, *stream, own);
          told->charts[i]["feature"] = access.live.model().features[own.features[0]];
        }
      } catch (const std::exception&) {
        // Left out; asking for it alone says why.
      }
      if (--told->remaining > 0) return;
      json list = json::array();
      for (json& chart : told->charts)
        if (chart.is_object()) list.push_back(std::move(chart));
      call->done(json_answer({{"trajectories", std::move(list)}}));
    });
}

void Api::put_stream(const std::shared_ptr<Call>& call) {
  const std::string& name = call->part(2);
  if (const std::string why = live_.no_room_for(name); !why.empty())
    return call->done(problem(403, fmt::format("stream '{}' {}", name, why)));
  std::vector<Problem> problems;
  if (const std::string why = name_problem(name); !why.empty())
    problems.push_back({0, "stream", why});
  const json body = call->request.body.empty() ? json::object() : parse_json(call->request.body);
  if (!body.is_object()) throw BadInput({{0, "", "is no JSON object"}});
  StreamAbout about;
  const Model& model = live_.model();
  for (const auto& [key, value] : body.items()) {
    if (key == "labels") {
      if (value.is_object() && json_text(value).size() <= 4000)
        about.labels = json_text(value);
      else
        problems.push_back({0, key, "is no object of at most 4000 bytes"});
    } else if (key == "statics") {
      if (!value.is_object()) {
        problems.push_back({0, key, "is no object of names and numbers"});
        continue;
      }
      about.statics.assign(model.statics.size(), std::numeric_limits<double>::quiet_NaN());
      for (const auto& [one, number] : value.items()) {
        const auto found = std::find(model.statics.begin(), model.statics.end(), one);
        if (found == model.statics.end())
          problems.push_back({0, "statics." + one, "the model has no such covariate"});
        else if (number.is_number())
          about.statics[static_cast<std::size_t>(found - model.statics.begin())] =
              number.get<double>();
        else if (!number.is_null())
          problems.push_back({0, "statics." + one, "is no number"});
      }
    } else if (key != "origin") {
      problems.push_back({0, key, "is not known; give statics, labels or origin"});
    }
  }
  std::optional<double> origin;
  if (const auto given = body.find("origin"); given != body.end() && !given->is_null()) {
    const auto date = given->is_string() ? parse_date(given->get<std::string>()) : std::nullopt;
    if (live_.clock().calendar())
      problems.push_back({0, "origin", "the model counts from dates by itself; leave it out"});
    else if (date)
      origin = date->microseconds;
    else if (given->is_number() && std::abs(given->get<double>()) < 1e10)  // 2286
      origin = given->get<double>() * 1e6;
    else
      problems.push_back({0, "origin", "is neither a date nor Unix seconds"});
  }
  if (!problems.empty()) throw BadInput(std::move(problems));
  live_.describe(
      name, std::move(about), origin,
      [this, call](const Result<>& described_now) {
        if (!described_now) return call->done(problem_of(described_now.failure()));
        live_.on_stream(call->part(2), [call](Live::Access access, LiveStream* found) {
          if (!found) return call->done(problem(404, "the stream was removed meanwhile"));
          try {
            call->done(json_answer(described(access, *found, true)));
          } catch (const Error& e) {
            call->done(problem(503, e.what()));
          }
        });
      },
      call->who);
}

void Api::delete_stream(const std::shared_ptr<Call>& call) {
  live_.remove(
      call->part(2),
      [call](const Result<>& removed) {
        call->done(removed ? ApiResponse{204, "", ""} : problem_of(removed.failure()));
      },
      call->who);
}

void Api::history(const std::shared_ptr<Call>& call) {
  const StreamClock& clock = live_.clock();
  const auto bound = [&](const char* key, double standard) {
    const std::string text = call->text(key);
    if (text.empty()) return standard;
    const auto read = clock.from_text(text);
    if (!read || (read->wall && !clock.calendar()))
      throw BadInput({{0, key, fmt::format("'{}' is no time", text)}});
    return read->value;
  };
  const double from = std::nextafter(bound("from", -kInfinity), -kInfinity);
  const double to = bound("to", kInfinity);
  const std::size_t limit = call->count("limit", 1000, 100000);
  const std::vector<std::string> wanted = split(call->text("features"), ',');
  live_.on_stream(call->part(2), [=, &clock](Live::Access access, LiveStream* stream) {
    if (!stream) return call->done(problem(404, "there is no such stream"));
    try {
      const auto values = access.store.values(stream->id, from, to, limit + 1);
      json list = json::array();
      for (std::size_t i = 0; i < std::min(limit, values.size()); ++i) {
        const std::int32_t j = access.live.model_feature(values[i].feature);
        if (j < 0) continue;
        const std::string& name = access.live.model().features[static_cast<std::size_t>(j)];
        if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end())
          continue;
        list.push_back({{"time", clock.shown(values[i].time)},
                        {"feature", name},
                        {"value", values[i].value},
                        {"received", values[i].received},
                        {"corrected", values[i].corrected}});
      }
      call->done(json_answer({{"stream", stream->name},
                              {"observations", std::move(list)},
                              {"more", values.size() > limit}}));
    } catch (const std::exception& e) {
      call->done(problem(503, e.what()));
    }
  });
}

// ---- alarms ----

void Api::alarms(const std::shared_ptr<Call>& call) {
  const std::vector<std::string> states = split(call->text("state"), ',');
  const std::size_t limit = call->count("limit", 1000, 100000);
  live_.alarms(call->text("stream"), states, limit, [call](std::vector<AlarmOfStream> found) {
    json list = json::array();
    for (const AlarmOfStream& one : found) list.push_back(to_json(one.alarm, one.stream));
    call->done(json_answer({{"alarms", std::move(list)}}));
  });
}

void Api::acknowledge(const std::shared_ptr<Call>& call) {
  const json body = parse_json(call->request.body);
  std::vector<Problem> problems;
  std::string by = call->who, reason;
  const auto text = [&](const char* key, std::string& to) {
    if (body.is_object() && body.contains(key) && body[key].is_string())
      to = body[key].get<std::string>();
    if (to.empty() || to.size() > 500 || !valid_utf8(to))
      problems.push_back({0, key, "is missing or longer than 500 bytes"});
  };
  text("by", by);
  text("reason", reason);
  const auto id = finite_number(call->part(2));
  if (!id) problems.push_back({0, "id", "is no number"});
  if (!problems.empty()) throw BadInput(std::move(problems));
  // Who holds a token cannot sign as somebody else.
  if (!call->who.empty() && by != call->who) by = fmt::format("{} ({})", by, call->who);
  live_.acknowledge(
      static_cast<std::int64_t>(*id), by, reason, [call](const Result<AlarmOfStream>& changed) {
        if (!changed) return call->done(problem_of(changed.failure()));
        call->done(json_answer(to_json(changed.value().alarm, changed.value().stream)));
      });
}

void Api::rules(const std::shared_ptr<Call>& call) {
  call->done(json_answer(to_json(live_.rules(), live_.model())));
}

void Api::put_rules(const std::shared_ptr<Call>& call) {
  live_.set_rules(read_rules(call->request.body, live_.model()), call->who,
                  [this, call](const Result<>& changed) {
                    if (!changed) return call->done(problem_of(changed.failure()));
                    rules(call);
                  });
}

// Watched by the connection itself; this is what HEAD is answered.
void Api::events(const std::shared_ptr<Call>& call) { call->done({200, "text/event-stream", ""}); }

}  // namespace edict::server
