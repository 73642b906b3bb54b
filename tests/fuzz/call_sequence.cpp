#include "fuzz/call_sequence.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <vector>

#include "edict/edict.h"

namespace edict::fuzz {
namespace {

constexpr std::size_t kMostCalls = 40;
constexpr std::int64_t kMostStreams = 8;

class Caller {
 public:
  Caller(std::string_view bytes, const edict_model* model, const edict_model_size& sizes)
      : bytes_(bytes), model_(model), features_(sizes.features), hidden_(sizes.hidden) {}
  ~Caller() {
    edict_streams_free(streams_);
    edict_builder_free(builder_);
    edict_dataset_free(data_);
    edict_bytes_free(state_);
  }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  void run() {
    for (std::size_t calls = 0; calls < kMostCalls && !bytes_.empty(); ++calls) step();
  }

 private:
  // ---- arguments ----

  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const char next = bytes_.front();
    bytes_.remove_prefix(1);
    return static_cast<std::uint8_t>(next);
  }
  // A small one, sometimes out of range.
  std::int64_t place(std::int64_t count) {
    const std::uint8_t drawn = byte();
    if (drawn == 255) return -1;
    if (drawn == 254) return std::numeric_limits<std::int64_t>::max();
    return drawn % (count + 2);
  }
  double number() {
    constexpr std::array<double, 8> kOdd{0.0,
                                         -0.0,
                                         1e-300,
                                         1e300,
                                         -1e308,
                                         std::numeric_limits<double>::quiet_NaN(),
                                         std::numeric_limits<double>::infinity(),
                                         -std::numeric_limits<double>::infinity()};
    const std::uint8_t drawn = byte();
    return drawn >= 248 ? kOdd[drawn - 248u] : (drawn - 124) / 16.0;
  }
  std::vector<double> numbers(std::int64_t count) {
    std::vector<double> drawn(static_cast<std::size_t>(count));
    for (double& value : drawn) value = number();
    return drawn;
  }

  // ---- promises ----

  static void promise(bool kept, const char* what) {
    if (!kept) throw std::logic_error(what);
  }
  bool check(int code) {
    if (code != EDICT_OK && code != EDICT_INPUT)
      throw std::logic_error(std::string("a call ends well or blames its input: ") +
                             edict_last_error());
    if (code != EDICT_OK) {
      const std::string_view line = edict_last_error();
      promise(!line.empty() && line.find('\n') == std::string_view::npos, "an error is one line");
    }
    return code == EDICT_OK;
  }
  static void promise_distributions(const std::vector<double>& mean,
                                    const std::vector<double>& scale) {
    for (std::size_t i = 0; i < mean.size(); ++i)
      promise(std::isfinite(mean[i]) && std::isfinite(scale[i]) && scale[i] > 0,
              "an answer is a distribution");
  }

  // ---- calls ----

  void step() {
    constexpr void (Caller::*kCalls[])() = {&Caller::new_builder, &Caller::add_observations,
                                            &Caller::add_rows,    &Caller::describe,
                                            &Caller::build,       &Caller::take_some,
                                            &Caller::predict,     &Caller::new_streams,
                                            &Caller::observe,     &Caller::ask,
                                            &Caller::keep,        &Caller::bring_back,
                                            &Caller::say_dates,   &Caller::look,
                                            &Caller::relabel,     &Caller::judge,
                                            &Caller::impute,      &Caller::choose_settings,
                                            &Caller::add_streams, &Caller::observe_rows,
                                            &Caller::quantiles};
    (this->*kCalls[byte() % std::size(kCalls)])();
  }

