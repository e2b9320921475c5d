#!/usr/bin/env python3
"""Writes networks that neither networks.py nor other_networks.py holds: more_networks.py FOLDER [REGEX].

Vision, volumes and video of torchvision, encoders, decoders and single steps of decoders of transformers, recurrences,
tables, graphs and sequences, with one example or four, some with open sizes. They say how far what the other two
scripts measure holds in general; those whose names have a CRC-32 that three divides were looked at only after all work
on speed. FOLDER gets the same form, and REGEX chooses by name. Tested with torch 2.15, torchvision 0.29, transformers
5.24 and onnxruntime 1.32.
"""
import torch
import torchvision
import transformers
from torch import nn
from torch.nn import functional
from transformers.cache_utils import DynamicCache, EncoderDecoderCache

from networks import First, Recurrence, convolution, image, main
from other_networks import SMALL, TEXT, TINY, model, segmentation, torchvision_model


class Wide(nn.Module):
    """A U-Net with nearest resizing, squeeze-and-excite and additions instead of joins."""

    def __init__(self, width=24):
        super().__init__()
        self.first = convolution(3, width, 3, 1, nn.LeakyReLU)
        self.down = nn.ModuleList(convolution(width << i, width << i + 1, 3, 2, nn.ELU) for i in range(3))
        self.up = nn.ModuleList(convolution(width << i + 1, width << i, 3, 1, nn.ELU) for i in range(3))
        self.gates = nn.ModuleList(nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(width << i, width, 1), nn.ReLU(),
                                                 nn.Conv2d(width, width << i, 1), nn.Hardsigmoid()) for i in range(3))
        self.last = nn.Conv2d(width, 5, 1)

    def forward(self, x):
        levels = [self.first(x)]
        for layer in self.down:
            levels.append(layer(levels[-1]))
        x = levels[3]
        for i in (2, 1, 0):
            x = levels[i] + functional.interpolate(self.up[i](x), scale_factor=2.0, mode="bilinear",
                                                   align_corners=False)
            x = x * self.gates[i](x)
        return self.last(x)


class Style(nn.Module):
    """Style transfer: reflected borders, normalised instances, residuals, resizing."""

    def __init__(self, width=32):
        super().__init__()

        def layer(i, o, kernel, stride=1):
            return nn.Sequential(nn.ReflectionPad2d(kernel // 2), nn.Conv2d(i, o, kernel, stride),
                                 nn.InstanceNorm2d(o, affine=True))
        self.down = nn.Sequential(layer(3, width, 9), nn.ReLU(), layer(width, 2 * width, 3, 2), nn.ReLU(),
                                  layer(2 * width, 4 * width, 3, 2), nn.ReLU())
        self.blocks = nn.ModuleList(nn.Sequential(layer(4 * width, 4 * width, 3), nn.ReLU(),
                                                  layer(4 * width, 4 * width, 3)) for _ in range(3))
        self.up = nn.ModuleList([layer(4 * width, 2 * width, 3), layer(2 * width, width, 3)])
        self.last = nn.Sequential(nn.ReflectionPad2d(4), nn.Conv2d(width, 3, 9))

    def forward(self, x):
        x = self.down(x)
        for block in self.blocks:
            x = x + block(x)
        for layer in self.up:
            x = functional.relu(layer(functional.interpolate(x, scale_factor=2.0, mode="nearest")))
        return self.last(x)


class Dense(nn.Module):
    """Super-resolution by dense residual blocks (ESRGAN)."""

    def __init__(self, width=32, growth=16):
        super().__init__()
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.blocks = nn.ModuleList(nn.ModuleList(
            nn.Conv2d(width + i * growth, growth if i < 4 else width, 3, padding=1) for i in range(5))
            for _ in range(3))
        self.tail = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(2))
        self.last = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            levels = [x]
            for layer in block[:-1]:
                levels.append(functional.leaky_relu(layer(torch.cat(levels, 1)), 0.2))
            x = x + 0.2 * block[-1](torch.cat(levels, 1))
        for layer in self.tail:
            x = functional.leaky_relu(layer(functional.interpolate(x, scale_factor=2.0, mode="nearest")), 0.2)
        return self.last(x)


