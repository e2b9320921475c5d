"""Makes graph/src/test/resources/golden/programs-regions.npz: networks with regions, offsets and text, in the entry format of programs.py, which see.

Run from the root of the repository: PYTHONHASHSEED=0 python tools/golden/programs/regions.py. Made with PaddlePaddle 2.6.2 and NumPy 1.26 on CPU.
"""
import os
import pathlib
import sys

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn, optimizer, static
from paddle.vision import ops

from network import Network
from programs import record

TARGET = pathlib.Path("graph/src/test/resources/golden/programs-regions.npz")


def anchors(feature):
    """Anchors of three sizes, and their variances."""
    block = feature.block
    made = [block.create_var(name=paddle.utils.unique_name.generate(name), dtype="float32", stop_gradient=True) for name in ("anchors", "variances")]
    attributes = {"anchor_sizes": [6.0, 10.0, 16.0], "aspect_ratios": [1.0], "variances": [1.0] * 4, "stride": [4.0, 4.0], "offset": 0.5}
    block.append_op(type="anchor_generator", inputs={"Input": feature}, outputs={"Anchors": made[0], "Variances": made[1]}, attrs=attributes)
    return made


def two_stages(feed):
    """A detector of two stages: anchors are scored and moved, and the best of them become regions, which are aligned and classified."""
    x = static.data("x", [-1, 3, 32, 32])
    objects, moves = static.data("objects", [-1, 3, 8, 8]), static.data("moves", [-1, 12, 8, 8])
    feature = F.relu(nn.Conv2D(8, 8, 3, stride=2, padding=1)(F.relu(nn.Conv2D(3, 8, 3, stride=2, padding=1)(x))))
    hidden = F.relu(nn.Conv2D(8, 8, 3, padding=1)(feature))
    scores, deltas = nn.Conv2D(8, 3, 1)(hidden), nn.Conv2D(8, 12, 1)(hidden)
    first = F.binary_cross_entropy_with_logits(scores, objects) + F.smooth_l1_loss(deltas, moves)
    boxes, variances = anchors(feature)
    size = static.data("size", [-1, 2])
    regions, _, count = ops.generate_proposals(
        F.sigmoid(scores), deltas * 0.1, size, boxes, variances, pre_nms_top_n=40, post_nms_top_n=6, nms_thresh=0.5, min_size=2.0, return_rois_num=True
    )
    regions.stop_gradient = True
    count.desc.set_shape([-1])
    aligned = ops.roi_align(feature, regions, count, 3, spatial_scale=0.25, sampling_ratio=2)
    hidden = F.relu(nn.Linear(72, 16)(paddle.flatten(aligned, 1)))
    label = paddle.cast(paddle.sum(regions * 0, 1, keepdim=True), "int64") + 1
    second = F.cross_entropy(nn.Linear(16, 4)(hidden), label) + paddle.mean(paddle.abs(nn.Linear(16, 4)(hidden) - 0.5))
    return Network(
        loss=first + second,
        optimizer=optimizer.Momentum(0.02, 0.9),
        feed={
            "x": feed.real(2, 3, 32, 32),
            "objects": np.abs(feed.sparse(2, 3, 8, 8)).astype("float32"),
            "moves": feed.sparse(2, 12, 8, 8).astype("float32"),
            "size": np.full((2, 2), 32, "float32"),
        },
    )


def text_head(channels, x):
    """A map four times as large, of numbers from 0 to 1."""
    hidden = F.relu(nn.BatchNorm2D(channels // 2)(nn.Conv2D(channels, channels // 2, 3, padding=1, bias_attr=False)(x)))
    hidden = F.relu(nn.BatchNorm2D(channels // 2)(nn.Conv2DTranspose(channels // 2, channels // 2, 2, stride=2)(hidden)))
    return F.sigmoid(nn.Conv2DTranspose(channels // 2, 1, 2, stride=2)(hidden))


def text_detector(feed):
    """Differentiable binarization: maps of text, of thresholds, and of both by a steep step."""
    x, text, mask = static.data("x", [-1, 3, 16, 16]), static.data("text", [-1, 1, 16, 16]), static.data("mask", [-1, 1, 16, 16])
    border, border_mask = static.data("border", [-1, 1, 16, 16]), static.data("border_mask", [-1, 1, 16, 16])
    feature = F.relu(nn.Conv2D(8, 8, 3, stride=2, padding=1)(F.relu(nn.Conv2D(3, 8, 3, stride=2, padding=1)(x))))
    shrunk, threshold = text_head(8, feature), text_head(8, feature)
    binary = paddle.reciprocal(1 + paddle.exp(-50 * (shrunk - threshold)))
    # The hardest third of the background counts.
    positive, negative = text * mask, (1 - text) * mask
    cross_entropy = F.binary_cross_entropy(shrunk, text, reduction="none")
    hardest, _ = paddle.topk(paddle.flatten(cross_entropy * negative), 150)
    balanced = (paddle.sum(cross_entropy * positive) + paddle.sum(hardest)) / (paddle.sum(positive) + 150 + 1e-6)
    distance = paddle.sum(paddle.abs(threshold - border) * border_mask) / (paddle.sum(border_mask) + 1e-6)
    dice = 1 - 2 * paddle.sum(binary * text * mask) / (paddle.sum(binary * mask) + paddle.sum(text * mask) + 1e-6)
    return Network(
        loss=paddle.mean(5 * balanced + 10 * distance + dice),
        optimizer=optimizer.Adam(0.003),
        feed={
            "x": feed.real(2, 3, 16, 16),
            "text": (feed.real(2, 1, 16, 16) > 0.4).astype("float32"),
            "mask": (feed.real(2, 1, 16, 16) > -0.9).astype("float32"),
            "border": np.abs(feed.real(2, 1, 16, 16)),
            "border_mask": (feed.real(2, 1, 16, 16) > 0).astype("float32"),
        },
    )


def deformable(feed):
    """A convolution whose offsets and mask are computed from the image."""
    x = static.data("x", [-1, 3, 9, 9])
    hidden = F.relu(nn.Conv2D(3, 4, 3, padding=1)(x))
    offset, mask = nn.Conv2D(4, 18, 3, padding=1)(hidden), F.sigmoid(nn.Conv2D(4, 9, 3, padding=1)(hidden))
    weight = paddle.create_parameter([6, 4, 3, 3], "float32")
    output = paddle.mean(F.relu(ops.deform_conv2d(hidden, offset, weight, padding=1, mask=mask)), axis=[2, 3])
    y = static.data("y", [-1, 6])
    return Network(
        loss=paddle.mean(paddle.square(output - y)), output=output, optimizer=optimizer.SGD(0.05), feed={"x": feed.real(2, 3, 9, 9), "y": feed.real(2, 6)}
    )


def main():
    if os.environ.get("PYTHONHASHSEED") != "0":
        sys.exit("run with PYTHONHASHSEED=0 in the environment, so that two runs write the same programs")
    paddle.enable_static()
    entries = {}
    for name, build in {"two_stages": two_stages, "text_detector": text_detector, "deformable": deformable}.items():
        entries |= record(name, build)
        print(f"{name:22}", len(entries[f"{name}/main"]), entries.get(f"{name}/loss"))
    np.savez_compressed(TARGET, **entries)
    print(len(entries), "entries,", TARGET.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
