#!/usr/bin/env python3
"""Writes networks with open sizes for sizes.py: open_networks.py FOLDER.

A sentence encoder with a mask, a decoder-only transformer, a recogniser of lines of text, a feature pyramid, a speech
encoder, a voice activity detector and a mixture of experts, with random weights and open batches and lengths, as
FOLDER/NAME.onnx. How many tokens an expert is given is known only during the run. Tested with torch 2.15 and onnx
1.23.2.
"""
import logging
import pathlib
import sys
import warnings

import torch
from torch import nn


def convolution(inputs, outputs, stride=1, kernel=3, groups=1, activation=nn.Hardswish):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride=stride, padding=kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs), activation())


class Recogniser(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            convolution(3, 16, 2), convolution(16, 16, groups=16, activation=nn.ReLU), convolution(16, 32, kernel=1),
            convolution(32, 32, (2, 1), 5, 32), convolution(32, 64, kernel=1), convolution(64, 64, (2, 1), 5, 64),
            convolution(64, 96, kernel=1))
        self.recurrence = nn.LSTM(96, 48, bidirectional=True, batch_first=True)
        self.out = nn.Linear(96, 200)

    def forward(self, x):
        y, _ = self.recurrence(self.features(x).mean(2).transpose(1, 2))
        return torch.softmax(self.out(y), -1)


class Pyramid(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(convolution(3, 16, 2), convolution(16, 24, 2))
        self.second = convolution(24, 48, 2)
        self.third = convolution(48, 96, 2)
        self.lateral = nn.ModuleList([nn.Conv2d(channels, 32, 1) for channels in (24, 48, 96)])
        self.head = nn.Sequential(convolution(32, 32), nn.Conv2d(32, 1, 1), nn.Sigmoid())

    def forward(self, x):
        a = self.first(x)
        b = self.second(a)
        c = self.third(b)
        y = self.lateral[1](b) + nn.functional.interpolate(self.lateral[2](c), scale_factor=2.0, mode="nearest")
        return self.head(self.lateral[0](a) + nn.functional.interpolate(y, scale_factor=2.0, mode="nearest"))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.qkv = nn.Linear(width, 3 * width)
        self.projection = nn.Linear(width, width)
        self.wide = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)

    def forward(self, x, hidden):
        batch, length, width = x.shape
        shape = (batch, length, 3, self.heads, width // self.heads)
        q, k, v = self.qkv(self.norms[0](x)).reshape(shape).permute(2, 0, 3, 1, 4).unbind(0)
        scores = (q @ k.transpose(-1, -2)) * (width // self.heads) ** -0.5
        if hidden is not None:
            scores = scores.masked_fill(hidden, -1e9)
        y = (torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(batch, length, width)
        x = x + self.projection(y)
        return x + self.narrow(nn.functional.gelu(self.wide(self.norms[1](x))))


class Sentences(nn.Module):
    """Words of index 0 are padding for an encoder; a decoder sees the words before."""

    def __init__(self, decodes):
        super().__init__()
        self.decodes = decodes
        self.words = nn.Embedding(500, 256)
        self.places = nn.Embedding(512, 256)
        self.blocks = nn.ModuleList([Block(256, 4) for _ in range(4)])
        self.out = nn.Linear(256, 500)
        self.register_buffer("later", torch.triu(torch.ones(512, 512, dtype=torch.bool), 1))

    def forward(self, ids):
        length = ids.shape[1]
        x = self.words(ids) + self.places(torch.arange(length))
        hidden = self.later[:length, :length] if self.decodes else (ids == 0)[:, None, None, :]
        for block in self.blocks:
            x = block(x, hidden)
        return self.out(x)


class Speech(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv1d(40, 128, 3, padding=1), nn.GELU(),
                                      nn.Conv1d(128, 128, 3, stride=2, padding=1), nn.GELU())
        self.blocks = nn.ModuleList([Block(128, 4) for _ in range(3)])
        self.out = nn.Linear(128, 30)

    def forward(self, x):
        x = self.features(x).transpose(1, 2)
        for block in self.blocks:
            x = block(x, None)
        return torch.log_softmax(self.out(x), -1)


def voice():
    return nn.Sequential(nn.Conv1d(1, 32, 8, 4), nn.ReLU(), nn.Conv1d(32, 64, 4, 2), nn.ReLU(), nn.Conv1d(64, 1, 1),
                         nn.Sigmoid())


class Mixture(nn.Module):
    """Experts that are given their tokens by index and add their results to a sum, two a token."""

    def __init__(self, width, inner, count):
        super().__init__()
        self.gate = nn.Linear(width, count, bias=False)
        self.experts = nn.ModuleList([
            nn.Sequential(nn.Linear(width, inner), nn.SiLU(), nn.Linear(inner, width)) for _ in range(count)])

    def forward(self, x):
        tokens = x.flatten(0, 1)
        weights, chosen = torch.softmax(self.gate(tokens), -1).topk(2, -1)
        weights = weights / weights.sum(-1, keepdim=True)
        masks = nn.functional.one_hot(chosen, len(self.experts)).permute(2, 1, 0)
        y = torch.zeros_like(tokens)
        for i, expert in enumerate(self.experts):
            rank, rows = torch.where(masks[i])
            y.index_add_(0, rows, expert(tokens[rows]) * weights[rows, rank, None])
        return y.view(x.shape)


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(500, 256)
        self.norms = nn.ModuleList([nn.LayerNorm(256) for _ in range(2)])
        self.mixtures = nn.ModuleList([Mixture(256, 512, 4) for _ in range(2)])

    def forward(self, x):
        y = self.embedding(x)
        for norm, mixture in zip(self.norms, self.mixtures):
            y = y + mixture(norm(y))
        return y


# Name: the network, an example, the open axis but the batch.
NETWORKS = {
    "encoder": (lambda: Sentences(False), lambda: torch.randint(0, 500, (2, 12)), 1),
    "decoder": (lambda: Sentences(True), lambda: torch.randint(0, 500, (2, 12)), 1),
    "recogniser": (Recogniser, lambda: torch.randn(2, 3, 32, 96), 3),
    "pyramid": (Pyramid, lambda: torch.randn(2, 3, 64, 96), 3),
    "speech": (Speech, lambda: torch.randn(2, 40, 64), 2),
    "voice": (voice, lambda: torch.randn(2, 1, 512), 2),
    "experts": (Experts, lambda: torch.randint(0, 500, (2, 12)), 1),
}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    for name, (make, example, axis) in NETWORKS.items():
        torch.manual_seed(24)
        with torch.no_grad():
            torch.onnx.export(make().eval(), (example(),), str(folder / f"{name}.onnx"), dynamo=False,
                              input_names=["x"], dynamic_axes={"x": {0: "batch", axis: "length"}}, opset_version=17)
        print(name, flush=True)


main()
