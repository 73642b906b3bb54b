#include <fmt/core.h>

#include <algorithm>

#include "research/report/results.h"

namespace edict::report {
namespace {

// Text inside a cell of a table: a bar would end it, markup would be taken for such.
std::string cell(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (std::string_view("|<[]*`\\").find(c) != std::string_view::npos) result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

std::string linked(const Comparison& value, int digits) {
  const std::string text = value_text(value.ours, digits);
  if (value.runs.empty()) return text;
  return fmt::format("[{}](runs/{}/){}", text, value.runs[0], mark(value.verdict));
}

std::string noise_markdown(const Results& results, Score score, const std::string& dataset) {
  const auto methods = methods_of(results.scores(score), dataset);
  if (methods.empty()) return {};
  std::string text = fmt::format("\n### {}: {} (%)\n\n| noise |", cell(dataset), name_of(score));
  for (const std::string& method : methods) text += fmt::format(" {} | published |", cell(method));
  text += "\n|---|";
  for (std::size_t i = 0; i < methods.size(); ++i) text += "---|---|";
  for (const std::optional<int>& level : results.levels_and_none()) {
    text += level ? fmt::format("\n| {} |", *level) : "\n| none |";
    for (const std::string& method : methods) {
      std::string cells = " – | – |";
      for (const ScoreRow& row : results.scores(score))
        if (row.dataset == dataset && row.method == method && row.level == level)
          cells = fmt::format(" {} | {} |", linked(row.value, kScoreDigits),
                              value_text(row.value.published, kScoreDigits));
      text += cells;
    }
  }
  return text + "\n";
}

// Pads by what is seen, not by bytes.
std::string pad(const std::string& cell, int width) {
  const auto seen = std::count_if(cell.begin(), cell.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  });
  return cell + std::string(static_cast<std::size_t>(std::max<long>(0, width - seen)), ' ');
}

}  // namespace

std::string results_markdown(const Results& results) {
  std::string text =
      "# Results\n\nOurs beside the published. ▲ better, ≈ no further apart than the larger "
      "deviation, ▼ worse. A number leads to its run.\n\n## Datasets\n\n"
      "| dataset | classes | features | series | events a series | published series |\n"
      "|---|---|---|---|---|---|\n";
  for (const DatasetRow& data : results.datasets)
    text += fmt::format("| {} | {} | {} | {} | {:.1f} | {} |\n", cell(data.title), data.classes,
                        data.features, data.series, data.events_per_series,
                        data.published ? fmt::format("{}", data.published->series) : "–");
  text +=
      "\n## Calibration\n\n± of the MSE is over series, of our ECE over trainings where there "
      "are several. ECE: the mean over twenty levels from 0 to 1 of |coverage − level|; the "
      "coverage of the split is the mean over its series, as published.\n\n"
      "| dataset | method | task | metric | ours | published |\n|---|---|---|---|---|---|\n";
  for (const CalibrationRow& row : results.calibration)
    text +=
        fmt::format("| {} | {} | {} | {} | {} | {} |\n", cell(row.dataset), cell(row.method),
                    name_of(row.task), name_of(row.metric), linked(row.value, kCalibrationDigits),
                    value_text(row.value.published, kCalibrationDigits));
  text +=
      "\n## Classification under noise\n\n± is over seeds. Level 0 of the published noise "
      "still has a deviation of 0.1; \"none\" is without any.\n";
  for (const DatasetRow& data : results.datasets)
    for (const Score score : {Score::accuracy, Score::auroc})
      text += noise_markdown(results, score, data.title);
  bool any = false;
  for (const RunRow& run : results.runs)
    if (run.failure) {
      if (!any) text += "\n## Failed\n\n";
      any = true;
      text +=
          fmt::format("- {} on {}: {}\n", cell(run.method), cell(run.dataset), cell(*run.failure));
    }
  return text;
}

std::string results_text(const Results& results) {
  std::string text;
  const auto line = [&](const std::string& what, const std::string& ours,
                        const std::string& published, const std::string& verdict) {
    text +=
        fmt::format("  {}  {}  {}{}\n", pad(what, 48), pad(ours, 15), pad(published, 15), verdict);
  };
  const auto header = [&](const std::string& title) {
    text += fmt::format("\n{}  {}  {}\n", pad(title, 50), pad("ours", 15), "published");
  };
  for (const DatasetRow& data : results.datasets) {
    header(data.title + ", calibration");
    for (const CalibrationRow& row : results.calibration)
      if (row.dataset == data.title)
        line(fmt::format("{}, {} {}", row.method, name_of(row.task), name_of(row.metric)),
             value_text(row.value.ours, kCalibrationDigits),
             value_text(row.value.published, kCalibrationDigits), mark(row.value.verdict));
    const std::vector<int>& levels = results.levels;
    header(data.title + ", accuracy under noise (%)");
    for (const ScoreRow& row : results.accuracy)
      if (row.dataset == data.title && row.level &&
          (*row.level == levels.front() || *row.level == levels[levels.size() / 2] ||
           *row.level == levels.back()))
        line(fmt::format("{}, level {}", row.method, *row.level),
             value_text(row.value.ours, kScoreDigits),
             value_text(row.value.published, kScoreDigits), mark(row.value.verdict));
  }
  return text + "\n▲ better  ≈ within the larger deviation  ▼ worse\n";
}

}  // namespace edict::report
