// What both stores promise by store.h, on each of them: SQLite in a file, and Debian's PostgreSQL
// where it is installed.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "front/server/store/store.h"
#include "server/database.h"

namespace edict::server {
namespace {

constexpr double kEver = std::numeric_limits<double>::infinity();
constexpr std::size_t kAll = 1'000'000;

class StoreContract : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && !Database::installed()) GTEST_SKIP() << "postgresql-15 is not installed";
    if (GetParam()) database_ = std::make_unique<Database>();
    store_ = open();
  }
  std::unique_ptr<Store> open() {
    std::vector<std::string> notices;
    auto store =
        open_store(database_ ? database_->uri() : (folder_ / "edict.db").string(), {}, notices);
    EXPECT_TRUE(notices.empty());
    return store;
  }
  // As a server that is started again.
  void open_again() {
    store_.reset();
    store_ = open();
  }
  template <typename Work>
  void in_transaction(const Work& work) {
    store_->begin();
    work();
    store_->commit();
  }
  std::int64_t add_stream(const std::string& name) {
    std::int64_t id = 0;
    in_transaction([&] { id = store_->add_stream(name, 0.5); });
    return id;
  }
  std::vector<Put> put(const std::vector<KeptValue>& values) {
    std::vector<Put> outcomes(values.size());
    in_transaction([&] { store_->put(values, outcomes); });
    return outcomes;
  }
  std::vector<double> numbers(std::int64_t stream, double after = -kEver, double until = kEver,
                              std::size_t limit = kAll) {
    std::vector<double> found;
    for (const KeptValue& one : store_->values(stream, after, until, limit))
      found.push_back(one.value);
    return found;
  }

  TemporaryFolder folder_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<Store> store_;
};

TEST_P(StoreContract, StreamsFeaturesAndMetaComeBack) {
  std::vector<std::int32_t> numbers;
  in_transaction([&] {
    numbers = store_->feature_numbers(std::vector<std::string>{"puls", "laktat \"µ\"", "puls"});
    store_->set_meta("key", "one");
    store_->set_meta("key", "two");
  });
  EXPECT_EQ(numbers[0], numbers[2]);
  EXPECT_NE(numbers[0], numbers[1]);
  KeptStream stream;
  stream.id = add_stream("bed '3'");
  stream.name = "bed '3'";
  stream.base = 1.25;
  stream.first = 0.1;
  stream.origin = 7;
  stream.about = R"({"ward": "ä"})";
  in_transaction([&] { store_->change_stream(stream); });
  const std::int64_t other = add_stream("other");
  open_again();
  EXPECT_EQ(store_->features(), (std::vector<std::string>{"puls", "laktat \"µ\""}));
  EXPECT_EQ(store_->meta("key"), "two");
  EXPECT_EQ(store_->meta("nothing"), std::nullopt);
  std::map<std::int64_t, KeptStream> found;
  store_->each_stream([&](KeptStream&& one) { found[one.id] = std::move(one); });
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[stream.id].name, stream.name);
  EXPECT_EQ(found[stream.id].base, 1.25);
  EXPECT_EQ(found[stream.id].first, 0.1);
  EXPECT_EQ(found[stream.id].origin, 7);
  EXPECT_EQ(found[stream.id].about, stream.about);
  EXPECT_EQ(found[other].base, -kEver);
  EXPECT_TRUE(std::isnan(found[other].first));
}

TEST_P(StoreContract, WhatIsRolledBackWasNeverThere) {
  const std::int64_t stream = add_stream("a");
  put({{stream, 1, 0, 10}});
  store_->begin();
  std::vector<Put> outcomes(2);
  store_->put(std::vector<KeptValue>{{stream, 1, 0, 11}, {stream, 2, 0, 20}}, outcomes);
  store_->set_meta("key", "value");
  store_->rollback();
  EXPECT_EQ(numbers(stream), std::vector<double>{10});
  EXPECT_EQ(store_->meta("key"), std::nullopt);
  open_again();
  EXPECT_EQ(numbers(stream), std::vector<double>{10});
}

TEST_P(StoreContract, AnotherConnectionSeesWhatIsCommittedAndNothingElse) {
  const std::int64_t stream = add_stream("a");
  const std::unique_ptr<Store> other = store_->another();
  store_->begin();
  std::vector<Put> outcomes(1);
  store_->put(std::vector<KeptValue>{{stream, 1, 0, 10}}, outcomes);
  EXPECT_TRUE(other->values(stream, -kEver, kEver, kAll).empty());
  store_->commit();
  EXPECT_EQ(other->values(stream, -kEver, kEver, kAll).size(), 1u);
}

