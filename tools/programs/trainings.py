"""Training programs of PaddlePaddle 2.6.2 that no benchmark of Seriatim was tuned for, with what PaddlePaddle computes and how long it takes.

    OMP_NUM_THREADS=1 python tools/programs/trainings.py FOLDER [NAME...]

For each network FOLDER/NAME gets main.pdmodel and startup.pdmodel; parameters/*.npy, the values that the startup program has drawn, with their
names in parameters.txt; a .npy for each feed, with their names in feeds.txt; loss.txt with the name of the loss and its values in six steps; and
time.txt with the median times of a step on one thread, in milliseconds: of the wall clock, and of the processor.
`tools/programs/CompareTrainings.java FOLDER/NAME...` then trains the same steps in Seriatim, from the same parameters, and compares. Losses of
networks that normalise very few rows, or drop out, differ after the first steps.
"""

import os
import subprocess
import sys
import time

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
import paddle.vision.models as M
from paddle import static

rng = np.random.RandomState(7)
optimizers = paddle.optimizer
NETWORKS = {}


def f32(*shape):
    return rng.randn(*shape).astype("float32")


def ints(below, *shape):
    return rng.randint(0, below, shape).astype("int64")


def data(name, shape, dtype="float32"):
    return static.data(name, shape, dtype)


def network(define):
    """A function that gives a loss, what is fed, and an optimizer."""
    NETWORKS[define.__name__] = define
    return define


def pictures(model, s, b, k=10):
    """A network of paddle.vision that classifies pictures of s × s points in batches of b."""

    def f():
        x, y = data("x", [-1, 3, s, s]), data("y", [-1, 1], "int64")
        o = model()(x)
        if isinstance(o, (list, tuple)):
            l = sum(F.cross_entropy(v, y) * w for v, w in zip(o, (1, 0.3, 0.3)))
        else:
            l = F.cross_entropy(o, y)
        return l, {"x": f32(b, 3, s, s), "y": ints(k, b, 1)}, optimizers.Momentum(0.01, 0.9, weight_decay=1e-4)

    return f


for n, m, s, b in [
    ("mobilenet_v1", lambda: M.mobilenet_v1(num_classes=10), 64, 8),
    ("mobilenet_v2", lambda: M.mobilenet_v2(num_classes=10), 64, 8),
    ("mobilenet_v3s", lambda: M.mobilenet_v3_small(num_classes=10), 64, 8),
    ("shufflenet", lambda: M.shufflenet_v2_x0_5(num_classes=10), 64, 8),
    ("squeezenet", lambda: M.squeezenet1_1(num_classes=10), 64, 8),
    ("densenet", lambda: M.densenet121(num_classes=10), 64, 4),
    ("googlenet", lambda: M.googlenet(num_classes=10), 224, 2),
    ("vgg11", lambda: M.vgg11(num_classes=10), 32, 4),
    ("alexnet", lambda: M.alexnet(num_classes=10), 224, 2),
    ("resnext", lambda: M.resnext50_32x4d(num_classes=10), 64, 4),
    ("resnet50", lambda: M.resnet50(num_classes=10), 64, 4),
]:
    NETWORKS[n] = pictures(m, s, b)


@network
def encoder():
    x, y = data("x", [-1, 32], "int64"), data("y", [-1, 1], "int64")
    l = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0)
    h = nn.TransformerEncoder(l, 2)(nn.Embedding(200, 64)(x))
    return F.cross_entropy(nn.Linear(64, 5)(h.mean(1)), y), {"x": ints(200, 16, 32), "y": ints(5, 16, 1)}, optimizers.AdamW(1e-3)


@network
def seq2seq_tf():
    s, t, y = data("s", [-1, 12], "int64"), data("t", [-1, 10], "int64"), data("y", [-1, 10, 1], "int64")
    m = nn.Transformer(64, 4, 2, 2, 128, dropout=0.0)
    e = nn.Embedding(100, 64)
    mask = paddle.tensor.triu(paddle.full([10, 10], -1e9), 1)
    h = m(e(s), e(t), None, mask, None)
    return (
        F.cross_entropy(nn.Linear(64, 100)(h), y),
        {"s": ints(100, 8, 12), "t": ints(100, 8, 10), "y": ints(100, 8, 10, 1)},
        optimizers.Adam(1e-3, grad_clip=nn.ClipGradByGlobalNorm(1.0)),
    )


