// max(x, 0), written so that NaN stays NaN: a state that is not finite must not become a plausible
// answer one layer later.
#pragma once

namespace edict {

template <class S>
S relu(S x) {
  return x < S(0) ? S(0) : x;
}

}  // namespace edict
