// A vector register of scalars, as wide as the processor this is compiled for, through the
// compiler's vector extension: element-wise + − · / and comparisons, and `mask ? a : b`.
#pragma once

#include <cstring>

#include "edict/core/types.h"

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
  typedef S Vector __attribute__((vector_size(kVectorBytes)));

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

}  // namespace edict
