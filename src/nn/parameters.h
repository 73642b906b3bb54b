// All parameters of a model live in one contiguous vector. A layer registers its tensors here once,
// by name, shape and how they start; gradients, optimiser state, clipping, the file format and the
// gradient checks all derive from this list.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/generator.h"
#include "base/types.h"

namespace edict {

// How a tensor starts: all `spread`, uniform in ±spread, normal with deviation `spread`, (a square
// one) `spread` on its diagonal, or so that softplus of its entries are rates spread
// log-uniformly from `spread` to `last`.
struct Start {
  enum class Kind { constant, uniform, normal, identity, rates } kind;
  double spread;
  double last = 0.0;

  static Start constant(double value) { return {Kind::constant, value}; }
  static Start uniform(double bound) { return {Kind::uniform, bound}; }
  static Start normal(double deviation) { return {Kind::normal, deviation}; }
  static Start identity() { return {Kind::identity, 1.0}; }
  static Start rates(double first, double last) { return {Kind::rates, first, last}; }
  static Start xavier(Index out, Index in) {
    return uniform(std::sqrt(6.0 / static_cast<double>(out + in)));
  }
};

struct Tensor {
  std::string name;
  std::vector<Index> shape;
  Index offset;
  Index size;
  Start start;
};

class ParameterLayout {
 public:
  // Returns the offset of the new tensor. Tensors added one after the other are contiguous, which
  // the layers use to stack several weights into one product.
  Index add(std::string name, std::vector<Index> shape, Start start) {
    Index count = 1;
    for (Index n : shape) count *= n;
    tensors_.push_back({std::move(name), std::move(shape), size_, count, start});
    size_ += count;
    return tensors_.back().offset;
  }

  Index size() const { return size_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }

  // Each tensor draws by its name, so that adding one leaves the others unchanged.
  template <class S>
  Vector<S> initial(std::uint64_t seed) const {
    Vector<S> values(size_);
    for (const Tensor& tensor : tensors_) {
      Generator rng(seed, tensor.name);
      for (Index i = 0; i < tensor.size; ++i) {
        const double spread = tensor.start.spread;
        double value = spread;
        if (tensor.start.kind == Start::Kind::uniform) value = rng.uniform(-spread, spread);
        if (tensor.start.kind == Start::Kind::normal) value = spread * rng.normal();
        if (tensor.start.kind == Start::Kind::identity && i % (tensor.shape[0] + 1) != 0) value = 0;
        if (tensor.start.kind == Start::Kind::rates) {
          const double share =
              tensor.size > 1 ? static_cast<double>(i) / static_cast<double>(tensor.size - 1) : 0.5;
          const double rate = spread * std::pow(tensor.start.last / spread, share);
          value = rate + std::log(-std::expm1(-rate));  // softplus of it is the rate
        }
        values[tensor.offset + i] = static_cast<S>(value);
      }
    }
    return values;
  }

 private:
  std::vector<Tensor> tensors_;
  Index size_ = 0;
};

}  // namespace edict
