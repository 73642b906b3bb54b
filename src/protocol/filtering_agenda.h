// Agendas that absorb everything and ask along the way, beside query_agenda (protocol.h), which
// asks for what was expected before the observations of a moment.
#pragma once

#include <cstddef>
#include <vector>

#include "data/dataset.h"
#include "protocol/agenda.h"
#include "protocol/protocol.h"

namespace edict {

// Absorbs everything, and queries at the given times (ascending, in the data's unit): a query at
// the time of an observation tells what is known after it. Refuses the times that query_agenda
// refuses.
Agenda<float> filtering_agenda(const Protocol& protocol, const Dataset& data, std::size_t series,
                               const std::vector<double>& times);

}  // namespace edict
