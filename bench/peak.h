// What the processor could do at best: the yardstick of every “% of peak”.
#pragma once

namespace edict {

// GFlop/s of one core that does nothing but float multiply-adds on registers, with the vector width
// this program was compiled for. The best of several tries, about 0.1 s.
double fma_peak_gflops();

}  // namespace edict
