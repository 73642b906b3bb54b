#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "app/classify.h"
#include "app/train.h"
#include "ask/anomalies.h"
#include "ask/classification.h"
#include "ask/distribution.h"
#include "ask/expectations.h"
#include "ask/impute.h"
#include "ask/trajectory.h"
#include "base/error.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "data/pieces.h"
#include "front/capi/border.h"
#include "judge/evaluate.h"
#include "math/student_t.h"
#include "model/encode.h"

using namespace edict;
using namespace edict::capi;

namespace {

void check_distribution(double mean, double scale, double dof) {
  if (!std::isfinite(mean) || !(scale > 0) || std::isinf(scale) || !(dof > 0))
    throw Error("a distribution has a finite mean, and scale and degrees of freedom above 0");
}

const Model& model_of(const edict_model* model) {
  check_given(model, "model");
  return *model->model;
}

// The caller's data with the model's columns; copied only where they differ. A model that learnt
// from pieces of series is trained further and judged on pieces, and answers about whole series.
enum class Series { whole, as_trained };
class Matched {
 public:
  Matched(const Model& model, const edict_dataset* dataset, Series series = Series::whole) {
    check_given(dataset, "dataset");
    given_ = &dataset->data;
    if (given_->features != model.features || given_->statics != model.statics)
      changed_ = model.match(*given_).data;
    const std::size_t piece = model.reading.piece;
    if (piece > 0 && given_->reading.piece == 0 && series == Series::as_trained)
      changed_ = in_pieces(data(), piece);
  }
  const Dataset& data() const { return changed_ ? *changed_ : *given_; }

