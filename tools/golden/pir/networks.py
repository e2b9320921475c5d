"""Networks that PaddlePaddle 3 saves in its format PIR, with inputs and the outputs that it computes for them.

    python networks.py OUT [PATTERN]

writes OUT/NAME.json, OUT/NAME.pdiparams and OUT/NAME.npz (arrays `in/FEED` and `out/FETCH`) for each network whose name PATTERN matches.
"""
import re
import sys
import traceback
from pathlib import Path

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.static import InputSpec

NETWORKS = {}


def network(*inputs, **options):
    """Declares a network: a function that makes a layer or a function, and the shapes or arrays of its inputs."""
    def register(make):
        NETWORKS[make.__name__] = (make, inputs, options)
        return make
    return register


def vision(name, size=64, **options):
    def make():
        return getattr(paddle.vision.models, name)(**options)
    make.__name__ = "vision_" + name
    NETWORKS[make.__name__] = (make, ((1, 3, size, size),), {})


for _name in ("alexnet", "vgg11", "resnet18", "resnet50", "wide_resnet50_2", "resnext50_32x4d", "mobilenet_v1", "mobilenet_v2",
              "mobilenet_v3_small", "mobilenet_v3_large", "squeezenet1_0", "squeezenet1_1", "densenet121", "shufflenet_v2_x0_25",
              "shufflenet_v2_swish", "googlenet"):
    vision(_name, 224 if _name == "googlenet" else 96 if _name == "alexnet" else 64)
vision("inception_v3", 128)
vision("LeNet", 28)
NETWORKS["vision_LeNet"] = (NETWORKS["vision_LeNet"][0], ((1, 1, 28, 28),), {})


@network((2, 5, 16))
def transformer_encoder():
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, activation="gelu"), 2)


@network((2, 5, 16), normalize_before=True)
def transformer_before():
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, normalize_before=True), 1)


@network(("int64", (2, 7), 50))
def bert():
    class Bert(nn.Layer):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(50, 16)
            self.places = nn.Embedding(20, 16)
            self.norm = nn.LayerNorm(16)
            self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32), 2)
            self.pooler = nn.Linear(16, 16)

        def forward(self, ids):
            mask = paddle.unsqueeze((ids == 0).astype("float32") * -1e4, axis=[1, 2])
            places = paddle.arange(ids.shape[1]).unsqueeze(0)
            hidden = self.encoder(self.norm(self.words(ids) + self.places(places)), mask)
            return hidden, paddle.tanh(self.pooler(hidden[:, 0]))
    return Bert()


@network((2, 6, 16), (2, 5, 16))
def transformer():
    return nn.Transformer(16, 4, 1, 1, 32)


@network((2, 6, 8))
def lstm():
    return nn.LSTM(8, 12, num_layers=2, direction="bidirect")


@network((2, 6, 8))
def gru():
    return nn.GRU(8, 12)


@network((2, 6, 8))
def simple_rnn():
    return nn.SimpleRNN(8, 12, direction="bidirect", activation="relu")


