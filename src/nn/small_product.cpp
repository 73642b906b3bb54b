#include "nn/small_product.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/lanes.h"

namespace edict {
namespace {

// What is left of the registers holds the vectors of A and a broadcast of B.
constexpr Index kTileAccumulators = kVectorRegisters * 3 / 4;

// Vectors of lanes in a panel: of many columns, and of a single one, whose sums would otherwise be
// too few not to wait for themselves.
constexpr Index kWidePanel = 3, kSinglePanel = 8;

// V vectors × Q columns. The last vector starts at lane `last`, so that nothing beyond A or C is
// touched; the lanes it shares with the vector before it are computed twice, with the same result.
template <bool kAdd, int V, int Q, class S>
[[gnu::always_inline]] inline void tile(const ProductOperands<S>& o, Index last, S* c,
                                        Index c_step) {
  using L = Lanes<S>;
  const auto lane = [last](int v) { return v + 1 < V ? v * L::kCount : last; };
  typename L::Vector sum[Q][V] = {};
  const S* a = o.a;
  const S* b = o.b;
  for (Index k = 0; k < o.depth; ++k, a += o.step, b += o.down) {
    typename L::Vector x[V];
    for (int v = 0; v < V; ++v) x[v] = L::load(a + lane(v));
    if constexpr (Q > 1)
      for (int v = 0; v < V; ++v) L::hold(x[v]);
    for (int q = 0; q < Q; ++q) {
      const S scale = b[q * o.across];
      for (int v = 0; v < V; ++v) sum[q][v] += x[v] * scale;
    }
  }
#pragma GCC unroll 8
  for (int q = 0; q < Q; ++q, c += c_step) {
    if constexpr (kAdd) {  // all are read before any is written: shared lanes are added to once
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) sum[q][v] += L::load(c + lane(v));
    }
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) L::store(sum[q][v], c + lane(v));
  }
}

template <bool kAdd, int V, int Q, class S>
[[gnu::always_inline]] inline void columns(ProductOperands<S> o, Index last, Index count, S* c,
                                           Index c_step) {
  for (; count >= Q; count -= Q, o.b += Q * o.across, c += Q * c_step)
    tile<kAdd, V, Q>(o, last, c, c_step);
  // What is left goes as one narrower tile: two columns one by one would wait for their sums.
  if constexpr (Q > 1)
    if (count > 0) columns<kAdd, V, Q - 1>(o, last, count, c, c_step);
}

// All columns of V vectors of lanes.
template <bool kAdd, int V, class S>
[[gnu::noinline]] void panel(const ProductOperands<S>& o, Index last, Index count, S* c,
                             Index c_step) {
  constexpr int kQ =
      V > kWidePanel ? 1 : static_cast<int>(std::min<Index>(kTileAccumulators / V, 8));
  // One of B's strides is 1 in every product of a layer; said as a constant, it costs no register.
  if (o.down == 1)
    columns<kAdd, V, kQ, S>({o.a, o.step, o.b, 1, o.across, o.depth}, last, count, c, c_step);
  else if (o.across == 1)
    columns<kAdd, V, kQ, S>({o.a, o.step, o.b, o.down, 1, o.depth}, last, count, c, c_step);
  else
    columns<kAdd, V, 1, S>(o, last, count, c, c_step);
}

// a·b + c rounded once where the processor can, as the tiles above do it. Left to itself the
// compiler multiplies and adds apart in some loops, and a column's bits would depend on its
// neighbours.
template <class S>
S multiply_add(S a, S b, S c) {
#ifdef __FMA__
  return std::fma(a, b, c);
#else
  return a * b + c;
#endif
}

// Fewer lanes than a register has: eight columns at a time, so that no sum waits for itself, then
// one by one.
template <bool kAdd, class S>
void narrow(const ProductOperands<S>& o, Index lanes, Index columns, S* c, Index c_step) {
  const auto put = [](S sum, S& to) { to = kAdd ? to + sum : sum; };
  constexpr Index kTogether = 8;
  Index q = 0;
  for (; q + kTogether <= columns; q += kTogether)
    for (Index p = 0; p < lanes; ++p) {
      S sum[kTogether] = {};
      for (Index k = 0; k < o.depth; ++k)
        for (Index i = 0; i < kTogether; ++i)
          sum[i] = multiply_add(o.a[k * o.step + p], o.b[k * o.down + (q + i) * o.across], sum[i]);
      for (Index i = 0; i < kTogether; ++i) put(sum[i], c[(q + i) * c_step + p]);
    }
  for (; q < columns; ++q) {
    S sum[Lanes<S>::kCount] = {};
    for (Index k = 0; k < o.depth; ++k)
      for (Index p = 0; p < lanes; ++p)
        sum[p] = multiply_add(o.a[k * o.step + p], o.b[k * o.down + q * o.across], sum[p]);
    for (Index p = 0; p < lanes; ++p) put(sum[p], c[q * c_step + p]);
  }
}

}  // namespace

template <bool kAdd, class S>
void small_multiply(const ProductOperands<S>& o, Index lanes, Index columns, S* c, Index c_step) {
  constexpr Index kLanes = Lanes<S>::kCount;
  if (columns == 0 || (kAdd && o.depth == 0)) return;  // of nothing the pointers may be null
  if (lanes < kLanes) return narrow<kAdd>(o, lanes, columns, c, c_step);
  // As few panels as possible, as equal as possible: seven vectors go as 2 + 2 + 3. A last vector
  // that shares lanes has its neighbour in the same panel, because none but a lone vector is alone.
  constexpr auto kPanels = []<int... V>(std::integer_sequence<int, V...>) {
    return std::array{&panel<kAdd, V + 1, S>...};
  }
  (std::make_integer_sequence<int, kSinglePanel>());
  const Index widest = columns == 1 ? kSinglePanel : kWidePanel;
  const Index vectors = (lanes + kLanes - 1) / kLanes, panels = (vectors + widest - 1) / widest;
  for (Index i = 0; i < panels; ++i) {
    const Index first = vectors * i / panels, n = vectors * (i + 1) / panels - first;
    const Index lane = first * kLanes;
    const Index last = std::min((n - 1) * kLanes, lanes - kLanes - lane);
    kPanels[static_cast<std::size_t>(n - 1)]({o.a + lane, o.step, o.b, o.down, o.across, o.depth},
                                             last, columns, c + lane, c_step);
  }
}

#define EDICT_INSTANTIATE(S)                                                               \
  template void small_multiply<false>(const ProductOperands<S>&, Index, Index, S*, Index); \
  template void small_multiply<true>(const ProductOperands<S>&, Index, Index, S*, Index);
EDICT_INSTANTIATE(float)
EDICT_INSTANTIATE(double)
#undef EDICT_INSTANTIATE

}  // namespace edict