  void new_builder() {
    edict_builder_free(builder_);
    builder_ = nullptr;
    const char* const names[] = {"a", "b", "a", "", "x1", "x2", "x3", "\xff"};
    const std::int64_t series = byte() % 3, columns = byte() % 4;
    check(
        edict_builder_new(series, names + byte() % 2, columns, names + 4 - byte() % 2, &builder_));
  }
  void add_observations() {
    const std::int64_t rows = byte() % 4;
    std::vector<std::int64_t> series;
    std::vector<std::int32_t> feature;
    for (std::int64_t i = 0; i < rows; ++i) {
      series.push_back(place(2));
      feature.push_back(static_cast<std::int32_t>(place(3)));
    }
    const std::vector<double> times = numbers(rows), values = numbers(rows);
    check(edict_builder_observations(builder_, rows, series.data(), times.data(), feature.data(),
                                     values.data()));
  }
  void add_rows() {
    const std::int64_t rows = byte() % 4;
    std::vector<std::int64_t> series;
    for (std::int64_t i = 0; i < rows; ++i) series.push_back(place(2));
    const std::vector<double> times = numbers(rows), values = numbers(4 * rows);
    std::vector<const double*> columns;
    for (std::int64_t c = 0; c < 4; ++c) columns.push_back(values.data() + c * rows);
    check(edict_builder_rows(builder_, rows, series.data(), times.data(), columns.data(), nullptr));
  }
  void describe() {
    const char* const names[] = {"u", "v", "u"};
    const std::int32_t labels[] = {static_cast<std::int32_t>(place(2)), -1, 0, 1};
    check(edict_builder_labels(builder_, byte() % 4, names, labels));
    const std::vector<double> covariates = numbers(8);
    check(edict_builder_statics(builder_, byte() % 3, names, covariates.data()));
    check(edict_builder_groups(builder_, byte() % 4, names, labels));
  }
  void say_dates() {
    const char* const units[] = {"s", "min", "h", "d", "none", "", "x"};
    const std::vector<double> origins = numbers(3);
    const char* const unit = units[byte() % std::size(units)];
    const int zoned = byte() % 2, zone = (byte() - 128) * 20;
    check(edict_builder_dates(builder_, unit, byte() % 2, origins.data(), zoned, zone));
    const char* const readings[] = {"{}", "{\"id\":\"a\",\"features\":[\"x1\"]}", "{\"id\":3}", "[",
                                    ""};
    check(edict_builder_reading(builder_, readings[byte() % std::size(readings)]));
  }
  void build() {
    edict_dataset* made = nullptr;
    if (!check(edict_builder_dataset(builder_, byte() % 5, &made))) return;
    edict_dataset_free(data_);
    data_ = made;
    edict_bytes* summary = nullptr;
    if (check(edict_dataset_summary(data_, &summary))) edict_bytes_free(summary);
    std::uint64_t fingerprint = 0;
    check(edict_dataset_fingerprint(data_, &fingerprint));
  }
  void take_some() {
    const std::int64_t series[] = {place(2), place(2)};
    edict_dataset* made = nullptr;
    if (!check(edict_dataset_subset(data_, byte() % 3, series, number(), &made))) return;
    edict_dataset_free(data_);
    data_ = made;
  }
  // Everything that a dataset tells of itself fits together.
  void look() {
    edict_dataset_size sizes{};
    if (!check(edict_dataset_sizes(data_, &sizes, sizeof sizes))) return;
    const auto series = static_cast<std::size_t>(sizes.series),
               events = static_cast<std::size_t>(sizes.events),
               observations = static_cast<std::size_t>(sizes.observations);
    std::vector<std::int64_t> first_event(series + 1), first_observation(events + 1);
    std::vector<double> times(events), value(observations),
        statics(series * static_cast<std::size_t>(sizes.statics)), origin(series);
    std::vector<std::int32_t> feature(observations), labels(series), groups(series);
    promise(check(edict_dataset_arrays(data_, first_event.data(), times.data(),
                                       first_observation.data(), feature.data(), value.data(),
                                       labels.data(), groups.data(), statics.data())),
            "a dataset has its arrays");
    promise(first_event.back() == sizes.events && first_observation.back() == sizes.observations,
            "arrays are as long as their sizes");
    for (const std::int32_t f : feature) promise(f >= 0 && f < sizes.features, "a feature is one");
    for (const double x : value) promise(std::isfinite(x), "a value is a number");
    edict_bytes* text = nullptr;
    if (check(edict_dataset_names(data_, byte() % 6, &text))) edict_bytes_free(text);
    if (check(edict_dataset_dates(data_, origin.data(), &text))) edict_bytes_free(text);
    if (check(edict_dataset_reading(data_, &text))) edict_bytes_free(text);
    if (check(edict_model_match(model_, data_, &text))) edict_bytes_free(text);
    std::vector<std::int32_t> parts(series);
    check(edict_model_parts(model_, data_, parts.data()));
  }
  void relabel() {
    const char* const names[] = {"2", "10", "2", "w"};
    const std::int32_t labels[] = {static_cast<std::int32_t>(place(2)), 0, 1, -1};
    edict_dataset* made = nullptr;
    if (!check(edict_dataset_relabel(data_, byte() % 5, names, labels, &made))) return;
    edict_dataset_free(data_);
    data_ = made;
  }
  // Takes longer than all other calls together: one time in sixty-four, and once in a sequence.
  void choose_settings() {
    if (chose_settings_ || byte() % 64 != 0) return;
    chose_settings_ = true;
    const char* const given[] = {"model.hidden=3", "train.epochs=x", "model.kind=seft", "",
                                 "data.t_cut=1"};
    edict_bytes* text = nullptr;
    const std::int64_t first = byte() % 5, count = byte() % (6 - first);
    if (check(edict_fit_settings(data_, count, given + first, &text))) edict_bytes_free(text);
  }
  void judge() {
    edict_dataset_size sizes{};
    if (!check(edict_dataset_sizes(data_, &sizes, sizeof sizes))) return;
    const auto all = static_cast<std::size_t>(sizes.observations);
    std::vector<double> mean(all), aleatoric(all), epistemic(all), scale(all), dof(all), z(all),
        score(all), tail(all);
    if (check(edict_model_surprise(model_, data_, number(), nullptr, 1, nullptr, mean.data(),
                                   aleatoric.data(), epistemic.data(), scale.data(), dof.data(),
                                   z.data(), score.data(), tail.data()))) {
      promise_distributions(mean, scale);
      for (const double p : tail) promise(p >= 0 && p <= 1, "a tail is a probability");
    }
    std::vector<float> states(static_cast<std::size_t>(sizes.series * hidden_));
    if (check(edict_model_encode(model_, data_, nullptr, 1, nullptr, states.data())))
      for (const float x : states) promise(std::isfinite(x), "a state is finite");
  }
  void impute() {
    edict_dataset_size sizes{};
    if (!check(edict_dataset_sizes(data_, &sizes, sizeof sizes))) return;
    const std::int64_t count = byte() % 3;
    const std::vector<double> times = numbers(count);
    const auto all =
        static_cast<std::size_t>((count == 0 ? sizes.events : sizes.series * count) * features_);
    std::vector<double> value(all), deviation(all);
    if (check(edict_model_impute(model_, data_, count, count == 0 ? nullptr : times.data(),
                                 byte() % 4, nullptr, 1, nullptr, value.data(), deviation.data())))
      for (std::size_t i = 0; i < all; ++i)
        promise(std::isfinite(value[i]) && deviation[i] >= 0, "a gap is filled with a number");
  }
  void quantiles() {
    const std::int64_t count = byte() % 4;
    const std::vector<double> mean = numbers(count), scale = numbers(count), dof = numbers(count),
                              p = numbers(count);
    std::vector<double> out(static_cast<std::size_t>(count));
    if (check(edict_quantile(count, mean.data(), scale.data(), dof.data(), p.data(), out.data())))
      for (const double x : out) promise(!std::isnan(x), "a quantile is a number");
    if (check(edict_cdf(count, mean.data(), scale.data(), dof.data(), p.data(), out.data())))
      for (std::size_t i = 0; i < out.size(); ++i)
        promise(std::isnan(p[i]) ? std::isnan(out[i]) : out[i] >= 0 && out[i] <= 1,
                "a probability is one");
  }
  void predict() {
    edict_dataset_size sizes{};
    if (!check(edict_dataset_sizes(data_, &sizes, sizeof sizes))) return;
    const std::int64_t count = byte() % 3;
    const std::vector<double> times = numbers(count);
    const auto all = static_cast<std::size_t>(sizes.series * count * features_);
    std::vector<double> mean(all), aleatoric(all), epistemic(all), scale(all), dof(all);
    const edict_guard guard{byte() % 4, byte() % 3, number()};
    std::int64_t clipped = 0;
    if (check(edict_model_predict(
            model_, data_, count, times.data(), byte() % 2 ? EDICT_TIMES_AHEAD : EDICT_TIMES_COMMON,
            number(), byte() % 2 ? &guard : nullptr, 1, nullptr, mean.data(), aleatoric.data(),
            epistemic.data(), scale.data(), dof.data(), &clipped)))
      promise_distributions(mean, scale);
  }
  void new_streams() {
    edict_streams_free(streams_);
    streams_ = nullptr;
    const std::int64_t count = byte() % kMostStreams;
    const std::vector<double> start = numbers(count);
    check(edict_streams_new(model_, count, byte() % 2 ? start.data() : nullptr, nullptr, nullptr,
                            &streams_));
  }
  void observe() {
    const std::int64_t events = byte() % 3;
    std::vector<std::int64_t> stream, first{0};
    std::vector<std::int32_t> feature;
    for (std::int64_t e = 0; e < events; ++e) {
      stream.push_back(place(kMostStreams));
      for (int k = byte() % 3; k > 0; --k) feature.push_back(static_cast<std::int32_t>(place(3)));
      first.push_back(static_cast<std::int64_t>(feature.size()));
    }
    const std::vector<double> times = numbers(events),
                              values = numbers(static_cast<std::int64_t>(feature.size()));
    check(edict_streams_observe(streams_, events, stream.data(), times.data(), first.data(),
                                feature.data(), values.data()));
  }
  void add_streams() {
    if (edict_streams_count(streams_) > 4 * kMostStreams) return;
    const std::int64_t count = byte() % 3;
    const std::vector<double> start = numbers(count);
    check(edict_streams_add(streams_, count, byte() % 2 ? start.data() : nullptr, nullptr));
    std::vector<double> times(static_cast<std::size_t>(edict_streams_count(streams_)));
    if (check(edict_streams_times(streams_, times.data())))
      for (const double t : times) promise(std::isfinite(t), "a clock is at a time");
  }
  void observe_rows() {
    const std::int64_t events = byte() % 3;
    std::vector<std::int64_t> stream;
    for (std::int64_t e = 0; e < events; ++e) stream.push_back(place(kMostStreams));
    const std::vector<double> times = numbers(events), values = numbers(events * features_);
    check(edict_streams_observe_rows(streams_, events, stream.data(), times.data(), values.data()));
  }
  void ask() {
    const std::int64_t stream[] = {place(kMostStreams)};
    const double times[] = {number()};
    const auto all = static_cast<std::size_t>(features_);
    std::vector<double> mean(all), aleatoric(all), epistemic(all), scale(all), dof(all);
    if (check(edict_streams_predict(streams_, 1, stream, times, mean.data(), aleatoric.data(),
                                    epistemic.data(), scale.data(), dof.data())))
      promise_distributions(mean, scale);
  }
  void keep() {
    edict_bytes_free(state_);
    state_ = nullptr;
    check(edict_streams_save(streams_, place(kMostStreams), &state_));
  }
  void bring_back() {
    if (!state_) return;
    std::string bytes(static_cast<const char*>(edict_bytes_data(state_)), edict_bytes_size(state_));
    if (byte() % 4 == 0 && !bytes.empty()) bytes[byte() % bytes.size()] ^= 1;
    check(edict_streams_restore(streams_, place(kMostStreams), bytes.data(), bytes.size()));
  }

  std::string_view bytes_;
  const edict_model* model_;
  std::int64_t features_, hidden_;
  edict_builder* builder_ = nullptr;
  edict_dataset* data_ = nullptr;
  edict_streams* streams_ = nullptr;
  edict_bytes* state_ = nullptr;
  bool chose_settings_ = false;
};

}  // namespace

void call_sequence(std::string_view bytes, const std::string& model_bytes) {
  static edict_model* const model = [&] {
    edict_model* loaded = nullptr;
    edict_model_from_bytes(model_bytes.data(), model_bytes.size(), &loaded);
    return loaded;
  }();
  static const edict_model_size sizes = [&] {
    edict_model_size told{};
    edict_model_sizes(model, &told, sizeof told);
    return told;
  }();
  Caller(bytes, model, sizes).run();
}

}  // namespace edict::fuzz