class Depthwise(nn.Module):
    """MobileNet of the first kind, narrow."""

    def __init__(self, width=16):
        super().__init__()
        layers = [convolution(3, width, 3, 2)]
        for inputs, outputs, stride in ((1, 2, 1), (2, 4, 2), (4, 4, 1), (4, 8, 2), (8, 8, 1), (8, 16, 2), (16, 16, 1),
                                        (16, 16, 1), (16, 32, 2)):
            layers += [convolution(inputs * width, inputs * width, 3, stride, nn.ReLU6, inputs * width),
                       convolution(inputs * width, outputs * width, 1, 1, nn.ReLU6)]
        self.layers = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32 * width, 100))

    def forward(self, x):
        return self.layers(x)


class Pyramid(nn.Module):
    """The heads of RetinaNet on three levels of a pyramid, with boxes."""

    def __init__(self, width=64, anchors=9, classes=20):
        super().__init__()
        self.sides = nn.ModuleList(nn.Conv2d(c, width, 1) for c in (64, 128, 256))
        self.smooth = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(3))

        def head(outputs):
            return nn.Sequential(*(nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.GroupNorm(8, width),
                                                 nn.ReLU()) for _ in range(3)),
                                 nn.Conv2d(width, anchors * outputs, 3, padding=1))
        self.classes = head(classes)
        self.boxes = head(4)

    @staticmethod
    def rows(x, size):
        n, _, height, width = x.shape
        return x.view(n, -1, size, height, width).permute(0, 3, 4, 1, 2).reshape(n, -1, size)

    def forward(self, a, b, c):
        levels = [side(x) for side, x in zip(self.sides, (a, b, c))]
        for i in (1, 0):
            levels[i] = levels[i] + functional.interpolate(levels[i + 1], size=levels[i].shape[-2:], mode="nearest")
        levels = [smooth(x) for smooth, x in zip(self.smooth, levels)]
        scores = torch.cat([self.rows(self.classes(x), 20) for x in levels], 1).sigmoid()
        return torch.cat([scores, torch.cat([self.rows(self.boxes(x), 4) for x in levels], 1)], 2)


class Single(nn.Module):
    """A part of SSDLite: depthwise heads on four levels, softmax over classes, decoded boxes."""

    def __init__(self):
        super().__init__()
        channels = (96, 192, 256, 128)

        def head(outputs):
            return nn.ModuleList(nn.Sequential(nn.Conv2d(c, c, 3, padding=1, groups=c), nn.BatchNorm2d(c), nn.ReLU6(),
                                               nn.Conv2d(c, outputs, 1)) for c in channels)
        self.scores = head(6 * 21)
        self.boxes = head(24)
        self.anchors = nn.Parameter(torch.rand(6 * (400 + 100 + 25 + 9), 4))

    def forward(self, *levels):
        def rows(heads, size):
            return torch.cat([head(x).permute(0, 2, 3, 1).reshape(x.shape[0], -1, size)
                              for head, x in zip(heads, levels)], 1)
        boxes = rows(self.boxes, 4)
        middle = self.anchors[:, :2] + boxes[..., :2] * 0.1 * self.anchors[:, 2:]
        size = self.anchors[:, 2:] * torch.exp(boxes[..., 2:] * 0.2)
        return rows(self.scores, 21).softmax(-1), torch.cat([middle - size / 2, middle + size / 2], -1).clamp(0, 1)


