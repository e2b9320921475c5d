"""Makes executor/src/test/resources/golden/detectors.npz: small networks that detect objects, as save_inference_model writes them, and what they
find.

Run from the root of the repository: PYTHONHASHSEED=0 python tools/golden/executor/detectors.py. Made with PaddlePaddle 2.6.2 and NumPy 1.26 on CPU.
The entries of each network are

  <name>/program, <name>/parameters   the .pdmodel, with op_callstack removed from each operation, and the .pdiparams
  <name>/<k>/in/<feed>                what is fed at the k-th run
  <name>/<k>/out/<i>                  the i-th output at the k-th run
  <name>/<k>/lod/<i>                  its offsets, if it has some
"""
import pathlib
import tempfile
import zlib

import numpy as np
import paddle
from paddle import static
from paddle.base.layer_helper import LayerHelper
from paddle.nn import functional as F
from paddle.vision import ops

import recording

CLASSES = 3
SIDE = 32


def append(kind, inputs, attributes, outputs):
    """One operation that the Python interface of PaddlePaddle 2.6 no longer offers; returns its outputs."""
    helper = LayerHelper(kind)
    made = {slot: helper.create_variable_for_type_inference(dtype) for slot, dtype in outputs.items()}
    helper.append_op(type=kind, inputs=inputs, outputs=made, attrs=attributes)
    return list(made.values())


def suppressed(boxes, scores, rois_num=None, **attributes):
    inputs = {"BBoxes": boxes, "Scores": scores}
    if rois_num is not None:
        inputs["RoisNum"] = rois_num
    limits = {"score_threshold": 0.05, "nms_top_k": 60, "keep_top_k": 20, "nms_threshold": 0.45, "background_label": -1}
    outputs = {"Out": "float32", "Index": "int32", "NmsRoisNum": "int32"}
    return append("multiclass_nms3", inputs, {**limits, "normalized": True, "nms_eta": 1.0, **attributes}, outputs)


