// Models: trained, loaded, and what they predict for the series of a dataset.
#ifndef EDICT_MODEL_HPP
#define EDICT_MODEL_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "edict/dataset.hpp"
#include "edict/forecast.hpp"
#include "edict/general.hpp"

namespace edict {

// Which observations an answer may use beside those before its moment.
enum class Sides {
  past = EDICT_SIDES_PAST,
  both = EDICT_SIDES_BOTH,   // later ones too; the model was trained with train.smooth
  known = EDICT_SIDES_KNOWN  // both where the model was trained so, else the past
};

// What training takes beside the data. Without `toml` edict chooses the settings that suit the
// data.
struct TrainOptions {
  std::vector<std::string> settings = {};  // "key=value", which hold before all others
  std::optional<std::string> toml = {};    // settings as in a file; "": the defaults
  int members = 1;                         // of an ensemble
  const Model* from = nullptr;             // a model to start from
  double budget = 0;                       // seconds that training may take; 0: no limit
  std::optional<std::string> out = {};     // model, checkpoint and metrics after every epoch
  bool resume = false;                     // from the checkpoint of `out`
  int threads = 0;
  Control* control = nullptr;
};

struct ClassifierOptions {
  std::vector<std::string> settings = {};  // classify.… and readout.…
  std::vector<std::int64_t> seeds = {};    // of the classifiers among which validation chooses
  int threads = 0;
  Control* control = nullptr;
};

// What was trained on a dataset. It never changes. Features and static covariates of a dataset are
// found by name.
class Model {
 public:
  explicit Model(detail::Owner<edict_model> handle) : handle_(std::move(handle)) {}

  // Stopped through a Control it returns the best model of the complete epochs, and throws where
  // there is none.
  static Model train(const Dataset& data, const TrainOptions& options = {}) {
    const auto settings = detail::pointers(options.settings);
    const edict_training training = training_of(options, settings);
    edict_model* out = nullptr;
    const int code = edict_train(data.handle(), &training, sizeof training,
                                 detail::handle_of(options.control), &out);
    detail::Owner<edict_model> owner(out);
    if (code != EDICT_INTERRUPTED || !owner) detail::check(code);
    return Model(std::move(owner));
  }
  static Model load(const std::string& path) {
    return made([&](edict_model** out) { return edict_model_load(path.c_str(), out); });
  }
  static Model from_bytes(std::string_view bytes) {
    return made(
        [&](edict_model** out) { return edict_model_from_bytes(bytes.data(), bytes.size(), out); });
  }
  void save(const std::string& path) const {
    detail::check(edict_model_save(handle(), path.c_str()));
  }
  std::string to_bytes() const {
    return detail::text([&](edict_bytes** out) { return edict_model_to_bytes(handle(), out); });
  }
  // JSON: folds, and metrics with their mean, std and value in every fold (edict_cross_validate).
  static std::string cross_validate(const Dataset& data, std::int64_t folds,
                                    const TrainOptions& options = {}) {
    const auto settings = detail::pointers(options.settings);
    const edict_training training = training_of(options, settings);
    return detail::text([&](edict_bytes** out) {
      return edict_cross_validate(data.handle(), &training, sizeof training, folds,
                                  detail::handle_of(options.control), out);
    });
  }
  // A copy whose intervals are calibrated, on series of the "validation" split of its training or
  // on "unseen" ones.
  Model calibrate(const Dataset& data, const std::string& split = "validation",
                  int threads = 0) const {
    return made([&](edict_model** out) {
      return edict_calibrate(handle(), data.handle(), split.c_str(), threads, nullptr, out);
    });
  }
  // A model that also tells the data's classes apart.
  Model train_classifier(const Dataset& data, const ClassifierOptions& options = {}) const {
    const auto settings = detail::pointers(options.settings);
    return made([&](edict_model** out) {
      return edict_classify(handle(), data.handle(), detail::count(settings.size()),
                            settings.data(), detail::count(options.seeds.size()),
                            options.seeds.data(), options.threads,
                            detail::handle_of(options.control), out);
    });
  }

  edict_model_size sizes() const {
    edict_model_size sizes{};
    detail::check(edict_model_sizes(handle(), &sizes, sizeof sizes));
    return sizes;
  }
  std::vector<std::string> features() const { return names(EDICT_NAMES_FEATURES); }
  std::vector<std::string> statics() const { return names(EDICT_NAMES_STATICS); }
  std::vector<std::string> classes() const { return names(EDICT_NAMES_CLASSES); }
  // JSON: kind, settings, scales, training.
  std::string info() const {
    return detail::text([&](edict_bytes** out) { return edict_model_info(handle(), out); });
  }
  // JSON: what of the dataset is ignored and what of the model's is missing, as sentences.
  std::string match(const Dataset& data) const {
    return detail::text(
        [&](edict_bytes** out) { return edict_model_match(handle(), data.handle(), out); });
  }
  // The part of the training that each series had.
  std::vector<edict_part> parts(const Dataset& data) const {
    std::vector<std::int32_t> parts(detail::size(data.sizes().series));
    detail::check(edict_model_parts(handle(), data.handle(), parts.data()));
    std::vector<edict_part> out;
    for (const std::int32_t part : parts) out.push_back(static_cast<edict_part>(part));
    return out;
  }

