// Why a request is not answered as it was meant: a code, the problem and its places. What each code
// is in HTTP stands in failure.cpp alone.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "front/server/http/message.h"
#include "front/server/live/live.h"

namespace edict::server {

enum class FailureCode : std::uint8_t {
  malformed,     // a body or a parameter that cannot be read
  unauthorized,  // no token, or one that is not known
  forbidden,     // a token that does not allow it, or one stream too many
  not_found,     // no such address, stream or alarm
  wrong_method,  // an address that takes other methods
  conflict,      // not as things stand
  unknown_type,  // a body of a type that the address does not take
  invalid,       // it can be read, and cannot be done
  full,          // too much waits
  fault,         // ours
  unavailable,   // the store fails
};

struct ApiFailure {
  FailureCode code = FailureCode::fault;
  std::string problem;
  std::vector<Problem> places = {};
};

ApiResponse to_response(const ApiFailure& failure);

// Of the exception that is being handled. `of_errors`: the code of an Error that blames neither the
// body nor the machine.
ApiFailure failure_at_hand(FailureCode of_errors = FailureCode::invalid);

// Of what Live could not do.
ApiFailure failure_of(const Failure& failure);
// Of values of which none was stored; `refused` says why each was not.
ApiFailure failure_of(const Outcome& outcome, const Refused& refused);

nlohmann::json to_json(const std::vector<Problem>& problems);

}  // namespace edict::server
