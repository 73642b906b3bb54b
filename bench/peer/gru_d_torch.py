"""GRU-D (Che et al. 2018) in plain PyTorch on padded batches."""
import torch
from torch import nn
from torch.nn import functional

from layers_torch import ResetBeforeGruCell, classifier, classify, linear


class Fade(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.full((features,), 0.1))
        self.bias = nn.Parameter(torch.full((features,), 0.05))


class GruD(nn.Module):
    def __init__(self, features, covariates, classes, hidden=64, layers=1, dropout=0.2,
                 classifier_layers=1):
        super().__init__()
        self.hidden, self.dropout = hidden, dropout
        self.fade = Fade(features)
        self.decay = linear(features, hidden)
        self.gru = nn.ModuleList([ResetBeforeGruCell(2 * features, hidden)]
                                 + [ResetBeforeGruCell(hidden, hidden) for _ in range(layers - 1)])
        self.classifier = classifier(hidden + covariates, classes, classifier_layers)

    def forward(self, start, times, values, mask, covariates):
        """times: B x E, values and mask: B x E x D (all 0 past the end of a series); the logits."""
        batch = times.shape[0]
        states = [torch.zeros(batch, self.hidden) for _ in self.gru]
        delta, last = torch.zeros_like(values[:, 0]), torch.zeros_like(values[:, 0])
        for t in range(times.shape[1]):
            x, m = values[:, t], mask[:, t]
            if t > 0:
                delta = (times[:, t] - times[:, t - 1])[:, None] + delta * (1 - mask[:, t - 1])
            fade = torch.exp(-torch.relu(self.fade.weight * delta + self.fade.bias))
            y = torch.cat([m * x + (1 - m) * fade * last, m], dim=1)
            last = torch.where(m > 0, x, last)
            running = m.any(dim=1, keepdim=True)
            for i, cell in enumerate(self.gru):
                h = states[i]
                if i == 0:
                    h = torch.exp(-torch.relu(self.decay(delta))) * h
                h = cell(y, h)
                y = functional.dropout(h, self.dropout, self.training)
                states[i] = torch.where(running, h, states[i])
        state = functional.dropout(states[-1], self.dropout, self.training)
        return classify(self.classifier, torch.cat([state, covariates], dim=1))
