// How the members of an ensemble answer together.
//
// Each member says Student-t (or Gaussian) with mean μᵢ, squared scale sᵢ² and variance
// vᵢ = aᵢ + eᵢ, aleatoric and epistemic; together they are the mixture of these, each with the
// weight 1/n. It is told as one Student-t that has the mixture's exact mean and variance:
//
//   mean       μ  = Σ μᵢ / n
//   aleatoric  a  = Σ aᵢ / n
//   epistemic  e  = Σ eᵢ / n + d,   d = Σ (μᵢ − μ)² / n,   the members' disagreement
//   scale²     s² = Σ sᵢ² / n + d
//   dof        ν  = 2v / (v − s²),  v = a + e,             so that s²·ν/(ν − 2) = v
//
// Members that agree give back what each of them says. The degrees of freedom follow from scale and
// variance, rather than the scale from averaged degrees of freedom: a single member close to ν = 2,
// whose variance is huge though its centre is narrow, would blow up the centre of all. v > s²
// wherever a member has a finite ν above 2, so ν > 2; if all are Gaussian, so is the answer. A ν of
// 2 or less, which has no variance, is kept: the smallest one of the members, with the s² above.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/network.h"

namespace edict {

Marginal mixture(std::span<const Marginal> members);

// The observations that any of the members clipped: `used` is the mean of what they absorbed,
// `sigmas` that of the one it surprised most.
std::vector<Clipped> all_clips(std::span<const Answer* const> members);

// What the members answered to one example, as the ensemble's answer: marginals by `mixture`; the
// states of each query, `hidden` numbers a member, one member after the other. Guards act within
// each member, clips are told by `all_clips`. Final states, which only streams ask for, stay with
// the members.
Answer mixture(std::span<const Answer* const> members, std::size_t hidden);

}  // namespace edict