@network((3, 4))
def control():
    class Control(nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            i = paddle.zeros([1], "int64")
            while i < 3:
                x = self.linear(x)
                if x.sum() > 0:
                    x = x * 0.5
                else:
                    x = x + 1
                i += 1
            rows = []
            for k in range(paddle.shape(x)[0]):
                rows.append(x[k] * 2)
            return paddle.stack(rows), x.reshape([x.shape[0], -1])
    return Control()


@network((3, 4))
def nested():
    def run(x):
        i = paddle.zeros([1], "int64")
        total = paddle.zeros_like(x)
        while i < 4:
            j = paddle.zeros([1], "int64")
            while j < i:
                if (x.mean() + j.astype("float32")) > 1:
                    total = total + x
                elif x.max() > 2:
                    total = total - x
                else:
                    total = total * 0.5 + 1
                j += 1
            i += 1
        if total.sum() > 0:
            return total, i
        return -total, i + 1
    return run


@network((2, 4), (2, 4))
def swap():
    def run(a, b):
        i = paddle.zeros([1], "int32")
        while i < 3:
            a, b = b, a + b
            i += 1
        return a, b
    return run


@network((6,))
def fill():
    def run(x):
        y = paddle.zeros([6])
        for i in range(6):
            if x[i] > 0:
                y[i] = x[i] * 2
        return y
    return run


@network((1, 3, 32, 64))
def recognition():
    """In the style of PP-OCR's recognition: depthwise convolutions, squeeze and excitation, LSTM, a CTC head."""
    class Block(nn.Layer):
        def __init__(self, channels, out, kernel, stride, excite):
            super().__init__()
            self.depth = nn.Conv2D(channels, channels, kernel, stride=stride, padding=kernel // 2, groups=channels, bias_attr=False)
            self.norm = nn.BatchNorm2D(channels)
            self.point = nn.Conv2D(channels, out, 1, bias_attr=False)
            self.norm2 = nn.BatchNorm2D(out)
            self.act = nn.Hardswish()
            self.excite = nn.Sequential(nn.AdaptiveAvgPool2D(1), nn.Conv2D(channels, channels // 4, 1), nn.ReLU(),
                                        nn.Conv2D(channels // 4, channels, 1), nn.Hardsigmoid()) if excite else None

        def forward(self, x):
            x = self.act(self.norm(self.depth(x)))
            if self.excite is not None:
                x = x * self.excite(x)
            return self.act(self.norm2(self.point(x)))

    class Recognition(nn.Layer):
        def __init__(self):
            super().__init__()
            self.stem = nn.Conv2D(3, 8, 3, stride=2, padding=1)
            self.blocks = nn.Sequential(Block(8, 16, 3, 1, False), Block(16, 16, 5, (2, 1), True))
            self.pool = nn.MaxPool2D(2, stride=2)
            self.rnn = nn.LSTM(16, 12, direction="bidirectional", num_layers=2)
            self.head = nn.Linear(24, 20)

        def forward(self, x):
            x = self.pool(self.blocks(self.stem(x)))
            x = F.adaptive_avg_pool2d(x, [1, x.shape[3]])
            x = x.squeeze(2).transpose([0, 2, 1])
            x, _ = self.rnn(x)
            return F.softmax(self.head(x), axis=2)
    return Recognition()


@network((1, 3, 64, 64))
def detection():
    """In the style of PP-OCR's detection: a pyramid with nearest upsampling, deconvolutions."""
    class Detection(nn.Layer):
        def __init__(self):
            super().__init__()
            self.stages = nn.LayerList([nn.Sequential(nn.Conv2D(i, o, 3, stride=2, padding=1, bias_attr=False), nn.BatchNorm2D(o), nn.Hardswish())
                                        for i, o in ((3, 8), (8, 12), (12, 16))])
            self.lateral = nn.LayerList([nn.Conv2D(c, 8, 1) for c in (8, 12, 16)])
            self.up1 = nn.Conv2DTranspose(24, 8, 2, stride=2)
            self.norm = nn.BatchNorm2D(8)
            self.up2 = nn.Conv2DTranspose(8, 1, 2, stride=2, output_padding=0)

        def forward(self, x):
            features = []
            for stage in self.stages:
                x = stage(x)
                features.append(x)
            a, b, c = (layer(f) for layer, f in zip(self.lateral, features))
            b = b + F.interpolate(c, scale_factor=2, mode="nearest")
            a = a + F.interpolate(b, size=[a.shape[2], a.shape[3]], mode="nearest")
            fused = paddle.concat([a, F.interpolate(b, scale_factor=2, mode="bilinear"), F.upsample(c, scale_factor=4, mode="nearest")], axis=1)
            return F.sigmoid(self.up2(F.relu(self.norm(self.up1(fused)))))
    return Detection()


@network((2, 3, 16, 16))
def attention_images():
    """In the style of SVTR: patches, global attention, a head."""
    class Svtr(nn.Layer):
        def __init__(self):
            super().__init__()
            self.patch = nn.Conv2D(3, 16, 4, stride=4)
            self.norm = nn.LayerNorm(16)
            self.qkv = nn.Linear(16, 48)
            self.out = nn.Linear(16, 16)
            self.places = self.create_parameter([1, 16, 16])

        def forward(self, x):
            x = self.patch(x).flatten(2).transpose([0, 2, 1]) + self.places
            n, c = x.shape[1], x.shape[2]
            qkv = self.qkv(self.norm(x)).reshape([-1, n, 3, 4, c // 4]).transpose([2, 0, 3, 1, 4])
            q, k, v = qkv[0] * 0.5, qkv[1], qkv[2]
            attention = F.softmax(q.matmul(k.transpose([0, 1, 3, 2])), axis=-1)
            y = attention.matmul(v).transpose([0, 2, 1, 3]).reshape([-1, n, c])
            return F.swish(x + self.out(y)), attention
    return Svtr()


def arrays(inputs, random):
    for given in inputs:
        if isinstance(given, np.ndarray):
            yield given
        elif isinstance(given[0], str):
            yield random.integers(0, given[2], given[1]).astype(given[0])
        else:
            yield random.standard_normal(given).astype("float32")


def save(name, make, inputs, out, dynamic=True):
    paddle.seed(1)
    random = np.random.default_rng(sum(map(ord, name)))
    layer = make()
    if isinstance(layer, nn.Layer):
        layer.eval()
        for key, value in layer.state_dict().items():
            if key.endswith("_mean"):
                value.set_value(random.standard_normal(value.shape).astype("float32") * 0.1)
            if key.endswith("_variance"):
                value.set_value(random.uniform(0.5, 1.5, value.shape).astype("float32"))
    given = list(arrays(inputs, random))
    names = [f"x{i}" for i in range(len(given))]
    specs = [InputSpec([None if dynamic and a.ndim > 1 and i == 0 else d for i, d in enumerate(a.shape)], str(a.dtype), n) for a, n in zip(given, names)]
    static = paddle.jit.to_static(layer, input_spec=specs, full_graph=True)
    paddle.jit.save(static, str(out / name), input_spec=specs)
    loaded = paddle.jit.load(str(out / name))
    results = loaded(*[paddle.to_tensor(a) for a in given])
    results = [r for r in paddle.utils.flatten(results) if isinstance(r, paddle.Tensor)]
    np.savez(out / f"{name}.npz", **{"in/" + n: a for n, a in zip(names, given)},
             **{f"out/fetch_name_{i}": r.numpy() for i, r in enumerate(results)})


def main():
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for name, (make, inputs, _) in NETWORKS.items():
        if re.search(sys.argv[2] if len(sys.argv) > 2 else "", name):
            try:
                save(name, make, inputs, out)
                print(name)
            except Exception:
                print("FAILED", name)
                traceback.print_exc()


if __name__ == "__main__":
    main()
