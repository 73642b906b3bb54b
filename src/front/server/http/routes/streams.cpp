// Streams: all of them, and one by its id.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/json/json_text.h"
#include "front/server/http/routes/call.h"
#include "front/server/http/routes/handlers.h"
#include "front/server/live/questions.h"

namespace edict::server {
namespace {

using nlohmann::json;

constexpr std::size_t kMostLabels = 4000;  // bytes of their JSON

// One stream of a list, before it is described.
struct Listed {
  std::string name;
  double urgency, received;
};

// Streams in an order; only the first are wanted.
struct StreamList {
  std::string sort;
  std::size_t offset = 0, limit = 0;
  std::vector<Listed> entries = {};
  std::size_t total = 0;

  bool before(const Listed& a, const Listed& b) const {
    if (sort == "urgency" && a.urgency != b.urgency) return a.urgency > b.urgency;
    if (sort == "received" && a.received != b.received) return a.received > b.received;
    return a.name < b.name;
  }
  void keep_first() {
    const std::size_t wanted = std::min(offset + limit, entries.size());
    const auto middle = entries.begin() + static_cast<std::ptrdiff_t>(wanted);
    std::partial_sort(entries.begin(), middle, entries.end(),
                      [this](const Listed& a, const Listed& b) { return before(a, b); });
    entries.resize(wanted);
  }
  void drop_offset() {
    entries.erase(entries.begin(),
                  entries.begin() + static_cast<std::ptrdiff_t>(std::min(offset, entries.size())));
  }
};

// Each is described where it lives, into its place; the last one answers.
void describe_list(const CallPointer& call, const std::shared_ptr<const StreamList>& list) {
  struct Described {
    std::vector<json> streams;
    std::atomic<std::size_t> remaining;
  };
  auto described_streams = std::make_shared<Described>();
  described_streams->streams.resize(list->entries.size());
  described_streams->remaining = list->entries.size() + 1;
  const auto one_less = [call, list, described_streams] {
    if (--described_streams->remaining > 0) return;
    json all = json::array();
    for (json& one : described_streams->streams)
      if (one.is_object()) all.push_back(std::move(one));
    call->done(json_answer({{"total", list->total}, {"streams", std::move(all)}}));
  };
  for (std::size_t i = 0; i < list->entries.size(); ++i)
    call->live().on_stream(list->entries[i].name, [=](Live::Access access, LiveStream* stream) {
      try {
        if (stream) described_streams->streams[i] = described(access, *stream, false);
      } catch (const std::exception&) {
        // Left out; asking for it alone says why.
      }
      one_less();
    });
  one_less();
}

std::vector<double> read_statics(const json& given, const Model& model,
                                 std::vector<Problem>& problems) {
  std::vector<double> statics(model.statics.size(), std::numeric_limits<double>::quiet_NaN());
  for (const auto& [name, number] : given.items()) {
    const auto found = std::find(model.statics.begin(), model.statics.end(), name);
    if (found == model.statics.end())
      problems.push_back({0, "statics." + name, "the model has no such covariate"});
    else if (number.is_number())
      statics[static_cast<std::size_t>(found - model.statics.begin())] = number.get<double>();
    else if (!number.is_null())
      problems.push_back({0, "statics." + name, "is no number"});
  }
  return statics;
}

StreamAbout read_about(const json& body, const Model& model, std::vector<Problem>& problems) {
  StreamAbout about;
  for (const auto& [key, value] : body.items()) {
    if (key == "labels" && value.is_object() && json_text(value).size() <= kMostLabels)
      about.labels = json_text(value);
    else if (key == "labels")
      problems.push_back({0, key, fmt::format("is no object of at most {} bytes", kMostLabels)});
    else if (key == "statics" && value.is_object())
      about.statics = read_statics(value, model, problems);
    else if (key == "statics")
      problems.push_back({0, key, "is no object of names and numbers"});
    else if (key != "origin")
      problems.push_back({0, key, "is not known; give statics, labels or origin"});
  }
  return about;
}

// Microseconds since 1970.
std::optional<double> read_origin(const json& body, const StreamClock& clock,
                                  std::vector<Problem>& problems) {
  constexpr double kLatest = 1e10;  // seconds, in 2286
  const auto given = body.find("origin");
  if (given == body.end() || given->is_null()) return {};
  const auto date = given->is_string() ? parse_date(given->get<std::string>()) : std::nullopt;
  if (clock.calendar())
    problems.push_back({0, "origin", "the model counts from dates by itself; leave it out"});
  else if (date)
    return date->microseconds;
  else if (given->is_number() && std::abs(given->get<double>()) < kLatest)
    return given->get<double>() * 1e6;
  else
    problems.push_back({0, "origin", "is neither a date nor Unix seconds"});
  return {};
}

void answer_described(const CallPointer& call, const char* where_gone, FailureCode of_errors) {
  call->live().on_stream(call->id, [=](Live::Access access, LiveStream* stream) {
    if (!stream) return call->fail(FailureCode::not_found, where_gone);
    call->answer_with([&] { return json_answer(described(access, *stream, true)); },
                      stream->loaded ? of_errors : FailureCode::unavailable);
  });
}

}  // namespace

void list_streams(const CallPointer& call) {
  auto list = std::make_shared<StreamList>();
  list->sort = call->text("sort").empty() ? "urgency" : call->text("sort");
  list->limit = call->count("limit", 100);
  list->offset = call->count("offset", 0);
  const std::string part = call->text("q");
  call->live().on_every_shard([=](Live::Access, Live::Streams& own, std::size_t remaining) {
    for (const auto& [name, stream] : own) {
      if (!part.empty() && name.find(part) == std::string::npos) continue;
      ++list->total;
      list->entries.push_back({name, stream->urgency(), stream->received});
    }
    list->keep_first();
    if (remaining > 0) return;
    list->drop_offset();
    describe_list(call, list);
  });
}

void get_stream(const CallPointer& call) {
  answer_described(call, "there is no such stream", FailureCode::invalid);
}

void put_stream(const CallPointer& call) {
  const Live& live = call->live();
  if (const std::string why = live.no_room_for(call->id); !why.empty())
    return call->fail(FailureCode::forbidden, fmt::format("stream '{}' {}", call->id, why));
  std::vector<Problem> problems;
  if (const std::string why = name_problem(call->id); !why.empty())
    problems.push_back({0, "stream", why});
  const json body = call->request.body.empty() ? json::object() : call->object();
  StreamAbout about = read_about(body, live.model(), problems);
  const std::optional<double> origin = read_origin(body, live.clock(), problems);
  if (!problems.empty()) throw BadInput(std::move(problems));
  call->live().describe(
      call->id, std::move(about), origin,
      [call](const Result<>& written) {
        if (!written) return call->fail(failure_of(written.failure()));
        answer_described(call, "the stream was removed meanwhile", FailureCode::unavailable);
      },
      call->who);
}

void delete_stream(const CallPointer& call) {
  call->live().remove(
      call->id,
      [call](const Result<>& removed) {
        if (!removed) return call->fail(failure_of(removed.failure()));
        call->done({204, "", ""});
      },
      call->who);
}

}  // namespace edict::server
