#include "edict/server/api.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "edict/core/hash.h"
#include "edict/core/json.h"
#include "edict/core/json_text.h"
#include "edict/core/not_finite.h"
#include "edict/core/utf8.h"
#include "edict/server/api_call.h"
#include "edict/server/page_files.h"
#include "edict/server/questions.h"
#include "edict/sources/csv_names.h"

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
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
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

ApiResponse answer(const json& body, int status = 200) {
  return {status, "application/json", json_text(body) + "\n"};
}

}  // namespace

std::optional<Target> parse_target(std::string_view target) {
  Target result;
  const std::size_t question = std::min(target.find('?'), target.size());
  std::string_view path = target.substr(0, question);
  std::string_view query = target.substr(std::min(question + 1, target.size()));
  while (!path.empty()) {
    path.remove_prefix(path.front() == '/' ? 1 : 0);
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end > 0) {
      auto part = unescaped(path.substr(0, end), false);
      if (!part) return {};
      result.path.push_back(std::move(*part));
    }
    path.remove_prefix(end);
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
  if (!problems.empty()) {
    body["errors"] = json::array();
    for (const Problem& p : problems) {
      json one{{"detail", p.detail}};
      if (p.line > 0) one["line"] = p.line;
      if (!p.field.empty()) one["field"] = p.field;
      body["errors"].push_back(std::move(one));
    }
  }
  ApiResponse response{status, "application/problem+json", json_text(body) + "\n"};
  if (status == 429 || status == 503) response.headers.emplace_back("Retry-After", "1");
  if (status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

Api::Api(Live& live, ApiSettings settings, const Tokens* tokens)
    : live_(live),
      settings_(std::move(settings)),
      tokens_(tokens),
      started_(running_seconds()),
      fingerprint_(fingerprint(live.model())) {}

Api::~Api() = default;

std::string Api::hello() const {
  return fmt::format("\"model\":\"{:016x}\",\"now\":{:.3f}", fingerprint_, running_seconds());
}

std::optional<ApiResponse> Api::refused(const ApiRequest& request, const Target& target,
                                        Scope scope, std::string* who) const {
  if (!tokens_) return {};
  std::string_view token = request.authorization;
  if (token.starts_with("Bearer ") || token.starts_with("bearer "))
    token.remove_prefix(7);
  else if (token.starts_with("Token "))  // InfluxDB's clients
    token.remove_prefix(6);
  else
    token = {};
  // A browser's EventSource cannot send a header.
  const auto query = target.query.find("token");
  if (token.empty() && query != target.query.end() && target.path.size() == 2 &&
      target.path[1] == "events")
    token = query->second;
  const Tokens::Holder* holder = token.empty() ? nullptr : tokens_->find(token);
  if (!holder) return problem(401, "send Authorization: Bearer TOKEN with a token of this server");
  if (!holder->may(scope))
    return problem(403, fmt::format("the token of '{}' does not allow this", holder->name));
  if (who) *who = holder->name;
  return {};
}

std::optional<ApiResponse> Api::refuses_events(const ApiRequest& request) const {
  const auto target = parse_target(request.target);
  if (!target) return problem(400, "the address is not written correctly");
  return refused(request, *target, Scope::read, nullptr);
}

void Api::handle(ApiRequest request, std::function<void(ApiResponse)> done) {
  auto call = std::make_shared<Call>();
  call->request = std::move(request);
  call->done = std::move(done);
  try {
    auto target = parse_target(call->request.target);
    if (!target) return call->done(problem(400, "the address is not written correctly"));
    call->target = std::move(*target);
    route(call);
  } catch (const BadInput& e) {
    call->done(problem(400, e.what(), e.problems()));
  } catch (const Error& e) {
    call->done(problem(422, e.what()));
  } catch (const std::exception& e) {
    call->done(problem(500, e.what()));
  }
}

void Api::route(const std::shared_ptr<Call>& call) {
  const std::string& method = call->method();
  const bool get = method == "GET" || method == "HEAD";
  if (call->is({"healthz"}) || call->is({"v2", "health", "live"}) ||
      call->is({"v2", "health", "ready"})) {
    const std::string why = live_.store_problem();
    if (!why.empty())
      return call->done(answer({{"status", "store failing"}, {"detail", why}}, 503));
    return call->done(answer({{"status", "ok"},
                              {"streams", live_.streams()},
                              {"pending", live_.pending()},
                              {"uptime", running_seconds() - started_}}));
  }
  if (get && (call->parts() == 0 || call->part(0) == "page")) {
    const std::string path = call->request.target.substr(
        0, std::min(call->request.target.find('?'), call->request.target.size()));
    for (const PageFile& file : page_files())
      if (file.path == path)
        return call->done(
            {200,
             std::string(file.type),
             std::string(file.content),
             {{"Content-Security-Policy",
               "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
               "connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"},
              {"Cache-Control", "no-cache"}}});
    return call->done(problem(404, "the page has no such file"));
  }
  if (get && call->is({"openapi.json"}))
    return call->done({200, "application/json", openapi_text()});

  // What each of the others asks of a token.
  const bool admin = (call->is({"v1", "rules"}) && method == "PUT") || call->is({"v1", "backup"}) ||
                     (call->parts() > 2 && call->part(1) == "streams" && method == "DELETE");
  const Scope scope = admin ? Scope::admin : get ? Scope::read : Scope::write;
  if (auto refusal = refused(call->request, call->target, scope, &call->who))
    return call->done(std::move(*refusal));

  if (get && call->is({"metrics"}))
    return call->done({200, "text/plain; version=0.0.4; charset=utf-8", metrics()});
  if (call->is({"v1", "observations"}) && method == "POST") return observations(call);
  if (call->is({"api", "v2", "write"}) && method == "POST") return line_protocol(call);
  if (get && call->is({"v1", "model"})) return call->done({200, "application/json", model_text()});
  if (get && call->is({"v1", "streams"})) return streams(call);
  if (call->parts() == 3 && call->part(0) == "v1" && call->part(1) == "streams") {
    if (method == "PUT") return put_stream(call);
    if (get) return stream(call);
    if (method == "DELETE")
      return live_.remove(call->part(2), [call](bool found, const std::string* why) {
        if (why) return call->done(problem(503, *why));
        if (!found) return call->done(problem(404, "there is no such stream"));
        call->done({204, "", ""});
      });
  }
  if (get && (call->is({"v1", "streams", "*", "distribution"}) ||
              call->is({"v1", "streams", "*", "trajectory"})))
    return stream(call);
  if (get && call->is({"v1", "streams", "*", "history"})) return history(call);
  if (call->is({"v1", "streams", "*", "observations"}) && method == "DELETE") return erase(call);
  if (get && call->is({"v1", "trajectories"})) return trajectories(call);
  if (get && call->is({"v1", "alarms"})) return alarms(call);
  if (call->is({"v1", "alarms", "*", "acknowledge"}) && method == "POST") return acknowledge(call);
  if (call->is({"v1", "rules"})) return rules(call);
  if (call->is({"v1", "backup"}) && method == "POST") {
    const json body = parse_json(call->request.body);
    if (!body.is_object() || !body.contains("to") || !body["to"].is_string())
      throw BadInput({{0, "to", "is missing; name the file that is to be written"}});
    const std::string to = body["to"].get<std::string>();
    return live_.aside([call, to](Live::Access access) {
      try {
        access.store.backup(to);
        call->done(answer({{"backup", to}}));
      } catch (const std::exception& e) {
        call->done(problem(422, e.what()));
      }
    });
  }
  if (get && (call->is({"v1", "audit"}) || call->is({"v1", "rejected"}))) {
    const std::size_t limit = call->count("limit", 100, 10000);
    return live_.aside([call, limit](Live::Access access) {
      json list = json::array();
      try {
        if (call->part(1) == "audit")
          for (const AuditLine& line : access.store.audit(limit))
            list.push_back({{"at", line.at},
                            {"what", line.what},
                            {"who", line.who},
                            {"stream", line.stream},
                            {"detail", line.detail}});
        else
          for (const RejectedLine& line : access.store.rejected(limit))
            list.push_back({{"at", line.at},
                            {"source", line.source},
                            {"detail", line.detail},
                            {"payload", valid_utf8(line.payload) ? line.payload : "(not UTF-8)"}});
        call->done(answer({{call->part(1), std::move(list)}}));
      } catch (const std::exception& e) {
        call->done(problem(503, e.what()));
      }
    });
  }
  if (call->parts() >= 3 && call->part(0) == "v2" && call->part(1) == "models")
    return inference(call);
  const bool known = call->parts() >= 2 && call->part(0) == "v1" &&
                     (call->part(1) == "observations" || call->part(1) == "streams" ||
                      call->part(1) == "alarms" || call->part(1) == "model");
  call->done(known ? problem(405, fmt::format("{} is not possible here; see /openapi.json", method))
                   : problem(404, "there is nothing here; see /openapi.json"));
}

// ---- in ----

void Api::observations(const std::shared_ptr<Call>& call) {
  const std::string& type = call->request.content_type;
  const std::string_view kind =
      std::string_view(type).substr(0, std::min(type.find(';'), type.size()));
  std::vector<Row> rows;
  if (kind == "text/csv")
    rows = live_.intake().csv(call->request.body);
  else if (kind.empty() || kind == "application/json" || kind == "application/x-ndjson" ||
           kind == "application/ndjson" || kind == "application/x-www-form-urlencoded")
    rows = live_.intake().json(call->request.body);
  else
    return call->done(problem(415, "send application/x-ndjson, application/json or text/csv"));
  submit(call, std::move(rows), false);
}

void Api::line_protocol(const std::shared_ptr<Call>& call) {
  std::size_t ignored = 0;
  std::vector<Row> rows = live_.intake().line_protocol(call->request.body, call->text("precision"),
                                                       std::floor(wall_seconds() * 1e6), ignored);
  submit(call, std::move(rows), true);
}

void Api::submit(const std::shared_ptr<Call>& call, std::vector<Row> rows, bool empty_answer) {
  live_.submit(std::move(rows), [call, empty_answer](const Outcome& outcome) {
    switch (outcome.kind) {
      case Outcome::Kind::full:
        return call->done(problem(429, outcome.detail));
      case Outcome::Kind::failed:
        return call->done(problem(503, outcome.detail));
      case Outcome::Kind::invalid:
      case Outcome::Kind::crowded:
        return call->done(problem(422, outcome.detail));
      case Outcome::Kind::stored:
        break;
    }
    if (empty_answer) return call->done({204, "", ""});
    json body{{"stored", outcome.stored},
              {"unchanged", outcome.unchanged},
              {"corrected", outcome.corrected},
              {"late", outcome.late}};
    if (outcome.refused.count > 0) {
      body["refused"] = outcome.refused.count;
      body["errors"] = json::array();
      for (const Problem& one : outcome.refused.problems)
        body["errors"].push_back({{"detail", one.detail}});
    }
    call->done(answer(body));
  });
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
      call->done(answer({{"total", found->total}, {"streams", std::move(list)}}));
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
        response = answer(distribution(access, *stream, distribution_asked));
      else if (what == "trajectory")
        response = answer(trajectory(access, *stream, trajectory_asked));
      else
        response = answer(described(access, *stream, true));
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
      call->done(answer({{"trajectories", std::move(list)}}));
    });
}

