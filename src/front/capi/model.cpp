// A model as a thing: its file, what it says of itself and how data fit it, its evaluation.
#include <optional>

#include "app/evaluate.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "front/capi/arguments.h"
#include "render/json/evaluation_json.h"

using namespace edict;
using namespace edict::capi;

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
              m.network->classes(), m.network->hidden() * static_cast<Index>(m.members.size()),
              m.first().params.size(), m.network->has_distribution() ? 1 : 0, 0, fingerprint(m)},
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
                   {"parameters", m.first().params.size()},
                   {"members", m.members.size()},
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

int edict_model_evaluate(const edict_model* model, const edict_dataset* dataset, const char* part,
                         int sides, const edict_guard* guard, int threads, edict_control* control,
                         edict_bytes** out) {
  return run_guarded([&] {
    const Model& m = model_of(model);
    const Matched matched(m, dataset, Series::as_trained);
    check_given(part, "part");
    check_given(out, "out");
    const app::EvaluateRequest request{.split = part,
                                       .guard = guard_from(guard),
                                       .both_sides = sides_from(m, sides) == Sides::both,
                                       .stop = stop_of(control)};
    ThreadPool pool(threads_from(threads));
    const app::EvaluateResult found = app::evaluate(m, matched.data(), request, pool);
    nlohmann::json result = evaluation_json(found.distributions, found.classes);
    for (const char* task : {"interpolation", "informed_interpolation", "extrapolation"})
      if (!found.distributions) result[task] = nullptr;
    result["series"] = found.evaluated.series.size();
    result["split"] = found.evaluated.split;
    result["notes"] = nlohmann::json::array();
    if (!found.class_note.empty()) result["notes"].push_back(found.class_note);
    *out = new_bytes(json_text(result));
  });
}

void edict_model_free(edict_model* model) { delete model; }
