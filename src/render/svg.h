// A small SVG chart: one pair of axes with lines, bands and dots, coloured through CSS classes so
// that a page can restyle it (dark mode, print). What is not finite is left out. The element tells
// the ranges of its axes (data-x, data-y), so that a script can read values off the drawing.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace edict::report {

// The classes m0, m1, … of report.css.
inline constexpr std::size_t kColours = 9;

struct Range {
  double low, high;
};

// Of the finite values, with a margin of a twentieth, or another share, on both sides.
class RangeOf {
 public:
  void add(double value);
  Range with_margin(double share = 0.05) const;

 private:
  double low_ = std::numeric_limits<double>::infinity(), high_ = -low_;
};

// Round numbers inside a range, about `count` of them.
std::vector<double> ticks(const Range& range, int count);

// Text made safe inside XML.
std::string escape(const std::string& text);

// Of every figure of a page.
inline constexpr double kFigureWidth = 440;

class Chart {
 public:
  Chart(double width, double height, Range x, Range y, const std::string& x_label,
        const std::string& y_label, std::string title = {});

  using Points = std::vector<std::pair<double, double>>;

  void line(const Points& points, const std::string& css);
  // The area between `lower` and `upper`, which share their x.
  void band(const Points& lower, const Points& upper, const std::string& css);
  void dots(const Points& points, double radius, const std::string& css);
  // A dot that explains itself when pointed at. One above or below the plot becomes a triangle at
  // its edge that points to where it is.
  void marker(double x, double y, double radius, const std::string& css, const std::string& tip);
  // From low to high: a deviation.
  void whisker(double x, double low, double high, const std::string& css);
  void vertical(double x, const std::string& css);
  void note(double x, double y, const std::string& text, const std::string& css);

  // The <svg> element.
  std::string render() const;

 private:
  double px(double x) const;
  double py(double y) const;
  std::string path(const Points& points) const;

  double width_, height_;
  Range x_, y_;
  std::string title_, body_, frame_;
  static constexpr double kLeft = 54, kRight = 12, kTop = 26, kBottom = 40;
};

}  // namespace edict::report
