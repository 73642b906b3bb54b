// A request and its answer, apart from how bytes travel.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "front/server/ingest/incoming.h"

namespace edict::server {

struct ApiRequest {
  std::string method;  // "GET"
  std::string target;  // "/v1/streams/bed%203?limit=3"
  std::string content_type, authorization, if_none_match, last_event_id;
  std::string body;
};

struct ApiResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};
};

// application/problem+json.
ApiResponse problem(int status, const std::string& detail,
                    const std::vector<Problem>& problems = {});

}  // namespace edict::server
