#!/usr/bin/env python3
"""Writes networks with 8-bit levels: int8_networks.py FOLDER [REGEX].

Small perceptrons, convolution networks, transformers and networks of sound, quantized by onnxruntime.quantization: the
products dynamically, with signed weights (s8) or unsigned ones of each channel (u8), or products and convolutions
statically, between QuantizeLinear and DequantizeLinear, with unsigned activations (qdq) or signed ones (qdq_s8).
FOLDER gets the form that networks.py describes, with the results of ONNX Runtime; a level that lies between two may be
rounded to either side, hence the tolerances. Networks whose names have a CRC-32 that three divides are left out of work on
speed. REGEX chooses by name. Tested with torch 2.15, transformers 5.24 and onnxruntime 1.32.
"""
import logging
import pathlib
import re
import shutil
import sys
import tempfile
import warnings
import zlib

import numpy
import onnxruntime
import torch
import transformers
from onnx import numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
from torch import nn

from networks import First, convolution

CALIBRATIONS = 4
PRODUCTS = ["MatMul", "Gemm"]
DYNAMIC = {"s8": {"weight_type": QuantType.QInt8}, "u8": {"weight_type": QuantType.QUInt8, "per_channel": True}}
STATIC = {"qdq": QuantType.QUInt8, "qdq_s8": QuantType.QInt8}


class Perceptron(nn.Sequential):
    def __init__(self, function, *widths):
        layers = [nn.Linear(widths[0], widths[1])]
        for before, after in zip(widths[1:], widths[2:]):
            layers += [function(), nn.Linear(before, after)]
        super().__init__(*layers)


class Images(nn.Sequential):
    """Convolutions, as CHANNELS, STRIDE and whether they are depthwise and pointwise, and a classifier."""

    def __init__(self, layers, function=nn.ReLU, kernel=3):
        blocks = [convolution(3, layers[0][0], kernel, 2, function)]
        for (before, _, _), (after, stride, separable) in zip(layers, layers[1:]):
            if separable:
                blocks += [convolution(before, before, kernel, stride, function, before),
                           convolution(before, after, 1, 1, function)]
            else:
                blocks.append(convolution(before, after, kernel, stride, function))
        super().__init__(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(layers[-1][0], 100))


class Residual(nn.Module):
    def __init__(self, *widths):
        super().__init__()
        self.first = convolution(3, widths[0], 3, 2)
        self.down = nn.ModuleList(convolution(i, o, 3, 2) for i, o in zip(widths, widths[1:]))
        self.inner = nn.ModuleList(nn.Sequential(convolution(o, o), nn.Conv2d(o, o, 3, padding=1)) for o in widths[1:])
        self.last = nn.Linear(widths[-1], 100)

    def forward(self, x):
        x = self.first(x)
        for down, inner in zip(self.down, self.inner):
            x = down(x)
            x = torch.relu(x + inner(x))
        return self.last(x.mean((2, 3)))


class Sound(nn.Sequential):
    """Convolutions along time, dilated, some of them depthwise."""

    def __init__(self, bands, width, groups):
        blocks = [nn.Conv1d(bands, width, 3, padding=1), nn.ReLU()]
        for dilation in (1, 2, 4):
            blocks += [nn.Conv1d(width, width, 3, padding=dilation, dilation=dilation, groups=groups), nn.ReLU(),
                       nn.Conv1d(width, width, 1), nn.ReLU()]
        super().__init__(*blocks, nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(width, 12))


class Layers(nn.Module):
    """Transformer layers over vectors."""

    def __init__(self, width, heads, count):
        super().__init__()
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, heads, 4 * width, batch_first=True,
                                                                       activation="gelu", norm_first=True), count,
                                            enable_nested_tensor=False)

    def forward(self, x):
        return self.layers(x)


def perceptron(rows, function, *widths):
    return lambda: (Perceptron(function, *widths), (torch.randn(rows, widths[0]),))


def images(size, layers, *options):
    return lambda: (Images(layers, *options), (torch.randn(1, 3, size, size),))


def bert(batch, length, width, heads, layers):
    config = transformers.BertConfig(vocab_size=1000, hidden_size=width, num_attention_heads=heads,
                                     num_hidden_layers=layers, intermediate_size=4 * width,
                                     max_position_embeddings=256, attn_implementation="eager")
    return lambda: (First(transformers.BertModel(config)), (torch.randint(0, 1000, (batch, length)),))


