"""SeFT (Horn et al. 2020) in plain PyTorch on padded sets."""
import math

import torch
from torch import nn
from torch.nn import functional

from layers_torch import classifier, classify, linear


class Attention(nn.Module):
    def __init__(self, inputs, width, key_width, heads):
        super().__init__()
        self.heads, self.key_width = heads, key_width
        self.psi = nn.ModuleList([linear(inputs, width), linear(width, width)])
        self.rho = linear(width, width)
        self.query = nn.Linear(width, heads * key_width)
        self.keys = nn.Linear(inputs, heads * key_width, bias=False)
        nn.init.zeros_(self.query.weight)
        nn.init.zeros_(self.query.bias)

    def forward(self, x, inside):
        """x: B x J x in, inside: B x J. The weights, B x heads x J; 0 in an empty set."""
        y = torch.relu(self.psi[1](torch.relu(self.psi[0](x))))
        count = inside.sum(1, keepdim=True).clamp(min=1)
        f = torch.relu(self.rho((y * inside[:, :, None]).sum(1) / count))
        q = self.query(f).view(-1, self.heads, 1, self.key_width)
        k = self.keys(x).view(*x.shape[:2], self.heads, self.key_width).transpose(1, 2)
        e = (q * k).sum(3) / math.sqrt(self.key_width)
        e = e.masked_fill(inside[:, None] == 0, -1e30)
        return torch.softmax(e, dim=2) * inside[:, None]


class Seft(nn.Module):
    def __init__(self, features, covariates, classes, hidden=32, encoder_width=32, encoder_layers=3,
                 heads=4, time_scales=10, longest_scale=100.0, aggregation="attention", dropout=0.2,
                 classifier_layers=1):
        super().__init__()
        self.features, self.dropout = features, dropout
        exponents = torch.arange(time_scales, dtype=torch.float64) / max(1, time_scales - 1)
        self.register_buffer("scales", longest_scale**exponents, persistent=False)
        element = 2 * time_scales + 1 + features
        self.phi = nn.ModuleList(
            [linear(element if i == 0 else encoder_width, encoder_width) for i in range(encoder_layers)])
        self.attention = (Attention(element, encoder_width, hidden, heads)
                          if aggregation == "attention" else None)
        self.rho = linear(encoder_width * (heads if self.attention else 1), hidden)
        self.covariates = (nn.ModuleList([linear(covariates, element), linear(element, element)])
                           if covariates else None)
        self.classifier = classifier(hidden, classes, classifier_layers)

    def forward(self, times, values, features, inside, covariates):
        """A set a row: times, values, features (whole numbers), inside: B x J; the logits."""
        angle = times[:, :, None] / self.scales
        code = torch.stack([torch.sin(angle), torch.cos(angle)], dim=3).flatten(2)
        one_hot = functional.one_hot(features, self.features).to(values.dtype)
        x = torch.cat([code, values[:, :, None], one_hot], dim=2)
        if self.covariates is not None:
            made = self.covariates[1](torch.relu(self.covariates[0](covariates)))
            x = torch.cat([made[:, None], x], dim=1)
            inside = torch.cat([torch.ones_like(inside[:, :1]), inside], dim=1)
        y = x
        for layer in self.phi:
            y = functional.dropout(torch.relu(layer(y)), self.dropout, self.training)
        if self.attention is not None:
            r = (self.attention(x, inside) @ y).flatten(1)
        else:
            r = (y * inside[:, :, None]).sum(1) / inside.sum(1, keepdim=True).clamp(min=1)
        z = functional.dropout(torch.relu(self.rho(r)), self.dropout, self.training)
        return classify(self.classifier, z)


def padded_sets(many):
    """Of series with .start and .events [(time, {feature: value})]."""
    rows = [[(t - s.start, x, j) for t, seen in s.events for j, x in seen.items()] for s in many]
    longest = max(1, max(len(r) for r in rows))
    times, values, inside = (torch.zeros(len(rows), longest) for _ in range(3))
    features = torch.zeros(len(rows), longest, dtype=torch.long)
    for b, row in enumerate(rows):
        for j, (t, x, feature) in enumerate(row):
            times[b, j], values[b, j], features[b, j], inside[b, j] = t, x, feature, 1.0
    return times, values, features, inside
