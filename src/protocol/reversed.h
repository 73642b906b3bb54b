// a timeline read from its end, for a network that looks at a series from the future.
//
// The clock starts at the last stop that is absorbed and runs backwards, t → end − t, with the
// stops in reverse order. What is asked before the observations of its moment is then asked after
// them, and the other way round: an answer to the timeline and one to its reverse have between them
// every absorbed observation exactly once, and neither has the observations that are only asked
// for. A stop that asks just before it absorbs does so in both: its observations are in neither
// answer.
//
// Stops after the last absorbed one have nothing behind them and are left out, so that the clock
// does not depend on what else is asked, and the last absorbed one asks nothing. The first queries of the timeline, but for these, are thus
// the last of its reverse.
#pragma once

#include "protocol/timeline.h"

namespace edict {

// Empty where nothing is absorbed.
Timeline<float> reversed(const Timeline<float>& timeline);

}  // namespace edict
