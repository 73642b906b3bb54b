#include "learn/warm_start.h"

#include <fmt/core.h>

#include "base/error.h"

namespace edict {

Model warm_start(const Model& trained, std::span<const std::string> assignments,
                 const std::string& name) {
  const std::string from = option("from", name);
  if (trained.members.size() > 1)
    throw Error(ErrorCode::unsupported,
                {.subject = from,
                 .problem = fmt::format("it is an ensemble of {} members", trained.members.size()),
                 .remedy = "give one that is a single model"});
  if (trained.network->has_distribution() && trained.network->classes() > 0)
    throw Error(ErrorCode::unsupported,
                {.subject = from,
                 .problem = "it holds a classifier, which would not fit the states that change",
                 .remedy = "give the model that it was made of"});
  Model model = trained.member(0);
  for (const std::string& assignment : assignments) {
    if (!assignment.starts_with("train.") && !assignment.starts_with("loss."))
      throw Error(ErrorCode::invalid, {.subject = option(kAssignment, assignment),
                                       .problem = from + " is made already",
                                       .remedy = "only train.… and loss.… can be set"});
    assign(model.config, assignment);
  }
  validate(model.config);
  return model;
}

Split split_for_more_training(Model& model, const Dataset& data) {
  Split parts = model.split_to_train(data);
  check_trainable(parts, model.config.data);
  model.seen.add(data, parts, model.config.data.split);
  return parts;
}

}  // namespace edict
