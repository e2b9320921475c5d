"""The networks that are trained, and the optimizers that train them."""
import dataclasses
import typing

import paddle
import paddle.nn.functional as F
from paddle import nn, optimizer, regularizer, static


@dataclasses.dataclass
class Trained:
    """A network with its loss, under the current program guard, before its optimizer has added anything to the program."""

    loss: typing.Any
    shapes: dict
    """The shape of each feed of a step."""
    bounds: dict
    """For each feed of whole numbers, what they are below."""


def mlp():
    x, label = static.data("x", [-1, 32]), static.data("label", [-1, 1], "int64")
    layers = nn.Sequential(nn.Linear(32, 48), nn.ReLU(), nn.Linear(48, 24), nn.Tanh(), nn.Linear(24, 10))
    return Trained(F.cross_entropy(layers(x), label), {"x": [16, 32], "label": [16, 1]}, {"label": 10})


def conv():
    """As LeNet, with a batch norm after each convolution."""
    image, label = static.data("image", [-1, 1, 28, 28]), static.data("label", [-1, 1], "int64")
    layers = nn.Sequential(
        nn.Conv2D(1, 6, 5, padding=2, bias_attr=False),
        nn.BatchNorm2D(6),
        nn.ReLU(),
        nn.MaxPool2D(2, 2),
        nn.Conv2D(6, 16, 5, bias_attr=False),
        nn.BatchNorm2D(16),
        nn.ReLU(),
        nn.AvgPool2D(2, 2),
        nn.Flatten(),
        nn.Linear(400, 40),
        nn.ReLU(),
        nn.Linear(40, 10),
    )
    return Trained(F.cross_entropy(layers(image), label), {"image": [6, 1, 28, 28], "label": [6, 1]}, {"label": 10})


def transformer(dropout=0.0):
    """Foretells each next token from those before it."""
    tokens, following = static.data("tokens", [-1, 7], "int64"), static.data("following", [-1, 7, 1], "int64")
    mask = paddle.triu(paddle.full([7, 7], -1e9), 1)
    places = paddle.arange(7, dtype="int64")
    hidden = nn.Embedding(30, 24)(tokens) + nn.Embedding(7, 24)(places)
    layer = nn.TransformerEncoderLayer(24, 3, 48, dropout=dropout, activation="gelu", normalize_before=True)
    hidden = nn.LayerNorm(24)(nn.TransformerEncoder(layer, 2)(hidden, mask))
    loss = paddle.mean(F.cross_entropy(nn.Linear(24, 30)(hidden), following))
    return Trained(loss, {"tokens": [4, 7], "following": [4, 7, 1]}, {"tokens": 30, "following": 30})


def dropout():
    return transformer(0.2)


def weights(name):
    return ".w_" in name


def biases(variable):
    return ".b_" in variable.name


L2 = regularizer.L2Decay
GLOBAL, NORM, VALUE = nn.ClipGradByGlobalNorm, nn.ClipGradByNorm, nn.ClipGradByValue

# Adam and its relatives hide a scaling of all gradients unless epsilon is of their size. Each optimizer meets each way to clip once.
TRAININGS = {
    "mlp_sgd": (mlp, lambda: optimizer.SGD(0.3, weight_decay=L2(0.02), grad_clip=VALUE(0.05))),
    "mlp_momentum": (mlp, lambda: optimizer.Momentum(0.1, 0.9, weight_decay=L2(0.02), grad_clip=GLOBAL(0.5))),
    "mlp_adam": (mlp, lambda: optimizer.Adam(0.02, epsilon=1e-3, grad_clip=NORM(0.1))),
    "mlp_adamw": (mlp, lambda: optimizer.AdamW(0.02, epsilon=1e-3, weight_decay=0.1, grad_clip=GLOBAL(0.5))),
    "mlp_lamb": (mlp, lambda: optimizer.Lamb(0.1, lamb_weight_decay=0.05, epsilon=1e-3, grad_clip=VALUE(0.02))),
    "conv_sgd": (conv, lambda: optimizer.SGD(0.3, grad_clip=GLOBAL(0.5))),
    "conv_momentum": (conv, lambda: optimizer.Momentum(0.05, 0.9, use_nesterov=True, weight_decay=L2(0.05), grad_clip=NORM(0.3))),
    "conv_adam": (conv, lambda: optimizer.Adam(0.01, epsilon=1e-3, weight_decay=L2(0.01), grad_clip=VALUE(0.05))),
    "conv_adamw": (conv, lambda: optimizer.AdamW(0.01, epsilon=1e-3, weight_decay=0.2, apply_decay_param_fun=weights, grad_clip=NORM(0.3))),
    "conv_lamb": (conv, lambda: optimizer.Lamb(0.05, epsilon=1e-3, grad_clip=GLOBAL(0.5))),
    "transformer_sgd": (transformer, lambda: optimizer.SGD(0.5, grad_clip=NORM(0.3))),
    "transformer_momentum": (transformer, lambda: optimizer.Momentum(0.1, 0.9, grad_clip=VALUE(0.05))),
    "transformer_adam": (transformer, lambda: optimizer.Adam(0.01, epsilon=1e-3, weight_decay=L2(0.01), grad_clip=GLOBAL(0.5))),
    "transformer_adamw": (transformer, lambda: optimizer.AdamW(0.01, epsilon=1e-3, weight_decay=0.1, grad_clip=VALUE(0.02))),
    "transformer_lamb": (
        transformer,
        lambda: optimizer.Lamb(0.05, lamb_weight_decay=0.05, epsilon=1e-3, exclude_from_weight_decay_fn=biases, grad_clip=NORM(0.3)),
    ),
    "dropout_adam": (dropout, lambda: optimizer.Adam(0.01, epsilon=1e-3)),
}
