// One request while it is being answered, for the handlers.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "front/server/http/api.h"
#include "front/server/http/failure.h"
#include "front/server/http/routes/route.h"

namespace edict::server {

// What every handler may use.
struct Service {
  Live& live;
  const ApiSettings settings;
  const Health* const health;
  const double started;
  const std::uint64_t fingerprint;  // of the model

  // The store first.
  std::vector<Health::Check> checks() const;
};

ApiResponse json_answer(const nlohmann::json& body, int status = 200);

struct Call {
  const Service& service;
  const Route& route;
  ApiRequest request;
  Target target;
  std::string id;           // what stands in the place of the braces of the path
  std::string type;         // of the body
  std::string who;          // the token's name
  std::uint8_t scopes = 7;  // and what it allows
  std::function<void(ApiResponse)> done;

  Live& live() const { return service.live; }
  bool may(Scope scope) const { return (scopes & static_cast<std::uint8_t>(scope)) != 0; }

  void fail(const ApiFailure& failure) const { done(to_response(failure)); }
  void fail(FailureCode code, std::string problem) const { fail({code, std::move(problem), {}}); }
  // Answers with what `make` returns, or with why it throws.
  template <class Make>
  void answer_with(const Make& make, FailureCode of_errors = FailureCode::invalid) const {
    ApiResponse response;
    try {
      response = make();
    } catch (const std::exception&) {
      response = to_response(failure_at_hand(of_errors));
    }
    done(std::move(response));
  }

  // ---- the query, which the table has checked ----

  // Empty where it is not given.
  std::string text(const std::string& name) const;
  std::vector<std::string> texts(const std::string& name) const { return split_list(text(name)); }
  double number(const std::string& name, double standard) const;
  std::size_t count(const std::string& name, std::size_t standard) const;
  std::vector<double> numbers(const std::string& name) const;
  std::optional<double> time(const std::string& name) const;  // raw
  std::vector<double> times(const std::string& name) const;
  std::vector<std::int32_t> features(const std::string& name) const;
  double level() const { return number("level", service.settings.level); }

  // The body as a JSON object. Throws BadInput.
  nlohmann::json object() const;
};

// Throws BadInput for a member of an object that has none of these names.
void check_members(const nlohmann::json& object, std::initializer_list<std::string_view> names);

}  // namespace edict::server