  // At `times` (ascending), the same for all series, given what was observed before each.
  // Observations from `until` on are not used.
  Forecast predict(const Dataset& data, std::span<const double> times,
                   const RunOptions& options = {},
                   double until = std::numeric_limits<double>::infinity()) const {
    return predict(data, times.size(), times, EDICT_TIMES_COMMON, options, until);
  }
  // At `count` times of each series; `times`: [series x count].
  Forecast predict_own(const Dataset& data, std::span<const double> times, std::size_t count,
                       const RunOptions& options = {},
                       double until = std::numeric_limits<double>::infinity()) const {
    detail::need(times.size() == detail::size(data.sizes().series) * count,
                 "Model::predict_own: `count` times for each series");
    return predict(data, count, times, EDICT_TIMES_OWN, options, until);
  }
  // So long after each series' last observation, with that absorbed.
  Forecast predict_ahead(const Dataset& data, std::span<const double> horizons,
                         const RunOptions& options = {},
                         double until = std::numeric_limits<double>::infinity()) const {
    return predict(data, horizons.size(), horizons, EDICT_TIMES_AHEAD, options, until);
  }

  // With everything observed; or, at `times`, before the observations of each.
  ClassProbabilities classify(const Dataset& data, std::span<const double> times = {},
                              const RunOptions& options = {}) const {
    ClassProbabilities out{classes(), {}};
    const std::size_t rows = detail::size(data.sizes().series) * (times.empty() ? 1 : times.size());
    out.values.resize(rows * out.classes.size());
    detail::check(edict_model_probabilities(handle(), data.handle(), detail::count(times.size()),
                                            times.empty() ? nullptr : times.data(), &options.guard,
                                            options.threads, detail::handle_of(options.control),
                                            out.values.data()));
    return out;
  }
  // A row per event of the data, or, with `times`, per series and time.
  Imputation impute(const Dataset& data, std::span<const double> times = {},
                    Sides sides = Sides::known, const RunOptions& options = {}) const {
    const edict_dataset_size n = data.sizes();
    const std::size_t rows =
        times.empty() ? detail::size(n.events) : detail::size(n.series) * times.size();
    Imputation out{features(), {}, {}};
    out.values.resize(rows * out.features.size());
    out.deviations.resize(rows * out.features.size());
    detail::check(edict_model_impute(handle(), data.handle(), detail::count(times.size()),
                                     times.empty() ? nullptr : times.data(),
                                     static_cast<int>(sides), &options.guard, options.threads,
                                     detail::handle_of(options.control), out.values.data(),
                                     out.deviations.data()));
    return out;
  }
  // Errors and calibration of interpolation and extrapolation, by feature and horizon too, and of
  // classes, as JSON. `part`: "train", "validation", "test",
  // "unseen" or "all".
  std::string evaluate(const Dataset& data, const std::string& part = "test",
                       Sides sides = Sides::past, const RunOptions& options = {}) const {
    return detail::text([&](edict_bytes** out) {
      return edict_model_evaluate(handle(), data.handle(), part.c_str(), static_cast<int>(sides),
                                  &options.guard, options.threads,
                                  detail::handle_of(options.control), out);
    });
  }
  // Of data whose columns are the model's. Observations from `until` on are judged and not
  // absorbed.
  Surprise surprise(const Dataset& data, const RunOptions& options = {},
                    double until = std::numeric_limits<double>::infinity()) const {
    const std::size_t n = detail::size(data.sizes().observations);
    Surprise out{Distributions(n), std::vector<double>(n), std::vector<double>(n),
                 std::vector<double>(n)};
    Distributions& e = out.expected;
    detail::check(edict_model_surprise(
        handle(), data.handle(), until, &options.guard, options.threads,
        detail::handle_of(options.control), e.mean.data(), e.aleatoric.data(), e.epistemic.data(),
        e.scale.data(), e.dof.data(), out.z.data(), out.log_score.data(), out.tail.data()));
    return out;
  }
  // The state after everything observed, [series x hidden].
  std::vector<float> encode(const Dataset& data, const RunOptions& options = {}) const {
    std::vector<float> states(detail::size(data.sizes().series * sizes().hidden));
    detail::check(edict_model_encode(handle(), data.handle(), &options.guard, options.threads,
                                     detail::handle_of(options.control), states.data()));
    return states;
  }

  const edict_model* handle() const noexcept { return handle_.get(); }

 private:
  // Of options and pointers to their settings, which must outlive it.
  static edict_training training_of(const TrainOptions& options,
                                    std::span<const char* const> settings) {
    edict_training training{};
    if (options.toml) training.toml = options.toml->c_str();
    training.assignments = detail::count(settings.size());
    training.assignment = settings.data();
    training.members = options.members;
    if (options.from) training.from = options.from->handle();
    training.budget = options.budget;
    if (options.out) training.out_path = options.out->c_str();
    training.resume = options.resume ? 1 : 0;
    training.threads = options.threads;
    return training;
  }
  template <class Call>
  static Model made(const Call& call) {
    return Model(detail::made<edict_model>(call));
  }
  std::vector<std::string> names(edict_names which) const {
    return detail::split_names(
        detail::text([&](edict_bytes** out) { return edict_model_names(handle(), which, out); }));
  }
  Forecast predict(const Dataset& data, std::size_t count, std::span<const double> times,
                   edict_times which, const RunOptions& options, double until) const {
    Forecast out;
    out.ids = data.ids();
    out.features = features();
    out.times = count;
    out.all = Distributions(out.ids.size() * count * out.features.size());
    Distributions& d = out.all;
    detail::check(edict_model_predict(
        handle(), data.handle(), detail::count(count), times.data(), which, until, &options.guard,
        options.threads, detail::handle_of(options.control), d.mean.data(), d.aleatoric.data(),
        d.epistemic.data(), d.scale.data(), d.dof.data(), &out.clipped));
    return out;
  }

  detail::Owner<edict_model> handle_;
};

inline Dataset Dataset::read(const std::string& path, const Model& like,
                             const ReadOptions& options) {
  return read(path, options, like.handle());
}

}  // namespace edict

#endif
