"""A small neural network (2 inputs, 16 hidden units, 1 output) in plain Python: is a point inside a circle?"""

import math
import random

HIDDEN = 16
SIZE = 4 * HIDDEN + 1  # two input weights, a bias and an output weight a unit, one output bias


def initial_parameters():
    """The same on every rank, as a flat list of SIZE numbers."""
    source = random.Random(7)
    return [source.gauss(0.0, 1.0) for _ in range(SIZE)]


def loss_and_gradient(parameters, batch):
    """Mean cross-entropy over ``batch`` [(x, y, inside)] and its gradient, followed by the loss itself."""
    sums = [0.0] * (SIZE + 1)
    for x, y, inside in batch:
        _add_example(parameters, x, y, inside, sums)
    return [value / len(batch) for value in sums]


def descend(parameters, sums, rate):
    """The parameters after one step downhill; ``sums`` may be longer, as with the loss behind the gradient."""
    return [value - rate * sums[index] for index, value in enumerate(parameters)]


def _add_example(parameters, x, y, inside, sums):
    units = [
        math.tanh(parameters[4 * unit] * x + parameters[4 * unit + 1] * y + parameters[4 * unit + 2])
        for unit in range(HIDDEN)
    ]
    score = parameters[-1] + sum(parameters[4 * unit + 3] * units[unit] for unit in range(HIDDEN))
    likelihood = 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, score))))
    error = likelihood - inside
    for unit, value in enumerate(units):
        slope = error * parameters[4 * unit + 3] * (1.0 - value * value)
        sums[4 * unit] += slope * x
        sums[4 * unit + 1] += slope * y
        sums[4 * unit + 2] += slope
        sums[4 * unit + 3] += error * value
    sums[SIZE - 1] += error
    sums[SIZE] -= math.log(max(1e-12, likelihood if inside else 1.0 - likelihood))