 private:
  const Dataset* given_;
  std::optional<Dataset> changed_;
};

std::size_t threads_from(int threads) {
  if (threads < 0 || threads > 1024)
    throw Error("threads: give a number from 0, for all of the machine, to 1024");
  return static_cast<std::size_t>(threads);
}

std::vector<std::size_t> all_of(const Dataset& data) {
  std::vector<std::size_t> all(data.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

// Throws Error unless the times ascend; the engine relies on it.
std::vector<double> times_from(const double* times, std::size_t count) {
  for (std::size_t t = 0; t < count; ++t)
    if (!std::isfinite(times[t]) || (t > 0 && times[t] < times[t - 1]))
      throw Error("the times to ask for must be finite and ascend");
  return {times, times + count};
}

nlohmann::json to_json(const EpochRow& row) {
  return {{"epoch", row.epoch},
          {"learning_rate", row.learning_rate},
          {"nll", row.nll},
          {"kl", row.kl},
          {"evidence", row.evidence},
          {"loss", row.loss},
          {"cross_entropy", row.cross_entropy},
          {"validation_nll", row.validation_nll},
          {"validation_mse", row.validation_mse},
          {"validation_crps", row.validation_crps},
          {"validation_cross_entropy", row.validation_cross_entropy},
          {"validation_accuracy", row.validation_accuracy},
          {"best", row.best}};
}

std::string epochs_json(const std::vector<TrainResult>& members) {
  nlohmann::json list = nlohmann::json::array();
  for (const TrainResult& member : members)
    for (const EpochRow& row : member.rows) list.push_back(to_json(row));
  return json_text(list);
}

// What there is to say of the data and of the settings chosen for them.
std::vector<std::string> notes_of(const app::TrainPlan& plan) {
  std::vector<std::string> notes;
  if (plan.fitted) notes = plan.fitted->notes;
  notes.insert(notes.end(), plan.notes.begin(), plan.notes.end());
  return notes;
}

// What both kinds of training tell of a batch and of an epoch.
void tell_batch(edict_control* control, std::int64_t epoch, std::int64_t epochs, std::int64_t batch,
                std::int64_t batches, double nll, double cross_entropy) {
  update(control, [&](edict_progress& p) {
    p.epoch = epoch;
    p.epochs = epochs;
    p.batch = batch;
    p.batches = batches;
    p.nll = nll;
    p.cross_entropy = cross_entropy;
    p.fraction = (static_cast<double>(epoch - 1) +
                  static_cast<double>(batch) / static_cast<double>(batches)) /
                 static_cast<double>(epochs);
  });
}

void tell_epoch(edict_control* control, const EpochRow& row) {
  update(control, [&](edict_progress& p) {
    p.epochs_done = row.epoch;
    if (row.best) p.best_epoch = row.epoch;
    p.validation_nll = row.validation_nll;
    p.validation_mse = row.validation_mse;
    p.validation_cross_entropy = row.validation_cross_entropy;
    p.validation_accuracy = row.validation_accuracy;
  });
}

// The control shows how far the training is. It may consist of several runs, one after the other.
void show(edict_control* control, const Config& config, app::TrainRequest& request) {
  const std::size_t sides = config.train.smooth ? 2 : 1, runs = request.members * sides;
  const auto done = std::make_shared<std::size_t>(0);  // runs before the one at hand
  request.progress.on_run = [=](const app::TrainingRun& run) {
    *done = run.member * sides + (run.backward ? 1 : 0);
  };
  request.progress.on_batch = [=, epochs = config.train.epochs](
                                  std::int64_t epoch, std::int64_t batch, std::int64_t batches,
                                  const LossSums& sums) {
    tell_batch(control, epoch, epochs, batch, batches, sums.nll / std::max(1.0, sums.observations),
               sums.classification / std::max(1.0, sums.series));
    update(control, [&](edict_progress& p) {
      p.fraction = (static_cast<double>(*done) + p.fraction) / static_cast<double>(runs);
    });
  };
  request.progress.on_epoch = [=](const EpochRow& row) { tell_epoch(control, row); };
}

// The data to train on: a few long series are cut into pieces.
class ToTrain {
 public:
  explicit ToTrain(const edict_dataset* dataset) {
    check_given(dataset, "dataset");
    given_ = &dataset->data;
    cut_ = app::cut_long_series(*given_);
  }
  const Dataset& data() const { return cut_ ? cut_->data : *given_; }

 private:
  const Dataset* given_;
  std::optional<app::CutData> cut_;
};

Sides sides_from(const Model& model, int sides) {
  if (sides < EDICT_SIDES_PAST || sides > EDICT_SIDES_KNOWN)
    throw Error("sides is " + std::to_string(sides) + "; give one of EDICT_SIDES_…");
  if (sides == EDICT_SIDES_KNOWN) return model.fusion.empty() ? Sides::past : Sides::both;
  return sides == EDICT_SIDES_BOTH ? Sides::both : Sides::past;
}

}  // namespace

int edict_fit_settings(const edict_dataset* dataset, int64_t assignments,
                       const char* const* assignment, edict_bytes** out) {
  return run_guarded([&] {
    const ToTrain training(dataset);
    check_given(out, "out");
    const std::vector<std::string> given = names_from(assignments, assignment, "assignments");
    const FittedSettings fitted = fit_settings(training.data(), given);
    nlohmann::json choices = nlohmann::json::array();
    for (const SettingChoice& choice : fitted.choices)
      choices.push_back({{"key", choice.key},
                         {"value", choice.value},
                         {"why", choice.why},
                         {"given", choice.given}});
    *out = new_bytes(json_text(
        {{"choices", choices}, {"notes", plain(fitted.notes)}, {"toml", commented_toml(fitted)}}));
  });
}

int edict_train(const edict_dataset* dataset, const char* toml, int64_t assignments,
                const char* const* assignment, int64_t members, const edict_model* from,
                double budget, const char* out_path, int resume, int threads,
                edict_control* control, edict_model** out) {
  return run_guarded([&] {
    app::TrainRequest request;
    check_given(dataset, "dataset");
    check_given(out, "out");
    *out = nullptr;
    if (toml) read_toml_text(toml, "settings", request.settings.base.emplace());
    request.settings.assignments = names_from(assignments, assignment, "assignments");
    if (from) request.from = &model_of(from);
    request.members = size_of(members, "members");
    if (out_path) request.out = out_path;
    request.resume = resume != 0;
    request.replace = true;
    request.budget = budget;
    request.stop = stop_of(control);
    check(request);
    std::optional<Matched> matched;
    std::optional<ToTrain> fresh;
    if (from)
      matched.emplace(*request.from, dataset, Series::as_trained);
    else
      fresh.emplace(dataset);
    const Dataset& data = matched ? matched->data() : fresh->data();
    ThreadPool pool(threads_from(threads));
    app::TrainPlan plan = plan_training(data, request);
    show(control, plan.model.config, request);
    std::vector<std::string> notes = notes_of(plan);
    app::TrainedModel trained = train(std::move(plan), data, request, pool);
    notes.insert(notes.end(), trained.notes.begin(), trained.notes.end());
    if (trained.is_usable())
      *out = new edict_model{std::make_shared<const Model>(std::move(trained.model)),
                             epochs_json(trained.members), json_text(plain(std::move(notes)))};
    if (trained.interrupted) throw Interrupted();
  });
}

int edict_classify(const edict_model* model, const edict_dataset* dataset, int64_t assignments,
                   const char* const* assignment, int64_t seeds, const int64_t* seed, int threads,
                   edict_control* control, edict_model** out) {
  return run_guarded([&] {
    const Model& trained = model_of(model);
    const Matched matched(trained, dataset, Series::as_trained);
    check_given(out, "out");
    app::ClassifyRequest request;
    request.assignments = names_from(assignments, assignment, "assignments");
    const std::size_t count = size_of(seeds, "seeds");
    if (count > 0) check_given(seed, "seed");
    request.seeds.assign(seed, seed + count);
    request.stop = stop_of(control);
    const std::int64_t epochs = settings_of(request, trained).fine_tune;
    request.on_batch = [&](std::int64_t epoch, std::int64_t batch, std::int64_t batches) {
      tell_batch(control, epoch, epochs, batch, batches, 0, 0);
    };
    request.on_epoch = [&](const EpochRow& row) { tell_epoch(control, row); };
    ThreadPool pool(threads_from(threads));
    app::ClassifyResult result = app::classify(trained, matched.data(), request, pool);
    if (result.classifier.interrupted) throw Interrupted();
    *out = new edict_model{std::make_shared<const Model>(std::move(result.classifier.model)),
                           model->epochs, json_text(plain(std::move(result.notes)))};
  });
}

int edict_model_load(const char* path, edict_model** out) {
  return run_guarded([&] {
    check_given(path, "path");
    check_given(out, "out");
    *out = new edict_model{std::make_shared<const Model>(load_model(path))};
  });
}

int edict_model_save(const edict_model* model, const char* path) {
  return run_guarded([&] {
    check_given(path, "path");
    save_model(model_of(model), path);
  });
}

int edict_model_from_bytes(const void* data, size_t size, edict_model** out) {
  return run_guarded([&] {
    check_given(data, "data");
    check_given(out, "out");
    const std::string_view bytes(static_cast<const char*>(data), size);
    constexpr const char* kName = "model in memory";
    *out = new edict_model{
        std::make_shared<const Model>(from_tensors(tensors_from(bytes, kName), kName))};
  });
}

int edict_model_to_bytes(const edict_model* model, edict_bytes** out) {
  return run_guarded([&] {
    check_given(out, "out");
    *out = new_bytes(tensor_bytes(to_tensors(model_of(model))));
  });
}

int edict_model_sizes(const edict_model* model, edict_model_size* sizes, size_t size) {
  return run_guarded([&] {
    const Model& m = model_of(model);
    check_given(sizes, "sizes");
    copy_out({static_cast<int64_t>(m.features.size()), static_cast<int64_t>(m.statics.size()),
              m.network->classes(), m.network->hidden() * static_cast<Index>(m.members()),
              m.params.size(), m.network->has_distribution() ? 1 : 0, 0, fingerprint(m)},
             sizes, size);
  });
}

int edict_model_info(const edict_model* model, edict_bytes** out) {
  return run_guarded([&] {
    const Model& m = model_of(model);
    check_given(out, "out");
    const auto count = [&](Part part) { return m.seen.count(part); };
    const Matrix<double>& r = m.calibration.correlations.matrix();
    nlohmann::json correlations;  // null where none are known
    if (r.rows() > 0) correlations = nlohmann::json::array();
    for (Index i = 0; i < r.rows(); ++i)
      correlations.push_back(std::vector<double>(r.col(i).begin(), r.col(i).end()));
    *out = new_bytes(
        json_text({{"kind", m.config.model.kind},
                   {"features", m.features},
                   {"statics", m.statics},
                   {"classes", m.network->classes() > 0 ? m.classes : std::vector<std::string>{}},
                   {"parameters", m.params.size()},
                   {"members", m.members()},
                   {"t_cut", m.protocol.t_cut},
                   {"horizon", m.protocol.horizon},
                   {"least_scale", m.config.model.least_scale},
                   {"mean", m.protocol.population.mean},
                   {"scale", m.protocol.population.scale},
                   {"correlations", correlations},
                   {"time_axis", to_json(m.time_axis)},
                   {"reading", to_json(m.reading)},
                   {"piece", m.reading.piece},
                   {"seen",
                    {{"train", count(Part::train)},
                     {"validation", count(Part::validation)},
                     {"test", count(Part::test)}}},
                   {"config", to_json(m.config)},
                   {"epochs", parse_json(model->epochs)},
                   {"notes", parse_json(model->notes)}}));
  });
}

int edict_model_match(const edict_model* model, const edict_dataset* dataset, edict_bytes** out) {
  return run_guarded([&] {
    const Model& m = model_of(model);
    check_given(dataset, "dataset");
    check_given(out, "out");
    *out = new_bytes(json_text(plain(m.match(dataset->data).notes)));
  });
}

int edict_model_parts(const edict_model* model, const edict_dataset* dataset, int32_t* parts) {
  return run_guarded([&] {
    const Model& m = model_of(model);
    check_given(dataset, "dataset");
    check_given(parts, "parts");
    Split split = m.split(dataset->data);
    for (const Part part : {Part::train, Part::validation, Part::test, Part::unseen})
      for (const std::size_t i : split[part]) parts[i] = static_cast<int32_t>(part);
  });
}

int edict_model_predict(const edict_model* model, const edict_dataset* dataset, int64_t count,
                        const double* times, int which, double until, const edict_guard* guard,
                        int threads, edict_control* control, double* mean, double* aleatoric,
                        double* epistemic, double* scale, double* dof, int64_t* clipped) {
  return run_guarded([&] {
    const Model& m = model_of(model);
    const Matched matched(m, dataset);
    const Dataset& data = matched.data();
    const std::size_t asked = size_of(count, "count");
    if (asked > 0) check_given(times, "times");
    PredictRequest request;
    request.guard = guard_from(guard);
    request.absorb_until = until;
    request.stop = stop_of(control);
    if (which == EDICT_TIMES_OWN)
      request.own_times = [&](std::size_t i) { return times_from(times + i * asked, asked); };
    else
      request.times = times_from(times, asked);
    if (which == EDICT_TIMES_AHEAD) request.from = PredictRequest::From::last_observation;
    if (clipped) *clipped = 0;
    ThreadPool pool(threads_from(threads));
    std::size_t done = 0;
    predict(m, data, request, pool, [&](const Trajectory& trajectory) {
      const std::size_t first = trajectory.series * asked * m.features.size();
      for (std::size_t k = 0; k < trajectory.marginals.size(); ++k)
        put(trajectory.marginals[k], first + k, mean, aleatoric, epistemic, scale, dof);
      if (clipped) *clipped += static_cast<int64_t>(trajectory.clips.size());
      ++done;
      update(control, [&](edict_progress& p) {
        p.fraction = static_cast<double>(done) / static_cast<double>(data.size());
      });
    });
  });
}

int edict_model_probabilities(const edict_model* model, const edict_dataset* dataset, int64_t count,
                              const double* times, const edict_guard* guard, int threads,
                              edict_control* control, double* probabilities) {
  return run_guarded([&] {
    const Model& m = model_of(model);
    const Matched matched(m, dataset);
    check_given(probabilities, "probabilities");
    const std::vector<std::size_t> all = all_of(matched.data());
    const std::size_t asked = size_of(count, "count");
    ThreadPool pool(threads_from(threads));
    if (asked == 0) {
      copy_out(
          class_probabilities(m, matched.data(), all, pool, guard_from(guard), stop_of(control))
              .values,
          probabilities);
      return;
    }
    check_given(times, "times");
    for (const ClassProbabilities& path :
         class_probabilities_over_time(m, matched.data(), all, times_from(times, asked), pool,
                                       guard_from(guard), stop_of(control))) {
      copy_out(path.values, probabilities);
      probabilities += path.values.size();
    }
  });
}

int edict_model_encode(const edict_model* model, const edict_dataset* dataset,
                       const edict_guard* guard, int threads, edict_control* control,
                       float* states) {
  return run_guarded([&] {
    const Model& m = model_of(model);
    const Matched matched(m, dataset);
    check_given(states, "states");
    ThreadPool pool(threads_from(threads));
    const Encoding encoding = encode(m, matched.data(), all_of(matched.data()), pool,
                                     guard_from(guard), stop_of(control));
    // H × series by columns is series × H by rows.
    std::copy_n(encoding.states.data(), encoding.states.size(), states);
  });
}

int edict_model_evaluate(const edict_model* model, const edict_dataset* dataset, const char* part,
                         int sides, const edict_guard* guard, int threads, edict_control* control,
                         edict_bytes** out) {
  return run_guarded([&] {
    const Model& m = model_of(model);
    const Matched matched(m, dataset, Series::as_trained);
    check_given(part, "part");
    check_given(out, "out");
    const std::vector<std::size_t> series = m.series_of(matched.data(), part);
    ThreadPool pool(threads_from(threads));
    nlohmann::json result = to_json(evaluate(m, matched.data(), series, pool, guard_from(guard),
                                             stop_of(control), sides_from(m, sides)));
    result["series"] = series.size();
    *out = new_bytes(json_text(result));
  });
}

int edict_model_impute(const edict_model* model, const edict_dataset* dataset, int64_t count,
                       const double* times, int sides, const edict_guard* guard, int threads,
                       edict_control* control, double* value, double* deviation) {
  return run_guarded([&] {
    const Model& m = model_of(model);
    const Matched matched(m, dataset);
    const Dataset& table = dataset->data;
    const std::size_t asked = size_of(count, "count");
    if (asked > 0) check_given(times, "times");
    ImputeRequest request;
    request.grid = times_from(times, asked);
    request.table = &table;
    request.sides = sides_from(m, sides);
    request.guard = guard_from(guard);
    request.stop = stop_of(control);
    ThreadPool pool(threads_from(threads));
    const std::vector<std::size_t> all = all_of(table);
    constexpr std::size_t kTogether = 512;  // so that memory is bounded by the caller's arrays
    for (std::size_t first = 0; first < all.size(); first += kTogether) {
      const auto some = std::span(all).subspan(first, std::min(kTogether, all.size() - first));
      for (const ImputedSeries& series : impute(m, matched.data(), request, some, pool)) {
        const std::size_t row =
            asked > 0 ? series.series * asked : table.first_event[series.series];
        const std::size_t at = row * m.features.size();
        if (value) std::copy(series.value.begin(), series.value.end(), value + at);
        if (deviation) std::copy(series.deviation.begin(), series.deviation.end(), deviation + at);
      }
    }
  });
}

int edict_model_surprise(const edict_model* model, const edict_dataset* dataset, double until,
                         const edict_guard* guard, int threads, edict_control* control,
                         double* mean, double* aleatoric, double* epistemic, double* scale,
                         double* dof, double* z, double* log_score, double* tail) {
  return run_guarded([&] {
    const Model& m = model_of(model);
    check_given(dataset, "dataset");
    const Dataset& data = dataset->data;
    m.check_data(data);
    if (!m.network->has_distribution()) throw no_distribution(m.config.model.kind);
    ExpectationRequest request;
    request.guard = guard_from(guard);
    request.absorb_until = until;
    request.stop = stop_of(control);
    ThreadPool pool(threads_from(threads));
    std::size_t k = 0;  // observations of all series so far
    for (const Expectations& series : expectations(m, data, all_of(data), request, pool))
      for (const Marginal& expected : series.marginals) {
        put(expected, k, mean, aleatoric, epistemic, scale, dof);
        const Surprise found = surprise(expected, data.value[k]);
        if (z) z[k] = found.z;
        if (log_score) log_score[k] = found.log_score;
        if (tail) tail[k] = tail_probability(expected, data.value[k]);
        ++k;
      }
  });
}

void edict_model_free(edict_model* model) { delete model; }

int edict_quantile(int64_t count, const double* mean, const double* scale, const double* dof,
                   const double* p, double* out) {
  return run_guarded([&] {
    const std::size_t size = size_of(count, "count");
    for (std::size_t i = 0; i < size; ++i) {
      check_distribution(mean[i], scale[i], dof[i]);
      if (!(p[i] > 0 && p[i] < 1))
        throw Error("a quantile's probability must lie between 0 and 1, both excluded");
      out[i] = mean[i] + scale[i] * (std::isinf(dof[i]) ? normal_quantile(p[i])
                                                        : student_t_quantile(p[i], dof[i]));
    }
  });
}

int edict_cdf(int64_t count, const double* mean, const double* scale, const double* dof,
              const double* x, double* out) {
  return run_guarded([&] {
    const std::size_t size = size_of(count, "count");
    for (std::size_t i = 0; i < size; ++i) {
      check_distribution(mean[i], scale[i], dof[i]);
      const double z = (x[i] - mean[i]) / scale[i];
      if (!std::isfinite(z))  // nothing was asked, or something beyond every number
        out[i] = std::isnan(z) ? z : (z > 0 ? 1.0 : 0.0);
      else
        out[i] = std::isinf(dof[i]) ? normal_cdf(z) : student_t_cdf(z, dof[i]);
    }
  });
}
