"""The networks that are exported for inference, each with the shapes of its two batches."""
import dataclasses
import typing

import paddle
import paddle.nn.functional as F
from paddle import nn, static
from paddle.vision import models


@dataclasses.dataclass
class Exported:
    """A network under the current program guard."""

    feeds: list
    fetches: list
    shapes: typing.List[dict]
    """For each batch, the shape of each feed."""
    bounds: dict = dataclasses.field(default_factory=dict)
    """For each feed of whole numbers, what they are below."""


def image(channels):
    return static.data("image", [-1, channels, -1, -1])


def mlp():
    x = static.data("x", [-1, 32])
    layers = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 10), nn.Softmax())
    return Exported([x], [layers(x)], [{"x": [2, 32]}, {"x": [7, 32]}])


def lenet():
    x = static.data("image", [-1, 1, 28, 28])
    return Exported([x], [models.LeNet()(x)], [{"image": [2, 1, 28, 28]}, {"image": [3, 1, 28, 28]}])


def resnet18():
    x = image(3)
    return Exported([x], [models.resnet18(num_classes=10)(x)], [{"image": [2, 3, 64, 64]}, {"image": [1, 3, 48, 40]}])


def mobilenet_v2():
    x = image(3)
    network = models.mobilenet_v2(num_classes=10)
    network.eval()
    return Exported([x], [network(x)], [{"image": [2, 3, 64, 64]}, {"image": [1, 3, 48, 40]}])


def bert():
    """Embeddings of tokens, positions and segments, three layers whose attention leaves out the padding (token 0), and the pooler."""
    tokens, segments = static.data("tokens", [-1, -1], "int64"), static.data("segments", [-1, -1], "int64")
    width = 48
    padding = paddle.unsqueeze(paddle.cast(tokens == 0, "float32") * -1e4, [1, 2])
    positions = paddle.cumsum(paddle.ones_like(tokens), axis=1) - 1
    hidden = nn.Embedding(60, width, padding_idx=0)(tokens) + nn.Embedding(64, width)(positions) + nn.Embedding(2, width)(segments)
    hidden = F.dropout(nn.LayerNorm(width)(hidden), 0.1, training=False)
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, 4, 96, dropout=0.1, activation="gelu"), 3)
    encoder.eval()
    sequence = encoder(hidden, padding)
    pooled = F.tanh(nn.Linear(width, width)(sequence[:, 0]))
    shapes = [{"tokens": [2, 9], "segments": [2, 9]}, {"tokens": [3, 5], "segments": [3, 5]}]
    return Exported([tokens, segments], [sequence, nn.Linear(width, 3)(pooled)], shapes, {"tokens": 60, "segments": 2})


def tagger():
    """Two bidirectional layers over sentences of different lengths."""
    tokens, lengths = static.data("tokens", [-1, -1], "int64"), static.data("lengths", [-1], "int64")
    states, _ = nn.LSTM(12, 10, num_layers=2, direction="bidirect")(nn.Embedding(40, 12)(tokens), sequence_length=lengths + 1)
    logits = nn.Linear(20, 5)(states)
    shapes = [{"tokens": [4, 8], "lengths": [4]}, {"tokens": [2, 11], "lengths": [2]}]
    return Exported([tokens, lengths], [logits, paddle.argmax(logits, -1)], shapes, {"tokens": 40, "lengths": 8})


def decoder():
    """Encodes a sentence, then writes the likeliest token until each row has written one from 10 up, 12 times at most; finished rows write 0.

    What is written grows by concat.
    """
    source = static.data("source", [-1, -1], "int64")
    embedding, cell, project = nn.Embedding(20, 16), nn.GRUCell(16, 16), nn.Linear(16, 20)
    state = F.tanh(nn.Linear(16, 16)(paddle.mean(embedding(source), axis=1)))
    step, token = paddle.full([1], 0, "int64"), source[:, :1]
    done = paddle.cast(paddle.zeros_like(token), "bool")
    score = paddle.zeros_like(token).astype("float32")
    written = paddle.assign(token)
    written.desc.set_shape([-1, -1])

    def unfinished(step, token, state, done, score, written):
        return paddle.logical_and(step < 12, paddle.logical_not(paddle.all(done)))

    def write(step, token, state, done, score, written):
        output, state = cell(embedding(token)[:, 0], state)
        likelihood = F.log_softmax(project(output))
        token = paddle.argmax(likelihood, -1, keepdim=True)
        token = paddle.where(done, paddle.zeros_like(token), token)
        score = score + paddle.max(likelihood, -1, keepdim=True)
        done = paddle.logical_or(done, token >= 10)
        return [step + 1, token, state, done, score, paddle.concat([written, token], 1)]

    _, _, state, _, score, written = static.nn.while_loop(unfinished, write, [step, token, state, done, score, written])
    return Exported([source], [written, score, state], [{"source": [2, 4]}, {"source": [5, 7]}, {"source": [1, 2]}], {"source": 20})


NETWORKS = {each.__name__: each for each in (mlp, lenet, resnet18, mobilenet_v2, bert, tagger, decoder)}
