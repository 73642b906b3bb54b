// One event with its pre- and post-jump distributions, owning its numbers, for every loss alike.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/generator.h"
#include "evidential/gaussian.h"
#include "evidential/losses.h"

namespace edict {

template <class S>
struct Parameters {
  std::vector<S> mu, log_psi;
  S lambda = 2, nu = 3;

  Parameters() = default;
  explicit Parameters(Index dim) : mu(dim), log_psi(dim), nu(S(dim) + 3) {}

  Index dim() const { return static_cast<Index>(mu.size()); }
  Niw<S> niw() const { return {mu.data(), log_psi.data(), lambda, nu, dim()}; }
  Gaussian<S> gaussian() const { return {mu.data(), log_psi.data()}; }  // log ψ read as ln σ²
  static Parameters zero(Index dim) {
    Parameters p(dim);
    p.lambda = p.nu = 0;
    return p;
  }

  // Every number, in a fixed order.
  std::vector<S*> all() {
    std::vector<S*> pointers;
    for (S& v : mu) pointers.push_back(&v);
    for (S& v : log_psi) pointers.push_back(&v);
    pointers.push_back(&lambda);
    pointers.push_back(&nu);
    return pointers;
  }
};

template <class S>
struct Event {
  Parameters<S> pre, post;
  std::vector<std::int32_t> feature;
  std::vector<S> x;
  S observation_std = S(0.5);

  Observed<S> observed() const {
    return {feature.data(), x.data(), static_cast<Index>(feature.size())};
  }
};

template <class S>
struct Gradients {
  Parameters<S> pre, post;
  explicit Gradients(Index dim) : pre(Parameters<S>::zero(dim)), post(Parameters<S>::zero(dim)) {}
};

// Evaluates a loss of an event and adds weight × gradient.
template <class S>
using Loss = std::function<S(const Event<S>&, S weight, Gradients<S>&)>;

// Runs a loss on gradient views of `p` and stores the scalar gradients back.
template <class S, class Function>
S with_gradient(Parameters<S>& p, Function function) {
  NiwGradient<S> d{p.mu.data(), p.log_psi.data(), p.lambda, p.nu};
  const S value = function(d);
  p.lambda = d.d_lambda, p.nu = d.d_nu;
  return value;
}

template <class S>
std::map<std::string, Loss<S>> all_losses() {
  using E = const Event<S>&;
  using G = Gradients<S>&;
  const auto gaussian = [](Parameters<S>& p) {
    return GaussianGradient<S>{p.mu.data(), p.log_psi.data()};
  };
  return {
      {"student_t_nll",
       [](E e, S w, G g) {
         return with_gradient(
             g.pre, [&](auto& d) { return student_t_nll(e.pre.niw(), e.observed(), w, d); });
       }},
      {"niw_kl",
       [](E e, S w, G g) {
         return with_gradient(g.pre, [&](auto& d_pre) {
           return with_gradient(g.post, [&](auto& d_post) {
             return niw_kl(e.pre.niw(), e.post.niw(), e.observed(), w, d_pre, d_post);
           });
         });
       }},
      {"gaussian_kl",
       [](E e, S w, G g) {
         return with_gradient(g.pre, [&](auto& d_pre) {
           return with_gradient(g.post, [&](auto& d_post) {
             return gaussian_kl(e.pre.niw(), e.post.niw(), e.observed(), e.observation_std, w,
                                d_pre, d_post);
           });
         });
       }},
      {"evidence_penalty",
       [](E e, S w, G g) {
         return with_gradient(
             g.pre, [&](auto& d) { return evidence_penalty(e.pre.niw(), e.observed(), w, d); });
       }},
      {"gaussian_nll",
       [gaussian](E e, S w, G g) {
         return gaussian_nll(e.pre.gaussian(), e.observed(), w, gaussian(g.pre));
       }},
      {"gaussian_bayes_kl",
       [gaussian](E e, S w, G g) {
         return gaussian_bayes_kl(e.pre.gaussian(), e.post.gaussian(), e.observed(),
                                  e.observation_std, w, gaussian(g.pre), gaussian(g.post));
       }},
  };
}

// The value alone.
template <class S>
S evaluate(const Loss<S>& loss, const Event<S>& event) {
  Gradients<S> ignored(event.pre.dim());
  return loss(event, S(1), ignored);
}

// log ψ ~ N(0, spread²), residuals ~ N(0, noise²), λ − 1 and ν − D − 2 up to `evidence`; features
// in a random order.
inline Event<double> random_event(Generator& rng, Index dim, Index count, double spread = 1,
                                  double evidence = 5, double noise = 1) {
  Event<double> event;
  for (auto* p : {&event.pre, &event.post}) {
    *p = Parameters<double>(dim);
    for (double& v : p->mu) v = rng.normal();
    for (double& v : p->log_psi) v = spread * rng.normal();
    p->lambda = 1 + evidence * rng.uniform();
    p->nu = static_cast<double>(dim) + 2 + evidence * rng.uniform();
  }
  std::vector<std::int32_t> order(dim);
  for (Index j = 0; j < dim; ++j) order[j] = static_cast<std::int32_t>(j);
  rng.shuffle(std::span(order));
  event.feature.assign(order.begin(), order.begin() + count);
  for (const auto j : event.feature) event.x.push_back(event.pre.mu[j] + noise * rng.normal());
  return event;
}

template <class S>
Parameters<S> convert(const Parameters<double>& p) {
  Parameters<S> q;
  q.mu.assign(p.mu.begin(), p.mu.end());
  q.log_psi.assign(p.log_psi.begin(), p.log_psi.end());
  q.lambda = static_cast<S>(p.lambda), q.nu = static_cast<S>(p.nu);
  return q;
}

template <class S>
Event<S> convert(const Event<double>& event) {
  Event<S> e;
  e.pre = convert<S>(event.pre), e.post = convert<S>(event.post);
  e.feature = event.feature;
  e.x.assign(event.x.begin(), event.x.end());
  e.observation_std = static_cast<S>(event.observation_std);
  return e;
}

}  // namespace edict
