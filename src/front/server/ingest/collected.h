// What reading a body gathers: inside of this folder's sources.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "front/server/ingest/incoming.h"

namespace edict::server {

inline constexpr std::size_t kMostProblems = 100;
inline constexpr const char* kTimeNeeded =
    "is missing or is no time; give a number on the stream's clock, or a date where the model "
    "counts from dates";
inline constexpr const char* kNoSuchFeature =
    "the model has no such feature; GET /v1/model lists them";

// Collects rows and what is wrong, until the end of a body is seen.
class Collected {
 public:
  explicit Collected(Refused* refused) : refused_(refused) {}

  // Of the body as a whole, of which nothing can be taken then.
  void problem_of_body(std::size_t line, std::string field, std::string detail) {
    if (problems_.size() < kMostProblems)
      problems_.push_back({line, std::move(field), std::move(detail)});
  }
  void problem(std::size_t line, std::string field, std::string detail) {
    if (refused_)
      refused_->add({line, std::move(field), std::move(detail)});
    else
      problem_of_body(line, std::move(field), std::move(detail));
  }
  void row(std::size_t line, std::string_view stream, TimeStamp time, std::int32_t feature,
           double value) {
    if (problems_.empty()) rows_.push_back({std::string(stream), time, feature, value, line});
  }
  std::vector<Row> take() {
    if (!problems_.empty()) throw BadInput(std::move(problems_));
    return std::move(rows_);
  }

 private:
  Refused* refused_;
  std::vector<Row> rows_;
  std::vector<Problem> problems_;
};

}  // namespace edict::server
