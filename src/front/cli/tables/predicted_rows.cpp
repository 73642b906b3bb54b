#include "front/cli/tables/predicted_rows.h"

#include "ask/distribution.h"
#include "base/text/number_text.h"

namespace edict::cli {
namespace {

using When = app::PredictRequest::When;

// What the table says of a distribution: a line a column.
struct DistributionColumn {
  const char* name;
  double (*value)(const Marginal&);
};
constexpr DistributionColumn kDistribution[] = {
    {"mean", [](const Marginal& m) { return m.mean; }},
    {"aleatoric_sd", aleatoric_deviation},
    {"epistemic_sd", epistemic_deviation},
    {"predictive_sd", predictive_deviation},
    {"scale", [](const Marginal& m) { return m.scale; }},
    {"dof", [](const Marginal& m) { return m.dof; }},
};

// P(lactate>4)
std::string limit_column(const Limit& limit, const Model& model) {
  std::string column = "P(" + model.features[limit.feature] + (limit.above ? '>' : '<');
  append_shortest(column, limit.value);
  return column + ')';
}

std::vector<std::string> columns_of(const app::PredictRequest& request, const Model& model,
                                    bool with_time) {
  std::vector<std::string> columns{"id"};
  const auto add = [&](std::initializer_list<const char*> names) {
    columns.insert(columns.end(), names.begin(), names.end());
  };
  if (with_time) add({"time"});
  if (request.when == When::ahead) add({"ahead"});
  if (request.classes) {
    add({"class", "probability"});
    return columns;
  }
  const bool events = request.when == When::events;
  add({"feature"});
  if (events) add({"observed"});
  if (request.adapt > 0) add({"level"});
  if (request.together)
    add({"median"});
  else
    for (const DistributionColumn& column : kDistribution) add({column.name});
  add({"lower", "upper"});
  for (const double p : request.quantiles) {
    columns.emplace_back("q");
    append_shortest(columns.back(), p);
  }
  for (const Limit& limit : request.limits) columns.push_back(limit_column(limit, model));
  if (events) add({"z", "pit", "tail_probability", "log_score"});
  return columns;
}

}  // namespace

PredictedTable::PredictedTable(const app::PredictRequest& request, const Model& model,
                               const Dataset& data, RowFormat format, const Shard& shard,
                               bool named_time)
    : request_(request),
      data_(data),
      with_time_(request.when != When::horizon || !named_time),
      layout_(format, columns_of(request, model, with_time_), shard),
      clip_layout_(RowFormat::csv, {"id", "time", "feature", "raw", "used", "sigmas"}, shard) {
  for (const std::string& name : model.features) {
    features_.push_back(layout_.cell(name));
    clip_features_.push_back(clip_layout_.cell(name));
  }
  for (const std::string& name : model.classes) classes_.push_back(layout_.cell(name));
}

const std::string& PredictedTexts::id_of(std::size_t series) {
  if (series != id_series_) id_ = table_.layout_.cell(table_.data_.ids[series]);
  id_series_ = series;
  return id_;
}

const std::string& PredictedTexts::time_of(std::size_t series, double time) {
  if (series != time_series_ || time != time_)
    time_cell_ = table_.layout_.time_cell(table_.data_, series, time);
  time_series_ = series;
  time_ = time;
  return time_cell_;
}

void PredictedTexts::add(const app::PredictedFeature& row) {
  const app::PredictRequest& request = table_.request_;
  rows_.begin(row.series);
  rows_.name(id_of(row.series));
  rows_.name(time_of(row.series, row.time));
  if (request.when == When::ahead) rows_.exact(row.ahead);
  rows_.name(table_.features_[row.feature]);
  const bool events = request.when == When::events;
  if (events) rows_.exact(row.observed);
  if (request.adapt > 0) rows_.number(row.level);
  if (const Marginal* const m = row.marginal)
    for (const DistributionColumn& column : kDistribution) rows_.number(column.value(*m));
  else
    rows_.number(row.median);
  rows_.number(row.lower);
  rows_.number(row.upper);
  for (const double quantile : row.quantiles) rows_.number(quantile);
  for (const double probability : row.limits) rows_.number(probability);
  if (events)
    for (const double value :
         {row.z, row.probability_integral, row.tail_probability, row.log_score})
      rows_.number(value);
  rows_.end();
}

void PredictedTexts::add(const app::PredictedClasses& row) {
  for (std::size_t k = 0; k < row.probabilities.size(); ++k) {
    rows_.begin(row.series);
    rows_.name(id_of(row.series));
    if (table_.with_time_) rows_.name(time_of(row.series, row.time));
    if (table_.request_.when == When::ahead) rows_.exact(row.ahead);
    rows_.name(table_.classes_[k]);
    rows_.number(row.probabilities[k]);
    rows_.end();
  }
}

void PredictedTexts::add(std::size_t series, std::span<const Clip> clips) {
  const std::string id = table_.clip_layout_.cell(table_.data_.ids[series]);
  for (const Clip& clip : clips) {
    clips_.begin(series);
    clips_.name(id);
    clips_.name(table_.clip_layout_.time_cell(table_.data_, series, clip.time));
    clips_.name(table_.clip_features_[clip.feature]);
    clips_.exact(clip.raw);
    clips_.number(clip.used);
    clips_.number(clip.sigmas);
    clips_.end();
  }
}

}  // namespace edict::cli