void Api::put_stream(const std::shared_ptr<Call>& call) {
  const std::string& name = call->part(2);
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
  live_.describe(name, std::move(about), origin, [this, call](const std::string* why) {
    if (why) return call->done(problem(409, *why));
    live_.on_stream(call->part(2), [call](Live::Access access, LiveStream* found) {
      if (!found) return call->done(problem(404, "the stream was removed meanwhile"));
      try {
        call->done(answer(described(access, *found, true)));
      } catch (const Error& e) {
        call->done(problem(503, e.what()));
      }
    });
  });
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
      call->done(answer({{"stream", stream->name},
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
  const std::string only = call->text("stream");
  const std::size_t limit = call->count("limit", 1000, 100000);
  auto found = std::make_shared<std::vector<json>>();
  live_.on_every_shard([=](Live::Access, Live::Streams& own, std::size_t remaining) {
    for (const auto& [name, stream] : own) {
      if (!only.empty() && name != only) continue;
      for (const Alarm& alarm : stream->alarms)
        if (states.empty() ||
            std::find(states.begin(), states.end(), name_of(alarm.state)) != states.end())
          found->push_back(to_json(alarm, name));
    }
    if (remaining > 0) return;
    const auto rank = [](const json& alarm) {
      const auto priority = alarm["priority"].get<std::string>();
      return std::make_tuple(alarm["acknowledged"].is_null() ? 0 : 1,
                             priority == "high"     ? 0
                             : priority == "medium" ? 1
                                                    : 2,
                             -alarm["since"].get<double>());
    };
    std::sort(found->begin(), found->end(),
              [&](const json& a, const json& b) { return rank(a) < rank(b); });
    if (found->size() > limit) found->resize(limit);
    call->done(answer({{"alarms", *found}}));
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
  live_.acknowledge(static_cast<std::int64_t>(*id), by, reason,
                    [call](const Alarm* alarm, const std::string& stream, const std::string* why) {
                      if (why) return call->done(problem(503, *why));
                      if (!alarm)
                        return call->done(problem(404, "there is no such alarm, or it is over"));
                      call->done(answer(to_json(*alarm, stream)));
                    });
}

void Api::rules(const std::shared_ptr<Call>& call) {
  if (call->method() == "GET") return call->done(answer(to_json(live_.rules(), live_.model())));
  if (call->method() != "PUT") return call->done(problem(405, "GET or PUT the rules"));
  live_.set_rules(read_rules(call->request.body, live_.model()), call->who,
                  [this, call](const std::string* why) {
                    if (why) return call->done(problem(503, *why));
                    call->done(answer(to_json(live_.rules(), live_.model())));
                  });
}

// ---- about the server ----

std::string Api::model_text() const {
  const Model& model = live_.model();
  const StreamClock& clock = live_.clock();
  json features = json::array();
  for (std::size_t j = 0; j < model.features.size(); ++j)
    features.push_back({{"name", model.features[j]},
                        {"mean", model.protocol.population.mean[j]},
                        {"deviation", model.protocol.population.scale[j]}});
  const double seconds = clock.seconds_in_unit();
  const bool ms = clock.time_unit_name() == "ms";
  const json time =
      clock.calendar()
          ? json{{"kind", "unix"}, {"unit", clock.time_unit_name()}, {"seconds", ms ? 1e-3 : 1.0}}
          : json{{"kind", "number"},
                 {"unit", clock.time_unit_name()},
                 {"seconds", seconds > 0 ? json(seconds) : json()}};
  const json body{{"name", settings_.name},
                  {"fingerprint", fmt::format("{:016x}", fingerprint_)},
                  {"features", std::move(features)},
                  {"statics", model.statics},
                  {"time", time},
                  {"duration",
                   {{"unit", seconds > 0 ? std::string(clock.unit_name()) : std::string()},
                    {"seconds", seconds > 0 ? json(seconds) : json()}}},
                  {"horizon", model.protocol.horizon},
                  {"guard", name_of(live_.settings().guard.kind)},
                  {"level", settings_.level},
                  {"version", EDICT_VERSION},
                  {"research", "Research software, not a medical device"}};
  return json_text(body) + "\n";
}

std::string Api::metrics() const {
  const Counters& c = live_.counters();
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
  add("streams", "gauge", "Streams known.", static_cast<double>(live_.streams()));
  add("pending_values", "gauge", "Values taken and not answered.",
      static_cast<double>(live_.pending()));
  add("event_watchers", "gauge", "Clients of /v1/events.",
      static_cast<double>(live_.event_log().watchers()));
  add("store_healthy", "gauge", "1 while the store can be written to.",
      live_.store_problem().empty() ? 1 : 0);
  add("uptime_seconds", "gauge", "Since the server began.", running_seconds() - started_);
  return text;
}

}  // namespace edict::server
