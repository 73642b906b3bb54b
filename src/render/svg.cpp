#include "render/svg.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace edict::report {

void RangeOf::add(double value) {
  if (!std::isfinite(value)) return;
  low_ = std::min(low_, value);
  high_ = std::max(high_, value);
}

Range RangeOf::with_margin(double share) const {
  if (low_ > high_) return {0, 1};  // nothing was added
  const double margin = share * (high_ > low_ ? high_ - low_ : 1);
  return {low_ - margin, high_ + margin};
}

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

namespace {

// Without the points that lie within a tenth of a unit of the line between those that stay: nobody
// sees the difference, and a page of many charts is little more than half as long.
Chart::Points thinned(const Chart::Points& points) {
  if (points.size() < 3) return points;
  Chart::Points kept{points.front()};
  std::size_t last = 0;  // kept
  const auto straight = [&](std::size_t to) {
    const auto& [x0, y0] = points[last];
    const auto& [x1, y1] = points[to];
    if (x0 == x1) return false;
    for (std::size_t i = last + 1; i < to; ++i) {
      const double share = (points[i].first - x0) / (x1 - x0);
      if (!(share >= 0 && share <= 1) || std::abs(y0 + share * (y1 - y0) - points[i].second) > 0.1)
        return false;
    }
    return true;
  };
  for (std::size_t i = 2; i < points.size(); ++i)
    if (!straight(i)) kept.push_back(points[last = i - 1]);
  kept.push_back(points.back());
  return kept;
}

}  // namespace

Chart::Chart(double width, double height, Range x, Range y, const std::string& x_label,
             const std::string& y_label, std::string title)
    : width_(width), height_(height), x_(x), y_(y), title_(std::move(title)) {
  if (!(x_.high > x_.low)) x_.high = x_.low + 1;
  if (!(y_.high > y_.low)) y_ = {y_.low - 1, y_.high + 1};
  std::string grid, x_ticks, y_ticks;
  for (const double t : ticks(x_, 7)) {
    grid += fmt::format("M{:.1f} {:g}V{:g}", px(t), kTop, height_ - kBottom);
    x_ticks +=
        fmt::format(R"(<text x="{:.1f}" y="{:g}">{:g}</text>)", px(t), height_ - kBottom + 14, t);
  }
  for (const double t : ticks(y_, 5)) {
    grid += fmt::format("M{:g} {:.1f}H{:g}", kLeft, py(t), width_ - kRight);
    y_ticks += fmt::format(R"(<text x="{:g}" y="{:.1f}">{:g}</text>)", kLeft - 6, py(t) + 4, t);
  }
  frame_ = fmt::format(
      R"(<path class="grid" d="{}"/><g class="tick" text-anchor="middle">{}</g><g class="tick" text-anchor="end">{}</g>)",
      grid, x_ticks, y_ticks);
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

std::string Chart::path(const Points& points) const {
  Points drawn;
  for (const auto& [x, y] : points)
    if (std::isfinite(x) && std::isfinite(y)) drawn.emplace_back(px(x), py(y));
  std::string text;
  for (const auto& [x, y] : thinned(drawn)) text += fmt::format("{:.1f},{:.1f} ", x, y);
  if (!text.empty()) text.pop_back();
  return text;
}

void Chart::line(const Points& points, const std::string& css) {
  const std::string drawn = path(points);
  if (!drawn.empty()) body_ += fmt::format(R"(<polyline class="{}" points="{}"/>)", css, drawn);
}

void Chart::band(const Points& lower, const Points& upper, const std::string& css) {
  const std::string there = path(upper), back = path({lower.rbegin(), lower.rend()});
  if (!there.empty() && !back.empty())
    body_ += fmt::format(R"(<polygon class="{}" points="{} {}"/>)", css, there, back);
}

void Chart::dots(const Points& points, double radius, const std::string& css) {
  for (const auto& [x, y] : points)
    if (std::isfinite(x) && std::isfinite(y))
      body_ += fmt::format(R"(<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="{}"/>)", css, px(x),
                           py(y), radius);
}

void Chart::marker(double x, double y, double radius, const std::string& css,
                   const std::string& tip) {
  if (!std::isfinite(x) || !std::isfinite(y)) return;
  const double inside = std::clamp(y, y_.low, y_.high), at = px(x), edge = py(inside);
  const double inwards = y > inside ? 8 : -8;  // the base of the triangle
  if (inside == y)
    body_ +=
        fmt::format(R"(<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="{}">)", css, at, edge, radius);
  else
    body_ += fmt::format(
        R"(<polygon class="{0}" points="{1:.1f},{4:.1f} {2:.1f},{4:.1f} {3:.1f},{5:.1f}">)", css,
        at - 4, at + 4, at, edge + inwards, edge + inwards / 8);
  body_ += fmt::format("<title>{}</title></{}>", escape(tip), inside == y ? "circle" : "polygon");
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
  // An inner element of the plot's own area clips what lies outside it.
  return fmt::format(
      R"x(<svg class="chart" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:g} {1:g}" role="img" aria-label="{8}" data-x="{9:.6g} {10:.6g}" data-y="{11:.6g} {12:.6g}">{6}<svg x="{2:g}" y="{3:g}" width="{4:g}" height="{5:g}" viewBox="{2:g} {3:g} {4:g} {5:g}">{7}</svg></svg>)x",
      width_, height_, kLeft, kTop, width_ - kLeft - kRight, height_ - kTop - kBottom, frame_,
      body_, escape(title_), x_.low, x_.high, y_.low, y_.high);
}

}  // namespace edict::report