class ConvolutionLstm(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.gates = nn.Conv2d(3 + width, 4 * width, 3, padding=1)
        self.width = width

    def forward(self, frames):
        hidden = torch.zeros(frames.shape[0], self.width, *frames.shape[-2:])
        cell = hidden
        for t in range(frames.shape[1]):
            i, f, g, o = self.gates(torch.cat([frames[:, t], hidden], 1)).chunk(4, 1)
            cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
            hidden = torch.sigmoid(o) * torch.tanh(cell)
        return hidden


class Tagger(nn.Module):
    """Tags of words: both directions, then attention over the states."""

    def __init__(self, layers, width):
        super().__init__()
        self.words = nn.Embedding(1000, 100)
        self.layers = layers
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.norm = nn.LayerNorm(width)
        self.last = nn.Linear(width, 17)

    def forward(self, words):
        x = self.layers(self.words(words))[0]
        return self.last(self.norm(x + self.attention(x, x, x, need_weights=False)[0]))


class Lines(nn.Module):
    """Text of a line: convolutions, then a GRU in both directions."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 48, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(48, 96, 3, padding=1), nn.ReLU(),
            nn.MaxPool2d((2, 1)), nn.Conv2d(96, 96, 3, padding=1), nn.BatchNorm2d(96), nn.Hardswish(),
            nn.MaxPool2d((2, 1)))
        self.gru = nn.GRU(384, 96, 2, bidirectional=True, batch_first=True)
        self.last = nn.Linear(192, 97)

    def forward(self, x):
        return self.last(self.gru(self.body(x).permute(0, 3, 1, 2).flatten(2))[0]).softmax(-1)


class Temporal(nn.Module):
    """A temporal convolution network: causal, dilated, residual."""

    def __init__(self, width=64, layers=6):
        super().__init__()
        self.first = nn.Conv1d(8, width, 1)
        self.layers = nn.ModuleList(nn.Sequential(
            nn.ConstantPad1d((2 << i, 0), 0.0), nn.Conv1d(width, width, 3, dilation=1 << i), nn.ReLU(),
            nn.ConstantPad1d((2 << i, 0), 0.0), nn.Conv1d(width, width, 3, dilation=1 << i), nn.ReLU())
            for i in range(layers))
        self.last = nn.Linear(width, 3)

    def forward(self, x):
        x = self.first(x)
        for layer in self.layers:
            x = functional.relu(x + layer(x))
        return self.last(x[:, :, -1])


class Vocoder(nn.Module):
    """Sound from a spectrum (HiFi-GAN)."""

    def __init__(self, width=128):
        super().__init__()
        self.first = nn.Conv1d(80, width, 7, padding=3)
        self.up = nn.ModuleList(nn.ConvTranspose1d(width >> i, width >> i + 1, 2 * s, s, s // 2)
                                for i, s in enumerate((8, 4, 2)))
        self.blocks = nn.ModuleList(nn.ModuleList(nn.Sequential(
            nn.LeakyReLU(0.1), nn.Conv1d(width >> i + 1, width >> i + 1, 3, padding=d, dilation=d), nn.LeakyReLU(0.1),
            nn.Conv1d(width >> i + 1, width >> i + 1, 3, padding=1)) for d in (1, 3, 5)) for i in range(3))
        self.last = nn.Conv1d(width >> 3, 1, 7, padding=3)

    def forward(self, x):
        x = self.first(x)
        for up, blocks in zip(self.up, self.blocks):
            x = up(functional.leaky_relu(x, 0.1))
            for block in blocks:
                x = x + block(x)
        return torch.tanh(self.last(functional.leaky_relu(x)))


class Columns(nn.Module):
    """TabTransformer: attention over the categories of a row."""

    def __init__(self, fields=12, width=32, layers=3):
        super().__init__()
        self.vectors = nn.Embedding(12 * 50, width)
        self.offsets = nn.Parameter(torch.arange(fields) * 50, requires_grad=False)
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, 4, 128, batch_first=True,
                                                                       activation="gelu"), layers)
        self.norm = nn.LayerNorm(10)
        self.last = nn.Sequential(nn.Linear(fields * width + 10, 256), nn.SELU(), nn.Linear(256, 64), nn.SELU(),
                                  nn.Linear(64, 2))

    def forward(self, categories, numbers):
        x = self.layers(self.vectors(categories + self.offsets)).flatten(1)
        return self.last(torch.cat([x, self.norm(numbers)], 1))


class Features(nn.Module):
    """FT-Transformer: a token for each number."""

    def __init__(self, fields=20, width=96, layers=3):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(fields, width))
        self.shift = nn.Parameter(torch.randn(fields, width))
        self.first = nn.Parameter(torch.randn(1, 1, width))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2 * layers))
        self.attention = nn.ModuleList(nn.MultiheadAttention(width, 8, batch_first=True) for _ in range(layers))
        self.inner = nn.ModuleList(nn.Linear(width, 256) for _ in range(layers))
        self.outer = nn.ModuleList(nn.Linear(128, width) for _ in range(layers))
        self.last = nn.Linear(width, 1)

    def forward(self, x):
        x = x[:, :, None] * self.scale + self.shift
        x = torch.cat([self.first.expand(x.shape[0], 1, -1), x], 1)
        for i, layer in enumerate(self.attention):
            y = self.norms[2 * i](x)
            x = x + layer(y, y, y, need_weights=False)[0]
            value, gate = self.inner[i](self.norms[2 * i + 1](x)).chunk(2, -1)
            x = x + self.outer[i](value * functional.relu(gate))
        return self.last(functional.relu(x[:, 0]))


class Graphs(nn.Module):
    """Messages along a matrix of edges, with a gated update."""

    def __init__(self, width=48, steps=4):
        super().__init__()
        self.first = nn.Linear(16, width)
        self.messages = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.update = nn.GRUCell(width, width)
        self.last = nn.Linear(width, 4)
        self.steps = steps

    def forward(self, nodes, edges):
        x = functional.elu(self.first(nodes))
        for _ in range(self.steps):
            total = sum(edges[:, k] @ layer(x) for k, layer in enumerate(self.messages))
            x = self.update(total.flatten(0, 1), x.flatten(0, 1)).view_as(x)
        weights = torch.softmax(torch.where(edges.sum(1) > 0, x @ x.transpose(1, 2), -1e9), -1)
        return self.last(torch.cat([x, weights @ x], -1)[..., :x.shape[-1]].amax(1))


class Interest(nn.Module):
    """What a person clicks next, from what was clicked (DIN)."""

    def __init__(self, width=32):
        super().__init__()
        self.vectors = nn.Embedding(5000, width)
        self.weights = nn.Sequential(nn.Linear(4 * width, 80), nn.Sigmoid(), nn.Linear(80, 40), nn.Sigmoid(),
                                     nn.Linear(40, 1))
        self.last = nn.Sequential(nn.Linear(3 * width, 128), nn.PReLU(128), nn.Linear(128, 1), nn.Sigmoid())

    def forward(self, history, candidate):
        past = self.vectors(history)
        item = self.vectors(candidate)[:, None].expand_as(past)
        weights = self.weights(torch.cat([past, item, past - item, past * item], -1))
        weights = weights.masked_fill((history == 0)[..., None], -1e9).softmax(1)
        total = (weights * past).sum(1)
        return self.last(torch.cat([total, item[:, 0], total * item[:, 0]], 1))


class Scores(nn.Module):
    """Attention whose scores and memories a mask and relative places change, by matmuls alone (Music Transformer)."""

    def __init__(self, width=192, heads=6, length=80):
        super().__init__()
        self.parts = nn.Linear(width, 3 * width)
        self.places = nn.Parameter(torch.randn(heads, length, width // heads))
        self.last = nn.Linear(width, width)
        self.register_buffer("mask", torch.ones(length, length, dtype=torch.bool).tril())
        self.heads = heads

    def forward(self, x):
        n, length, width = x.shape
        q, k, v = (each.view(n, length, self.heads, -1).transpose(1, 2) for each in self.parts(x).chunk(3, -1))
        places = functional.pad(q @ self.places.transpose(1, 2), (1, 0))
        places = places.view(n, self.heads, length + 1, length)[:, :, 1:]
        scores = (q @ k.transpose(2, 3) + places) / (width // self.heads) ** 0.5
        weights = scores.masked_fill(~self.mask, float("-inf")).softmax(-1)
        return x + self.last((weights @ v).transpose(1, 2).reshape(n, length, width))


class Step(nn.Module):
    """The next word of a decoder, from the keys and values of the words before."""

    def __init__(self, decoder):
        super().__init__()
        self.decoder = decoder

    def forward(self, words, *past):
        cache = DynamicCache()
        for i in range(0, len(past), 2):
            cache.update(past[i], past[i + 1], i // 2)
        result = self.decoder(input_ids=words, past_key_values=cache, use_cache=True)
        return (result.last_hidden_state, *(each for layer in result.past_key_values.layers
                                            for each in (layer.keys, layer.values)))


class Answer(nn.Module):
    """A step of T5's decoder beside what its encoder gave."""

    def __init__(self, decoder):
        super().__init__()
        self.decoder = decoder

    def forward(self, words, states, *past):
        cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
        for i in range(0, len(past), 2):
            cache.self_attention_cache.update(past[i], past[i + 1], i // 2)
        return self.decoder(input_ids=words, encoder_hidden_states=states, past_key_values=cache,
                            use_cache=True).last_hidden_state


class Causal(nn.Module):
    """A decoder without words before, whose mask of paddings is given."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, words):
        return self.inner(input_ids=words, attention_mask=torch.ones_like(words), use_cache=False).last_hidden_state


class Pair(nn.Module):
    """An encoder and the decoder that reads it."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, source, target):
        return self.inner(input_ids=source, decoder_input_ids=target, use_cache=False).last_hidden_state


def video(name, *sizes):
    return lambda: (getattr(torchvision.models.video, name)(weights=None), (torch.randn(*sizes),))


def decoder(name, batch, past, heads, size, **options):
    def make():
        config = getattr(transformers, name + "Config")(**{"attn_implementation": "eager", "vocab_size": 1000,
                                                           **SMALL, **options})
        cache = [torch.randn(batch, heads, past, size) for _ in range(2 * config.num_hidden_layers)]
        return Step(getattr(transformers, name + "Model")(config)), (torch.randint(0, 1000, (batch, 1)), *cache)
    return make


def causal(name, length, **options):
    def make():
        config = getattr(transformers, name + "Config")(**{"attn_implementation": "eager", **TEXT, **options})
        return Causal(getattr(transformers, name + "Model")(config)), (words(1, length),)
    return make


def answer():
    config = transformers.T5Config(vocab_size=1000, d_model=256, d_kv=64, num_heads=4, d_ff=1024, num_layers=4)
    stack = transformers.T5Model(config).decoder
    return Answer(stack), (torch.randint(0, 1000, (1, 1)), torch.randn(1, 24, 256),
                           *(torch.randn(1, 4, 12, 64) for _ in range(8)))


def words(batch, length, top=1000):
    return torch.randint(1, top, (batch, length))


def opened(make, *axes):
    """The same with open axes: for each input the axes, by number."""
    def made():
        module, example = make()[:2]
        return module, example, {f"in{i}": {axis: f"size{axis}" for axis in each} for i, each in enumerate(axes)}
    return made


MORE = {
    "resnet34": torchvision_model("resnet34", 4, 128),
    "wide_resnet50": torchvision_model("wide_resnet50_2", 1, 112),
    "resnext101": torchvision_model("resnext101_32x8d", 1, 96),
    "vgg13_bn": lambda: (torchvision.models.vgg13_bn(weights=None).features, (torch.randn(4, 3, 64, 64),)),
    "densenet169": torchvision_model("densenet169", 1, 128),
    "convnext_small": torchvision_model("convnext_small", 1, 96),
    "regnet_x_800mf": torchvision_model("regnet_x_800mf", 1, 224),
    "efficientnet_b2": torchvision_model("efficientnet_b2", 4, 96),
    "efficientnet_b0_open": opened(torchvision_model("efficientnet_b0", 2, 128), (0,)),
    "vit_b_16": torchvision_model("vit_b_16", 1, 224),
    "swin_s": torchvision_model("swin_s", 2, 112),
    "deeplabv3_resnet50": segmentation("deeplabv3_resnet50", 96),
    "mc3_18": video("mc3_18", 1, 3, 8, 56, 56),
    "s3d": video("s3d", 1, 3, 16, 64, 64),
    "mvit": video("mvit_v1_b", 1, 3, 16, 224, 224),
    "unet_gates": lambda: (Wide(), (image(128),)),
    "style": lambda: (Style(), (image(96),)),
    "esrgan": lambda: (Dense(), (image(32),)),
    "mobilenet_v1": lambda: (Depthwise(), (torch.randn(4, 3, 128, 128),)),
    "mobilenet_v1_open": opened(lambda: (Depthwise(), (image(160),)), (0, 2, 3)),
    "retina_heads": lambda: (Pyramid(), (torch.randn(1, 64, 32, 32), torch.randn(1, 128, 16, 16),
                                         torch.randn(1, 256, 8, 8))),
    "ssd_heads": lambda: (Single(), (torch.randn(1, 96, 20, 20), torch.randn(1, 192, 10, 10),
                                     torch.randn(1, 256, 5, 5), torch.randn(1, 128, 3, 3))),
    "conv_lstm": lambda: (ConvolutionLstm(), (torch.randn(1, 8, 3, 32, 32),)),
    "tagger_lstm": lambda: (Tagger(nn.LSTM(100, 64, 1, batch_first=True, bidirectional=True), 128), (words(4, 30),)),
    "tagger_gru": lambda: (Tagger(nn.GRU(100, 128, 2, batch_first=True, bidirectional=True), 256), (words(1, 30),)),
    "lstm_batch": lambda: (Recurrence(nn.LSTM(64, 128, 2)), (torch.randn(24, 32, 64),)),
    "gru_batch": lambda: (Recurrence(nn.GRU(64, 96, 2, bidirectional=True)), (torch.randn(24, 16, 64),)),
    "lstm_step": lambda: (Recurrence(nn.LSTM(64, 256, 2)), (torch.randn(1, 1, 64),)),
    "rnn": lambda: (Recurrence(nn.RNN(32, 64, 2, batch_first=True)), (torch.randn(4, 20, 32),)),
    "lstm_open": opened(lambda: (Recurrence(nn.LSTM(40, 80, 1)), (torch.randn(30, 2, 40),)), (0,)),
    "lines": lambda: (Lines(), (torch.randn(1, 1, 32, 120),)),
    "tcn": lambda: (Temporal(), (torch.randn(1, 8, 128),)),
    "tcn_batch": lambda: (Temporal(32, 5), (torch.randn(16, 8, 96),)),
    "vocoder": lambda: (Vocoder(), (torch.randn(1, 80, 24),)),
    "tab_transformer": lambda: (Columns(), (torch.randint(0, 50, (32, 12)), torch.randn(32, 10))),
    "ft_transformer": lambda: (Features(), (torch.randn(16, 20),)),
    "gated_graph": lambda: (Graphs(), (torch.randn(4, 40, 16), (torch.rand(4, 3, 40, 40) > 0.8).float())),
    "din": lambda: (Interest(), (torch.randint(0, 5000, (16, 50)), torch.randint(1, 5000, (16,)))),
    "relative": lambda: (Scores(), (torch.randn(2, 80, 192),)),
    "xlnet": model("XLNet", 48, d_model=256, n_layer=3, n_head=4, d_inner=1024, vocab_size=1000),
    "convbert": model("ConvBert", 48, embedding_size=128, **TEXT),
    "funnel": model("Funnel", 48, vocab_size=1000, block_sizes=[2, 2, 2], d_model=192, n_head=3, d_head=64,
                    d_inner=768),
    "rembert": model("RemBert", 40, input_embedding_size=128, **TEXT),
    "camembert_open": opened(model("Camembert", 32, **TEXT), (0, 1)),
    "distilbert": lambda: (First(transformers.DistilBertModel(transformers.DistilBertConfig(
        vocab_size=1000, dim=256, n_layers=3, n_heads=4, hidden_dim=1024, attn_implementation="eager"))),
        (words(4, 32),)),
    "llama": causal("Llama", 48, num_key_value_heads=2),
    "qwen2": causal("Qwen2", 40, num_key_value_heads=2),
    "gemma": causal("Gemma", 32, num_key_value_heads=1, head_dim=64),
    "gpt_neox": causal("GPTNeoX", 48),
    "falcon": causal("Falcon", 32),
    "llama_step": decoder("Llama", 1, 31, 2, 64, num_key_value_heads=2),
    "qwen3_step": decoder("Qwen3", 4, 15, 2, 64, num_key_value_heads=2, head_dim=64),
    "t5_step": answer,
    "marian": lambda: (Pair(transformers.MarianModel(transformers.MarianConfig(
        d_model=256, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=1024, decoder_ffn_dim=1024, vocab_size=1000, pad_token_id=0, attn_implementation="eager"))),
        (words(1, 24), words(1, 20))),
    "siglip": lambda: (First(transformers.SiglipVisionModel(transformers.SiglipVisionConfig(
        image_size=128, patch_size=16, attn_implementation="eager", **SMALL))), (torch.randn(4, 3, 128, 128),)),
    "convnext_v2": model("ConvNextV2", (1, 3, 128, 128), hidden_sizes=[32, 64, 128, 256], depths=[1, 1, 3, 1],
                         attn_implementation=None),
    "focalnet": model("FocalNet", (1, 3, 112, 112), image_size=112, embed_dim=48, depths=[1, 1, 2, 1],
                      attn_implementation=None),
    "swiftformer": model("SwiftFormer", (1, 3, 128, 128), attn_implementation=None),
    "wavlm": model("WavLM", (1, 8000), conv_dim=[64] * 7, num_conv_pos_embeddings=31, num_conv_pos_embedding_groups=4,
                   **TINY),
    "sew": model("SEW", (1, 8000), conv_dim=[32, 64, 64, 64, 64], conv_stride=[5, 2, 2, 2, 2],
                 conv_kernel=[10, 3, 3, 2, 2], num_conv_pos_embeddings=31, num_conv_pos_embedding_groups=4, **TINY),
    "esm": model("Esm", 64, position_embedding_type="rotary", pad_token_id=1, mask_token_id=2, **TEXT),
}

if __name__ == "__main__":
    main(MORE)