def recurrent(cls, layers, bi, h, b, t):
    """Recurrent layers of h units over t steps."""

    def f():
        x, y = data("x", [-1, t, 24]), data("y", [-1, 1], "int64")
        o, _ = cls(24, h, layers, direction="bidirect" if bi else "forward")(x)
        return F.cross_entropy(nn.Linear(h * (2 if bi else 1), 6)(o[:, -1]), y), {"x": f32(b, t, 24), "y": ints(6, b, 1)}, optimizers.Adam(1e-3)

    return f


NETWORKS["lstm"] = recurrent(nn.LSTM, 2, False, 64, 16, 30)
NETWORKS["bilstm"] = recurrent(nn.LSTM, 1, True, 48, 8, 40)
NETWORKS["gru"] = recurrent(nn.GRU, 1, False, 96, 32, 25)
NETWORKS["simplernn"] = recurrent(nn.SimpleRNN, 2, False, 32, 16, 20)


@network
def textcnn():
    x, y = data("x", [-1, 50], "int64"), data("y", [-1, 1], "int64")
    h = nn.Embedding(500, 64)(x).transpose([0, 2, 1])
    p = [F.relu(nn.Conv1D(64, 32, k)(h)).max(-1) for k in (3, 4, 5)]
    return (
        F.cross_entropy(nn.Linear(96, 4)(F.dropout(paddle.concat(p, 1), 0.0)), y),
        {"x": ints(500, 32, 50), "y": ints(4, 32, 1)},
        optimizers.Adam(1e-3),
    )


@network
def tcn():
    x, y = data("x", [-1, 8, 100]), data("y", [-1, 1])
    h = x
    for i in range(4):
        c = 8 if i == 0 else 32
        g = F.relu(nn.Conv1D(c, 32, 3, padding=2**i, dilation=2**i)(h))
        g = F.relu(nn.Conv1D(32, 32, 3, padding=2**i, dilation=2**i)(g))
        h = g + (nn.Conv1D(c, 32, 1)(h) if c != 32 else h)
    return F.mse_loss(nn.Linear(32, 1)(h[:, :, -1]), y), {"x": f32(16, 8, 100), "y": f32(16, 1)}, optimizers.Adam(1e-3)


@network
def unet():
    x, y = data("x", [-1, 3, 64, 64]), data("y", [-1, 1, 64, 64])

    def blk(h, a, b):
        return F.relu(nn.BatchNorm2D(b)(nn.Conv2D(b, b, 3, padding=1)(F.relu(nn.BatchNorm2D(b)(nn.Conv2D(a, b, 3, padding=1)(h))))))

    a = blk(x, 3, 16)
    b = blk(F.max_pool2d(a, 2), 16, 32)
    c = blk(F.max_pool2d(b, 2), 32, 64)
    u = blk(paddle.concat([nn.Conv2DTranspose(64, 32, 2, 2)(c), b], 1), 64, 32)
    v = blk(paddle.concat([F.interpolate(nn.Conv2D(32, 16, 1)(u), scale_factor=2, mode="bilinear"), a], 1), 32, 16)
    return (
        F.binary_cross_entropy_with_logits(nn.Conv2D(16, 1, 1)(v), y),
        {"x": f32(4, 3, 64, 64), "y": (f32(4, 1, 64, 64) > 0).astype("float32")},
        optimizers.Adam(1e-3),
    )


@network
def vae():
    x, e = data("x", [-1, 784]), data("e", [-1, 20])
    h = F.relu(nn.Linear(784, 256)(x))
    mu, lv = nn.Linear(256, 20)(h), nn.Linear(256, 20)(h)
    r = F.sigmoid(nn.Linear(256, 784)(F.relu(nn.Linear(20, 256)(mu + paddle.exp(0.5 * lv) * e))))
    return (
        F.binary_cross_entropy(r, x, reduction="sum") / 64 - 0.5 * paddle.sum(1 + lv - mu**2 - lv.exp()) / 64,
        {"x": rng.rand(64, 784).astype("float32"), "e": f32(64, 20)},
        optimizers.Adam(1e-3),
    )


@network
def convae():
    x = data("x", [-1, 1, 28, 28])
    h = F.leaky_relu(nn.Conv2D(1, 16, 4, 2, 1)(x))
    h = F.leaky_relu(nn.BatchNorm2D(32)(nn.Conv2D(16, 32, 4, 2, 1)(h)))
    h = F.relu(nn.Conv2DTranspose(32, 16, 4, 2, 1)(h))
    return F.mse_loss(F.tanh(nn.Conv2DTranspose(16, 1, 4, 2, 1)(h)), x), {"x": f32(32, 1, 28, 28)}, optimizers.RMSProp(1e-3)


