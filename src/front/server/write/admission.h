// Which values of a request can be taken. It is decided before anything of the request is written.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "front/server/live/live_context.h"
#include "front/server/live/messages.h"
#include "front/server/live/registry.h"
#include "front/server/write/transaction.h"

namespace edict::server {

class Admission {
 public:
  // Where a row of the request goes; nullptr: to a stream that it begins.
  struct Place {
    std::shared_ptr<LiveStream> stream;
    double origin = 0;
    bool taken = false;
  };

  Admission(LiveContext& context, const Registry& registry, Transaction& transaction,
            Request& request);

  // Of every row. What is refused is added to the outcome; what is wrong in its time goes to the
  // rejected ones too, so that it is not lost without a trace where the sender reads no answers.
  std::vector<Place> places();
  // Whether a stream too many was refused.
  bool is_crowded() const { return crowded_; }

 private:
  // Why a row cannot be taken; `text` is empty where it can.
  struct Why {
    std::string text = {};
    bool misdated = false;
  };

  double origin_of(const Row& row, const std::shared_ptr<LiveStream>& stream) const;
  Why refusal(const Row& row, const Place& place);
  std::string gap_problem(const std::shared_ptr<LiveStream>& stream, double raw);
  bool begins(const std::string& stream);
  void refuse(const Row& row, const Place& place, const Why& why);

  LiveContext& context_;
  const Registry& registry_;
  Transaction& transaction_;
  Request& request_;
  const double present_;  // seconds since 1970
  std::unordered_map<std::string_view, double> first_date_;
  std::unordered_set<std::string_view> begun_;  // streams that this request begins
  bool crowded_ = false;
};

}  // namespace edict::server