TEST_P(StoreContract, ACorrectionCanBeTakenBack) {
  const std::int64_t stream = add_stream("a");
  EXPECT_EQ(put({{stream, 1, 0, 10}}), std::vector<Put>{Put::inserted});
  EXPECT_EQ(put({{stream, 1, 0, 11}}), std::vector<Put>{Put::corrected});
  EXPECT_EQ(put({{stream, 1, 0, 11}}), std::vector<Put>{Put::unchanged});
  EXPECT_TRUE(store_->values(stream, -kEver, kEver, kAll).at(0).corrected);
  bool stood_before = false;
  in_transaction([&] { stood_before = store_->take_back(stream, 1, 0, 11); });
  EXPECT_TRUE(stood_before);
  EXPECT_EQ(numbers(stream), std::vector<double>{10});
  in_transaction([&] { stood_before = store_->take_back(stream, 1, 0, 10); });
  EXPECT_FALSE(stood_before);
  EXPECT_TRUE(numbers(stream).empty());
}

// Every bit of a double but the sign of zero, and the order of time and feature.
TEST_P(StoreContract, ValuesKeepTheirBitsAndTheirOrder) {
  const std::int64_t stream = add_stream("a");
  const std::vector<double> odd = {0.0, 5e-324, 1.7976931348623157e308, 0.1, -1e-300};
  std::vector<KeptValue> values;
  for (std::size_t i = 0; i < odd.size(); ++i)
    values.push_back({stream, odd[odd.size() - 1 - i], static_cast<std::int32_t>(i % 2), odd[i],
                      1.7e9 + 1e-6 * static_cast<double>(i)});
  put(values);
  std::map<std::tuple<double, std::int32_t>, KeptValue> expected;
  for (const KeptValue& one : values) expected[{one.time, one.feature}] = one;
  const auto found = store_->values(stream, -kEver, kEver, kAll);
  ASSERT_EQ(found.size(), expected.size());
  auto next = expected.begin();
  for (const KeptValue& one : found) {
    const KeptValue& wanted = (next++)->second;
    EXPECT_EQ(one.time, wanted.time);
    EXPECT_EQ(one.feature, wanted.feature);
    EXPECT_EQ(one.value, wanted.value);
    EXPECT_EQ(one.received, wanted.received);
  }
}

TEST_P(StoreContract, StatesAreFoundByModelAndTime) {
  const std::int64_t stream = add_stream("a");
  const auto bytes = [](std::size_t n) { return std::vector<std::byte>(n, std::byte{7}); };
  in_transaction([&] {
    for (const double time : {1.0, 2.0, 4.0}) {
      store_->put_state(stream, 1, {time, 0.5, 3, 9, bytes(static_cast<std::size_t>(time))});
      store_->put_state(stream, ~std::uint64_t{0}, {time + 100, 0.5, 3, 9, bytes(1)});
    }
  });
  EXPECT_EQ(store_->states(stream, 1).size(), 3u);
  EXPECT_EQ(store_->newest_state(stream, 1, 4)->time, 2);
  EXPECT_EQ(store_->newest_state(stream, 1, 4)->bytes, bytes(2));
  EXPECT_EQ(store_->newest_state(stream, 1, kEver)->time, 4);
  EXPECT_EQ(store_->newest_state(stream, ~std::uint64_t{0}, kEver)->time, 104);
  EXPECT_FALSE(store_->newest_state(stream, 1, 1));
  EXPECT_FALSE(store_->newest_state(stream, 2, kEver));
  in_transaction([&] { store_->remove_states(stream, 2, 4); });
  EXPECT_EQ(store_->newest_state(stream, 1, 4)->time, 1);
  EXPECT_EQ(store_->newest_state(stream, 1, kEver)->time, 4);
}

