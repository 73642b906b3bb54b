#include "research/report/benchmark_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "render/embedded.h"
#include "render/svg.h"

namespace edict::report {
namespace {

using study::BenchmarkValue;

struct Column {
  const char* metric;
  const char* title;
  int digits;
  int better;  // −1: the lower; 1: the higher; 0: neither
};

constexpr std::array<Column, 12> kColumns{{{"crps", "CRPS", 4, -1},
                                           {"mse", "MSE", 4, -1},
                                           {"nll", "NLL", 3, -1},
                                           {"exact nll", "exact NLL", 3, 0},
                                           {"regret", "regret, nats", 4, -1},
                                           {"ece", "ECE", 4, -1},
                                           {"coverage 90 %", "90 % holds", 3, 0},
                                           {"farthest of a feature", "worst feature", 3, -1},
                                           {"auroc", "AUROC", 3, 1},
                                           {"auprc", "AUPRC", 3, 1},
                                           {"log loss", "log loss", 3, -1},
                                           {"values", "values", 0, 0}}};

const Column& column_of(const std::string& metric) {
  return *std::find_if(kColumns.begin(), kColumns.end(),
                       [&](const Column& c) { return metric == c.metric; });
}

std::string benchmark_value_text(const BenchmarkValue* value) {
  if (!value) return "–";
  // Published tables have three digits.
  const int own = column_of(value->metric).digits;
  const int digits = value->source.empty() ? own : std::min(own, 3);
  const std::string text = fmt::format("{:.{}f}", value->value, digits);
  return value->deviation > 0 ? fmt::format("{} ± {:.{}f}", text, value->deviation, digits) : text;
}

// Published figures have three digits; what is equal to that many is equal.
bool best(const BenchmarkTable& table, std::size_t column, const BenchmarkValue& value) {
  const int better = column_of(value.metric).better;
  const auto known = std::count_if(table.rows.begin(), table.rows.end(),
                                   [&](const auto& row) { return row.values[column]; });
  if (better == 0 || known < 2) return false;
  return std::all_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
    const BenchmarkValue* other = row.values[column];
    return !other || better * (value.value - other->value) > -5e-4;
  });
}

}  // namespace

std::vector<BenchmarkTable> benchmark_tables(const std::vector<BenchmarkValue>& values) {
  std::vector<BenchmarkTable> tables;
  for (const study::BenchmarkTask& task : study::benchmark_tasks()) {
    BenchmarkTable table{task, {}, {}};
    // The quirks are all that these two differ by; the published figures are of the first.
    const auto belongs = [&](const BenchmarkValue& value) { return value.task == task.name; };
    for (const Column& column : kColumns)
      if (std::any_of(values.begin(), values.end(), [&](const BenchmarkValue& value) {
            return belongs(value) && value.metric == column.metric;
          }))
        table.metrics.emplace_back(column.metric);
    for (const bool published : {false, true})
      for (const BenchmarkValue& value : values) {
        if (!belongs(value) || value.source.empty() == published) continue;
        const auto place = std::find(table.metrics.begin(), table.metrics.end(), value.metric);
        if (place == table.metrics.end()) continue;
        auto row = std::find_if(table.rows.begin(), table.rows.end(), [&](const auto& known) {
          return known.method == value.method && known.source == value.source;
        });
        if (row == table.rows.end())
          row = table.rows.insert(table.rows.end(), {value.method, value.source,
                                                     std::vector<const BenchmarkValue*>(
                                                         table.metrics.size(), nullptr)});
        row->values[static_cast<std::size_t>(place - table.metrics.begin())] = &value;
      }
    const bool measured = std::any_of(table.rows.begin(), table.rows.end(),
                                      [](const auto& row) { return row.source.empty(); });
    if (measured) tables.push_back(std::move(table));
  }
  return tables;
}

std::string benchmark_text(const std::vector<BenchmarkTable>& tables) {
  std::string text;
  for (const BenchmarkTable& table : tables) {
    text += fmt::format("{}{}: {}\n\n  {:<32}", text.empty() ? "" : "\n", table.task.name,
                        table.task.title, "");
    for (const std::string& metric : table.metrics)
      text += fmt::format(" {:>15}", column_of(metric).title);
    text += '\n';
    for (const auto& row : table.rows) {
      text += fmt::format("  {:<32}", row.method);
      for (std::size_t k = 0; k < row.values.size(); ++k)
        // fmt counts what is seen: ± and – are one column each.
        text += fmt::format(" {:>14}{}", benchmark_value_text(row.values[k]),
                            row.values[k] && best(table, k, *row.values[k]) ? "*" : " ");
      text += row.source.empty() ? "\n" : fmt::format("  published\n");
    }
  }
  return text + "\n* the best of its column\n";
}

std::string benchmark_page(const std::vector<BenchmarkTable>& tables, const std::string& about) {
  const auto part = [](const char* name) {
    return std::string(embedded(std::string("src/render/page/") + name).value());
  };
  std::string text =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\"><title>edict beside the field</title>\n"
      "<style>\n" +
      part("charts.css") + part("report.css") +
      "</style></head>\n<body>\n<header><h1>edict beside the field</h1>\n<p>" + escape(about) +
      "</p></header>\n<main>\n";
  for (const BenchmarkTable& table : tables) {
    text += fmt::format(
        "<section id=\"{}\"><h2>{}</h2>\n<p>{}. Every value counts once; the best of a column in "
        "bold; worst feature: how far its 90 % intervals are off.</p>\n<div "
        "class=\"scroll\"><table><thead>"
        "<tr><th class=\"text\" scope=\"col\">method</th>",
        table.task.name, escape(table.task.name), escape(table.task.title));
    for (const std::string& metric : table.metrics)
      text += fmt::format("<th scope=\"col\">{}</th>", escape(column_of(metric).title));
    text += "<th class=\"text\" scope=\"col\">source</th></tr></thead><tbody>\n";
    for (const auto& row : table.rows) {
      text += fmt::format("<tr><th class=\"text\" scope=\"row\">{}</th>", escape(row.method));
      for (std::size_t k = 0; k < row.values.size(); ++k) {
        const bool bold = row.values[k] && best(table, k, *row.values[k]);
        text += fmt::format("<td>{}{}{}</td>", bold ? "<b>" : "",
                            benchmark_value_text(row.values[k]), bold ? "</b>" : "");
      }
      text += fmt::format("<td class=\"text\">{}</td></tr>\n",
                          escape(row.source.empty() ? "measured here" : row.source));
    }
    text += "</tbody></table></div></section>\n";
  }
  return text + "</main></body></html>\n";
}

}  // namespace edict::report