def conv(x, channels, size, stride=1):
    return static.nn.conv2d(x, channels, size, stride=stride, padding=size // 2)


def features(image):
    """Feature maps of two strides."""
    fine = F.relu(conv(conv(image, 6, 3, 4), 8, 3, 2))
    return fine, F.relu(conv(fine, 8, 3, 2))


def image():
    return static.data("image", [-1, 3, SIDE, SIDE])


def yolo():
    """As YOLOv3: boxes about the anchors of two feature maps."""
    x, size = image(), static.data("size", [-1, 2], "int32")
    boxes, scores = [], []
    for each, anchors, stride in zip(features(x), ([6, 8, 12, 10], [20, 24, 30, 40]), (8, 16)):
        found, score = ops.yolo_box(conv(each, 2 * (5 + CLASSES), 1), size, anchors, CLASSES, 0.01, stride)
        boxes.append(found)
        scores.append(paddle.transpose(score, [0, 2, 1]))
    out, _, count = suppressed(paddle.concat(boxes, 1), paddle.concat(scores, 2), normalized=False)
    return [x, size], [out, count]


def ssd():
    """As SSD: offsets from prior boxes, and a softmax of the classes and the background."""
    x = image()
    priors, variances, offsets, scores = [], [], [], []
    for each, least in zip(features(x), (8.0, 20.0)):
        prior, variance = ops.prior_box(each, x, [least], [least * 2], [1.0, 2.0], flip=True, clip=True)
        priors.append(paddle.reshape(prior, [-1, 4]))
        variances.append(paddle.reshape(variance, [-1, 4]))
        count = prior.shape[2]
        offsets.append(paddle.reshape(paddle.transpose(conv(each, count * 4, 3), [0, 2, 3, 1]), [0, -1, 4]))
        classes = paddle.transpose(conv(each, count * (CLASSES + 1), 3), [0, 2, 3, 1])
        scores.append(paddle.reshape(classes, [0, -1, CLASSES + 1]))
    priors, variances = paddle.concat(priors), paddle.concat(variances)
    boxes = ops.box_coder(priors, variances, paddle.concat(offsets, 1), "decode_center_size")
    scores = paddle.transpose(F.softmax(paddle.concat(scores, 1)), [0, 2, 1])
    out, index, count = suppressed(boxes, scores, background_label=0, score_threshold=0.3)
    return [x], [out, index, count]


def ppyoloe():
    """As PP-YOLOE: distances from points as distributions, and scores that are lowered instead of boxes that are removed."""
    x = image()
    bins = 5
    boxes, scores = [], []
    for each, stride in zip(features(x), (8, 16)):
        side = SIDE // stride
        at = (np.arange(side) + 0.5) * stride
        points = np.stack(np.meshgrid(at, at), -1).reshape(-1, 2).astype("float32")
        distances = paddle.reshape(conv(each, 4 * bins, 1), [0, 4, bins, side * side])
        distances = F.softmax(distances, 2) * paddle.reshape(paddle.arange(bins, dtype="float32"), [1, 1, bins, 1])
        left_top, right_bottom = paddle.split(paddle.transpose(paddle.sum(distances, 2), [0, 2, 1]) * stride, 2, -1)
        points = paddle.to_tensor(points)
        boxes.append(paddle.concat([points - left_top, points + right_bottom], -1))
        scores.append(paddle.reshape(F.sigmoid(conv(each, CLASSES, 1)), [0, CLASSES, -1]))
    boxes, scores = paddle.concat(boxes, 1), paddle.concat(scores, 2)
    out, count, index = ops.matrix_nms(boxes, scores, 0.2, 0.1, 40, 15, use_gaussian=True, background_label=-1, return_index=True)
    return [x], [out, count, index]


def two_stages():
    """As Faster R-CNN: proposals, their features, and classes and offsets of each."""
    x, size = image(), static.data("shape", [-1, 2])
    fine, coarse = features(x)
    attributes = {"anchor_sizes": [10.0, 24.0], "aspect_ratios": [0.5, 1.0, 2.0], "stride": [8.0, 8.0], "offset": 0.5}
    anchors, variances = append(
        "anchor_generator",
        {"Input": fine},
        {**attributes, "variances": [1.0, 1.0, 1.0, 1.0]},
        {"Anchors": "float32", "Variances": "float32"},
    )
    rois, _, number = ops.generate_proposals(
        F.sigmoid(conv(fine, 6, 1)), conv(fine, 24, 1) * 0.3, size, anchors, variances, 80, 20, 0.6, 2.0, pixel_offset=False, return_rois_num=True
    )
    levels, restore, numbers = ops.distribute_fpn_proposals(rois, 3, 4, 3, 16, rois_num=number)
    pooled = [
        ops.roi_align(feature, roi, n, 2, scale, sampling_ratio=2)
        for feature, roi, n, scale in zip((fine, coarse), levels, numbers, (1 / 8, 1 / 16))
    ]
    pooled = paddle.gather(paddle.concat(pooled), restore)
    hidden = F.relu(static.nn.fc(pooled, 12))
    scores = F.softmax(static.nn.fc(hidden, CLASSES + 1))
    offsets = paddle.reshape(static.nn.fc(hidden, 4 * (CLASSES + 1)), [-1, CLASSES + 1, 4])
    boxes = ops.box_coder(rois, [0.1, 0.1, 0.2, 0.2], offsets, "decode_center_size", box_normalized=False, axis=1)
    out, index, count = suppressed(boxes, scores, number, background_label=0, normalized=False, score_threshold=0.2)
    return [x, size], [rois, number, out, index, count]


def offsets():
    """Proposals that are divided by offsets instead of numbers: clipped, distributed, and suppressed for two classes."""
    x, info = image(), static.data("info", [-1, 3])
    fine, _ = features(x)
    anchors, variances = append(
        "anchor_generator",
        {"Input": fine},
        {"anchor_sizes": [8.0, 20.0], "aspect_ratios": [1.0], "stride": [8.0, 8.0], "offset": 0.5, "variances": [1.0, 1.0, 1.0, 1.0]},
        {"Anchors": "float32", "Variances": "float32"},
    )
    inputs = {"Scores": F.sigmoid(conv(fine, 2, 1)), "BboxDeltas": conv(fine, 8, 1) * 0.3, "ImInfo": info, "Anchors": anchors, "Variances": variances}
    limits = {"pre_nms_topN": 30, "post_nms_topN": 12, "nms_thresh": 0.6, "min_size": 2.0, "eta": 1.0}
    rois, scores = append("generate_proposals", inputs, limits, {"RpnRois": "float32", "RpnRoiProbs": "float32"})
    (rois,) = append("box_clip", {"Input": rois, "ImInfo": info}, {}, {"Output": "float32"})
    levels, restore, _ = ops.distribute_fpn_proposals(rois, 3, 4, 3, 9)
    boxes = paddle.reshape(paddle.concat([rois, rois * 0.9], 1), [-1, 2, 4])
    limits = {"score_threshold": 0.3, "nms_top_k": 20, "keep_top_k": 8, "nms_threshold": 0.4, "background_label": -1, "normalized": False}
    (out,) = append("multiclass_nms", {"BBoxes": boxes, "Scores": paddle.concat([scores, 1 - scores], 1)}, limits, {"Out": "float32"})
    return [x, info], [rois, *levels, restore, out]


NETWORKS = {"yolo": yolo, "ssd": ssd, "ppyoloe": ppyoloe, "two_stages": two_stages, "offsets": offsets}


def batch(name, k, feed):
    rng = np.random.default_rng(zlib.crc32(f"{name} {k} {feed.name}".encode()))
    shape = (1 + k, *feed.shape[1:])
    if feed.name == "image":
        # Few different values, which compress well.
        return (rng.integers(-2, 3, shape) / 2).astype("float32")
    sizes = rng.integers(SIDE - 8, SIDE + 1, shape)
    if feed.name == "info":
        sizes[:, 2] = 1
    return sizes.astype("int32" if feed.name == "size" else "float32")


def record(name, build):
    recording.first_program()
    main, startup = static.Program(), static.Program()
    executor = static.Executor(paddle.CPUPlace())
    with paddle.utils.unique_name.guard(), static.program_guard(main, startup), tempfile.TemporaryDirectory() as folder:
        feeds, fetches = build()
        prefix = pathlib.Path(folder, "model")
        with static.scope_guard(static.Scope()) as _:
            executor.run(startup)
            rng = np.random.default_rng(zlib.crc32(name.encode()))
            for parameter in sorted(main.all_parameters(), key=lambda each: each.name):
                # Large enough that scores differ clearly.
                value = rng.normal(0, 1.6 / np.sqrt(max(np.prod(parameter.shape[1:]), 1)), parameter.shape).astype("float32")
                static.global_scope().find_var(parameter.name).get_tensor().set(value, paddle.CPUPlace())
            static.save_inference_model(str(prefix), feeds, fetches, executor, program=main)
        file = prefix.with_suffix(".pdmodel")
        file.write_bytes(recording.stripped(file.read_bytes()))
        entries = {
            "program": recording.as_array(file.read_bytes()),
            "parameters": recording.as_array(prefix.with_suffix(".pdiparams").read_bytes()),
        }
        with static.scope_guard(static.Scope()):
            program, _, targets = static.load_inference_model(str(prefix), executor)
            for k in range(2):
                given = {feed.name: batch(name, k, feed) for feed in feeds}
                outputs = executor.run(program, feed=given, fetch_list=targets, return_numpy=False)
                entries |= {f"{k}/in/{feed}": value for feed, value in given.items()}
                entries |= {f"{k}/out/{i}": np.array(output) for i, output in enumerate(outputs)}
                entries |= {f"{k}/lod/{i}": np.array(output.lod()[0], np.int64) for i, output in enumerate(outputs) if output.lod()}
    return entries


def main():
    recording.begin()
    entries = {}
    for name, build in NETWORKS.items():
        recorded = record(name, build)
        print(f"{name:14}", len(recorded["program"]), len(recorded["parameters"]))
        for key, value in recorded.items():
            if "/lod/" in key:
                print("   ", key, value)
            if "/out/" in key:
                print("   ", key, value.dtype, value.shape, value.reshape(-1)[:8])
        entries |= {f"{name}/{key}": value for key, value in recorded.items()}
    recording.write("detectors.npz", entries, 120_000)


if __name__ == "__main__":
    main()