TEST_P(StoreContract, AlarmsAuditAndRejectedLines) {
  const std::int64_t stream = add_stream("a");
  in_transaction([&] {
    store_->put_alarm({3, stream, "low", R"({"state":"firing"})"});
    store_->put_alarm({3, stream, "low", R"({"state":"ended"})"});
    store_->put_alarm({4, stream, "high", "{}"});
    store_->remove_alarm(4);
    for (int i = 0; i < 3; ++i) {
      store_->add_audit({1.5 + i, "removed", "token 'x'", "a", std::to_string(i)});
      store_->add_rejected({2.5 + i, "mqtt", "no number", std::string("a\0\xff", 3)});
    }
  });
  open_again();
  std::vector<KeptAlarm> alarms;
  store_->each_alarm([&](KeptAlarm&& one) { alarms.push_back(std::move(one)); });
  ASSERT_EQ(alarms.size(), 1u);
  EXPECT_EQ(alarms[0].body, R"({"state":"ended"})");
  const auto audit = store_->audit(2);
  ASSERT_EQ(audit.size(), 2u);
  EXPECT_EQ(audit[0].detail, "2");
  EXPECT_EQ(audit[0].who, "token 'x'");
  const auto rejected = store_->rejected(kAll);
  ASSERT_EQ(rejected.size(), 3u);
  EXPECT_EQ(rejected[2].at, 2.5);
  EXPECT_EQ(rejected[2].payload, std::string("a\0\xff", 3));
}

TEST_P(StoreContract, AStreamGoesWithWhatBelongsToIt) {
  const std::int64_t gone = add_stream("gone"), stays = add_stream("stays");
  for (const std::int64_t stream : {gone, stays}) {
    put({{stream, 1, 0, 10}});
    in_transaction([&] {
      store_->put_state(stream, 1, {1, 1, 1, 1, {std::byte{1}}});
      store_->put_alarm({stream, stream, "low", "{}"});
    });
  }
  in_transaction([&] { store_->remove_stream(gone); });
  EXPECT_TRUE(numbers(gone).empty());
  EXPECT_TRUE(store_->states(gone, 1).empty());
  EXPECT_EQ(numbers(stays), std::vector<double>{10});
  std::size_t alarms = 0, streams = 0;
  store_->each_alarm([&](KeptAlarm&& one) { alarms += one.stream == stays; });
  store_->each_stream([&](KeptStream&& one) { streams += one.id == stays; });
  EXPECT_EQ(alarms, 1u);
  EXPECT_EQ(streams, 1u);
}

// Against a map, by random operations.
TEST_P(StoreContract, ValuesAreThoseOfAMap) {
  std::mt19937 random(11);
  const auto draw = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const std::vector<std::int64_t> streams = {add_stream("a"), add_stream("b")};
  using Key = std::tuple<double, std::int32_t>;
  std::map<std::int64_t, std::map<Key, double>> expected;
  for (int round = 0; round < 150; ++round) {
    const std::int64_t stream = streams[static_cast<std::size_t>(draw(2))];
    auto& kept = expected[stream];
    const double from = draw(40), until = from + draw(10);
    switch (draw(4)) {
      case 0: {
        in_transaction([&] { store_->remove_values(stream, from - 30); });
        std::erase_if(kept, [&](const auto& one) { return std::get<0>(one.first) <= from - 30; });
        break;
      }
      case 1: {
        const std::int32_t feature = draw(3);
        std::size_t n = 0;
        in_transaction([&] {
          n = store_->remove_range(stream, from, until, std::vector<std::int32_t>{feature});
        });
        EXPECT_EQ(n, std::erase_if(kept, [&](const auto& one) {
                    const auto& [time, of] = one.first;
                    return from <= time && time <= until && of == feature;
                  }));
        break;
      }
      default: {
        std::map<Key, double> some;
        for (int i = 0; i < 20; ++i) some[{draw(40), draw(3)}] = draw(4);
        std::vector<KeptValue> values;
        std::vector<Put> wanted;
        for (const auto& [key, value] : some) {
          values.push_back({stream, std::get<0>(key), std::get<1>(key), value});
          const auto there = kept.find(key);
          wanted.push_back(there == kept.end()      ? Put::inserted
                           : there->second == value ? Put::unchanged
                                                    : Put::corrected);
          kept[key] = value;
        }
        EXPECT_EQ(put(values), wanted);
      }
    }
    std::vector<double> within, newest;
    for (const auto& [key, value] : kept)
      if (from < std::get<0>(key) && std::get<0>(key) <= until) within.push_back(value);
    EXPECT_EQ(numbers(stream, from, until), within);
    if (within.size() > 2) within.resize(2);
    EXPECT_EQ(numbers(stream, from, until, 2), within);
    std::vector<double> times;
    for (auto one = kept.rbegin(); one != kept.rend() && times.size() < 5; ++one)
      if (std::get<0>(one->first) <= until) times.push_back(std::get<0>(one->first));
    for (const KeptValue& one : store_->newest_values(stream, until, 5)) newest.push_back(one.time);
    EXPECT_EQ(newest, times);
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "PostgreSQL" : "SQLite"; });

}  // namespace
}  // namespace edict::server
