#include "data/pieces.h"

#include <gtest/gtest.h>

namespace edict {
namespace {

Dataset long_series(std::size_t series, std::size_t events) {
  Dataset data;
  data.features = {"x"};
  for (std::size_t i = 0; i < series; ++i) {
    data.add_series(std::string(1, static_cast<char>('a' + i)));
    for (std::size_t e = 0; e < events; ++e) {
      data.add_event(100.0 * static_cast<double>(i) + 0.5 * static_cast<double>(e));
      data.add_observation(0, static_cast<double>(e));
    }
  }
  return data;
}

TEST(Pieces, AreNeededWhereSeriesAreFewAndLong) {
  EXPECT_EQ(piece_length(long_series(1, 400)), 20u);
  EXPECT_EQ(piece_length(long_series(9, 400)), 20u);
  EXPECT_EQ(piece_length(long_series(1, 60)), 5u);
  EXPECT_EQ(piece_length(long_series(1, 48)), 4u);  // alone, it has no other way
  EXPECT_EQ(piece_length(long_series(1, 29)), 0u);  // nine pieces
  EXPECT_EQ(piece_length(long_series(2, 24)), 0u);
  EXPECT_EQ(piece_length(long_series(1, 100'000)), 128u);
  EXPECT_EQ(piece_length(long_series(20, 400)), 20u);
  EXPECT_EQ(piece_length(long_series(20, 60)), 0u);   // short: split by series
  EXPECT_EQ(piece_length(long_series(30, 400)), 0u);  // enough to split
}

TEST(Pieces, ContinueOneAnotherAndKeepTheirTimes) {
  Dataset data = long_series(2, 7);
  data.time_axis.kind = TimeKind::unix_seconds;
  data.time_axis.unit = TimeUnit::second;
  const Dataset pieces = in_pieces(data, 3);
  EXPECT_EQ(pieces.ids, (std::vector<std::string>{"a/1", "a/2", "a/3", "b/1", "b/2", "b/3"}));
  EXPECT_EQ(pieces.reading.piece, 3u);
  pieces.check();
  EXPECT_EQ(pieces.times, data.times);
  EXPECT_EQ(pieces.value, data.value);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    EXPECT_EQ(pieces.continues_previous(i), i % 3 > 0);
    EXPECT_EQ(pieces.head_of(i), i / 3 * 3);
    for (std::size_t e = pieces.first_event[i]; e < pieces.first_event[i + 1]; ++e)
      EXPECT_EQ(pieces.time_axis.to_raw(i, pieces.times[e]),
                data.time_axis.to_raw(i / 3, data.times[e]));
  }
}

// What is appended to a series leaves its earlier pieces as they were.
TEST(Pieces, DoNotMoveWhenASeriesGrows) {
  const Dataset before = in_pieces(long_series(1, 12), 5), after = in_pieces(long_series(1, 20), 5);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(after.ids[i], before.ids[i]);
    EXPECT_EQ(after.events(i), before.events(i));
  }
}

TEST(Pieces, KnowTheZonesInWhichTheyWereWritten) {
  Dataset data = long_series(2, 6);
  data.time_axis.kind = TimeKind::date;
  data.time_axis.unit = TimeUnit::second;
  const auto raw = [&](std::size_t series, std::size_t event) {
    return data.time_axis.to_raw(series, data.times[event]);
  };
  data.time_axis.zones = {{0, raw(0, 0), 60}, {0, raw(0, 4), 120}, {1, raw(1, 6), 0}};
  const Dataset pieces = in_pieces(data, 3);
  for (std::size_t i = 0; i < pieces.size(); ++i)
    for (std::size_t e = pieces.first_event[i]; e < pieces.first_event[i + 1]; ++e)
      EXPECT_EQ(written_time(pieces, i, pieces.times[e]), written_time(data, i / 2, data.times[e]));
}

}  // namespace
}  // namespace edict
