// Timelines that absorb everything and ask along the way, beside query_timeline (protocol.h), which
// asks for what was expected before the observations of a moment.
#pragma once

#include <cstddef>
#include <vector>

#include "data/dataset.h"
#include "protocol/protocol.h"
#include "protocol/timeline.h"

namespace edict {

// Absorbs everything, and queries at the given times (ascending, in the data's unit): a query at
// the time of an observation tells what is known after it. Refuses the times that query_timeline
// refuses.
Timeline<float> filtering_timeline(const Protocol& protocol, const Dataset& data,
                                   std::size_t series, const std::vector<double>& times);

}  // namespace edict