@network
def deepfm():
    ids, dense, y = data("ids", [-1, 26], "int64"), data("d", [-1, 13]), data("y", [-1, 1])
    e = nn.Embedding(10000, 16, sparse=True)(ids)
    w = nn.Embedding(10000, 1, sparse=True)(ids).sum(1)
    fm = 0.5 * (e.sum(1) ** 2 - (e**2).sum(1)).sum(1, keepdim=True)
    h = paddle.concat([e.reshape([-1, 416]), dense], 1)
    for a, b in ((429, 128), (128, 64)):
        h = F.relu(nn.Linear(a, b)(h))
    return (
        F.binary_cross_entropy_with_logits(w + fm + nn.Linear(64, 1)(h) + nn.Linear(13, 1)(dense), y),
        {"ids": ints(10000, 128, 26), "d": f32(128, 13), "y": (f32(128, 1) > 0).astype("float32")},
        optimizers.Adam(1e-3, lazy_mode=True),
    )


@network
def word2vec():
    c, t = data("c", [-1, 4], "int64"), data("t", [-1, 1], "int64")
    e = nn.Embedding(2000, 64)(c).sum(1)
    return (
        F.hsigmoid_loss(e, t, 2000, paddle.create_parameter([1999, 64], "float32")).mean(),
        {"c": ints(2000, 64, 4), "t": ints(2000, 64, 1)},
        optimizers.SGD(0.05),
    )


@network
def matrixfact():
    u, i, r = data("u", [-1], "int64"), data("i", [-1], "int64"), data("r", [-1])
    p = (nn.Embedding(1000, 32)(u) * nn.Embedding(2000, 32)(i)).sum(1) + nn.Embedding(1000, 1)(u).squeeze(1)
    return F.mse_loss(p, r), {"u": ints(1000, 256), "i": ints(2000, 256), "r": f32(256)}, optimizers.Adagrad(0.05)


@network
def vit():
    x, y = data("x", [-1, 3, 32, 32]), data("y", [-1, 1], "int64")
    B = 16
    h = nn.Conv2D(3, 64, 4, 4)(x).flatten(2).transpose([0, 2, 1])
    cls = paddle.create_parameter([1, 1, 64], "float32")
    h = paddle.concat([cls.expand([B, 1, 64]), h], 1) + paddle.create_parameter([1, 65, 64], "float32")
    for _ in range(3):
        n = nn.LayerNorm(64)(h)
        q, k, v = paddle.unbind(nn.Linear(64, 192)(n).reshape([B, 65, 3, 4, 16]).transpose([2, 0, 3, 1, 4]), 0)
        h = h + nn.Linear(64, 64)(
            paddle.matmul(F.softmax(paddle.matmul(q, k, transpose_y=True) * 0.25), v).transpose([0, 2, 1, 3]).reshape([B, 65, 64])
        )
        h = h + nn.Linear(128, 64)(F.gelu(nn.Linear(64, 128)(nn.LayerNorm(64)(h))))
    return (
        F.cross_entropy(nn.Linear(64, 10)(h[:, 0]), y),
        {"x": f32(B, 3, 32, 32), "y": ints(10, B, 1)},
        optimizers.AdamW(1e-3, grad_clip=nn.ClipGradByNorm(1.0)),
    )


@network
def mixer():
    x, y = data("x", [-1, 3, 32, 32]), data("y", [-1, 1], "int64")
    h = nn.Conv2D(3, 64, 4, 4)(x).flatten(2).transpose([0, 2, 1])
    for _ in range(4):
        h = h + nn.Linear(128, 64)(F.gelu(nn.Linear(64, 128)(nn.LayerNorm(64)(h).transpose([0, 2, 1])))).transpose([0, 2, 1])
        h = h + nn.Linear(256, 64)(F.gelu(nn.Linear(64, 256)(nn.LayerNorm(64)(h))))
    return F.cross_entropy(nn.Linear(64, 10)(h.mean(1)), y), {"x": f32(16, 3, 32, 32), "y": ints(10, 16, 1)}, optimizers.Lamb(1e-3)


