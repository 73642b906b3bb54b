// Where a column stands between the moment its state was last known (an event) and the moment it is
// asked for.
//
// The state at a time t after an event is reached by full steps from the event on and one shorter
// step that ends at t. It is thus a function of the event's state and of t alone: what else is
// asked for, and when the next event comes, has no part in it.
#pragma once

#include <cstdint>

namespace edict {

struct Clock {
  double start = 0.0;      // of the event
  std::int64_t steps = 0;  // taken since, or tried by an adaptive solver
  double now = 0.0;        // where an adaptive solver stands
  double dt = 0.0;         // the step it tries next
};

// The next step of a column.
struct Move {
  double dt;
  bool last;  // it ends where the column is wanted
};

// What one evaluation of a propagator leaves for its backward, for w columns: the states that it
// began with, H × w, and what else the propagator keeps.
template <class S>
struct Stage {
  const S* h;
  S* rest;
};

}  // namespace edict