NETWORKS = {
    "perceptron": perceptron(32, nn.ReLU, 256, 1024, 1024, 512, 64),
    "perceptron_wide": perceptron(128, nn.GELU, 768, 3072, 768),
    "perceptron_row": perceptron(1, nn.ReLU, 768, 768, 768, 768),
    "perceptron_odd": perceptron(7, nn.Tanh, 37, 113, 51, 3),
    "perceptron_batch": perceptron(16, nn.SiLU, 512, 2048, 512),
    "mobile": images(112, [(32, 1, False), (64, 1, True), (128, 2, True), (128, 1, True), (256, 2, True)]),
    "mobile_clip": images(96, [(16, 1, False), (24, 1, True), (48, 2, True), (96, 2, True), (96, 1, True)], nn.ReLU6),
    "mobile_large": images(64, [(24, 1, False), (72, 1, True), (120, 2, True)], nn.Hardswish, 5),
    "plain": images(64, [(16, 1, False), (32, 2, False), (64, 1, False), (64, 2, False)]),
    "plain_swish": images(80, [(32, 1, False), (64, 2, False), (64, 1, False)], nn.SiLU),
    "residual": lambda: (Residual(32, 64, 128, 256), (torch.randn(1, 3, 112, 112),)),
    "residual_batch": lambda: (Residual(16, 32, 64), (torch.randn(4, 3, 64, 64),)),
    "sound": lambda: (Sound(40, 64, 1), (torch.randn(1, 40, 200),)),
    "sound_depthwise": lambda: (Sound(80, 128, 128), (torch.randn(2, 80, 120),)),
    "bert": bert(1, 32, 128, 2, 2),
    "bert_long": bert(1, 128, 384, 6, 2),
    "bert_batch": bert(8, 16, 128, 4, 3),
    "layers": lambda: (Layers(256, 4, 2), (torch.randn(1, 128, 256),)),
    "layers_small": lambda: (Layers(64, 4, 3), (torch.randn(2, 24, 64),)),
}


class Calibration(CalibrationDataReader):
    """The example, and others of the same kind."""

    def __init__(self, names, example):
        def other(tensor):
            return torch.randn_like(tensor) if tensor.is_floating_point() else torch.randint_like(tensor, 1000)
        feeds = [example] + [tuple(other(each) for each in example) for _ in range(CALIBRATIONS - 1)]
        self.feeds = iter([{name: each.numpy() for name, each in zip(names, feed)} for feed in feeds])

    def get_next(self):
        return next(self.feeds, None)


def write(root, name, make, chosen):
    """Writes the cases of a network; their lines of cases.txt."""
    torch.manual_seed(zlib.crc32(name.encode()))
    module, example = make()
    module.eval()
    names = [f"x{i}" for i in range(len(example))]
    lines = []
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        exported = folder + "/model.onnx"
        torch.onnx.export(module, example, exported, input_names=names, dynamo=False, opset_version=17)
        for kind in [*DYNAMIC, *STATIC]:
            case = root / f"{name}_{kind}"
            if not chosen.search(case.name):
                continue
            shutil.rmtree(case, ignore_errors=True)
            case.mkdir(parents=True)
            model = str(case / "model.onnx")
            if kind in DYNAMIC:
                quantize_dynamic(exported, model, op_types_to_quantize=PRODUCTS + ["Conv"] * (kind == "u8"),
                                 **DYNAMIC[kind])
            else:
                quantize_static(exported, model, Calibration(names, example), quant_format=QuantFormat.QDQ,
                                activation_type=STATIC[kind], weight_type=QuantType.QInt8, per_channel=True)
            lines.append(run(case, model, names, example, 1e-3 if kind in DYNAMIC else 5e-2))
    return lines


def run(case, model, names, example, tolerance):
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    values = [each.numpy() for each in example]
    results = session.run(None, dict(zip(names, values)))
    for kind, arrays in (("input", values), ("output", results)):
        for i, array in enumerate(arrays):
            (case / f"{kind}_{i}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())
    return f"{case.name} {tolerance} {tolerance * max(float(numpy.abs(each).max()) for each in results):.3e}"


def main():
    root = pathlib.Path(sys.argv[1])
    chosen = re.compile(sys.argv[2] if len(sys.argv) > 2 else "")
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    onnxruntime.set_default_logger_severity(3)
    torch.backends.mha.set_fastpath_enabled(False)  # The exporter knows no fused attention.
    root.mkdir(parents=True, exist_ok=True)
    cases = root / "cases.txt"
    cases.touch()
    for name, make in NETWORKS.items():
        for line in write(root, name, make, chosen):
            lines = [each for each in cases.read_text().splitlines() if each.split(" ")[0] != line.split(" ")[0]]
            cases.write_text("\n".join(lines + [line]) + "\n")
            print(line, "left out" if zlib.crc32(name.encode()) % 3 == 0 else "", flush=True)


if __name__ == "__main__":
    main()
