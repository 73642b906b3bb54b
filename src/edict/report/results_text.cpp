#include <fmt/core.h>

#include <algorithm>

#include "edict/core/json_text.h"
#include "edict/report/results.h"

namespace edict {
namespace {

using nlohmann::json;

const char* mark(const json& row) {
  if (row["verdict"].is_null()) return "";
  const std::string verdict = row["verdict"];
  return verdict == "better" ? " ▲" : verdict == "worse" ? " ▼" : " ≈";
}

std::string linked(const json& row, int digits) {
  const std::string text = value_text(row["ours"], digits);
  if (row["runs"].empty()) return text;
  return fmt::format("[{}](runs/{}/){}", text, row["runs"][0].get<std::string>(), mark(row));
}

std::string noise_markdown(const json& results, const char* score, const std::string& dataset) {
  const auto methods = methods_of(results[score], dataset);
  if (methods.empty()) return {};
  std::string text = fmt::format("\n### {}: {} (%)\n\n| noise |", dataset,
                                 score == std::string("auroc") ? "AUROC" : "accuracy");
  for (const std::string& method : methods) text += fmt::format(" {} | published |", method);
  text += "\n|---|";
  for (std::size_t i = 0; i < methods.size(); ++i) text += "---|---|";
  json levels = results["levels"];
  levels.insert(levels.begin(), nullptr);
  for (const json& level : levels) {
    text += level.is_null() ? "\n| none |" : fmt::format("\n| {} |", level.get<int>());
    for (const std::string& method : methods) {
      std::string cells = " – | – |";
      for (const json& row : results[score])
        if (row["dataset"] == dataset && row["method"] == method && row["level"] == level)
          cells = fmt::format(" {} | {} |", linked(row, 1), value_text(row["published"], 1));
      text += cells;
    }
  }
  return text + "\n";
}

}  // namespace

std::string results_markdown(const json& results) {
  std::string text =
      "# Results\n\nOurs beside the published. ▲ better, ≈ no further apart than the larger "
      "deviation, ▼ worse. A number leads to its run.\n\n## Datasets\n\n"
      "| dataset | classes | features | series | events a series | published series |\n"
      "|---|---|---|---|---|---|\n";
  for (const json& data : results["datasets"])
    text += fmt::format("| {} | {} | {} | {} | {:.1f} | {} |\n", data["dataset"].get<std::string>(),
                        data["classes"].get<int>(), data["features"].get<int>(),
                        data["series"].get<long>(), data["events_per_series"].get<double>(),
                        data["published"].is_null() ? "–" : json_text(data["published"]["series"]));
  text +=
      "\n## Calibration\n\n± is over series.\n\n"
      "| dataset | method | task | metric | ours | published |\n|---|---|---|---|---|---|\n";
  for (const json& row : results["calibration"])
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", row["dataset"].get<std::string>(),
                        row["method"].get<std::string>(), row["task"].get<std::string>(),
                        row["metric"].get<std::string>(), linked(row, 3),
                        value_text(row["published"], 3));
  text +=
      "\n## Classification under noise\n\n± is over seeds. Level 0 of the published noise "
      "still has a deviation of 0.1; \"none\" is without any.\n";
  for (const json& data : results["datasets"])
    for (const char* score : {"accuracy", "auroc"})
      text += noise_markdown(results, score, data["dataset"]);
  bool any = false;
  for (const json& run : results["runs"])
    if (!run["failure"].is_null()) {
      if (!any) text += "\n## Failed\n\n";
      any = true;
      text += fmt::format("- {} on {}: {}\n", run["method"].get<std::string>(),
                          run["dataset"].get<std::string>(), run["failure"].get<std::string>());
    }
  return text;
}

std::string results_text(const json& results) {
  std::string text;
  // Pads by what is seen, not by bytes.
  const auto pad = [](const std::string& cell, int width) {
    const auto seen = std::count_if(cell.begin(), cell.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    });
    return cell + std::string(static_cast<std::size_t>(std::max<long>(0, width - seen)), ' ');
  };
  const auto line = [&](const std::string& what, const json& row, int digits) {
    text += fmt::format("  {}  {}  {}{}\n", pad(what, 48), pad(value_text(row["ours"], digits), 15),
                        pad(value_text(row["published"], digits), 15), mark(row));
  };
  const auto header = [&](const std::string& title) {
    text += fmt::format("\n{}  {}  {}\n", pad(title, 50), pad("ours", 15), "published");
  };
  for (const json& data : results["datasets"]) {
    const std::string dataset = data["dataset"];
    header(dataset + ", calibration");
    for (const json& row : results["calibration"])
      if (row["dataset"] == dataset)
        line(fmt::format("{}, {} {}", row["method"].get<std::string>(),
                         row["task"].get<std::string>(), row["metric"].get<std::string>()),
             row, 3);
    const json& levels = results["levels"];
    const std::vector<json> shown{levels.front(), levels[levels.size() / 2], levels.back()};
    header(dataset + ", accuracy under noise (%)");
    for (const json& row : results["accuracy"])
      if (row["dataset"] == dataset &&
          std::find(shown.begin(), shown.end(), row["level"]) != shown.end())
        line(fmt::format("{}, level {}", row["method"].get<std::string>(), row["level"].get<int>()),
             row, 1);
  }
  return text;
}

}  // namespace edict
