#include "edict/report/svg.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace edict {

std::vector<double> ticks(const Range& range, int count) {
  const double raw = (range.high - range.low) / count;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  double step = 10 * power;
  for (double nice : {1.0, 2.0, 5.0})
    if (nice * power >= raw) {
      step = nice * power;
      break;
    }
  std::vector<double> result;
  for (double at = std::ceil(range.low / step) * step; at <= range.high + 1e-9 * step; at += step)
    result.push_back(std::abs(at) < 1e-9 * step ? 0.0 : at);
  return result;
}

std::string escape(const std::string& text) {
  std::string result;
  for (char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

Chart::Chart(double width, double height, Range x, Range y, std::string x_label,
             std::string y_label, std::string title)
    : width_(width), height_(height), x_(x), y_(y), title_(std::move(title)) {
  if (!(x_.high > x_.low)) x_.high = x_.low + 1;
  if (!(y_.high > y_.low)) y_ = {y_.low - 1, y_.high + 1};
  for (double t : ticks(x_, 7))
    frame_ += fmt::format(
        R"(<line class="grid" x1="{0:.1f}" y1="{1:.1f}" x2="{0:.1f}" y2="{2:.1f}"/><text class="tick" x="{0:.1f}" y="{3:.1f}" text-anchor="middle">{4:g}</text>)",
        px(t), kTop, height_ - kBottom, height_ - kBottom + 14, t);
  for (double t : ticks(y_, 5))
    frame_ += fmt::format(
        R"(<line class="grid" x1="{1:.1f}" y1="{0:.1f}" x2="{2:.1f}" y2="{0:.1f}"/><text class="tick" x="{3:.1f}" y="{4:.1f}" text-anchor="end">{5:g}</text>)",
        py(t), kLeft, width_ - kRight, kLeft - 6, py(t) + 4, t);
  frame_ +=
      fmt::format(R"(<text class="label" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)",
                  (kLeft + width_ - kRight) / 2, height_ - 8, escape(x_label));
  frame_ += fmt::format(
      R"x(<text class="label" transform="translate(14 {:.1f}) rotate(-90)" text-anchor="middle">{}</text>)x",
      (kTop + height_ - kBottom) / 2, escape(y_label));
  frame_ +=
      fmt::format(R"(<text class="title" x="{:.1f}" y="16">{}</text>)", kLeft, escape(title_));
}

double Chart::px(double x) const {
  return kLeft + (x - x_.low) / (x_.high - x_.low) * (width_ - kLeft - kRight);
}

double Chart::py(double y) const {
  const double v =
      height_ - kBottom - (y - y_.low) / (y_.high - y_.low) * (height_ - kTop - kBottom);
  return std::clamp(v, -height_, 2 * height_);
}

void Chart::line(const Points& points, const std::string& css) {
  std::string path;
  for (const auto& [x, y] : points) path += fmt::format("{:.1f},{:.1f} ", px(x), py(y));
  body_ += fmt::format(R"(<polyline class="{}" points="{}"/>)", css, path);
}

void Chart::band(const Points& lower, const Points& upper, const std::string& css) {
  std::string path;
  for (const auto& [x, y] : upper) path += fmt::format("{:.1f},{:.1f} ", px(x), py(y));
  for (auto it = lower.rbegin(); it != lower.rend(); ++it)
    path += fmt::format("{:.1f},{:.1f} ", px(it->first), py(it->second));
  body_ += fmt::format(R"(<polygon class="{}" points="{}"/>)", css, path);
}

void Chart::dots(const Points& points, double radius, const std::string& css) {
  for (const auto& [x, y] : points)
    body_ += fmt::format(R"(<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="{}"/>)", css, px(x),
                         py(y), radius);
}

void Chart::marker(double x, double y, double radius, const std::string& css,
                   const std::string& tip) {
  body_ +=
      fmt::format(R"(<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="{}"><title>{}</title></circle>)",
                  css, px(x), py(y), radius, escape(tip));
}

void Chart::whisker(double x, double low, double high, const std::string& css) {
  body_ += fmt::format(R"(<line class="{0}" x1="{1:.1f}" y1="{2:.1f}" x2="{1:.1f}" y2="{3:.1f}"/>)",
                       css, px(x), py(low), py(high));
}

void Chart::vertical(double x, const std::string& css) {
  body_ += fmt::format(R"(<line class="{0}" x1="{1:.1f}" y1="{2:.1f}" x2="{1:.1f}" y2="{3:.1f}"/>)",
                       css, px(x), kTop, height_ - kBottom);
}

void Chart::note(double x, double y, const std::string& text, const std::string& css) {
  // Beside the point, but never cut off by the edge of the plot.
  const double baseline = std::clamp(py(y), kTop + 10, height_ - kBottom - 3);
  body_ += fmt::format(R"(<text class="{}" x="{:.1f}" y="{:.1f}">{}</text>)", css, px(x), baseline,
                       escape(text));
}

std::string Chart::render() const {
  // The plot area clips what lies outside it; on a page each needs a name of its own.
  const std::size_t id = std::hash<std::string>{}(frame_ + body_);
  return fmt::format(
      R"x(<svg class="chart" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:g} {1:g}" role="img" aria-label="{9}"><defs><clipPath id="area{2}"><rect x="{3}" y="{4}" width="{5:g}" height="{6:g}"/></clipPath></defs>{7}<g clip-path="url(#area{2})">{8}</g></svg>)x",
      width_, height_, id, kLeft, kTop, width_ - kLeft - kRight, height_ - kTop - kBottom, frame_,
      body_, escape(title_));
}

}  // namespace edict
