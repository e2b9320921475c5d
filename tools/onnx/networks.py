#!/usr/bin/env python3
"""Writes networks in sizes that people use, with ONNX Runtime's results: networks.py FOLDER [REGEX].

Networks of torchvision and transformers, and small ones in the style of what detectors, recognisers, audio and tables
need, with random weights, one image or text each, exported with fixed sizes by PyTorch's older exporter. FOLDER gets
the form that exports.py writes; speed.py measures it, and -Dseriatim.onnx=FOLDER compares the results. REGEX chooses
networks by their names. Tested with torch 2.15, torchvision 0.29, transformers 5.23 and onnxruntime 1.32.
"""
import logging
import pathlib
import re
import shutil
import sys
import traceback
import warnings

import numpy
import onnxruntime
import torch
import torchvision
import transformers
from onnx import numpy_helper
from torch import nn
from torch.nn import functional

LENGTH = 64
VOCABULARY = 1000


def convolution(inputs, outputs, kernel=3, stride=1, function=nn.ReLU, groups=1):
    return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups),
                         nn.BatchNorm2d(outputs), function())


class Unet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.down = nn.ModuleList(nn.Sequential(convolution(i, o), convolution(o, o))
                                  for i, o in ((3, width), (width, 2 * width), (2 * width, 4 * width)))
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * o, o, 2, 2) for o in (2 * width, width))
        self.join = nn.ModuleList(nn.Sequential(convolution(2 * o, o), convolution(o, o)) for o in (2 * width, width))
        self.last = nn.Conv2d(width, 2, 1)

    def forward(self, x):
        first = self.down[0](x)
        second = self.down[1](functional.max_pool2d(first, 2))
        y = self.down[2](functional.max_pool2d(second, 2))
        for up, join, skip in zip(self.up, self.join, (second, first)):
            y = join(torch.cat([up(y), skip], 1))
        return self.last(y)


class Detector(nn.Module):
    """Two levels of a pyramid, with boxes as one-stage detectors decode them."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(*(convolution(i, o, 3, 2, nn.SiLU) for i, o in ((3, 16), (16, 32), (32, 64))))
        self.deep = convolution(64, 128, 3, 2, nn.SiLU)
        self.side = convolution(128, 64, 1, 1, nn.SiLU)
        self.join = convolution(128, 64, 3, 1, nn.SiLU)
        self.heads = nn.ModuleList([nn.Conv2d(64, 255, 1), nn.Conv2d(128, 255, 1)])

    @staticmethod
    def boxes(x):
        n, _, height, width = x.shape
        x = x.view(n, 3, 85, height, width).permute(0, 1, 3, 4, 2).reshape(n, -1, 85).sigmoid()
        return torch.cat([x[..., :2] * 2 - 0.5, (x[..., 2:4] * 2) ** 2, x[..., 4:]], -1)

    def forward(self, x):
        x = self.body(x)
        deep = self.deep(x)
        near = functional.interpolate(self.side(deep), scale_factor=2.0, mode="nearest")
        joined = self.join(torch.cat([near, x], 1))
        return torch.cat([self.boxes(self.heads[0](joined)), self.boxes(self.heads[1](deep))], 1)


class Recogniser(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(convolution(1, 32), nn.MaxPool2d(2), convolution(32, 64), nn.MaxPool2d(2),
                                  convolution(64, 128), nn.MaxPool2d((2, 1)))
        self.lstm = nn.LSTM(512, 64, 2, bidirectional=True)
        self.last = nn.Linear(128, 80)

    def forward(self, x):
        y = self.body(x).flatten(1, 2).permute(2, 0, 1)
        return self.last(self.lstm(y)[0]).log_softmax(-1)


class Denoiser(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.first = nn.Conv2d(4, width, 3, padding=1)
        self.norms = nn.ModuleList(nn.GroupNorm(8, width) for _ in range(3))
        self.body = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(2))
        self.queries = nn.Conv2d(width, 3 * width, 1)
        self.last = nn.Conv2d(width, width, 1)

    def forward(self, x):
        x = self.first(x)
        y = self.body[0](functional.silu(self.norms[0](x)))
        x = x + self.body[1](functional.silu(self.norms[1](y)))
        query, key, value = self.queries(self.norms[2](x)).flatten(2).chunk(3, 1)
        weights = torch.softmax(query.transpose(1, 2) @ key * 0.125, -1)
        return x + self.last((value @ weights.transpose(1, 2)).view_as(x))


class Audio(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(*(nn.Sequential(
            nn.Conv1d(40 if i == 0 else 64, 64, 3, padding=2 ** i, dilation=2 ** i), nn.BatchNorm1d(64), nn.ReLU())
            for i in range(5)))
        self.gru = nn.GRU(64, 64, batch_first=True)
        self.last = nn.Linear(64, 10)

    def forward(self, x):
        return self.last(self.gru(self.layers(x).transpose(1, 2))[0][:, -1])


class Face(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 64, 3, 2, 1), nn.BatchNorm2d(64), nn.PReLU(64), nn.Conv2d(64, 64, 3, 1, 1, groups=64),
            nn.PReLU(64), nn.Conv2d(64, 128, 1), nn.BatchNorm2d(128), nn.PReLU(128),
            nn.Conv2d(128, 128, 3, 2, 1, groups=128), nn.PReLU(128), nn.Conv2d(128, 128, 1), nn.InstanceNorm2d(128),
            nn.LeakyReLU(0.1))
        self.last = nn.Linear(128, 64)

    def forward(self, x):
        return functional.normalize(self.last(self.body(x).mean((2, 3))))


class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, 8)
        self.layers = nn.Sequential(nn.Linear(13 + 26 * 8, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(),
                                    nn.Linear(32, 1), nn.Sigmoid())

    def forward(self, numbers, words):
        return self.layers(torch.cat([numbers, self.words(words).flatten(1)], 1))


class First(nn.Module):
    """The first result of a model of transformers."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(x, return_dict=False)[0]


