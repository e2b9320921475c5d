"""Makes graph/src/test/resources/golden/operations-assignments.npz: labels for the training of detectors, in the entry format of operations.py, which
see. Run from the root of the repository: `python tools/golden/operations/assignments.py`. Made with PaddlePaddle 2.6.2 (CPU) and NumPy 1.26.
"""
import sys
from pathlib import Path

import cases
import numpy as np
from cases import drawn, rand

OUTPUT = Path("graph/src/test/resources/golden/operations-assignments.npz")


def pick(rng, *choices):
    return choices[rng.integers(len(choices))]


def boxes(rng, count, dtype, size=64, least=4):
    corners = rng.uniform(0, size - 2 * least, (count, 2))
    return np.concatenate([corners, np.minimum(corners + rng.uniform(least, size / 2, (count, 2)), size - 1)], 1).astype(dtype)


def near(rng, objects, count, dtype, spread=6.0):
    """Boxes near objects, and some anywhere."""
    chosen = objects[rng.integers(len(objects), size=count)] + rng.uniform(-spread, spread, (count, 4))
    chosen[:, 2:] = np.maximum(chosen[:, 2:], chosen[:, :2] + 1)
    return np.concatenate([chosen, boxes(rng, count, dtype)]).astype(dtype)[rng.permutation(2 * count)]


def offsets(rng, images, least=1, most=4):
    return [0] + [int(n) for n in np.cumsum(rng.integers(least, most, images))]


def info(rng, images, dtype, scales=(1.0,)):
    return np.asarray([[64, 64, pick(rng, *scales)] for _ in range(images)], dtype)


def draw_anchors(rng):
    dtype, images = pick(rng, "float32", "float64"), int(rng.integers(1, 4))
    lod = offsets(rng, images)
    objects = boxes(rng, lod[-1], dtype)
    inputs = {
        "Anchor": near(rng, objects, 15, dtype),
        "GtBoxes": objects,
        "IsCrowd": (rng.uniform(size=(lod[-1], 1)) < 0.2).astype("int32"),
        "ImInfo": info(rng, images, dtype, (1.0, 1.25)),
    }
    inputs["IsCrowd"][lod[:-1]] = 0
    return inputs, {"gtboxes": [lod], "iscrowd": [lod]}


def draw_rpn(rng):
    inputs, lod = draw_anchors(rng)
    attributes = {
        "rpn_batch_size_per_im": int(rng.integers(6, 20)),
        "rpn_straddle_thresh": pick(rng, -1.0, 0.0, 5.0),
        "rpn_positive_overlap": pick(rng, 0.7, 0.5),
        "rpn_negative_overlap": pick(rng, 0.3, 0.1),
        "rpn_fg_fraction": pick(rng, 0.25, 0.5),
        "use_random": False,
    }
    return inputs, attributes, {"grad": False, "lod": lod}


drawn("rpn_target_assign", draw_rpn)


def draw_retinanet(rng):
    inputs, lod = draw_anchors(rng)
    inputs["GtLabels"] = rng.integers(1, 9, inputs["IsCrowd"].shape).astype("int32")
    return inputs, {"positive_overlap": pick(rng, 0.5, 0.4), "negative_overlap": pick(rng, 0.4, 0.2)}, {"grad": False, "lod": {**lod, "gtlabels": lod["gtboxes"]}}


drawn("retinanet_target_assign", draw_retinanet)


def draw_proposals(rng):
    dtype, images = pick(rng, "float32", "float64"), int(rng.integers(1, 4))
    lod, rois = offsets(rng, images), offsets(rng, images, 4, 12)
    objects, scale = boxes(rng, lod[-1], dtype), pick(rng, 1.0, 1.25)
    classes, agnostic = int(rng.integers(2, 5)), bool(rng.integers(4) == 0)
    inputs = {
        "RpnRois": near(rng, objects * scale, rois[-1], dtype)[: rois[-1]],
        "GtClasses": rng.integers(1, classes, (lod[-1], 1)).astype("int32"),
        "IsCrowd": (rng.uniform(size=(lod[-1], 1)) < 0.2).astype("int32"),
        "GtBoxes": objects,
        "ImInfo": info(rng, images, dtype, (scale,)),
    }
    cascade = bool(rng.integers(3) == 0)
    if cascade:
        inputs["MaxOverlap"] = rng.uniform(0, 1.2, rois[-1]).astype(dtype)
    attributes = {
        "batch_size_per_im": int(rng.integers(4, 12)),
        "fg_fraction": pick(rng, 0.25, 0.5),
        "fg_thresh": pick(rng, 0.5, 0.6),
        "bg_thresh_hi": 0.5,
        "bg_thresh_lo": pick(rng, 0.0, 0.1),
        "bbox_reg_weights": [0.1, 0.1, 0.2, 0.2],
        "class_nums": classes,
        "use_random": False,
        "is_cascade_rcnn": cascade,
        "is_cls_agnostic": agnostic,
    }
    divided = {"rpnrois": [rois], "gtclasses": [lod], "iscrowd": [lod], "gtboxes": [lod]}
    return inputs, attributes, {"grad": False, "lod": divided}


