#include "render/explore/explore_page.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "ask/anomalies.h"
#include "base/error.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "render/embedded.h"
#include "render/explore/explored_list.h"
#include "render/explore/packed.h"
#include "render/explore/packed_series.h"
#include "render/svg.h"

namespace edict::report {
namespace {

std::string part(const char* name) {
  return std::string(embedded(std::string("src/render/page/") + name).value());
}

// The parts of the script in their order, in a scope of their own.
std::string script_text() {
  std::string text = "'use strict';\n(() => {\n";
  for (const char* name :
       {"text", "unpacking", "list", "series", "drawing", "pointing", "panels", "controls"})
    text += part(fmt::format("explore/{}.js", name).c_str());
  return text + "})();\n";
}

// A script element ends where its text says so, whatever its type: no "<" stays.
std::string json_in_script(const nlohmann::json& value) {
  std::string text;
  for (const char c : json_text(value)) text += c == '<' ? "\\u003c" : std::string(1, c);
  return text;
}

nlohmann::json finite(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

double rounded(double value, double of_one) { return std::nearbyint(value * of_one) / of_one; }

class Explorer {
 public:
  Explorer(const Model& model, const Dataset& data, std::span<const std::size_t> series,
           ThreadPool& pool, const ExploreOptions& options)
      : model_(model),
        data_(data),
        series_(series),
        options_(options),
        list_(model, data, series, pool, options.request, options.progress) {}

  ExplorePage page() {
    list_.list();
    const std::string style = part("charts.css") + part("report.css") + part("explore.css"),
                      script = script_text();
    // Where a series is to be found is not known yet; that takes a few more bytes of each.
    constexpr double kFewMore = 8;
    const double fixed =
        static_cast<double>(style.size() + script.size() + part("explore.html").size() +
                            meta().size() + index().size()) +
        kFewMore * static_cast<double>(series_.size() + 100);
    const double room = 1e6 * options_.megabytes - fixed;
    if (room < 0)
      throw Error(
          ErrorCode::invalid,
          {.problem = fmt::format(
               "the list of {} series alone takes {:.2f} megabytes of the {:g} that are allowed",
               series_.size(), fixed / 1e6, options_.megabytes),
           .remedy = fmt::format("give more with {}, or choose series with {} or {}",
                                 option("megabytes"), option("split"), option("series"))});
    list_.fill(room);

    ExplorePage result;
    for (const Listed& one : list_.listed())
      ++(one.held == Held::whole          ? result.whole
         : one.held == Held::observations ? result.observations_only
                                          : result.named_only);
    result.tolerance = list_.tolerance();
    std::string blocks;
    for (std::size_t b = 0; b < list_.blocks().size(); ++b)
      blocks += fmt::format("<script type=\"text/plain\" id=\"block-{}\">{}</script>\n", b,
                            list_.blocks()[b]);
    result.html = filled(part("explore.html"), {{"title", escape(title())},
                                                {"style", style},
                                                {"meta", meta()},
                                                {"index", index()},
                                                {"blocks", blocks},
                                                {"script", script}});
    if (options_.progress) options_.progress(1.0);
    return result;
  }

 private:
  std::string title() const {
    return fmt::format("{} on {}", model_.config.model.kind, options_.data_name);
  }

  // The text with each "<!--name-->" replaced; what is put in is not looked at again.
  static std::string filled(std::string_view text,
                            const std::vector<std::pair<std::string, std::string>>& parts) {
    std::string result;
    for (const auto& [name, value] : parts) {
      const std::string marker = "<!--" + name + "-->";
      const std::size_t at = text.find(marker);
      result += text.substr(0, at);
      result += value;
      text.remove_prefix(at + marker.size());
    }
    return result += text;
  }

  nlohmann::json surprising() const {
    nlohmann::json rows = nlohmann::json::array();
    for (const SurprisingObservation& one : list_.surprising().sorted()) {
      const std::size_t first_event = data_.first_event[series_[one.series]];
      const BandPoint p = band_point(one.expected, options_.request.level);
      rows.push_back(
          {{"series", one.series},
           {"event", one.event - first_event},
           {"time", data_.times[one.event]},
           {"feature", data_.feature[one.observation]},
           {"value", data_.value[one.observation]},
           {"mean", finite(p.mean)},
           {"aleatoric", finite(p.deviation * std::sqrt(p.share))},
           {"epistemic", finite(p.deviation * std::sqrt(1 - p.share))},
           {"z", finite(one.z)},
           {"surprise", one.surprise},
           {"logScore", finite(surprise(one.expected, data_.value[one.observation]).log_score)}});
      if (data_.time_axis.is_calendar())
        rows.back()["written"] = written_time(data_, series_[one.series], data_.times[one.event]);
    }
    return rows;
  }

  std::string written_cut() const {
    const TimeAxis& axis = data_.time_axis;
    const Protocol& protocol = model_.protocol;
    if (protocol.cut_share > 0) return fmt::format("{:g} % of a series", 100 * protocol.cut_share);
    const double cut = protocol.t_cut;
    if (axis.is_calendar() && axis.origin.empty() && data_.size() > 0)
      return written_time(data_, 0, cut);
    const std::string unit(long_name_of(axis.unit));
    return fmt::format("{:.6g}{}{}", cut, unit.empty() ? "" : " " + unit,
                       axis.from_first || protocol.from_first() ? " after the first event" : "");
  }

  // What is told once.
  std::string meta() const {
    const Guard& guard = options_.request.guard;
    std::array<std::size_t, 3> held{};
    for (const Listed& one : list_.listed()) ++held[static_cast<std::size_t>(one.held)];
    nlohmann::json told{
        {"title", title()},
        {"features", model_.features},
        {"classes", model_.network->classes() > 0 ? model_.classes : std::vector<std::string>{}},
        {"labels", data_.classes},
        {"distribution", model_.network->has_distribution()},
        {"level", options_.request.level},
        {"writtenCut", written_cut()},
        {"steps",
         {{"z", kZSteps},
          {"coarseZ", kCoarseZSteps},
          {"log", kLogSteps},
          {"share", kShareSteps},
          {"band", kBandSteps},
          {"grid", kGridSteps}}},
        {"held", {{"name", held[0]}, {"observations", held[1]}, {"whole", held[2]}}},
        {"megabytes", options_.megabytes},
        {"tolerance", list_.tolerance()}};
    // Microseconds that one unit of time stands for.
    if (data_.time_axis.is_calendar()) told["calendar"] = data_.time_axis.raw_unit();
    told["guard"] = guard.active()
                        ? nlohmann::json{{"kind", std::string(name_of(guard.kind))},
                                         {"eta", guard.eta},
                                         {"sigma", guard.deviation == Guard::Deviation::epistemic
                                                       ? "epistemic"
                                                       : "predictive"}}
                        : nlohmann::json(nullptr);
    return json_in_script(told);
  }

  // The list of series, a column each, and the surprising observations.
  std::string index() const {
    nlohmann::json columns = nlohmann::json::object();
    columns["surprising"] = surprising();
    if (model_.network->classes() > 0) columns["classTime"] = nlohmann::json::array();
    for (const char* name : {"ids", "label", "part", "events", "observations", "surprise", "z",
                             "score", "held", "block", "place"})
      columns[name] = nlohmann::json::array();
    columns["probability"] = nlohmann::json::array();
    for (Index c = 0; c < model_.network->classes(); ++c)
      columns["probability"].push_back(nlohmann::json::array());
    for (std::size_t i = 0; i < series_.size(); ++i) {
      const std::size_t s = series_[i];
      const Listed& one = list_.listed()[i];
      columns["ids"].push_back(data_.ids[s]);
      columns["label"].push_back(data_.labels[s]);
      columns["part"].push_back(
          static_cast<int>(model_.seen.part_of(data_.ids[s], data_.group_name(s))));
      columns["events"].push_back(data_.events(s));
      columns["observations"].push_back(data_.first_observation[data_.first_event[s + 1]] -
                                        data_.first_observation[data_.first_event[s]]);
      columns["surprise"].push_back(rounded(one.surprise, 100));
      columns["z"].push_back(finite(rounded(one.largest_z, 1000)));
      columns["score"].push_back(finite(rounded(one.mean_log_score, 1000)));
      columns["held"].push_back(static_cast<int>(one.held));
      columns["block"].push_back(one.block);
      columns["place"].push_back(one.place);
      if (model_.network->classes() > 0)
        columns["classTime"].push_back(finite(model_.protocol.class_time(data_, s)));
      for (std::size_t c = 0; c < one.probability.size(); ++c)
        columns["probability"][c].push_back(rounded(one.probability[c], 10000));
    }
    return base64(deflated(json_text(columns)));
  }

  const Model& model_;
  const Dataset& data_;
  const std::span<const std::size_t> series_;
  const ExploreOptions& options_;
  ExploredList list_;
};

}  // namespace

ExplorePage explore_page(const Model& model, const Dataset& data,
                         std::span<const std::size_t> series, ThreadPool& pool,
                         const ExploreOptions& options) {
  model.check_data(data);
  return Explorer(model, data, series, pool, options).page();
}

}  // namespace edict::report
