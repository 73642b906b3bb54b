// The simplex method of Nelder and Mead (1965): a minimum of a function of few variables, without
// derivatives. The same numbers on every machine that rounds alike.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace edict {

// From `start` with a simplex whose edges are `step`; ends when the values at its corners differ
// by less than `tolerance`, or after `most` reflections.
template <std::size_t N, class Function>
std::array<double, N> nelder_mead(const Function& f, const std::array<double, N>& start,
                                  const std::array<double, N>& step, double tolerance = 1e-9,
                                  int most = 400) {
  using Point = std::array<double, N>;
  struct Corner {
    Point at;
    double value;
  };
  std::array<Corner, N + 1> simplex;
  for (std::size_t i = 0; i <= N; ++i) {
    simplex[i].at = start;
    if (i > 0) simplex[i].at[i - 1] += step[i - 1];
    simplex[i].value = f(simplex[i].at);
  }
  // from + t (to − from)
  const auto along = [](const Point& from, const Point& to, double t) {
    Point point;
    for (std::size_t k = 0; k < N; ++k) point[k] = from[k] + t * (to[k] - from[k]);
    return point;
  };
  const auto lower = [](const Corner& a, const Corner& b) { return a.value < b.value; };
  for (int turn = 0; turn < most; ++turn) {
    std::stable_sort(simplex.begin(), simplex.end(), lower);
    if (!(simplex[N].value - simplex[0].value > tolerance)) break;
    Point middle{};  // of all but the worst
    for (std::size_t i = 0; i < N; ++i)
      for (std::size_t k = 0; k < N; ++k) middle[k] += simplex[i].at[k] / static_cast<double>(N);
    Corner& worst = simplex[N];
    const auto corner = [&](double t) {
      const Point at = along(middle, worst.at, t);
      return Corner{at, f(at)};
    };
    const Corner reflected = corner(-1.0);
    if (lower(reflected, simplex[0])) {
      const Corner further = corner(-2.0);
      worst = lower(further, reflected) ? further : reflected;
    } else if (lower(reflected, simplex[N - 1])) {
      worst = reflected;
    } else {
      const Corner nearer = lower(reflected, worst) ? corner(-0.5) : corner(0.5);
      if (lower(nearer, worst) && !lower(reflected, nearer)) {
        worst = nearer;
      } else {
        for (std::size_t i = 1; i <= N; ++i) {
          simplex[i].at = along(simplex[0].at, simplex[i].at, 0.5);
          simplex[i].value = f(simplex[i].at);
        }
      }
    }
  }
  return std::min_element(simplex.begin(), simplex.end(), lower)->at;
}

}  // namespace edict
