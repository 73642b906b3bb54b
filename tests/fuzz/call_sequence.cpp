#include "fuzz/call_sequence.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "edict/capi/edict.h"

namespace edict::fuzz {
namespace {

constexpr std::size_t kMostCalls = 40;
constexpr std::int64_t kMostStreams = 8;

class Caller {
 public:
  Caller(std::string_view bytes, const edict_model* model) : bytes_(bytes), model_(model) {
    edict_model_size sizes{};
    check(edict_model_sizes(model_, &sizes, sizeof sizes));
    features_ = sizes.features;
  }
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
    promise(code == EDICT_OK || code == EDICT_INPUT, "a call ends well or blames its input");
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
    switch (byte() % 12) {
      case 0:
        return new_builder();
      case 1:
        return add_observations();
      case 2:
        return add_rows();
      case 3:
        return describe();
      case 4:
        return build();
      case 5:
        return take_some();
      case 6:
        return predict();
      case 7:
        return new_streams();
      case 8:
        return observe();
      case 9:
        return ask();
      case 10:
        return keep();
      default:
        return bring_back();
    }
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
  std::int64_t features_ = 0;
  edict_builder* builder_ = nullptr;
  edict_dataset* data_ = nullptr;
  edict_streams* streams_ = nullptr;
  edict_bytes* state_ = nullptr;
};

}  // namespace

void call_sequence(std::string_view bytes, const std::string& model_bytes) {
  static edict_model* const model = [&] {
    edict_model* loaded = nullptr;
    edict_model_from_bytes(model_bytes.data(), model_bytes.size(), &loaded);
    return loaded;
  }();
  Caller(bytes, model).run();
}

}  // namespace edict::fuzz