drawn("generate_proposal_labels", draw_proposals)


def draw_masks(rng):
    images, classes, resolution = int(rng.integers(1, 3)), int(rng.integers(2, 4)), int(rng.integers(4, 9))
    objects, rois = offsets(rng, images), offsets(rng, images, 2, 5)
    polygons = [0] + [int(n) for n in np.cumsum(rng.integers(1, 3, objects[-1]))]
    points = [0] + [int(n) for n in np.cumsum(rng.integers(3, 7, polygons[-1]))]
    outline = []
    for i in range(polygons[-1]):
        angles = np.sort(rng.uniform(0, 2 * np.pi, points[i + 1] - points[i]))
        outline.append(rng.uniform(15, 45, 2) + rng.uniform(6, 16) * np.stack([np.cos(angles), np.sin(angles)], 1))
    inputs = {
        "ImInfo": info(rng, images, "float32", (1.0, 1.5)),
        "GtClasses": rng.integers(1, classes, (objects[-1], 1)).astype("int32"),
        "IsCrowd": np.zeros((objects[-1], 1), "int32"),
        "GtSegms": np.concatenate(outline).astype("float32"),
        "Rois": boxes(rng, rois[-1], "float32", least=8),
        "LabelsInt32": (rng.integers(0, classes, (rois[-1], 1)) * (rng.uniform(size=(rois[-1], 1)) < 0.8)).astype("int32"),
    }
    lod = {"gtclasses": [objects], "iscrowd": [objects], "gtsegms": [objects, polygons, points], "rois": [rois], "labelsint32": [rois]}
    return inputs, {"num_classes": classes, "resolution": resolution}, {"grad": False, "lod": lod}


drawn("generate_mask_labels", draw_masks)


def draw_mining(rng):
    images, count, dtype = int(rng.integers(1, 4)), int(rng.integers(3, 9)), pick(rng, "float32", "float64")
    type = pick(rng, "max_negative", "hard_example")
    inputs = {
        "ClsLoss": rand(images, count, low=0, dtype=dtype),
        "MatchIndices": rng.integers(-1, 3, (images, count)).astype("int32"),
        "MatchDist": rand(images, count, low=0, high=1, dtype=dtype),
    }
    if rng.integers(2):
        inputs["LocLoss"] = rand(images, count, low=0, dtype=dtype)
    attributes = {"mining_type": type, "neg_pos_ratio": pick(rng, 1.0, 2.5), "neg_dist_threshold": 0.5, "sample_size": int(rng.integers(1, 6))}
    return inputs, attributes, {"grad": False}


drawn("mine_hard_examples", draw_mining)


def draw_map(rng):
    dtype, images, classes = pick(rng, "float32", "float64"), int(rng.integers(1, 4)), int(rng.integers(2, 5))
    lod, found = offsets(rng, images, 0, 4), offsets(rng, images, 1, 6)
    lod[1:] = [n + 1 for n in lod[1:]]
    objects = boxes(rng, lod[-1], dtype) / 64
    kinds = rng.integers(0, classes, (lod[-1], 1))
    difficult = [(rng.uniform(size=(lod[-1], 1)) < 0.3)] if rng.integers(2) else []
    source = rng.integers(lod[-1], size=found[-1])
    detected = objects[source] + rng.uniform(-0.05, 0.05, (found[-1], 4))
    scores = rng.permutation(found[-1])[:, None] / found[-1] * 0.9 + 0.05
    inputs = {
        "DetectRes": np.concatenate([kinds[source], scores, detected], 1).astype(dtype),
        "Label": np.concatenate([kinds, *difficult, objects], 1).astype(dtype),
    }
    divided = {"detectres": [found], "label": [lod]}
    if rng.integers(2):
        inputs["HasState"] = np.asarray([rng.integers(2)], "int32")
        inputs["PosCount"] = rng.integers(0, 5, (classes, 1)).astype("int32")
        for slot in ("TruePos", "FalsePos"):
            before = offsets(rng, classes, 0, 3)
            inputs[slot] = np.stack([rng.uniform(0, 1, before[-1]), rng.integers(0, 2, before[-1])], 1).astype(dtype)
            divided[slot.lower()] = [before]
        # The numbers of right and of wrong detections belong together.
        inputs["FalsePos"] = np.stack([inputs["TruePos"][:, 0], 1 - inputs["TruePos"][:, 1]], 1).astype(dtype)
        divided["falsepos"] = divided["truepos"]
    attributes = {"class_num": classes, "background_label": pick(rng, 0, -1), "evaluate_difficult": bool(rng.integers(2)), "ap_type": pick(rng, "integral", "11point")}
    return inputs, attributes, {"grad": False, "lod": divided}


drawn("detection_map", draw_map)


if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
