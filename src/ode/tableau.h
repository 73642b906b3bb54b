// A solver is a table of coefficients (Butcher 1963). Dormand & Prince 1980 is the only pair with
// an error estimate; its last stage serves that estimate alone.
#pragma once

#include <array>

namespace edict {

struct Tableau {
  static constexpr int kMaxStages = 7;
  int order;
  int stages;     // that carry weight in the step
  bool adaptive;  // one further stage, at the end of the step, estimates the error
  std::array<std::array<double, kMaxStages>, kMaxStages> a;
  std::array<double, kMaxStages> b;
  std::array<double, kMaxStages> error;  // b − b̂
};

inline constexpr Tableau kEuler{1, 1, false, {}, {1.0}, {}};

inline constexpr Tableau kMidpoint{2, 2, false, {{{}, {0.5}}}, {0.0, 1.0}, {}};

inline constexpr Tableau kRk4{
    4, 4, false, {{{}, {0.5}, {0.0, 0.5}, {0.0, 0.0, 1.0}}}, {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6},
    {}};

inline constexpr Tableau kDopri5{
    5,
    6,
    true,
    {{{},
      {1.0 / 5},
      {3.0 / 40, 9.0 / 40},
      {44.0 / 45, -56.0 / 15, 32.0 / 9},
      {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
      {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
      {}}},
    {35.0 / 384, 0.0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
    {71.0 / 57600, 0.0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40}};

enum class Solver { euler, midpoint, rk4, dopri5 };

inline const Tableau& tableau(Solver solver) {
  return solver == Solver::euler      ? kEuler
         : solver == Solver::midpoint ? kMidpoint
         : solver == Solver::rk4      ? kRk4
                                      : kDopri5;
}

}  // namespace edict