@network
def crnn():
    x, y, yl = data("x", [-1, 1, 32, 100]), data("y", [-1, 6], "int32"), data("yl", [-1], "int64")
    B = 8
    h = x
    c = 1
    for o, p in ((16, (2, 2)), (32, (2, 2)), (64, (2, 1))):
        h = F.max_pool2d(F.relu(nn.BatchNorm2D(o)(nn.Conv2D(c, o, 3, padding=1)(h))), p)
        c = o
    h = h.transpose([3, 0, 1, 2]).reshape([25, B, 256])
    o, _ = nn.LSTM(256, 48, direction="bidirect", time_major=True)(h)
    lg = nn.Linear(96, 37)(o)
    il = paddle.full([B], 25, "int64")
    return (
        F.ctc_loss(lg, y, il, yl),
        {"x": f32(B, 1, 32, 100), "y": (1 + ints(36, B, 6)).astype("int32"), "yl": np.full(B, 6, "int64")},
        optimizers.Adam(1e-3),
    )


@network
def siamese():
    a, b, c = data("a", [-1, 3, 32, 32]), data("b", [-1, 3, 32, 32]), data("c", [-1, 3, 32, 32])
    net = nn.Sequential(nn.Conv2D(3, 16, 3, 2, 1), nn.PReLU(), nn.Conv2D(16, 32, 3, 2, 1), nn.PReLU(), nn.Flatten(), nn.Linear(2048, 32))
    z = [F.normalize(net(v)) for v in (a, b, c)]
    return F.triplet_margin_loss(*z), {k: f32(16, 3, 32, 32) for k in "abc"}, optimizers.Adam(1e-3)


@network
def normnet():
    x, y = data("x", [-1, 3, 32, 32]), data("y", [-1, 1], "int64")
    h = x
    c = 3
    for o, n in ((32, nn.GroupNorm(4, 32)), (32, nn.InstanceNorm2D(32)), (32, nn.GroupNorm(8, 32))):
        h = F.silu(n(nn.Conv2D(c, o, 3, 1, 1)(h)))
        c = o
    return (
        F.cross_entropy(nn.Linear(32, 10)(F.adaptive_avg_pool2d(h, 1).flatten(1)), y),
        {"x": f32(8, 3, 32, 32), "y": ints(10, 8, 1)},
        optimizers.Adam(1e-3),
    )


@network
def gcn():
    x, s, d, y = data("x", [200, 32]), data("s", [1000], "int64"), data("d", [1000], "int64"), data("y", [200, 1], "int64")
    h = x
    for a, b in ((32, 64), (64, 7)):
        h = paddle.geometric.send_u_recv(nn.Linear(a, b)(h), s, d, "mean", out_size=200)
        h = F.relu(h) if b == 64 else h
    return F.cross_entropy(h, y), {"x": f32(200, 32), "s": ints(200, 1000), "d": ints(200, 1000), "y": ints(7, 200, 1)}, optimizers.Adam(1e-2)


@network
def dqn():
    s, a, t = data("s", [-1, 4]), data("a", [-1, 1], "int64"), data("t", [-1, 1])
    h = s
    for i, o in ((4, 128), (128, 128)):
        h = F.relu(nn.Linear(i, o)(h))
    q = paddle.take_along_axis(nn.Linear(128, 2)(h), a, 1)
    return F.smooth_l1_loss(q, t), {"s": f32(64, 4), "a": ints(2, 64, 1), "t": f32(64, 1)}, optimizers.Adam(1e-3)


@network
def widedeep():
    x, y = data("x", [-1, 40]), data("y", [-1, 1])
    h = x
    for a, b in ((40, 256), (256, 128), (128, 64)):
        h = F.relu(nn.BatchNorm1D(b)(nn.Linear(a, b)(h)))
    p = F.sigmoid(nn.Linear(64, 1)(h) + nn.Linear(40, 1)(x))
    return F.log_loss(p, y).mean(), {"x": f32(256, 40), "y": (f32(256, 1) > 0).astype("float32")}, optimizers.Adam(1e-3)


@network
def attnrnn():
    x, y = data("x", [-1, 20, 16]), data("y", [-1, 1], "int64")
    B = 16
    enc, _ = nn.GRU(16, 32)(x)
    cell = nn.GRUCell(32, 32)
    h = paddle.zeros([B, 32])
    w = nn.Linear(32, 32)
    for _ in range(8):
        a = F.softmax(paddle.matmul(enc, w(h).unsqueeze(2)).squeeze(2))
        c = paddle.matmul(a.unsqueeze(1), enc).squeeze(1)
        _, h = cell(c, h)
    return F.cross_entropy(nn.Linear(32, 5)(h), y), {"x": f32(B, 20, 16), "y": ints(5, B, 1)}, optimizers.Adam(1e-3)


