// The topics of an MQTT broker and what its messages say.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "front/server/live/live.h"

namespace edict::server {

// Which topics are meant, and what they say by themselves.
class TopicPattern {
 public:
  // Throws Error, which begins with the text.
  explicit TopicPattern(std::string_view text);

  // For the broker: ward/{stream}/{feature} is ward/+/+.
  const std::string& filter() const { return filter_; }
  bool names_stream() const { return stream_level_.has_value(); }
  bool names_feature() const { return feature_level_.has_value(); }

  struct Match {
    std::string_view stream, feature;  // empty where the pattern does not name them
  };
  // Nothing for a topic of another form.
  std::optional<Match> match(std::string_view topic) const;

 private:
  std::vector<std::string> levels_;
  bool open_end_ = false;
  std::optional<std::size_t> stream_level_, feature_level_;
  std::string filter_;
};

// What a message says; `now` is its time where it names none, in microseconds since 1970. Forms:
//
//   feature in the topic       71.5, or {"value": 71.5, "time": …}
//   else, stream in the topic  {"time": …, "values": {"HR": 80}}, an array or lines of such, or
//                              {"HR": 80, "time": …}
//   neither                    as POST /v1/observations takes it; or InfluxDB's line protocol
//
// Of names that are no features nothing is taken. Values that cannot be taken go into `refused`;
// without it, and where nothing can be read, BadInput is thrown.
std::vector<Row> rows_of_message(const TopicPattern::Match& match, std::string_view payload,
                                 double now, const Live& live, Refused* refused = nullptr);

}  // namespace edict::server
