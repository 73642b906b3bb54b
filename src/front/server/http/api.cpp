#include "front/server/http/api.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/hash.h"
#include "front/server/http/routes/call.h"

namespace edict::server {

Api::Api(Live& live, ApiSettings settings, std::shared_ptr<const Tokens> tokens,
         const Health* health)
    : service_(new Service{live, std::move(settings), health, running_seconds(),
                           fingerprint(live.model())}),
      tokens_(std::move(tokens)) {}

Api::~Api() = default;

void Api::set_tokens(std::shared_ptr<const Tokens> tokens) {
  const std::lock_guard lock(tokens_mutex_);
  tokens_ = std::move(tokens);
}

std::shared_ptr<const Tokens> Api::tokens() const {
  const std::lock_guard lock(tokens_mutex_);
  return tokens_;
}

std::string Api::hello() const {
  return fmt::format("\"model\":\"{:016x}\",\"now\":{:.3f}", service_->fingerprint,
                     running_seconds());
}

// A request before it is answered: either where it leads, or why it leads nowhere.
struct Api::Entry {
  Target target{};
  const Route* route = nullptr;
  std::string id{}, type{}, who{};
  std::uint8_t scopes = 7;
  std::optional<ApiResponse> refusal{};

  void refuse(FailureCode code, std::string problem, std::vector<Problem> places = {}) {
    refusal = to_response({code, std::move(problem), std::move(places)});
  }
  void find_route(const std::string& method);
  void check_token(const Tokens& tokens, std::string_view given);
  void check_content(const ApiRequest& head, const Live& live);
};

void Api::Entry::find_route(const std::string& method) {
  std::string allowed, found;
  for (const Route& candidate : routes()) {
    if (!candidate.matches(target, found)) continue;
    allowed += fmt::format("{}{}", candidate.method, candidate.method == "GET" ? ", HEAD, " : ", ");
    if (candidate.method != method && !(candidate.method == "GET" && method == "HEAD")) continue;
    route = &candidate;
    id = found;
  }
  if (route) return;
  if (allowed.empty())
    return refuse(FailureCode::not_found, "there is no such address; /openapi.json lists them");
  allowed += "OPTIONS";
  if (method == "OPTIONS")
    refusal = ApiResponse{204, "", ""};
  else
    refuse(FailureCode::wrong_method,
           fmt::format("{} is not possible here, but {}", method, allowed));
  refusal->headers.emplace_back("Allow", allowed);
}

void Api::Entry::check_token(const Tokens& tokens, std::string_view given) {
  if (route->need == Need::nothing) return;
  if (given.starts_with("Bearer ") || given.starts_with("bearer "))
    given.remove_prefix(7);
  else if (given.starts_with("Token "))  // InfluxDB's clients
    given.remove_prefix(6);
  else
    given = {};
  // A browser's EventSource cannot send a header.
  const auto query = target.query.find("token");
  if (given.empty() && query != target.query.end() && route->watches) given = query->second;
  const Tokens::Holder* holder = given.empty() ? nullptr : tokens.find(given);
  if (!holder)
    return refuse(FailureCode::unauthorized,
                  "send Authorization: Bearer TOKEN with a token of this server");
  who = holder->name;
  scopes = holder->scopes;
  const Scope scope = route->need == Need::read    ? Scope::read
                      : route->need == Need::write ? Scope::write
                                                   : Scope::admin;
  if (!holder->may(scope))
    refuse(FailureCode::forbidden,
           fmt::format("the token of '{}' does not allow this; it needs the scope {}", who,
                       name_of(scope)));
}

void Api::Entry::check_content(const ApiRequest& head, const Live& live) {
  if (std::vector<Problem> problems = route->query_problems(target, live); !problems.empty()) {
    const BadInput all(std::move(problems));
    return refuse(FailureCode::malformed, all.what(), all.problems());
  }
  type = media_type(head.content_type);
  if (route->takes_type(type)) return;
  std::string known;
  for (std::size_t i = 0; i < route->body.types.size(); ++i)
    known += fmt::format("{}{}",
                         i == 0                              ? ""
                         : i + 1 == route->body.types.size() ? " or "
                                                             : ", ",
                         route->body.types[i]);
  refuse(FailureCode::unknown_type, fmt::format("send {}", known));
}

Api::Entry Api::enter(const ApiRequest& head) const {
  Entry entry;
  if (head.target == "*") {  // OPTIONS of the server as a whole
    entry.refusal = ApiResponse{204, "", "", {{"Allow", "GET, HEAD, POST, PUT, DELETE, OPTIONS"}}};
    return entry;
  }
  auto target = parse_target(head.target);
  if (!target) {
    entry.refuse(FailureCode::malformed, "the address has an empty part or a wrong percent sign");
    return entry;
  }
  entry.target = std::move(*target);
  entry.find_route(head.method);
  if (entry.refusal) return entry;
  if (const auto known = tokens()) entry.check_token(*known, head.authorization);
  if (!entry.refusal) entry.check_content(head, service_->live);
  return entry;
}

Api::Admission Api::admit(const ApiRequest& head) const {
  Entry entry = enter(head);
  Admission admission{std::move(entry.refusal)};
  if (!entry.route) return admission;
  admission.about_health = entry.route->about_health;
  admission.most_body = entry.route->most_body();
  if (!entry.route->watches || head.method != "GET" || admission.refusal) return admission;
  Watch& watch = admission.watch.emplace();
  for (std::string& name : split_list(entry.target.query["streams"]))
    watch.streams.insert(std::move(name));
  std::string since = entry.target.query["since"];
  if (since.empty()) since = head.last_event_id;
  if (!since.empty()) watch.since = std::strtoull(since.c_str(), nullptr, 10);
  return admission;
}

void Api::handle(ApiRequest request, std::function<void(ApiResponse)> done) {
  Entry entry = enter(request);
  if (entry.refusal) return done(std::move(*entry.refusal));
  const auto call = std::make_shared<Call>(Call{
      *service_, *entry.route, std::move(request), std::move(entry.target), std::move(entry.id),
      std::move(entry.type), std::move(entry.who), entry.scopes, std::move(done)});
  const BodyAbout& body = call->route.body;
  if (!body.types.empty() && !body.may_be_empty && call->request.body.empty())
    return call->fail(FailureCode::malformed,
                      fmt::format("the body is empty; send {}", body.types[0]));
  try {
    call->route.answer(call);
  } catch (const std::exception&) {
    call->fail(failure_at_hand());
  }
}

}  // namespace edict::server
