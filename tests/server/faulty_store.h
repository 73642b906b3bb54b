// A store whose reads fail when they are told to, and whose connections share that.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "front/server/store/store.h"

namespace edict::server {

struct StoreFaults {
  std::atomic<bool> reading{false};  // of values and states
  std::atomic<int> failed{0};
  std::atomic<std::size_t> values_read{0};
  // Before the newest state of a stream is read; for making one thread wait for another.
  std::function<void(std::int64_t stream)> on_state = [](std::int64_t) {};
};

class FaultyStore final : public Store {
 public:
  FaultyStore(std::unique_ptr<Store> inner, std::shared_ptr<StoreFaults> faults)
      : inner_(std::move(inner)), faults_(std::move(faults)) {}

  std::unique_ptr<Store> another() const override {
    return std::make_unique<FaultyStore>(inner_->another(), faults_);
  }
  void begin() override { inner_->begin(); }
  void commit() override { inner_->commit(); }
  void rollback() noexcept override { inner_->rollback(); }
  std::uint64_t generation() const override { return inner_->generation(); }
  std::string damage() const override { return inner_->damage(); }
  void limit_wait(std::chrono::milliseconds most) override { inner_->limit_wait(most); }
  std::vector<std::string> features() override { return inner_->features(); }
  std::vector<std::int32_t> feature_numbers(std::span<const std::string> names) override {
    return inner_->feature_numbers(names);
  }
  void each_stream(const std::function<void(KeptStream&&)>& sink) override {
    inner_->each_stream(sink);
  }
  std::int64_t add_stream(const std::string& name, double origin) override {
    return inner_->add_stream(name, origin);
  }
  void change_stream(const KeptStream& stream) override { inner_->change_stream(stream); }
  void remove_stream(std::int64_t stream) override { inner_->remove_stream(stream); }
  void put(std::span<const KeptValue> values, std::span<Put> outcomes) override {
    inner_->put(values, outcomes);
  }
  std::vector<KeptValue> values(std::int64_t stream, double after, double until,
                                std::size_t limit) override {
    read();
    std::vector<KeptValue> found = inner_->values(stream, after, until, limit);
    faults_->values_read += found.size();
    return found;
  }
  std::vector<KeptValue> newest_values(std::int64_t stream, double until,
                                       std::size_t limit) override {
    read();
    return inner_->newest_values(stream, until, limit);
  }
  void remove_values(std::int64_t stream, double until) override {
    inner_->remove_values(stream, until);
  }
  std::size_t remove_range(std::int64_t stream, double from, double until,
                           std::span<const std::int32_t> features) override {
    return inner_->remove_range(stream, from, until, features);
  }
  bool take_back(std::int64_t stream, double time, std::int32_t feature, double value) override {
    return inner_->take_back(stream, time, feature, value);
  }
  void put_state(std::int64_t stream, std::uint64_t model, const KeptState& state) override {
    inner_->put_state(stream, model, state);
  }
  std::optional<KeptState> newest_state(std::int64_t stream, std::uint64_t model,
                                        double before) override {
    read();
    faults_->on_state(stream);
    return inner_->newest_state(stream, model, before);
  }
  std::vector<KeptState> states(std::int64_t stream, std::uint64_t model) override {
    read();
    return inner_->states(stream, model);
  }
  std::size_t cut_off(std::uint64_t model) override { return inner_->cut_off(model); }
  void remove_states(std::int64_t stream, double from, double before) override {
    inner_->remove_states(stream, from, before);
  }
  void each_alarm(const std::function<void(KeptAlarm&&)>& sink) override {
    inner_->each_alarm(sink);
  }
  void put_alarm(const KeptAlarm& alarm) override { inner_->put_alarm(alarm); }
  void remove_alarm(std::int64_t id) override { inner_->remove_alarm(id); }
  void add_audit(const AuditLine& line) override { inner_->add_audit(line); }
  std::vector<AuditLine> audit(std::size_t newest) override { return inner_->audit(newest); }
  void add_rejected(const RejectedLine& line) override { inner_->add_rejected(line); }
  std::vector<RejectedLine> rejected(std::size_t newest) override {
    return inner_->rejected(newest);
  }
  std::optional<std::string> meta(const std::string& key) override { return inner_->meta(key); }
  void set_meta(const std::string& key, const std::string& value) override {
    inner_->set_meta(key, value);
  }
  void backup(const std::string& path) override { inner_->backup(path); }
  void tidy() override { inner_->tidy(); }
  std::uint64_t bytes() override { return inner_->bytes(); }

 private:
  void read() {
    if (!faults_->reading) return;
    ++faults_->failed;
    throw MachineError("the store: a page cannot be read");
  }

  std::unique_ptr<Store> inner_;
  std::shared_ptr<StoreFaults> faults_;
};

}  // namespace edict::server
