// A small SVG chart: one pair of axes with lines, bands and dots, coloured through CSS classes so
// that a page can restyle it (dark mode, print).
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace edict {

struct Range {
  double low, high;
};

// Round numbers inside a range, about `count` of them.
std::vector<double> ticks(const Range& range, int count);

// Text made safe inside XML.
std::string escape(const std::string& text);

class Chart {
 public:
  Chart(double width, double height, Range x, Range y, std::string x_label, std::string y_label,
        std::string title = {});

  using Points = std::vector<std::pair<double, double>>;

  void line(const Points& points, const std::string& css);
  // The area between `lower` and `upper`, which share their x.
  void band(const Points& lower, const Points& upper, const std::string& css);
  void dots(const Points& points, double radius, const std::string& css);
  // A dot that explains itself when pointed at.
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

  double width_, height_;
  Range x_, y_;
  std::string title_, body_, frame_;
  static constexpr double kLeft = 54, kRight = 12, kTop = 26, kBottom = 40;
};

}  // namespace edict