@network
def conv3d():
    x, y = data("x", [-1, 2, 12, 24, 24]), data("y", [-1, 1], "int64")
    h = F.max_pool3d(F.relu(nn.BatchNorm3D(8)(nn.Conv3D(2, 8, 3, padding=1)(x))), 2)
    h = F.relu(nn.Conv3D(8, 16, 3, padding=1)(h))
    return F.cross_entropy(nn.Linear(16, 4)(h.mean([2, 3, 4])), y), {"x": f32(4, 2, 12, 24, 24), "y": ints(4, 4, 1)}, optimizers.Adam(1e-3)


@network
def gptbig():
    C, V, d, H, B = 48, 120, 96, 6, 8
    x, y = data("x", [-1, C], "int64"), data("y", [-1, C, 1], "int64")
    h = nn.Embedding(V, d)(x) + paddle.create_parameter([C, d], "float32")
    mask = paddle.assign(np.triu(np.full((C, C), -1e9, "float32"), 1))
    for _ in range(3):
        n = nn.LayerNorm(d)(h)
        q, k, v = [nn.Linear(d, d)(n).reshape([B, C, H, d // H]).transpose([0, 2, 1, 3]) for _ in range(3)]
        h = h + nn.Linear(d, d)(
            paddle.matmul(F.softmax(paddle.matmul(q, k, transpose_y=True) / 4 + mask), v).transpose([0, 2, 1, 3]).reshape([B, C, d])
        )
        m = nn.LayerNorm(d)(h)
        h = h + nn.Linear(2 * d, d)(F.silu(nn.Linear(d, 2 * d)(m)) * nn.Linear(d, 2 * d)(m))
    return F.cross_entropy(nn.Linear(d, V)(h), y), {"x": ints(V, B, C), "y": ints(V, B, C, 1)}, optimizers.AdamW(1e-3)


@network
def gat():
    n, e = 300, 1500
    x, s, d, y = data("x", [n, 32]), data("s", [e], "int64"), data("d", [e], "int64"), data("y", [n, 1], "int64")
    h = nn.Linear(32, 32)(x)
    a = F.leaky_relu(nn.Linear(32, 1)(paddle.gather(h, s)) + nn.Linear(32, 1)(paddle.gather(h, d)))
    w = paddle.exp(a - a.max())
    z = paddle.scatter_nd_add(paddle.zeros([n, 1]), d.unsqueeze(1), w)
    w = w / paddle.gather(z, d)
    o = paddle.scatter_nd_add(paddle.zeros([n, 32]), d.unsqueeze(1), paddle.gather(h, s) * w)
    return (
        F.cross_entropy(nn.Linear(32, 7)(F.elu(o)), y),
        {"x": f32(n, 32), "s": ints(n, e), "d": ints(n, e), "y": ints(7, n, 1)},
        optimizers.Adam(1e-2),
    )


@network
def convlstm():
    x, y = data("x", [-1, 6, 2, 24, 24]), data("y", [-1, 1])
    B = 4
    c = nn.Conv2D(2 + 12, 48, 3, padding=1)
    h = k = paddle.zeros([B, 12, 24, 24])
    for t in range(6):
        i, f, o, g = paddle.split(c(paddle.concat([x[:, t], h], 1)), 4, 1)
        k = F.sigmoid(f) * k + F.sigmoid(i) * paddle.tanh(g)
        h = F.sigmoid(o) * paddle.tanh(k)
    return F.mse_loss(nn.Linear(12, 1)(h.mean([2, 3])), y), {"x": f32(B, 6, 2, 24, 24), "y": f32(B, 1)}, optimizers.Adam(1e-3)


@network
def wgangp():
    x, z, e = data("x", [-1, 16]), data("z", [-1, 8]), data("e", [-1, 1])
    g = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 16))
    d = nn.Sequential(nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 1))
    f = g(z)
    m = e * x + (1 - e) * f
    m.stop_gradient = False
    (gr,) = static.gradients([d(m)], [m])
    gp = ((paddle.sqrt((gr**2).sum(1) + 1e-6) - 1) ** 2).mean()
    return d(f).mean() - d(x).mean() + 10 * gp, {"x": f32(64, 16), "z": f32(64, 8), "e": rng.rand(64, 1).astype("float32")}, optimizers.Adam(1e-3)


