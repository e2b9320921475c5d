"""Networks of layers: linear regression, perceptrons with each optimizer, convolution, embedding, transformer, recurrent layers."""
import paddle
import paddle.nn.functional as F
from paddle import nn, optimizer, regularizer, static

from network import Network


def regress(output):
    y = static.data("y", [-1, 1])
    return F.mse_loss(output, y)


def linear(make_optimizer):
    def build(feed):
        x = static.data("x", [-1, 13])
        output = nn.Linear(13, 1)(x)
        schedule, optimizer_ = make_optimizer()
        return Network(
            loss=regress(output),
            output=output,
            export=schedule is None,
            optimizer=optimizer_,
            schedule=schedule,
            feed={"x": feed.real(4, 13), "y": feed.real(4, 1)},
        )

    return build


def linear_sgd():
    return None, optimizer.SGD(0.01)


def linear_noam():
    schedule = optimizer.lr.NoamDecay(d_model=16, warmup_steps=3, learning_rate=0.1)
    return schedule, optimizer.SGD(schedule)


def mlp(make_optimizer):
    def build(feed):
        x, label = static.data("x", [-1, 784]), static.data("label", [-1, 1], "int64")
        output = nn.Linear(32, 10)(F.relu(nn.Linear(784, 32)(x)))
        return Network(
            loss=F.cross_entropy(output, label),
            optimizer=make_optimizer(),
            feed={"x": feed.sparse(4, 784), "label": feed.index(10, 4, 1)},
        )

    return build


# Adam hides a scaling of all gradients unless epsilon is of their size, so the clipped ones have a larger epsilon.
OPTIMIZERS = {
    "mlp_momentum": lambda: optimizer.Momentum(0.01, 0.9, use_nesterov=True, weight_decay=regularizer.L2Decay(1e-2)),
    "mlp_adam_globalnorm": lambda: optimizer.Adam(0.002, epsilon=1e-3, grad_clip=nn.ClipGradByGlobalNorm(0.5)),
    "mlp_adamw_clipnorm": lambda: optimizer.AdamW(
        0.002,
        epsilon=1e-3,
        weight_decay=0.1,
        apply_decay_param_fun=lambda name: ".b_" not in name,
        grad_clip=nn.ClipGradByNorm(0.5),
    ),
    "mlp_adagrad_l1": lambda: optimizer.Adagrad(
        0.005, initial_accumulator_value=0.1, weight_decay=regularizer.L1Decay(1e-2), grad_clip=nn.ClipGradByValue(0.05)
    ),
    "mlp_adadelta": lambda: optimizer.Adadelta(1.0),
    "mlp_adamax": lambda: optimizer.Adamax(0.002),
    "mlp_rmsprop": lambda: optimizer.RMSProp(0.001, momentum=0.9, centered=True),
    "mlp_lamb": lambda: optimizer.Lamb(0.01),
}


def lenet_adam(feed):
    x, label = static.data("x", [-1, 1, 28, 28]), static.data("label", [-1, 1], "int64")
    layers = nn.Sequential(
        nn.Conv2D(1, 4, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2D(2, 2),
        nn.Conv2D(4, 6, 5),
        nn.ReLU(),
        nn.MaxPool2D(2, 2),
        nn.Flatten(),
        nn.Linear(150, 16),
        nn.ReLU(),
        nn.Linear(16, 10),
    )
    output = layers(x)
    return Network(
        loss=F.cross_entropy(output, label),
        output=output,
        optimizer=optimizer.Adam(0.002),
        feed={"x": feed.sparse(3, 1, 28, 28), "label": feed.index(10, 3, 1)},
    )


def bn_conv(feed):
    x = static.data("x", [-1, 3, 8, 8])
    hidden = F.relu(nn.BatchNorm2D(6)(nn.Conv2D(3, 6, 3, stride=2, padding=1, bias_attr=False)(x)))
    output = nn.Linear(24, 1)(paddle.flatten(nn.AdaptiveAvgPool2D(2)(hidden), 1))
    return Network(
        loss=regress(output),
        output=output,
        optimizer=optimizer.SGD(0.05),
        feed={"x": feed.real(4, 3, 8, 8), "y": feed.real(4, 1)},
    )


def embedding(make_optimizer):
    def build(feed):
        ids = static.data("ids", [-1, 6], "int64")
        mean = paddle.mean(nn.Embedding(20, 8, sparse=True)(ids), axis=1)
        return Network(
            loss=regress(nn.Linear(8, 1)(mean)),
            optimizer=make_optimizer(),
            feed={"ids": feed.index(12, 4, 6), "y": feed.real(4, 1)},
        )

    return build


def transformer(dropout):
    def build(feed):
        x = static.data("x", [-1, 5, 16])
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=dropout, normalize_before=True)
        output = nn.Linear(16, 1)(paddle.mean(layer(x), axis=1))
        return Network(
            loss=regress(output),
            output=output,
            export=dropout == 0,
            random=dropout != 0,
            optimizer=optimizer.Adam(0.001),
            feed={"x": feed.real(3, 5, 16), "y": feed.real(3, 1)},
        )

    return build


def recurrent(layer, export):
    def build(feed):
        x = static.data("x", [-1, 5, 8])
        sequence, _ = layer(8, 6)(x)
        output = nn.Linear(6, 1)(sequence[:, -1])
        return Network(
            loss=regress(output),
            output=output if export else None,
            optimizer=optimizer.SGD(0.05),
            feed={"x": feed.real(3, 5, 8), "y": feed.real(3, 1)},
        )

    return build


NETWORKS = {
    "linear_sgd": linear(linear_sgd),
    **{name: mlp(make) for name, make in OPTIMIZERS.items()},
    "lenet_adam": lenet_adam,
    "bn_conv": bn_conv,
    "embedding_sparse": embedding(lambda: optimizer.Adam(0.01, lazy_mode=True)),
    "embedding_sparse_sgd": embedding(lambda: optimizer.SGD(0.1)),
    "transformer": transformer(0.0),
    "transformer_dropout": transformer(0.1),
    "lstm": recurrent(nn.LSTM, export=True),
    "gru": recurrent(nn.GRU, export=False),
    "schedule": linear(linear_noam),
}
