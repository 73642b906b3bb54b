// What a body says: values of streams, in any of the forms that are taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "front/server/ingest/stream_clock.h"

namespace edict::server {

// One observed value.
struct Row {
  std::string stream;
  TimeStamp time;
  std::int32_t feature = 0;  // of the model
  double value = 0;
  std::size_t line = 0;  // of the body, as in Problem
};

struct Problem {
  std::size_t line = 0;  // from 1; of an array the place in it; 0 where it is not of one line
  std::string field;     // "values.HR", a column, or empty
  std::string detail;
};

// What was not taken of a body of which the rest was.
struct Refused {
  std::vector<Problem> problems;  // the first 100
  std::size_t count = 0;
  std::size_t kept = 0;  // of these stand among the rejected ones already

  void add(Problem problem);
  void add(Refused others);
  // The first of them with its line, and how many there are.
  std::string text() const;
};

// A body of which nothing is taken, with everything that is wrong with it (the first 100).
class BadInput : public Error {
 public:
  explicit BadInput(std::vector<Problem> found);
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<Problem> problems_;
};

inline constexpr std::size_t kLongestName = 200;  // bytes of a stream's id

// Reads bodies for one model.
class Intake {
 public:
  Intake(const Model& model, const StreamClock& clock);

  // The model's number of a feature, or −1.
  std::int32_t feature(std::string_view name) const;

  // Each throws BadInput for a body that cannot be read. A value that cannot be taken goes into
  // `refused`, and the others are taken; without `refused` it is a reason to throw.
  //
  // {"stream":…,"time":…,"values":{name: number or null}}: one a line, an array of them, or one.
  std::vector<Row> json(std::string_view body, Refused* refused = nullptr) const;
  // The same without "stream", which is known.
  std::vector<Row> json_of_stream(std::string_view body, const std::string& stream,
                                  Refused* refused = nullptr) const;
  // Columns stream (or id, or what the training data called it), time and features; or stream,
  // time, feature, value.
  std::vector<Row> csv(std::string_view body, Refused* refused = nullptr) const;
  // InfluxDB's. A line without a time has `now`, in microseconds since 1970. Fields that are no
  // features are counted in `ignored`.
  std::vector<Row> line_protocol(std::string_view body, std::string_view precision, double now,
                                 std::size_t& ignored, Refused* refused = nullptr) const;

 private:
  struct NameHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const {
      return std::hash<std::string_view>()(name);
    }
  };

  const StreamClock& clock_;
  std::string id_column_, time_column_;
  std::unordered_map<std::string, std::int32_t, NameHash, std::equal_to<>> features_;
};

// Empty where a text can be a stream's id, else why not.
std::string name_problem(std::string_view name);

}  // namespace edict::server
