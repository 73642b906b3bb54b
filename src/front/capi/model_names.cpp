#include "base/error.h"
#include "front/capi/border.h"

using namespace edict::capi;

int edict_model_names(const edict_model* model, int which, edict_bytes** out) {
  return run_guarded([&] {
    check_given(model, "model");
    check_given(out, "out");
    const edict::Model& m = *model->model;
    std::vector<std::string> names;
    if (which == EDICT_NAMES_FEATURES)
      names = m.features;
    else if (which == EDICT_NAMES_STATICS)
      names = m.statics;
    else if (which == EDICT_NAMES_CLASSES && m.network->classes() > 0)
      names = m.classes;
    else if (which != EDICT_NAMES_CLASSES)
      throw edict::Error("a model has no names of kind " + std::to_string(which));
    std::string all;
    for (const std::string& name : names) all += name + '\0';
    *out = new_bytes(std::move(all));
  });
}
