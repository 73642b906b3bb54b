#include "render/explore_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>

#include "ask/anomalies.h"
#include "ask/classification.h"
#include "base/error.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "render/embedded.h"
#include "render/packed.h"
#include "render/svg.h"

namespace edict::report {
namespace {

// How closely a band follows the model, as a share of its chart's height, finest first.
constexpr std::array<double, 4> kTolerances{1.0 / 600, 1.0 / 300, 1.0 / 150, 1.0 / 75};
// The series in which the price of a band is measured.
constexpr std::size_t kSample = 24;
// Bands may take at least this share of the page, even if some observations then do not fit.
constexpr double kLeastForBands = 0.35;
// Series are compressed together in blocks of so many bytes: large enough to compress well, small
// enough that opening one is quick and that they fill a small page evenly.
constexpr double kLeastBlock = 1 << 13, kMostBlock = 1 << 18, kBlocksAPage = 32;
// Rows of the table of surprising observations: of all features, and of each, so that one feature
// that a model is too sure of does not hide the others.
constexpr std::size_t kSurprising = 100, kSurprisingOfFeature = 20, kSurprisingOfFeatures = 1000;
// Series that are asked together.
constexpr std::size_t kLeastTogether = 32, kTogether = 256;
constexpr std::size_t kMemory = std::size_t{256} << 20;

enum class Held { name, observations, whole };

struct SurprisingObservation {
  std::size_t series, observation, event;  // place in the list of series; in the data's arrays
  Marginal expected;
  double z, surprise;
};

// A row of the page's list.
struct Listed {
  double surprise = 0;        // of its least expected observation
  double largest_z = 0;       // in size
  double mean_log_score = 0;  // in the model's units, in which features compare
  std::vector<double> probability;
  std::string observations;  // packed, without bands
  Held held = Held::name;
  std::size_t block = 0, place = 0;
};

std::string part(const char* name) {
  return std::string(embedded(std::string("src/render/page/") + name).value());
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

// −log₁₀ of how often something at least as far off is to be expected, which compares features of
// any unit and with tails of any weight.
double surprise_of(const Marginal& m, double x) {
  constexpr double kLeast = 1e-307;  // below it nothing is told apart but by z
  return -std::log10(std::max(tail_probability(m, x), kLeast));
}

double rounded(double value, double of_one) { return std::nearbyint(value * of_one) / of_one; }

class Explorer {
 public:
  Explorer(const Model& model, const Dataset& data, std::span<const std::size_t> series,
           ThreadPool& pool, const ExploreOptions& options)
      : model_(model),
        data_(data),
        series_(series),
        pool_(pool),
        options_(options),
        listed_(series.size()),
        surprising_of_(model.features.size()) {}

  ExplorePage page() {
    list();
    rank();
    const std::string style = part("charts.css") + part("report.css") + part("explore.css"),
                      script = part("explore.js");
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
    fill(room);

    ExplorePage result;
    for (const Listed& one : listed_)
      ++(one.held == Held::whole          ? result.whole
         : one.held == Held::observations ? result.observations_only
                                          : result.named_only);
    result.tolerance = tolerance_;
    std::string blocks;
    for (std::size_t b = 0; b < blocks_.size(); ++b)
      blocks +=
          fmt::format("<script type=\"text/plain\" id=\"block-{}\">{}</script>\n", b, blocks_[b]);
    blocks_.clear();
    result.html = filled(part("explore.html"), {{"title", escape(title())},
                                                {"style", style},
                                                {"meta", meta()},
                                                {"index", index()},
                                                {"blocks", blocks},
                                                {"script", script}});
    tell(1.0);
    return result;
  }

 private:
  bool has_distribution() const { return model_.network->has_distribution(); }
  StopFlag stop() const { return options_.request.stop; }
  void tell(double share) const {
    if (options_.progress) options_.progress(share);
  }

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

  // Every series without bands: its expectations, its row of the list, and the most surprising
  // observations of all.
  void list() {
    std::size_t done = 0;
    for (std::size_t begin = 0; begin < series_.size(); begin += kTogether) {
      leave_if_stopped(stop());
      const auto some = series_.subspan(begin, std::min(kTogether, series_.size() - begin));
      std::vector<Expectations> expected;
      if (has_distribution()) {
        expected =
            expectations(model_, data_, some,
                         {options_.request.guard, kForever, /*classes=*/true, stop()}, pool_);
      } else if (model_.network->classes() > 0) {
        const ClassProbabilities p =
            class_probabilities(model_, data_, some, pool_, options_.request.guard, stop());
        expected.resize(some.size());
        for (std::size_t i = 0; i < some.size(); ++i)
          expected[i].probability.assign(p.row(i).begin(), p.row(i).end());
      }
      pool_.for_each(some.size(), [&](std::size_t i, std::size_t) {
        Listed& one = listed_[begin + i];
        if (!expected.empty()) one.probability = expected[i].probability;
        if (has_distribution()) judge(some[i], expected[i], one);
        one.observations =
            packed_series(model_, data_, some[i], options_.request,
                          {has_distribution() ? &expected[i] : nullptr, nullptr, nullptr, 0.0});
      });
      if (has_distribution())
        for (std::size_t i = 0; i < some.size(); ++i) collect(begin + i, expected[i]);
      done += some.size();
      tell(kListing * static_cast<double>(done) / static_cast<double>(series_.size()));
    }
  }

  void judge(std::size_t series, const Expectations& expected, Listed& one) const {
    const std::size_t first = data_.first_observation[data_.first_event[series]];
    for (std::size_t k = 0; k < expected.marginals.size(); ++k) {
      const Marginal& m = expected.marginals[k];
      const double x = data_.value[first + k];
      one.surprise = std::max(one.surprise, surprise_of(m, x));
      const Surprise judged = surprise(m, x);
      one.largest_z = std::max(one.largest_z, std::abs(judged.z));
      const auto j = static_cast<std::size_t>(data_.feature[first + k]);
      one.mean_log_score += judged.log_score - std::log(model_.protocol.standardisation.scale[j]);
    }
    if (!expected.marginals.empty())
      one.mean_log_score /= static_cast<double>(expected.marginals.size());
  }

  static bool more_surprising(const SurprisingObservation& a, const SurprisingObservation& b) {
    if (a.surprise != b.surprise) return a.surprise > b.surprise;
    const double za = std::abs(a.z), zb = std::abs(b.z);
    return za != zb ? za > zb : a.observation < b.observation;
  }

  // The first `most` of a sorted list, with one more in it.
  static void insert(std::vector<SurprisingObservation>& kept, const SurprisingObservation& one,
                     std::size_t most) {
    if (kept.size() == most && !more_surprising(one, kept.back())) return;
    kept.insert(std::upper_bound(kept.begin(), kept.end(), one, more_surprising), one);
    if (kept.size() > most) kept.pop_back();
  }

  void collect(std::size_t place, const Expectations& expected) {
    const std::size_t series = series_[place];
    const std::vector<std::size_t>& asked = options_.request.features;
    const std::size_t of_feature = std::clamp<std::size_t>(
        kSurprisingOfFeatures / model_.features.size(), 2, kSurprisingOfFeature);
    std::size_t k = 0;
    for (std::size_t e = data_.first_event[series]; e < data_.first_event[series + 1]; ++e)
      for (std::size_t o = data_.first_observation[e]; o < data_.first_observation[e + 1]; ++o) {
        const Marginal& m = expected.marginals[k++];
        const auto j = static_cast<std::size_t>(data_.feature[o]);
        if (!asked.empty() && std::find(asked.begin(), asked.end(), j) == asked.end()) continue;
        const double x = data_.value[o];
        const SurprisingObservation one{place, o, e, m, surprise(m, x).z, surprise_of(m, x)};
        insert(surprising_, one, kSurprising);
        insert(surprising_of_[j], one, of_feature);
      }
  }

  // The order in which series get room: by their most surprising observation; without a
  // distribution by the number of events.
  void rank() {
    order_.resize(series_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      if (!has_distribution()) return data_.events(series_[a]) > data_.events(series_[b]);
      const Listed &one = listed_[a], &other = listed_[b];
      return one.surprise != other.surprise ? one.surprise > other.surprise
                                            : one.largest_z > other.largest_z;
    });
  }

  // Whole series, by their places in the list.
  struct Whole {
    std::vector<Expectations> expected, forecast;
    std::vector<ExploredBands> bands;
  };
  Whole computed(std::span<const std::size_t> places) const {
    std::vector<std::size_t> series;
    for (const std::size_t place : places) series.push_back(series_[place]);
    Whole whole;
    if (has_distribution()) {
      const Guard& guard = options_.request.guard;
      whole.expected = expectations(model_, data_, series, {guard, kForever, false, stop()}, pool_);
      ExpectationRequest forecast{guard, kForever, false, stop()};
      forecast.from_cut = true;
      whole.forecast = expectations(model_, data_, series, forecast, pool_);
    }
    whole.bands = explored_bands(model_, data_, series, options_.request, pool_);
    return whole;
  }
  std::string packed(const Whole& whole, std::size_t i, std::size_t place, double tolerance) const {
    return packed_series(
        model_, data_, series_[place], options_.request,
        {has_distribution() ? &whole.expected[i] : nullptr,
         has_distribution() ? &whole.forecast[i] : nullptr, &whole.bands[i], tolerance});
  }

  // From `begin` of the order on, as many as memory bears, and at most `most`.
  std::span<const std::size_t> together(std::size_t begin, std::size_t most) const {
    std::size_t count = 0, bytes = 0;
    while (begin + count < order_.size() && count < most) {
      bytes += band_bytes(model_, data_, series_[order_[begin + count]]);
      if (count > 0 && bytes > kMemory) break;
      ++count;
    }
    return std::span(order_).subspan(begin, count);
  }

  static double page_bytes(std::string_view bytes) {
    return std::ceil(static_cast<double>(deflated(bytes).size()) / 3) * 4;
  }

  // Chooses the finest tolerance with which all series would fit, or else the coarsest. Tells what
  // share of them will, about.
  double choose_tolerance() {
    std::size_t largest = 1;
    for (const std::size_t place : order_)
      largest = std::max(largest, band_bytes(model_, data_, series_[place]));
    const std::size_t count =
        std::min({kSample, order_.size(), std::max<std::size_t>(1, kMemory / largest)});
    std::vector<std::size_t> sample;
    for (std::size_t i = 0; i < count; ++i) sample.push_back(order_[i * order_.size() / count]);
    const Whole whole = computed(sample);
    std::array<std::string, kTolerances.size()> bytes;
    for (std::size_t t = 0; t < kTolerances.size(); ++t)
      for (std::size_t i = 0; i < count; ++i)
        bytes[t] += packed(whole, i, sample[i], kTolerances[t]);
    double all = 0;
    for (std::size_t t = 0; t < kTolerances.size(); ++t) {
      tolerance_ = kTolerances[t];
      all = page_bytes(bytes[t]) / static_cast<double>(count) * static_cast<double>(order_.size());
      if (all < room_) break;
    }
    return std::min(1.0, room_ / all);
  }

  // Series that are compressed together.
  struct Block {
    std::string bytes;
    std::vector<std::size_t> places;
    std::size_t bare = 0;  // bytes of the same series without bands

    void add(std::size_t place, const std::string& record, std::size_t bare_bytes) {
      ByteWriter size;
      size.varint(record.size());
      bytes += size.bytes() + record;
      places.push_back(place);
      bare += bare_bytes;
    }
  };

  std::vector<std::string> compressed(std::span<const Block> blocks) const {
    std::vector<std::string> text(blocks.size());
    pool_.for_each(blocks.size(), [&](std::size_t b, std::size_t) {
      leave_if_stopped(stop());
      text[b] = base64(deflated(blocks[b].bytes));
    });
    return text;
  }

  // Takes a block into the page if `reserved` bytes then stay free.
  bool take(const Block& block, std::string text, Held held, double reserved) {
    constexpr double kElement = 64;  // of markup around a block
    const double cost = static_cast<double>(text.size()) + kElement;
    if (room_ - cost < reserved) return false;
    room_ -= cost;
    for (std::size_t k = 0; k < block.places.size(); ++k) {
      Listed& one = listed_[block.places[k]];
      one.held = held;
      one.block = blocks_.size();
      one.place = k;
    }
    blocks_.push_back(std::move(text));
    return true;
  }

  std::vector<Block> observation_blocks(std::size_t from) const {
    std::vector<Block> blocks;
    for (std::size_t i = from; i < order_.size(); ++i) {
      if (blocks.empty() || blocks.back().bytes.size() > block_bytes_) blocks.emplace_back();
      const std::string& record = listed_[order_[i]].observations;
      blocks.back().add(order_[i], record, record.size());
    }
    return blocks;
  }

  void fill(double room) {
    room_ = room;
    block_bytes_ =
        static_cast<std::size_t>(std::clamp(room / kBlocksAPage, kLeastBlock, kMostBlock));
    if (order_.empty()) return;
    const double share = choose_tolerance();
    // The sample was computed as all that fit will be.
    const double fitting = share * static_cast<double>(order_.size());
    const auto sample = static_cast<double>(std::min(kSample, order_.size()));
    const double sampled = kListing + (kFilled - kListing) * sample / (sample + fitting);
    tell(sampled);
    // What the observations of series without bands cost in the page, a byte of theirs.
    double bare = 0, bare_cost = 0;
    {
      const std::vector<Block> blocks = observation_blocks(0);
      for (const std::string& text : compressed(blocks))
        bare_cost += static_cast<double>(text.size());
      for (const Block& block : blocks) bare += static_cast<double>(block.bare);
    }
    const double price = 1.02 * bare_cost / std::max(1.0, bare);

    std::size_t begin = 0, whole = 0;  // of the order: computed, and taken with bands
    std::vector<Block> blocks;
    for (bool fits = true; fits && begin < order_.size();) {
      // Few more than will probably fit: what does not is computed in vain.
      const auto likely = static_cast<std::size_t>(share * static_cast<double>(order_.size()));
      const auto some =
          together(begin, std::clamp(likely - std::min(likely, begin), kLeastTogether, kTogether));
      const Whole now = computed(some);
      std::vector<std::string> records(some.size());
      pool_.for_each(some.size(), [&](std::size_t i, std::size_t) {
        records[i] = packed(now, i, some[i], tolerance_);
      });
      for (std::size_t i = 0; i < some.size(); ++i) {
        if (blocks.empty() || blocks.back().bytes.size() > block_bytes_) blocks.emplace_back();
        blocks.back().add(some[i], records[i], listed_[some[i]].observations.size());
      }
      begin += some.size();
      // The last one may still grow.
      const std::size_t ready = begin < order_.size() ? blocks.size() - 1 : blocks.size();
      std::vector<std::string> text = compressed(std::span(blocks).first(ready));
      for (std::size_t b = 0; b < ready && fits; ++b) {
        bare -= static_cast<double>(blocks[b].bare);
        fits = take(blocks[b], std::move(text[b]), Held::whole,
                    std::min(price * bare, (1 - kLeastForBands) * room));
        if (fits) whole += blocks[b].places.size();
      }
      blocks.erase(blocks.begin(), blocks.begin() + static_cast<std::ptrdiff_t>(ready));
      tell(sampled + (kFilled - sampled) * std::min(1.0, static_cast<double>(begin) / fitting));
    }
    const std::vector<Block> rest = observation_blocks(whole);
    std::vector<std::string> text = compressed(rest);
    for (std::size_t b = 0; b < rest.size(); ++b)
      if (!take(rest[b], std::move(text[b]), Held::observations, 0)) break;
  }

  nlohmann::json surprising() const {
    std::vector<SurprisingObservation> all = surprising_;
    for (const auto& own : surprising_of_) all.insert(all.end(), own.begin(), own.end());
    std::sort(all.begin(), all.end(), more_surprising);
    const auto same = [](const SurprisingObservation& a, const SurprisingObservation& b) {
      return a.observation == b.observation;
    };
    all.erase(std::unique(all.begin(), all.end(), same), all.end());
    nlohmann::json rows = nlohmann::json::array();
    for (const SurprisingObservation& one : all) {
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
                       axis.from_first || protocol.from_first ? " after the first event" : "");
  }

  // What is told once.
  std::string meta() const {
    const Guard& guard = options_.request.guard;
    std::array<std::size_t, 3> held{};
    for (const Listed& one : listed_) ++held[static_cast<std::size_t>(one.held)];
    nlohmann::json told{
        {"title", title()},
        {"features", model_.features},
        {"classes", model_.network->classes() > 0 ? model_.classes : std::vector<std::string>{}},
        {"labels", data_.classes},
        {"distribution", has_distribution()},
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
        {"tolerance", tolerance_}};
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
      const Listed& one = listed_[i];
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

  static constexpr double kForever = std::numeric_limits<double>::infinity();
  static constexpr double kListing = 0.3, kFilled = 0.98;  // shares of the work when that is done

  const Model& model_;
  const Dataset& data_;
  const std::span<const std::size_t> series_;
  ThreadPool& pool_;
  const ExploreOptions& options_;

  std::vector<Listed> listed_;      // as series_
  std::vector<std::size_t> order_;  // places in the list, the most surprising series first
  std::vector<SurprisingObservation> surprising_;                  // the most surprising first
  std::vector<std::vector<SurprisingObservation>> surprising_of_;  // the same of each feature
  std::vector<std::string> blocks_;                                // as they stand in the page
  double room_ = 0;                                                // bytes left
  std::size_t block_bytes_ = 0;
  double tolerance_ = 0;
};

}  // namespace

ExplorePage explore_page(const Model& model, const Dataset& data,
                         std::span<const std::size_t> series, ThreadPool& pool,
                         const ExploreOptions& options) {
  model.check_data(data);
  return Explorer(model, data, series, pool, options).page();
}

}  // namespace edict::report