@network
def diffusion():
    x, t, e = data("x", [-1, 3, 32, 32]), data("t", [-1, 32]), data("e", [-1, 3, 32, 32])

    def blk(h, a, b):
        r = nn.Conv2D(a, b, 3, padding=1)(F.silu(nn.GroupNorm(4, a)(h))) + nn.Linear(32, b)(t).unsqueeze(-1).unsqueeze(-1)
        return r + nn.Conv2D(b, b, 3, padding=1)(F.silu(nn.GroupNorm(4, b)(r)))

    h = nn.Conv2D(3, 16, 3, padding=1)(x)
    a = blk(h, 16, 16)
    b = blk(nn.Conv2D(16, 16, 3, 2, 1)(a), 16, 32)
    q = nn.GroupNorm(4, 32)(b).flatten(2).transpose([0, 2, 1])
    w = F.softmax(paddle.matmul(nn.Linear(32, 32)(q), nn.Linear(32, 32)(q), transpose_y=True) / 6)
    b = b + paddle.matmul(w, nn.Linear(32, 32)(q)).transpose([0, 2, 1]).reshape([-1, 32, 16, 16])
    u = blk(paddle.concat([F.interpolate(b, scale_factor=2), a], 1), 48, 16)
    return F.mse_loss(nn.Conv2D(16, 3, 3, padding=1)(u), e), {"x": f32(4, 3, 32, 32), "t": f32(4, 32), "e": f32(4, 3, 32, 32)}, optimizers.AdamW(1e-3)


@network
def distill():
    x, y = data("x", [-1, 100]), data("y", [-1, 1], "int64")
    T = nn.Sequential(nn.Linear(100, 300), nn.ReLU(), nn.Linear(300, 10))
    S = nn.Sequential(nn.Linear(100, 40), nn.Hardswish(), nn.Linear(40, 10))
    t = F.softmax(T(x) / 3).detach()
    s = S(x)
    return (
        F.kl_div(F.log_softmax(s / 3), t, "batchmean") * 9 + F.cross_entropy(s, y),
        {"x": f32(128, 100), "y": ints(10, 128, 1)},
        optimizers.Momentum(0.05, 0.9, use_nesterov=True),
    )


@network
def whilernn():
    x, y = data("x", [20, 16, 24]), data("y", [16, 1])
    c = nn.Linear(48, 24)
    i = paddle.zeros([1], "int64")
    h = paddle.zeros([16, 24])
    h.stop_gradient = False
    i, h = static.nn.while_loop(
        lambda i, h: i < 20, lambda i, h: [i + 1, paddle.tanh(c(paddle.concat([paddle.gather(x, i, axis=0).reshape([16, 24]), h], 1)))], [i, h]
    )
    return F.mse_loss(nn.Linear(24, 1)(h), y), {"x": f32(20, 16, 24), "y": f32(16, 1)}, optimizers.SGD(0.05)


@network
def whileattn():
    B = 8
    x, y = data("x", [B, 12, 32]), data("y", [B, 1], "int64")
    q, c = nn.Linear(32, 32), nn.GRUCell(32, 32)
    i = paddle.zeros([1], "int64")
    h = paddle.zeros([B, 32])
    h.stop_gradient = False

    def body(i, h):
        a = F.softmax(paddle.matmul(x, q(h).unsqueeze(2)).squeeze(2))
        _, n = c(paddle.matmul(a.unsqueeze(1), x).squeeze(1), h)
        return [i + 1, n]

    i, h = static.nn.while_loop(lambda i, h: i < 10, body, [i, h])
    return F.cross_entropy(nn.Linear(32, 5)(h), y), {"x": f32(B, 12, 32), "y": ints(5, B, 1)}, optimizers.Adam(1e-3)


@network
def condnet():
    x, y, k = data("x", [-1, 64]), data("y", [-1, 1]), data("k", [1])
    a, b = nn.Linear(64, 64), nn.Linear(64, 64)
    h = static.nn.cond(k > 0, lambda: F.relu(a(x)), lambda: paddle.tanh(b(x)))
    return F.mse_loss(nn.Linear(64, 1)(h), y), {"x": f32(64, 64), "y": f32(64, 1), "k": np.ones(1, "float32")}, optimizers.Adam(1e-3)


