"""What the supervised PyTorch peers share, named and shaped like our model files."""
import math

import torch
from torch import nn


def linear(inputs, outputs):
    layer = nn.Linear(inputs, outputs)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.constant_(layer.bias, 0.05)
    return layer


class GruCell(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        bound = 1 / math.sqrt(hidden)
        for name, shape in (("w_ih", (3 * hidden, inputs)), ("w_hh", (3 * hidden, hidden)),
                            ("b_ih", (3 * hidden,)), ("b_hh", (3 * hidden,))):
            self.register_parameter(name, nn.Parameter(torch.empty(shape).uniform_(-bound, bound)))

    def forward(self, x, h):
        return torch.gru_cell(x, h, self.w_ih, self.w_hh, self.b_ih, self.b_hh)


def classifier(inputs, classes, layers):
    """As a list for the names; call it with `classify`."""
    if layers == 1:
        return nn.ModuleList([linear(inputs, classes)])
    half = max(1, inputs // 2)
    return nn.ModuleList([linear(inputs, half), linear(half, classes)])


def classify(layers, state):
    for layer in layers[:-1]:
        state = torch.relu(layer(state))
    return layers[-1](state)
