// The table of addresses. It leads a request to its handler, says what a token must allow, which
// parameters and bodies are taken and how large, and is what /openapi.json describes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "front/server/http/target.h"
#include "front/server/live/live.h"

namespace edict::server {

// What a token must allow before an address answers.
enum class Need : std::uint8_t { nothing, read, write, admin };
// "read"; of nothing too.
std::string_view name_of(Need need);

inline constexpr std::size_t kMostMoments = 1000;  // that one request may ask for

// A parameter of a query.
struct Parameter {
  enum class Kind : std::uint8_t {
    text,
    texts,  // with commas
    number,
    integer,
    numbers,
    choice,
    choices,
    time,  // of the model
    times,
    features,
    limits,  // FEATURE:LIMIT
  };
  std::string_view name;
  Kind kind;
  std::string_view help;
  double low = 0, high = 0;                    // of a number, both included
  std::vector<std::string_view> choices = {};  // of a choice

  bool is_list() const;
};
// Empty where a text can be the value of a parameter, else what is wrong.
std::string value_problem(const Parameter& parameter, const std::string& text, const Live& live);

struct BodyAbout {
  std::vector<std::string_view> types = {};  // media types; none: no body is wanted
  std::string_view schema = {};              // of those that are JSON
  std::size_t most = 0;                      // bytes; 0: as many as --most-body allows
  bool may_be_empty = false;
};

struct AnswerAbout {
  std::string_view schema = {};                // of JSON
  std::string_view type = "application/json";  // empty: there is no body
  int status = 200;
};

struct Call;
using CallPointer = std::shared_ptr<Call>;

struct Route {
  std::string_view method;  // GET stands for HEAD too
  std::string_view path;    // "/v1/streams/{id}"
  Need need;
  void (*answer)(const CallPointer&);
  std::string_view summary;
  AnswerAbout answers = {};
  std::vector<Parameter> query = {};
  BodyAbout body = {};
  bool about_health = false;  // answered when nothing else is
  bool watches = false;       // the answer is a stream of events

  // Whether a path is this one; `id` becomes what stands in the place of the braces.
  bool matches(const Target& target, std::string& id) const;
  // Bytes of a body that is read at all.
  std::size_t most_body() const;
  // What is wrong with a query, each with its name as field.
  std::vector<Problem> query_problems(const Target& target, const Live& live) const;
  // Whether a body may be of a media type; an empty one is that of the route.
  bool takes_type(std::string_view type) const;
};

const std::vector<Route>& routes();

// "text/csv" of "Text/CSV; charset=utf-8"; empty where a type says nothing of a body, as that which
// curl sends unbidden.
std::string media_type(std::string_view content_type);

}  // namespace edict::server