@network
def arcface():
    x, y = data("x", [-1, 3, 32, 32]), data("y", [-1], "int64")
    h = F.normalize(
        nn.Linear(512, 64)(F.prelu(nn.BatchNorm2D(32)(nn.Conv2D(3, 32, 3, 8, 1)(x)), paddle.create_parameter([32], "float32")).flatten(1))
    )
    w = F.normalize(paddle.create_parameter([64, 100], "float32"), axis=0)
    return (
        F.cross_entropy(30 * (paddle.matmul(h, w) - 0.35 * F.one_hot(y, 100)), y.unsqueeze(1)),
        {"x": f32(16, 3, 32, 32), "y": ints(100, 16)},
        optimizers.Momentum(0.01, 0.9),
    )


@network
def focaldet():
    x, y, b = data("x", [-1, 3, 64, 64]), data("y", [-1, 64, 4]), data("b", [-1, 64, 4])
    h = x
    c = 3
    for o in (16, 32, 64):
        h = F.relu(nn.BatchNorm2D(o)(nn.Conv2D(c, o, 3, 2, 1)(h)))
        c = o
    p = F.sigmoid(nn.Conv2D(64, 4, 3, padding=1)(h)).flatten(2).transpose([0, 2, 1])
    r = nn.Conv2D(64, 4, 3, padding=1)(h).flatten(2).transpose([0, 2, 1])
    pt = p * y + (1 - p) * (1 - y)
    return (
        (-((1 - pt) ** 2) * paddle.log(pt + 1e-6)).mean() + F.smooth_l1_loss(r, b),
        {"x": f32(4, 3, 64, 64), "y": (f32(4, 64, 4) > 1).astype("float32"), "b": f32(4, 64, 4)},
        optimizers.Adam(1e-3),
    )


@network
def memnet():
    s, q, a = data("s", [-1, 10, 6], "int64"), data("q", [-1, 6], "int64"), data("a", [-1, 1], "int64")
    A, C, B = nn.Embedding(80, 32), nn.Embedding(80, 32), nn.Embedding(80, 32)
    u = B(q).sum(1)
    m, c = A(s).sum(2), C(s).sum(2)
    for _ in range(3):
        p = F.softmax(paddle.matmul(m, u.unsqueeze(2)).squeeze(2))
        u = u + (c * p.unsqueeze(2)).sum(1)
    return (
        F.cross_entropy(nn.Linear(32, 80)(u), a),
        {"s": ints(80, 32, 10, 6), "q": ints(80, 32, 6), "a": ints(80, 32, 1)},
        optimizers.Adam(1e-2, grad_clip=nn.ClipGradByGlobalNorm(40.0)),
    )


@network
def din():
    h, t, y = data("h", [-1, 20], "int64"), data("t", [-1], "int64"), data("y", [-1, 1])
    e = nn.Embedding(5000, 16)
    a, b = e(h), e(t).unsqueeze(1).expand([-1, 20, 16])
    w = nn.Linear(32, 1)(F.sigmoid(nn.Linear(64, 32)(paddle.concat([a, b, a - b, a * b], -1)))).squeeze(2)
    w = F.softmax(paddle.where(h > 0, w, paddle.full_like(w, -1e9)))
    u = paddle.matmul(w.unsqueeze(1), a).squeeze(1)
    return (
        F.binary_cross_entropy_with_logits(nn.Linear(32, 1)(paddle.concat([u, e(t)], 1)), y),
        {"h": ints(5000, 64, 20), "t": ints(5000, 64), "y": (f32(64, 1) > 0).astype("float32")},
        optimizers.Adam(1e-3),
    )


@network
def posenet():
    x, y = data("x", [-1, 3, 64, 64]), data("y", [-1, 8, 32, 32])
    h = x
    c = 3
    for o, st in ((16, 2), (32, 2), (32, 2)):
        h = F.relu6(nn.BatchNorm2D(o)(nn.Conv2D(o, o, 3, st, 1, groups=o)(nn.Conv2D(c, o, 1)(h))))
        c = o
    for _ in range(2):
        h = F.relu(nn.BatchNorm2D(32)(nn.Conv2DTranspose(32, 32, 4, 2, 1)(h)))
    return F.mse_loss(nn.Conv2D(32, 8, 1)(h), y), {"x": f32(4, 3, 64, 64), "y": f32(4, 8, 32, 32)}, optimizers.Adam(1e-3)


