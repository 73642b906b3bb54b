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
HALF = (1 << 32) - 1


def hash_of(text):
    """edict::hash_of: FNV-1a over length and bytes, then splitmix64's last step."""
    value = 0xCBF29CE484222325
    for byte in len(text).to_bytes(8, "little") + text.encode():
        value = ((value ^ byte) * 0x100000001B3) & MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return value ^ (value >> 31)


class Generator:
    """edict::Generator(seed, purpose).uniform(), to draw the same held-out observations."""

    def __init__(self, seed, purpose):
        self.key = (seed & HALF, seed >> 32)
        self.counter = [0, hash_of(purpose) & HALF, 0, 0]
        self.words = []

    def uniform(self):
        if not self.words:
            c, key = list(self.counter), list(self.key)
            for _ in range(10):
                a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
                c = [(b >> 32) ^ c[1] ^ key[0], b & HALF, (a >> 32) ^ c[3] ^ key[1], a & HALF]
                key = [(key[0] + 0x9E3779B9) & HALF, (key[1] + 0xBB67AE85) & HALF]
            self.counter[0] += 1
            self.words = [c[2] | c[3] << 32, c[0] | c[1] << 32]
        return (self.words.pop() >> 11) * 2.0**-53


def held_out(many, share):
    """B x E x D; series b has the key b."""
    held = torch.zeros_like(padded(many, FEATURES)[2])
    for b, s in enumerate(many):
        draw = Generator(b, "reconstruct")
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
