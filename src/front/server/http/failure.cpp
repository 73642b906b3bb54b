#include "front/server/http/failure.h"

#include "base/error.h"
#include "base/json/json.h"
#include "base/json/json_text.h"

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
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Internal Server Error";
  }
}

int status_of(FailureCode code) {
  switch (code) {
    case FailureCode::malformed:
      return 400;
    case FailureCode::unauthorized:
      return 401;
    case FailureCode::forbidden:
      return 403;
    case FailureCode::not_found:
      return 404;
    case FailureCode::wrong_method:
      return 405;
    case FailureCode::conflict:
      return 409;
    case FailureCode::unknown_type:
      return 415;
    case FailureCode::invalid:
      return 422;
    case FailureCode::full:
      return 429;
    case FailureCode::fault:
      return 500;
    case FailureCode::unavailable:
      return 503;
  }
  return 500;
}

}  // namespace

json to_json(const std::vector<Problem>& problems) {
  json list = json::array();
  for (const Problem& p : problems) {
    json one{{"detail", p.detail}};
    if (p.line > 0) one["line"] = p.line;
    if (!p.field.empty()) one["field"] = p.field;
    list.push_back(std::move(one));
  }
  return list;
}

ApiResponse problem(int status, const std::string& detail, const std::vector<Problem>& problems) {
  json body{
      {"type", "about:blank"}, {"title", title_of(status)}, {"status", status}, {"detail", detail}};
  if (!problems.empty()) body["errors"] = to_json(problems);
  ApiResponse response{status, "application/problem+json", json_text(body) + "\n"};
  if (status == 429 || status == 503) response.headers.emplace_back("Retry-After", "1");
  if (status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

ApiResponse to_response(const ApiFailure& failure) {
  return problem(status_of(failure.code), failure.problem, failure.places);
}

ApiFailure failure_at_hand(FailureCode of_errors) {
  try {
    throw;
  } catch (const BadInput& e) {
    return {FailureCode::malformed, e.what(), e.problems()};
  } catch (const MachineError& e) {
    return {FailureCode::unavailable, e.what()};
  } catch (const Error& e) {
    return {of_errors, e.what()};
  } catch (const std::exception& e) {
    return {FailureCode::fault, e.what()};
  }
}

ApiFailure failure_of(const Failure& failure) {
  switch (failure.kind) {
    case Failure::Kind::conflict:
      return {FailureCode::conflict, failure.text};
    case Failure::Kind::not_found:
      return {FailureCode::not_found, failure.text};
    case Failure::Kind::store:
      break;
  }
  return {FailureCode::unavailable, failure.text};
}

ApiFailure failure_of(const Outcome& outcome, const Refused& refused) {
  const std::string why = refused.problems.empty() ? outcome.detail : refused.text();
  switch (outcome.kind) {
    case Outcome::Kind::full:
      return {FailureCode::full, outcome.detail};
    case Outcome::Kind::failed:
      return {FailureCode::unavailable, outcome.detail};
    case Outcome::Kind::crowded:
      return {FailureCode::forbidden, why, refused.problems};
    case Outcome::Kind::invalid:
      return {FailureCode::invalid, why, refused.problems};
    case Outcome::Kind::stored:
      break;
  }
  return {FailureCode::fault, "values that were stored are no failure"};
}

}  // namespace edict::server
