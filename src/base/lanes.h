// A vector register of scalars, as wide as the processor this is compiled for, through the
// compiler's vector extension: element-wise + − · / and comparisons, and `mask ? a : b`.
#pragma once

#include <cstring>

#include "base/types.h"

namespace edict {

#if defined(__AVX512F__)
constexpr Index kVectorBytes = 64, kVectorRegisters = 32;
#elif defined(__AVX__)
constexpr Index kVectorBytes = 32, kVectorRegisters = 16;
#else
constexpr Index kVectorBytes = 16, kVectorRegisters = 16;
#endif

template <class S>
struct Lanes {
  static constexpr Index kCount = kVectorBytes / static_cast<Index>(sizeof(S));
  using Vector __attribute__((vector_size(kVectorBytes))) = S;

  static Vector load(const S* from) {
    Vector v;
    std::memcpy(&v, from, sizeof v);
    return v;
  }
  static void store(const Vector& v, S* to) { std::memcpy(to, &v, sizeof v); }

  // Keeps a loaded value in its register: GCC would otherwise load it again for each of its uses,
  // and the loads, not the arithmetic, would set the pace.
  static void hold([[maybe_unused]] Vector& v) {
#if defined(__x86_64__)
    __asm__("" : "+v"(v));
#endif
  }
};

// The same with one element in the first lane, for arrays shorter than a register.
template <class S>
struct FirstLane {
  using Vector = typename Lanes<S>::Vector;
  static Vector load(const S* from) { return Vector{*from}; }
  static void store(const Vector& v, S* to) { *to = v[0]; }
};

// Element-wise work on n elements, a register at a time: body(lanes, i) computes the elements from
// i on with lanes.load and returns what stores them. The last register ends with the array; what it
// shares with its neighbour is computed twice, from the same values even in place, because it is
// computed before and stored after all others.
template <class S, class Body>
[[gnu::always_inline]] inline void sweep(Index n, Body body) {
  constexpr Index kCount = Lanes<S>::kCount;
  if (n < kCount) {
    for (Index i = 0; i < n; ++i) body(FirstLane<S>{}, i)();
    return;
  }
  const auto store_last = body(Lanes<S>{}, n - kCount);
  for (Index i = 0; i < n - kCount; i += kCount) body(Lanes<S>{}, i)();
  store_last();
}

// A column of a few registers; a call of memmove would cost more than the copying.
template <class S>
void copy_column(Index n, const S* from, S* to) {
  sweep<S>(n, [=](auto lanes, Index i) {
    return [=, v = lanes.load(from + i)] { lanes.store(v, to + i); };
  });
}

}  // namespace edict
