// Series as they happen: observations go in when they come, and the distribution can be read at any
// later moment without a change to the series. The bits are those of Model::predict.
#ifndef EDICT_STREAM_HPP
#define EDICT_STREAM_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "edict/forecast.hpp"
#include "edict/general.hpp"
#include "edict/model.hpp"

namespace edict {

struct Observation {
  std::int32_t feature;  // its index in Model::features
  double value;
};

// Many streams that share one model, each known by its place. A batch costs less than half of its
// streams one at a time. The model need not outlive it.
class Streams {
 public:
  // `start`: [count], where each clock starts, or empty: where that of a series does. `statics`:
  // [count x statics], or empty: missing.
  Streams(const Model& model, std::size_t count, std::span<const double> start = {},
          std::span<const double> statics = {}, const Guard& guard = Guard())
      : features_(detail::size(model.sizes().features)),
        statics_(detail::size(model.sizes().statics)) {
    check_sizes(count, start, statics);
    handle_ = detail::made<edict_streams>([&](edict_streams** out) {
      return edict_streams_new(model.handle(), detail::count(count), given(start), given(statics),
                               &guard, out);
    });
  }
  // More streams, at the end.
  void add(std::size_t count, std::span<const double> start = {},
           std::span<const double> statics = {}) {
    check_sizes(count, start, statics);
    detail::check(edict_streams_add(handle(), detail::count(count), given(start), given(statics)));
  }
  std::size_t size() const { return detail::size(edict_streams_count(handle())); }
  std::size_t features() const { return features_; }

  // An event of each listed stream, which may occur once; `values`: [events x features], NaN where
  // nothing was observed. After an error every stream is as before.
  void observe(std::span<const std::int64_t> streams, std::span<const double> times,
               std::span<const double> values) {
    detail::need(streams.size() == times.size() && values.size() == times.size() * features_,
                 "Streams::observe: a time per stream, a value per stream and feature");
    detail::check(edict_streams_observe_rows(handle(), detail::count(streams.size()),
                                             streams.data(), times.data(), values.data()));
  }
  // [streams x features], the k-th at times[k].
  Distributions predict(std::span<const std::int64_t> streams, std::span<const double> times) {
    detail::need(streams.size() == times.size(), "Streams::predict: a time per stream");
    Distributions out(streams.size() * features_);
    detail::check(edict_streams_predict(handle(), detail::count(streams.size()), streams.data(),
                                        times.data(), out.mean.data(), out.aleatoric.data(),
                                        out.epistemic.data(), out.scale.data(), out.dof.data()));
    return out;
  }
  // When each stream observed last, or its start.
  std::vector<double> times() const {
    std::vector<double> out(size());
    detail::check(edict_streams_times(handle(), out.data()));
    return out;
  }
  // The state of one stream, for a later program with the same model.
  std::string save(std::int64_t stream) const {
    return detail::text(
        [&](edict_bytes** out) { return edict_streams_save(handle(), stream, out); });
  }
  void restore(std::int64_t stream, std::string_view bytes) {
    detail::check(edict_streams_restore(handle(), stream, bytes.data(), bytes.size()));
  }

  edict_streams* handle() const noexcept { return handle_.get(); }

 private:
  static const double* given(std::span<const double> array) {
    return array.empty() ? nullptr : array.data();
  }
  void check_sizes(std::size_t count, std::span<const double> start,
                   std::span<const double> statics) const {
    detail::need(start.empty() || start.size() == count, "Streams: a start per stream, or none");
    detail::need(statics.empty() || statics.size() == count * statics_,
                 "Streams: a value per stream and static covariate, or none");
  }

  std::size_t features_, statics_;
  detail::Owner<edict_streams> handle_;
};

// One of them.
class Stream {
 public:
  explicit Stream(const Model& model, std::optional<double> start = {},
                  std::span<const double> statics = {}, const Guard& guard = Guard())
      : streams_(model, 1, start ? std::span<const double>(&*start, 1) : std::span<const double>(),
                 statics, guard),
        features_(streams_.features()),
        found_(features_) {}

  // `values`: [features], NaN where nothing was observed.
  void observe(double time, std::span<const double> values) {
    streams_.observe({&kFirst, 1}, {&time, 1}, values);
  }
  void observe(double time, std::span<const Observation> observations) {
    feature_.clear();
    value_.clear();
    for (const auto& [feature, value] : observations) {
      feature_.push_back(feature);
      value_.push_back(value);
    }
    const std::int64_t first[] = {0, detail::count(observations.size())};
    detail::check(edict_streams_observe(streams_.handle(), 1, &kFirst, &time, first,
                                        feature_.data(), value_.data()));
  }
  // [features]; it stays as it is until the next call.
  const Distributions& predict(double time) {
    detail::check(edict_streams_predict(streams_.handle(), 1, &kFirst, &time, found_.mean.data(),
                                        found_.aleatoric.data(), found_.epistemic.data(),
                                        found_.scale.data(), found_.dof.data()));
    return found_;
  }
  // When it observed last, or its start.
  double time() const { return streams_.times().front(); }
  std::string save() const { return streams_.save(0); }
  void restore(std::string_view bytes) { streams_.restore(0, bytes); }

 private:
  static constexpr std::int64_t kFirst = 0;

  Streams streams_;
  std::size_t features_;
  Distributions found_;  // kept, as are the next two, so that a call allocates nothing
  std::vector<std::int32_t> feature_;
  std::vector<double> value_;
};

}  // namespace edict

#endif
