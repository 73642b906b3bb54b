"""Writes ipn.json: logits, loss (without and with reconstruction) and gradients of small IPN models on
series of odd patterns, from the PyTorch peer in double. What is held out is drawn as the engine draws
it, from the key of each series.
Run: python3 write_ipn_golden.py
"""
import numpy
import torch

from series import odd_series, padded, supervised_case, write
from ipn_torch import Ipn

rng = numpy.random.default_rng(31)
torch.manual_seed(31)
FEATURES, CLASSES = 3, 2
MASK = (1 << 64) - 1


class Xoshiro:
    """edict::Rng(seed, stream).uniform(), to draw the same held-out observations."""

    def __init__(self, seed, stream):
        x = seed ^ (0x9E3779B97F4A7C15 * (2 * stream + 1) & MASK)
        self.state = []
        for _ in range(4):
            x = (x + 0x9E3779B97F4A7C15) & MASK
            z = x
            z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
            self.state.append(z ^ (z >> 31))

    def uniform(self):
        def rotl(v, k):
            return ((v << k) | (v >> (64 - k))) & MASK

        s = self.state
        result = (rotl((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotl(s[3], 45)
        return (result >> 11) * 2.0**-53


def held_out(many, share):
    """B x E x D; series b has the key b."""
    held = torch.zeros_like(padded(many, FEATURES)[2])
    for b, s in enumerate(many):
        draw = Xoshiro(b, 1)
        for e, (_, seen) in enumerate(s.events):
            for j in seen:
                held[b, e, j] = float(draw.uniform() < share)
    return held


def case(covariates, step, end, classifier_layers, reconstruction):
    many = odd_series(rng, FEATURES, covariates)
    model = Ipn(FEATURES, covariates, CLASSES, hidden=5, reference_step=step, reference_end=end,
                classifier_layers=classifier_layers)
    config = {"model.kind": "ipn", "model.hidden": 5, "model.reference_step": step,
              "model.reference_end": end or "auto", "classify.layers": classifier_layers,
              "model.dropout": 0.0, "loss.reconstruction": reconstruction,
              "loss.reconstruction_holdout": 0.3}
    batch, held = padded(many, FEATURES), held_out(many, 0.3)
    assert held.sum() > 5
    return supervised_case(model, batch, config, many, FEATURES, CLASSES, rng,
                           lambda: reconstruction * model.reconstruction(*batch[:4], held))


write("ipn.json", [case(2, 0.3, 0.0, 1, 0.0), case(0, 0.25, 2.5, 2, 0.7), case(1, 0.4, 0.0, 1, 1.5)])