@network
def lnlstm():
    x, y = data("x", [-1, 15, 20]), data("y", [-1, 1])
    B, H = 16, 40
    w = nn.Linear(20 + H, 4 * H)
    ln, lc = nn.LayerNorm(4 * H), nn.LayerNorm(H)
    h = c = paddle.zeros([B, H])
    for t in range(15):
        i, f, o, g = paddle.chunk(ln(w(paddle.concat([x[:, t], h], 1))), 4, 1)
        c = F.sigmoid(f) * c + F.sigmoid(i) * paddle.tanh(g)
        h = F.sigmoid(o) * paddle.tanh(lc(c))
    return F.mse_loss(nn.Linear(H, 1)(h), y), {"x": f32(B, 15, 20), "y": f32(B, 1)}, optimizers.RMSProp(1e-3, momentum=0.9, centered=True)


@network
def padded():
    x, n, y = data("x", [-1, 25, 16]), data("n", [-1], "int64"), data("y", [-1, 1], "int64")
    o, (h, c) = nn.LSTM(16, 32)(x, sequence_length=n)
    return F.cross_entropy(nn.Linear(32, 4)(h[-1]), y), {"x": f32(16, 25, 16), "n": 1 + ints(25, 16), "y": ints(4, 16, 1)}, optimizers.Adam(1e-3)


@network
def crf():
    x, y, n = data("x", [-1, 12, 20]), data("y", [-1, 12], "int64"), data("n", [-1], "int64")
    em = nn.Linear(40, 5)(nn.GRU(20, 20, direction="bidirect")(x)[0])
    tr = paddle.create_parameter([7, 5], "float32")
    b = static.default_main_program().current_block()
    mk = lambda k: b.create_var(name="crf_" + k, dtype="float32", persistable=False)
    outs = {k: [mk(k)] for k in ("Alpha", "EmissionExps", "TransitionExps", "LogLikelihood")}
    b.append_op(type="linear_chain_crf", inputs={"Emission": [em], "Transition": [tr], "Label": [y], "Length": [n]}, outputs=outs)
    return outs["LogLikelihood"][0].mean(), {"x": f32(8, 12, 20), "y": ints(5, 8, 12), "n": 1 + ints(12, 8)}, optimizers.Adam(1e-3)


def median(values):
    return sorted(values)[len(values) // 2]


def write(name, folder, seconds=2):
    paddle.enable_static()
    paddle.seed(3)
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        loss, feed, optimizer = NETWORKS[name]()
        optimizer.minimize(loss)
    exe = static.Executor(paddle.CPUPlace())
    exe.run(startup)
    os.makedirs(f"{folder}/parameters", exist_ok=True)
    for part, program in (("main", main), ("startup", startup)):
        with open(f"{folder}/{part}.pdmodel", "wb") as file:
            file.write(program.desc.serialize_to_string())
    names = []
    for variable in main.list_vars():
        found = static.global_scope().find_var(variable.name)
        if variable.persistable and found and variable.name not in ("feed", "fetch") and found.get_tensor()._is_initialized():
            np.save(f"{folder}/parameters/{len(names)}.npy", np.array(found.get_tensor()))
            names.append(variable.name)
    for key, value in feed.items():
        np.save(f"{folder}/{key}.npy", value)

    def step():
        return float(np.asarray(exe.run(main, feed=feed, fetch_list=[loss])[0]).reshape(-1)[0])

    losses = [step() for _ in range(6)]
    wall, cpu, end = [], [], time.time() + seconds
    while time.time() < end or len(wall) < 5:
        begin, used = time.perf_counter(), time.process_time()
        step()
        wall.append(1e3 * (time.perf_counter() - begin))
        cpu.append(1e3 * (time.process_time() - used))
    for file, lines in {"parameters": names, "feeds": feed, "loss": [loss.name, *losses], "time": [median(wall), median(cpu)]}.items():
        with open(f"{folder}/{file}.txt", "w") as out:
            out.write("\n".join(map(str, lines)))
    print(f"{name}: {len(main.global_block().ops)} operations, {median(wall):.3f} ms a step, loss {losses[0]:.4f} to {losses[-1]:.4f}", flush=True)


if __name__ == "__main__":
    folder, names = sys.argv[1], sys.argv[2:] or list(NETWORKS)
    if len(names) == 1:
        write(names[0], os.path.join(folder, names[0]))
    else:
        # Each in a process of its own: the names of variables count on.
        for name in names:
            subprocess.run([sys.executable, __file__, folder, name], check=True)