class Segmenter(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(x)["out"]


class Recurrence(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = layers

    def forward(self, x):
        return self.layers(x)[0]


def image(size, channels=3):
    return torch.randn(1, channels, size, size)


def words():
    return torch.randint(0, VOCABULARY // 2, (1, LENGTH))


def vision(name, **options):
    def make():
        return getattr(torchvision.models, name)(weights=None, **options), (image(224),)
    return make


def text(model, config, **options):
    def make():
        given = {"attn_implementation": "eager", "vocab_size": VOCABULARY, **options}
        return First(getattr(transformers, model)(getattr(transformers, config)(**given))), (words(),)
    return make


SMALL = {"hidden_size": 256, "num_attention_heads": 4, "intermediate_size": 1024, "num_hidden_layers": 4}

NETWORKS = {
    **{name: vision(name) for name in (
        "convnext_tiny", "densenet121", "efficientnet_b0", "efficientnet_v2_s", "mnasnet1_0", "mobilenet_v2",
        "mobilenet_v3_large", "mobilenet_v3_small", "regnet_y_400mf", "resnet18", "resnet50", "shufflenet_v2_x1_0",
        "squeezenet1_1", "swin_t", "vit_b_32")},
    "googlenet": vision("googlenet", init_weights=True, aux_logits=False),
    "lraspp": lambda: (Segmenter(torchvision.models.segmentation.lraspp_mobilenet_v3_large(
        weights=None, weights_backbone=None)), (image(224),)),
    "unet": lambda: (Unet(), (image(128),)),
    "detector": lambda: (Detector(), (image(256),)),
    "recogniser": lambda: (Recogniser(), (torch.randn(1, 1, 32, 160),)),
    "denoiser": lambda: (Denoiser(), (image(32, 4),)),
    "audio": lambda: (Audio(), (torch.randn(1, 40, 200),)),
    "face": lambda: (Face(), (image(112),)),
    "table": lambda: (Table(), (torch.randn(16, 13), torch.randint(0, VOCABULARY, (16, 26)))),
    "resolution": lambda: (nn.Sequential(
        nn.Conv2d(1, 64, 5, padding=2), nn.Tanh(), nn.Conv2d(64, 32, 3, padding=1), nn.Tanh(),
        nn.Conv2d(32, 9, 3, padding=1), nn.PixelShuffle(3), nn.Sigmoid()), (image(96, 1),)),
    "lstm": lambda: (Recurrence(nn.LSTM(20, 30, 2, batch_first=True)), (torch.randn(3, 11, 20),)),
    "gru": lambda: (Recurrence(nn.GRU(20, 30, 2, batch_first=True)), (torch.randn(3, 11, 20),)),
    "lstm_both": lambda: (Recurrence(nn.LSTM(20, 30, 2, batch_first=True, bidirectional=True)),
                          (torch.randn(3, 11, 20),)),
    "lstm_wide": lambda: (Recurrence(nn.LSTM(128, 256, 2, batch_first=True)), (torch.randn(1, 50, 128),)),
    "gru_wide": lambda: (Recurrence(nn.GRU(128, 256, 2, batch_first=True)), (torch.randn(1, 50, 128),)),
    "albert": text("AlbertModel", "AlbertConfig", embedding_size=64, **SMALL),
    "bert": text("BertModel", "BertConfig", **SMALL),
    "t5_encoder": text("T5EncoderModel", "T5Config", d_model=256, d_kv=64, num_heads=4, d_ff=1024, num_layers=4,
                       attn_implementation=None),
    "deit": lambda: (First(transformers.ViTModel(transformers.ViTConfig(
        hidden_size=192, num_hidden_layers=4, num_attention_heads=3, intermediate_size=768,
        attn_implementation="eager"))), (image(224),)),
    "wav2vec": lambda: (First(transformers.Wav2Vec2Model(transformers.Wav2Vec2Config(
        hidden_size=128, num_hidden_layers=2, num_attention_heads=4, intermediate_size=256, conv_dim=(64,) * 7,
        attn_implementation="eager"))), (torch.randn(1, 8000),)),
    "segformer": lambda: (First(transformers.SegformerModel(transformers.SegformerConfig(
        hidden_sizes=[16, 32, 64, 128], depths=[1, 1, 1, 1], decoder_hidden_size=64))), (image(128),)),
    "mobilevit": lambda: (First(transformers.MobileViTModel(transformers.MobileViTConfig(
        hidden_sizes=[64, 80, 96], neck_hidden_sizes=[8, 16, 32, 48, 64, 80, 160]))), (image(256),)),
}


def write(folder, make):
    """Writes a case; its line of cases.txt."""
    torch.manual_seed(24)
    module, example, *axes = make()
    module.eval()
    for each in module.modules():
        if isinstance(each, nn.modules.batchnorm._BatchNorm):
            each.running_mean.normal_(0, 0.1)
            each.running_var.uniform_(0.5, 1.5)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with torch.no_grad():
        named = {"input_names": list(axes[0]), "dynamic_axes": axes[0]} if axes else {}
        torch.onnx.export(module, example, str(folder / "model.onnx"), dynamo=False, opset_version=17, **named)
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    values = [each.numpy() for each in example]
    results = session.run(None, {each.name: value for each, value in zip(session.get_inputs(), values)})
    for kind, arrays in (("input", values), ("output", results)):
        for i, array in enumerate(arrays):
            (folder / f"{kind}_{i}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())
    return f"{folder.name} 1e-4 {1e-4 * max(float(numpy.abs(each).max()) for each in results):.3e}"


def main(networks):
    root = pathlib.Path(sys.argv[1])
    chosen = re.compile(sys.argv[2] if len(sys.argv) > 2 else "")
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    torch.backends.mha.set_fastpath_enabled(False)  # The exporter knows no fused attention.
    root.mkdir(parents=True, exist_ok=True)
    cases = root / "cases.txt"
    cases.touch()
    for name, make in networks.items():
        if not chosen.search(name):
            continue
        try:
            line = write(root / name, make)
        except Exception as e:  # What PyTorch cannot export is no case; the report says it.
            print(name, "is not exported:", "".join(traceback.format_exception_only(e))[:400])
            shutil.rmtree(root / name, ignore_errors=True)
            continue
        lines = [each for each in cases.read_text().splitlines() if each.split(" ")[0] != name]
        cases.write_text("\n".join(lines + [line]) + "\n")
        print(line, flush=True)


if __name__ == "__main__":
    main(NETWORKS)
