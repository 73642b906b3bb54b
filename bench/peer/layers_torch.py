"""What the PyTorch peers share, named and shaped like our model files."""
import math

import torch
from torch import nn
from torch.nn import functional


def linear(inputs, outputs):
    layer = nn.Linear(inputs, outputs)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.constant_(layer.bias, 0.05)
    return layer


def gru_parameter(hidden, *shape):
    """Starts as PyTorch starts every tensor of a GRU."""
    bound = 1 / math.sqrt(hidden)
    return nn.Parameter(torch.empty(shape).uniform_(-bound, bound))


class GruCell(nn.Module):
    """PyTorch's GRU, whose reset gate acts after the product with h."""

    def __init__(self, inputs, hidden):
        super().__init__()
        self.w_ih = gru_parameter(hidden, 3 * hidden, inputs)
        self.w_hh = gru_parameter(hidden, 3 * hidden, hidden)
        self.b_ih = gru_parameter(hidden, 3 * hidden)
        self.b_hh = gru_parameter(hidden, 3 * hidden)

    def forward(self, x, h):
        return torch.gru_cell(x, h, self.w_ih, self.w_hh, self.b_ih, self.b_hh)


class ResetBeforeGruCell(nn.Module):
    """The GRU of Cho et al. 2014, whose reset gate acts on h before the product."""

    def __init__(self, inputs, hidden):
        super().__init__()
        self.hidden = hidden
        self.w = gru_parameter(hidden, 3 * hidden, inputs)
        self.u = gru_parameter(hidden, 3 * hidden, hidden)
        self.b = gru_parameter(hidden, 3 * hidden)

    def forward(self, x, h):
        gates = [2 * self.hidden, self.hidden]  # r and z; n
        from_x = functional.linear(x, self.w, self.b).split(gates, dim=1)
        u_rz, u_n = self.u.split(gates)
        r, z = torch.sigmoid(from_x[0] + h @ u_rz.T).chunk(2, dim=1)
        n = torch.tanh(from_x[1] + (r * h) @ u_n.T)
        return z * h + (1 - z) * n


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
