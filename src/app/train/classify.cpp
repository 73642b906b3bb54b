#include "app/train/classify.h"

#include <fmt/format.h>

#include "base/error.h"

namespace edict::app {
namespace {

std::vector<std::string> notes_of(const ClassifierResult& classifier) {
  std::vector<std::string> notes;
  if (classifier.unlabelled > 0)
    notes.push_back(fmt::format("{} series without a label {} left out", classifier.unlabelled,
                                classifier.unlabelled == 1 ? "is" : "are"));
  if (!classifier.never_seen.empty())
    notes.push_back(
        fmt::format("the training split holds no series of class [{}]; it will never be predicted",
                    fmt::join(classifier.never_seen, ", ")));
  return notes;
}

}  // namespace

ClassifySettings settings_of(const ClassifyRequest& request, const Model& trained) {
  Config config = trained.config;
  if (request.base) config.classify = *request.base;
  for (const std::string& assignment : request.assignments) {
    if (!assignment.starts_with("classify.") && !assignment.starts_with("readout."))
      throw Error(ErrorCode::invalid, {.subject = option(kAssignment, assignment),
                                       .problem = "the model is trained already",
                                       .remedy = "only classify.… and readout.… can be set"});
    assign(config, assignment);
  }
  return config.classify;
}

ClassifyResult classify(const Model& trained, const Dataset& data, const ClassifyRequest& request,
                        ThreadPool& pool) {
  ClassifierOptions options;
  options.settings = settings_of(request, trained);
  options.seeds = request.seeds;
  options.stop = request.stop;
  options.on_batch = request.on_batch;
  options.on_epoch = request.on_epoch;
  options.on_member = request.on_member;
  const Split parts = trained.split_to_train(data);
  ClassifyResult result{train_classifier(trained, data, parts, pool, options), {}, {}};
  result.notes = notes_of(result.classifier);
  if (request.evaluate && !result.classifier.interrupted && result.classifier.validation > 0)
    result.validation = evaluate_classifier(result.classifier.model, data, parts.validation, pool);
  return result;
}

}  // namespace edict::app
