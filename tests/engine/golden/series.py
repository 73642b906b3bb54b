"""What the scripts that write golden files share: small random series of odd patterns, as padded
tensors for the PyTorch peers and as JSON for the tests, and parameters in short decimals.
"""
import json
import pathlib
import sys

import numpy
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "bench" / "peer"))
torch.set_default_dtype(torch.float64)


class Series:
    def __init__(self, rng, events, features, covariates, share=0.5, gap=0.4, unseen=()):
        allowed = [j for j in range(features) if j not in unseen]
        self.start, time = 0.0, 0.0
        self.covariates = [round(rng.normal(), 4) for _ in range(covariates)]
        self.events = []  # (time, {feature: value})
        for _ in range(events):
            time = round(time + gap * rng.uniform(0.2, 1.8), 6)
            seen = [j for j in allowed if rng.uniform() < share] or [int(rng.choice(allowed))]
            self.events.append((time, {j: round(rng.normal(), 4) for j in seen}))

    def plain(self):
        return dict(start=self.start, covariates=self.covariates, events=[
            dict(time=t, feature=list(values), value=list(values.values()))
            for t, values in self.events])


def odd_series(rng, features, covariates):
    """Ordinary ones, one observation, no observation, a feature never seen, everything at once."""
    made = [Series(rng, n, features, covariates) for n in (5, 3, 8)]
    made.append(Series(rng, 1, features, covariates, share=0.0))
    made.append(Series(rng, 0, features, covariates))
    made.append(Series(rng, 6, features, covariates, unseen=(1,)))
    made.append(Series(rng, 4, features, covariates, share=1.1))
    return made


def padded(many, features):
    """start (B), times (B x E, the last one repeated), values and mask (B x E x D), covariates."""
    longest = max(len(s.events) for s in many)
    times = torch.zeros(len(many), longest)
    values, mask = torch.zeros(len(many), longest, features), torch.zeros(len(many), longest, features)
    for b, s in enumerate(many):
        for e in range(longest):
            if e < len(s.events):
                time, seen = s.events[e]
                for j, x in seen.items():
                    values[b, e, j], mask[b, e, j] = x, 1.0
            elif not s.events:
                time = s.start
            times[b, e] = time
    start = torch.tensor([s.start for s in many])
    return start, times, values, mask, torch.tensor([s.covariates for s in many])


def randomise(model, rng):
    """The usual start, moved a little so that no two entries are alike, in short decimals."""
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.tensor(numpy.round(p.numpy() + 0.2 * rng.normal(size=tuple(p.shape)), 5)))


def shortened(tensor):  # 13 digits are more than the comparison asks for
    return [float(f"{v:.13g}") for v in tensor.detach().flatten().tolist()]


def parameters(model):
    return {name: shortened(p) for name, p in model.named_parameters()}


def gradients(model, loss):
    model.zero_grad()
    loss.backward()
    return {name: shortened(torch.zeros_like(p) if p.grad is None else p.grad)
            for name, p in model.named_parameters()}


def write(name, cases):
    text = "[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n"
    (HERE / name).write_text(text)


def supervised_case(model, batch, config, many, features, classes, rng, extra=None):
    """Logits, loss and gradients of the summed cross-entropy (plus `extra()`, if given)."""
    randomise(model, rng)
    model.eval()
    labels = [int(rng.integers(classes)) for _ in many]
    logits = model(*batch)
    cross_entropy = torch.nn.functional.cross_entropy(logits, torch.tensor(labels), reduction="sum")
    loss = cross_entropy + (extra() if extra else 0.0)
    return dict(config=config, features=features, covariates=len(many[0].covariates),
                classes=classes, series=[s.plain() for s in many], labels=labels,
                params=parameters(model), logits=shortened(logits), loss=loss.item(),
                cross_entropy=cross_entropy.item(), grads=gradients(model, loss))
