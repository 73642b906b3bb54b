// Linear layers, each followed by a relu and, where masks are given, dropout.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/arena.h"
#include "nn/dropout.h"
#include "nn/linear.h"

namespace edict {

class Mlp {
 public:
  template <class S>
  struct Cache {
    const S* x;
    std::vector<S*> y;     // what each layer puts out, width × w
    std::vector<S*> mask;  // empty without dropout
  };

  Mlp(ParameterLayout& layout, const std::string& name, Index in, Index width, int depth)
      : width_(width) {
    for (int i = 0; i < depth; ++i)
      layers_.emplace_back(layout, name + "." + std::to_string(i), i == 0 ? in : width, width);
  }

  Index width() const { return width_; }
  int depth() const { return static_cast<int>(layers_.size()); }

  // `masks`: one a layer, width × w, or none. What leaves is c.y.back().
  template <class S>
  void forward(const S* params, Index w, const S* x, const std::vector<S*>& masks, Arena<S>& arena,
               Cache<S>& c) const {
    c = {x, {}, masks};
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      S* const y = arena.take(width_ * w);
      layers_[i].forward(params, w, x, y);
      for (Index k = 0; k < width_ * w; ++k) y[k] = std::max(y[k], S(0));
      if (!masks.empty()) apply_mask(masks[i], width_ * w, y);
      c.y.push_back(y);
      x = y;
    }
  }

  // d_y is used up; d_x: in × w is written, unless null because nobody needs it.
  template <class S>
  void backward(const S* params, Index w, S* d_y, const Cache<S>& c, Arena<S>& arena, S* d_x,
                S* grads) const {
    for (std::size_t i = layers_.size(); i-- > 0;) {
      if (!c.mask.empty()) apply_mask(c.mask[i], width_ * w, d_y);
      for (Index k = 0; k < width_ * w; ++k) d_y[k] = c.y[i][k] > S(0) ? d_y[k] : S(0);
      S* const d_in = i > 0 ? arena.take(width_ * w) : d_x;
      const S* const in = i > 0 ? c.y[i - 1] : c.x;
      if (d_in)
        layers_[i].backward(params, w, in, d_y, d_in, grads);
      else
        layers_[i].backward_weights(w, in, d_y, grads);
      d_y = d_in;
    }
  }

 private:
  Index width_;
  std::vector<Linear> layers_;
};

}  // namespace edict
