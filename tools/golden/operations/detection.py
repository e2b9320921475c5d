"""Makes graph/src/test/resources/golden/operations-detection.npz: boxes that are predicted, coded, compared, matched, suppressed and proposed, in
the entry format of operations.py, which see. Run from the root of the repository: `python tools/golden/operations/detection.py`. Made with
PaddlePaddle 2.6.2 (CPU) and NumPy 1.26.
"""
import sys
from pathlib import Path

import cases
import numpy as np
from cases import case, drawn, int32s, rand, unknown, values

OUTPUT = Path("graph/src/test/resources/golden/operations-detection.npz")
TYPES = ("float32", "float32", "float64")


def corners(rng, *shape, extent=1.0, dtype="float32"):
    """Boxes [x1, y1, x2, y2] within an image."""
    center = rng.uniform(0, extent, (*shape, 2))
    half = rng.uniform(0.05, 0.25, (*shape, 2)) * extent
    return np.concatenate([center - half, center + half], -1).astype(dtype)


def quads(rng, *shape, extent=1.0, dtype="float32", points=4):
    """Convex polygons of points on ellipses."""
    center = rng.uniform(0.2, 0.8, (*shape, 1, 2)) * extent
    radius = rng.uniform(0.1, 0.3, (*shape, 1, 2)) * extent
    angle = np.sort(rng.uniform(0, 2 * np.pi, (*shape, points)), -1)
    around = np.stack([np.cos(angle), np.sin(angle)], -1)
    return (center + radius * around).reshape(*shape, 2 * points).astype(dtype)


def coarse(rng, *shape, dtype="float32"):
    """Scores of which many are equal."""
    return (rng.integers(0, 12, shape) / np.float32(12)).astype(dtype)


def offsets(*counts):
    """One level for images with so many rows."""
    return [[0, *(int(n) for n in np.cumsum(counts))]]


def one_of(rng, *options):
    return options[int(rng.integers(len(options)))]


def flag(rng):
    return bool(rng.integers(2))


# Predictions of the YOLO family.


def yolo(rng):
    dtype = one_of(rng, *TYPES)
    anchors, classes, aware = int(rng.integers(1, 4)), int(rng.integers(1, 5)), flag(rng)
    n, h, w = (int(i) for i in rng.integers(1, 4, 3))
    channels = anchors * (5 + classes + aware)
    inputs = {
        "X": rng.uniform(-3, 3, (n, channels, h, w)).astype(dtype),
        "ImgSize": rng.integers(20, 100, (n, 2)).astype("int32"),
    }
    attributes = {
        "anchors": [int(i) for i in rng.integers(4, 40, 2 * anchors)],
        "class_num": classes,
        "conf_thresh": float(rng.uniform(0, 0.6)),
        "downsample_ratio": int(one_of(rng, 8, 16, 32)),
        "clip_bbox": flag(rng),
        "scale_x_y": float(one_of(rng, 1.0, 1.05, 1.2)),
        "iou_aware": aware,
        "iou_aware_factor": float(rng.uniform(0.1, 0.9)),
    }
    return inputs, attributes


drawn("yolo_box", yolo)
case("yolo_box.none", {"X": values(np.full((1, 7, 2, 2), -9.0)), "ImgSize": int32s([40, 50])}, {"anchors": [3, 4], "class_num": 2})
case(
    "yolo_box.exact",
    {"X": values(np.zeros((1, 7, 1, 2))), "ImgSize": int32s([40, 50])},
    {"anchors": [3, 4], "class_num": 2, "conf_thresh": 0.5},
)
unknown(
    "yolo_box.unknown",
    {"X": rand(2, 14, 2, 3), "ImgSize": int32s([30, 40], [64, 64])},
    {"anchors": [10, 13, 16, 30], "class_num": 2},
    {"x": (0, 2, 3), "imgsize": (0,)},
)


def yolo_loss(rng):
    dtype = one_of(rng, *TYPES)
    anchors, classes = int(rng.integers(2, 5)), int(rng.integers(1, 5))
    mask = sorted(int(i) for i in rng.permutation(anchors)[: int(rng.integers(1, anchors + 1))])
    n, b, h = int(rng.integers(1, 3)), int(rng.integers(1, 5)), int(rng.integers(1, 5))
    boxes = np.concatenate([rng.uniform(0.05, 0.95, (n, b, 2)), rng.uniform(0.05, 0.6, (n, b, 2))], -1)
    boxes[rng.uniform(size=(n, b)) < 0.25] = 0
    inputs = {
        "X": rng.uniform(-2, 2, (n, len(mask) * (5 + classes), h, h)).astype(dtype),
        "GTBox": boxes.astype(dtype),
        "GTLabel": rng.integers(0, classes, (n, b)).astype("int32"),
    }
    if flag(rng):
        inputs["GTScore"] = rng.uniform(0.1, 1, (n, b)).astype(dtype)
    attributes = {
        "anchors": [int(i) for i in rng.integers(4, 60, 2 * anchors)],
        "anchor_mask": mask,
        "class_num": classes,
        "ignore_thresh": float(rng.uniform(0.1, 0.7)),
        "downsample_ratio": 16,
        "use_label_smooth": flag(rng),
        "scale_x_y": float(one_of(rng, 1.0, 1.1)),
    }
    return inputs, attributes, {"outputs": LOSS_OUTPUTS, "constant": ("gtbox", "gtscore"), "targets": ("loss",)}


LOSS_OUTPUTS = {"ObjectnessMask": "objectnessmask", "GTMatchMask": "gtmatchmask"}
drawn("yolov3_loss", yolo_loss)
unknown(
    "yolov3_loss.unknown",
    {
        "X": rand(2, 14, 2, 2),
        "GTBox": rand(2, 2, 4, low=0.1, high=0.8),
        "GTLabel": int32s([0, 1], [1, 1]),
    },
    {"anchors": [10, 13, 16, 30, 33, 23], "anchor_mask": [0, 2], "class_num": 2},
    {"x": (0, 2, 3), "gtbox": (0,), "gtlabel": (0,)},
    outputs=LOSS_OUTPUTS,
    constant=("gtbox",),
    targets=("loss",),
)

# Boxes about the points of feature maps.


def prior(rng):
    sizes = int(rng.integers(1, 3))
    least = [float(np.float32(i)) for i in rng.uniform(4, 20, sizes)]
    h, w = (int(i) for i in rng.integers(1, 4, 2))
    attributes = {
        "min_sizes": least,
        "max_sizes": [i * 2 for i in least] if flag(rng) else [],
        "aspect_ratios": [float(i) for i in rng.permutation([1.0, 2.0, 3.0, 0.5])[: int(rng.integers(1, 4))]],
        "variances": [0.1, 0.1, 0.2, 0.2],
        "flip": flag(rng),
        "clip": flag(rng),
        "step_w": float(one_of(rng, 0.0, 8.0)),
        "step_h": float(one_of(rng, 0.0, 7.0)),
        "offset": float(one_of(rng, 0.5, 0.25)),
        "min_max_aspect_ratios_order": flag(rng),
    }
    dtype = one_of(rng, *TYPES)
    inputs = {"Input": np.zeros((1, 2, h, w), dtype), "Image": np.zeros((1, 1, h * 8 + 3, w * 8 + 1), dtype)}
    return inputs, attributes


drawn("prior_box", prior)
unknown(
    "prior_box.unknown",
    {"Input": rand(1, 1, 2, 3), "Image": rand(1, 1, 16, 20)},
    {"min_sizes": [4.0], "aspect_ratios": [2.0], "variances": [0.1, 0.1, 0.2, 0.2]},
    {"input": (0, 2, 3), "image": (2, 3)},
)


def density(rng):
    sizes = int(rng.integers(1, 3))
    h, w = (int(i) for i in rng.integers(1, 4, 2))
    attributes = {
        "fixed_sizes": [float(i) for i in rng.integers(4, 20, sizes)],
        "fixed_ratios": [float(i) for i in rng.permutation([1.0, 2.0, 0.5])[: int(rng.integers(1, 3))]],
        "densities": [int(i) for i in rng.integers(1, 4, sizes)],
        "variances": [0.1, 0.1, 0.2, 0.2],
        "flatten_to_2d": flag(rng),
        "clip": flag(rng),
        "step_w": float(one_of(rng, 0.0, 8.0)),
        "step_h": float(one_of(rng, 0.0, 7.0)),
        "offset": float(one_of(rng, 0.5, 0.25)),
    }
    dtype = one_of(rng, *TYPES)
    inputs = {"Input": np.zeros((1, 2, h, w), dtype), "Image": np.zeros((1, 1, h * 8 + 3, w * 8 + 1), dtype)}
    return inputs, attributes


drawn("density_prior_box", density)
unknown(
    "density_prior_box.unknown",
    {"Input": rand(1, 1, 2, 3), "Image": rand(1, 1, 16, 20)},
    {"fixed_sizes": [4.0], "fixed_ratios": [2.0], "densities": [2], "variances": [0.1, 0.1, 0.2, 0.2]},
    {"input": (0, 2, 3), "image": (2, 3)},
)


def anchors(rng):
    h, w = (int(i) for i in rng.integers(1, 4, 2))
    attributes = {
        "anchor_sizes": [float(i) for i in rng.integers(8, 100, int(rng.integers(1, 3)))],
        "aspect_ratios": [float(i) for i in rng.permutation([0.5, 1.0, 2.0])[: int(rng.integers(1, 4))]],
        "variances": [0.1, 0.1, 0.2, 0.2],
        "stride": [float(i) for i in rng.integers(4, 33, 2)],
        "offset": float(one_of(rng, 0.0, 0.5)),
    }
    return {"Input": np.zeros((1, 2, h, w), one_of(rng, *TYPES))}, attributes


drawn("anchor_generator", anchors)
unknown(
    "anchor_generator.unknown",
    {"Input": rand(1, 1, 2, 3)},
    {"anchor_sizes": [8.0, 16.0], "aspect_ratios": [1.0], "variances": [1.0, 1.0, 1.0, 1.0]},
    {"input": (0, 2, 3)},
)

# Boxes coded, compared and clipped.


def coder(rng):
    dtype = one_of(rng, *TYPES)
    rows, columns = (int(i) for i in rng.integers(1, 5, 2))
    decode, axis = flag(rng), int(rng.integers(2))
    extent = one_of(rng, 1.0, 60.0)
    priors = rows if decode and axis else columns
    inputs = {"PriorBox": corners(rng, priors, extent=extent, dtype=dtype)}
    if decode:
        inputs["TargetBox"] = rng.uniform(-1, 1, (rows, columns, 4)).astype(dtype)
    else:
        inputs["TargetBox"] = corners(rng, rows, extent=extent, dtype=dtype)
    attributes = {
        "code_type": "decode_center_size" if decode else "encode_center_size",
        "box_normalized": extent == 1.0,
        "axis": axis if decode else 0,
    }
    given = int(rng.integers(3))
    if given == 1:
        inputs["PriorBoxVar"] = rng.uniform(0.1, 1, (priors, 4)).astype(dtype)
    # PaddlePaddle reads the attribute as if its numbers had the type of the boxes.
    elif given == 2 and (dtype == "float32" or not decode):
        attributes["variance"] = [float(np.float32(i)) for i in rng.uniform(0.1, 1, 4)]
    return inputs, attributes


drawn("box_coder", coder)
unknown(
    "box_coder.unknown",
    {"PriorBox": lambda rng: corners(rng, 3), "TargetBox": lambda rng: corners(rng, 2)},
    {},
    {"priorbox": (0,), "targetbox": (0,)},
)
unknown(
    "box_coder.unknown_decoded",
    {"PriorBox": lambda rng: corners(rng, 3), "TargetBox": rand(2, 3, 4)},
    {"code_type": "decode_center_size"},
    {"priorbox": (0,), "targetbox": (0,)},
)


def similarity(rng):
    dtype = one_of(rng, *TYPES)
    extent = one_of(rng, 1.0, 60.0)
    n, m = (int(i) for i in rng.integers(1, 7, 2))
    x, y = corners(rng, n, extent=extent, dtype=dtype), corners(rng, m, extent=extent, dtype=dtype)
    return {"X": x, "Y": y}, {"box_normalized": extent == 1.0}


drawn("iou_similarity", similarity)
case("iou_similarity.empty_boxes", {"X": values([[1, 1, 1, 1], [2, 2, 1, 1]]), "Y": values([[1, 1, 1, 1], [0, 0, 3, 3]])})
case(
    "iou_similarity.divided",
    {"X": lambda rng: corners(rng, 3), "Y": lambda rng: corners(rng, 2)},
    lod={"x": offsets(1, 2), "y": offsets(1, 1)},
)
for code, target in (("encode", lambda rng: corners(rng, 3)), ("decode", rand(3, 2, 4))):
    case(
        f"box_coder.divided_{code}",
        {"PriorBox": lambda rng: corners(rng, 2), "TargetBox": target},
        {"code_type": f"{code}_center_size"},
        lod={"priorbox": offsets(1, 1), "targetbox": offsets(1, 2)},
    )
case(
    "box_decoder_and_assign.divided",
    {"PriorBox": lambda rng: corners(rng, 2), "PriorBoxVar": rand(4), "TargetBox": rand(2, 12), "BoxScore": rand(2, 3)},
    lod={"priorbox": offsets(0, 2), "targetbox": offsets(1, 1), "boxscore": offsets(2, 0)},
)
unknown(
    "iou_similarity.unknown",
    {"X": lambda rng: corners(rng, 3), "Y": lambda rng: corners(rng, 2)},
    {},
    {"x": (0,), "y": (0,)},
)


def decoder(rng):
    dtype = one_of(rng, *TYPES)
    n, c = (int(i) for i in rng.integers(1, 5, 2))
    inputs = {
        "PriorBox": corners(rng, n, extent=60, dtype=dtype),
        "PriorBoxVar": rng.uniform(0.1, 1, 4).astype(dtype),
        "TargetBox": rng.uniform(-2, 2, (n, 4 * c)).astype(dtype),
        "BoxScore": coarse(rng, n, c, dtype=dtype),
    }
    return inputs, {"box_clip": float(one_of(rng, 4.135, 0.3))}


drawn("box_decoder_and_assign", decoder)
unknown(
    "box_decoder_and_assign.unknown",
    {
        "PriorBox": lambda rng: corners(rng, 2, extent=9),
        "PriorBoxVar": rand(4),
        "TargetBox": rand(2, 12),
        "BoxScore": values([[-3, -2, -1], [0, 0.5, 0.5]]),
    },
    {},
    {"priorbox": (0,), "targetbox": (0,), "boxscore": (0,)},
)


def polygons(rng):
    shape = (int(rng.integers(1, 3)), 2 * int(rng.integers(1, 5)), int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    return {"Input": rng.uniform(-5, 5, shape).astype(one_of(rng, *TYPES))}, {}


drawn("polygon_box_transform", polygons)
unknown("polygon_box_transform.unknown", {"Input": rand(1, 2, 2, 3)}, {}, {"input": (0, 2, 3)})

def clipped(rng):
    dtype = one_of(rng, *TYPES)
    counts = rng.integers(1, 5, int(rng.integers(1, 4)))
    boxes = corners(rng, int(counts.sum()), extent=60, dtype=dtype) * 2 - 30
    images = np.concatenate([rng.integers(20, 60, (len(counts), 2)), rng.uniform(0.5, 1.5, (len(counts), 1))], -1)
    return {"Input": boxes, "ImInfo": images.astype(dtype)}, {}, {"lod": {"input": offsets(*counts)}}


drawn("box_clip", clipped)
unknown(
    "box_clip.unknown",
    {"Input": rand(3, 4, low=-5, high=50), "ImInfo": values([[21, 30, 2], [30, 25, 1]])},
    {},
    {"input": (0,), "iminfo": (0,)},
    lod={"input": offsets(1, 2)},
)

# Matching.


def match(rng):
    dtype = one_of(rng, *TYPES)
    n, m = (int(i) for i in rng.integers(1, 7, 2))
    distance = one_of(rng, coarse(rng, n, m, dtype=dtype), rng.uniform(0, 1, (n, m)).astype(dtype))
    attributes = {"match_type": one_of(rng, "bipartite", "per_prediction"), "dist_threshold": float(rng.uniform(0.1, 0.8))}
    split = int(rng.integers(0, n + 1))
    return {"DistMat": distance}, attributes, {"lod": {"distmat": offsets(split, n - split)}} if flag(rng) else {}


drawn("bipartite_match", match)
case("bipartite_match.many_rows", {"DistMat": lambda rng: coarse(rng, 131, 3)}, {"match_type": "per_prediction"})
case("bipartite_match.many_columns", {"DistMat": lambda rng: coarse(rng, 3, 40)})
unknown("bipartite_match.unknown", {"DistMat": rand(3, 4, low=0, high=1)}, {}, {"distmat": (0,)})


case("similarity_focus.ties", {"X": lambda rng: coarse(rng, 2, 3, 7, 6)}, {"axis": 1, "indexes": [0, 2]})
unknown("similarity_focus.unknown", {"X": rand(2, 2, 3, 2)}, {"axis": 2, "indexes": [1]}, {"x": (0, 3)})

# Suppression.


def predictions(rng, polygon=True):
    dtype = one_of(rng, *TYPES)
    n, c, m = int(rng.integers(1, 4)), int(rng.integers(1, 4)), int(rng.integers(1, 30))
    extent = one_of(rng, 1.0, 50.0)
    shapes = one_of(rng, corners, corners, corners, quads) if polygon else corners
    scores = one_of(rng, coarse(rng, n, c, m, dtype=dtype), rng.uniform(0, 1, (n, c, m)).astype(dtype))
    return {"BBoxes": shapes(rng, n, m, extent=extent, dtype=dtype), "Scores": scores}, extent == 1.0


def limits(rng):
    return {
        "background_label": int(rng.integers(-1, 2)),
        "score_threshold": float(one_of(rng, 0.0, 0.25, 0.5, 0.9)),
        "nms_top_k": int(one_of(rng, -1, 5, 12, 400)),
        "keep_top_k": int(one_of(rng, -1, 3, 7, 100)),
    }


def suppression(rng, normalized):
    return {
        **limits(rng),
        "nms_threshold": float(rng.uniform(0.05, 0.7)),
        "nms_eta": float(one_of(rng, 1.0, 1.0, 0.9)),
        "normalized": normalized,
    }


def nms(rng):
    if rng.uniform() < 0.3:
        return rows(rng)
    inputs, normalized = predictions(rng)
    return inputs, suppression(rng, normalized)


def rows(rng, counted=False):
    """Boxes of all images, each for all classes, and how many an image has."""
    dtype = one_of(rng, *TYPES)
    n, c = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    counts = rng.integers(0, 9, n).astype("int32")
    counts[int(rng.integers(n))] += 3
    m = int(counts.sum())
    boxes, scores = corners(rng, m, c, extent=50, dtype=dtype), coarse(rng, m, c, dtype=dtype)
    inputs = {"BBoxes": boxes, "Scores": scores}
    if counted:
        return {**inputs, "RoisNum": counts}, suppression(rng, False), COUNTED
    lod = offsets(*counts)
    return inputs, suppression(rng, False), {"lod": {"bboxes": lod, "scores": lod}}


def nms3(rng):
    if rng.uniform() < 0.4:
        return rows(rng, counted=True)
    inputs, attributes, *options = nms(rng)
    return inputs, attributes, {**COUNTED, **(options[0] if options else {})}


NMS = {"score_threshold": 0.5, "nms_top_k": 10, "keep_top_k": 5, "background_label": -1}
COUNTED = {"outputs": {"NmsRoisNum": "nmsroisnum"}}
FEW = {"BBoxes": lambda rng: corners(rng, 2, 5), "Scores": rand(2, 2, 5, low=0, high=0.4)}
drawn("multiclass_nms", nms)
drawn("multiclass_nms2", nms)
drawn("multiclass_nms3", nms3)
for op in ("multiclass_nms", "multiclass_nms2"):
    case(f"{op}.none", FEW, NMS)
    unknown(f"{op}.unknown", FEW, {**NMS, "score_threshold": 0.1}, {"bboxes": (0, 1), "scores": (0, 2)})
case("multiclass_nms3.none", FEW, NMS, **COUNTED)
unknown("multiclass_nms3.unknown", FEW, {**NMS, "score_threshold": 0.1}, {"bboxes": (0, 1), "scores": (0, 2)}, **COUNTED)
case("multiclass_nms3.nothing_kept", FEW, {**NMS, "score_threshold": 0.1, "keep_top_k": 0}, **COUNTED)
case("multiclass_nms3.negative_threshold", FEW, {**NMS, "score_threshold": -1.0, "nms_threshold": -0.5}, **COUNTED)
case(
    "multiclass_nms3.close_doubles",
    {
        "BBoxes": lambda rng: corners(rng, 1, 3, dtype="float64"),
        "Scores": values([[[0.7, 0.7 + 1e-12, 0.7 + 2e-12]]], "float64"),
    },
    NMS,
    **COUNTED,
)
case(
    "multiclass_nms3.exchanged_corners",
    {"BBoxes": values([[[0, 0, 1, 1], [1, 1, 0, 0], [0.5, 0.5, 0.5, 0.5], [0, 0, 1, 1]]]), "Scores": values([[[0.9, 0.8, 0.7, 0.6]]])},
    NMS,
    **COUNTED,
)
for points in (8, 16):
    case(
        f"multiclass_nms3.polygons_{points}",
        {"BBoxes": lambda rng, points=points: quads(rng, 1, 12, points=points), "Scores": rand(1, 1, 12, low=0, high=1)},
        {**NMS, "score_threshold": 0.1},
        **COUNTED,
    )


def locality_aware(rng):
    inputs, normalized = predictions(rng)
    return inputs, suppression(rng, normalized)


def soft(rng):
    inputs, normalized = predictions(rng, polygon=False)
    attributes = {
        **limits(rng),
        "post_threshold": float(one_of(rng, 0.0, 0.1, 0.3)),
        "use_gaussian": flag(rng),
        "gaussian_sigma": float(one_of(rng, 2.0, 0.7)),
        "normalized": normalized,
    }
    return inputs, attributes, {"outputs": {"RoisNum": "roisnum"}} if flag(rng) else {}


drawn("matrix_nms", soft)
case("matrix_nms.none", FEW, {**NMS, "post_threshold": 0.0}, outputs={"RoisNum": "roisnum"})
# A box that equals a better one: the linear decay of a third is 0 / 0.
SAME = {"BBoxes": values([[[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 0.5]]]), "Scores": values([[[0.9, 0.8, 0.7, 0.6]]])}
case("matrix_nms.same", SAME, {**NMS, "post_threshold": 0.0}, outputs={"RoisNum": "roisnum"})
case("matrix_nms.same_gaussian", SAME, {**NMS, "post_threshold": 0.0, "use_gaussian": True}, outputs={"RoisNum": "roisnum"})
case(
    "matrix_nms.many",
    {"BBoxes": lambda rng: corners(rng, 1, 60), "Scores": lambda rng: coarse(rng, 1, 2, 60)},
    {"score_threshold": 0.2, "nms_top_k": 30, "keep_top_k": 20, "background_label": -1, "post_threshold": 0.01},
    outputs={"RoisNum": "roisnum"},
)
unknown(
    "matrix_nms.unknown",
    FEW,
    {**NMS, "score_threshold": 0.1, "post_threshold": 0.0},
    {"bboxes": (0, 1), "scores": (0, 2)},
    outputs={"RoisNum": "roisnum"},
)

drawn("locality_aware_nms", locality_aware)
case("locality_aware_nms.none", FEW, NMS)
unknown("locality_aware_nms.unknown", FEW, {**NMS, "score_threshold": 0.1}, {"bboxes": (0, 1), "scores": (0, 2)})


def plain(rng):
    return {"Boxes": corners(rng, int(rng.integers(1, 30)), dtype=one_of(rng, *TYPES))}, {"iou_threshold": float(rng.uniform(0.05, 0.8))}


drawn("nms", plain)
unknown("nms.unknown", {"Boxes": lambda rng: corners(rng, 6)}, {"iou_threshold": 0.2}, {"boxes": (0,)})
case("nms.exchanged_corners", {"Boxes": values([[0, 0, 1, 1], [1, 1, 0, 0], [0.5, 0.5, 0.5, 0.5], [0, 0, 1, 1]])}, {"iou_threshold": 0.3})


def retinanet(rng):
    dtype = one_of(rng, *TYPES)
    n, c, levels = int(rng.integers(1, 3)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    counts = [int(i) for i in rng.integers(1, 9, levels)]
    sizes = rng.integers(40, 80, (n, 2))
    inputs = {
        "BBoxes": [rng.uniform(-0.5, 0.5, (n, m, 4)).astype(dtype) for m in counts],
        "Scores": [coarse(rng, n, m, c, dtype=dtype) for m in counts],
        "Anchors": [corners(rng, m, extent=60, dtype=dtype) for m in counts],
        "ImInfo": np.concatenate([sizes, rng.uniform(0.5, 1.5, (n, 1))], -1).astype(dtype),
    }
    attributes = {
        "score_threshold": float(one_of(rng, 0.05, 0.4)),
        "nms_top_k": int(one_of(rng, 4, 20)),
        "keep_top_k": int(one_of(rng, 3, 100)),
        "nms_threshold": float(rng.uniform(0.1, 0.6)),
        "nms_eta": float(one_of(rng, 1.0, 0.9)),
    }
    return inputs, attributes


drawn("retinanet_detection_output", retinanet)

# Proposals.


def proposals(rng, sizes):
    dtype = one_of(rng, *TYPES)
    n, a, h, w = (int(i) for i in rng.integers(1, 4, 4))
    scores = one_of(rng, coarse(rng, n, a, h, w, dtype=dtype), rng.uniform(0, 1, (n, a, h, w)).astype(dtype))
    images = rng.integers(40, 70, (n, 2))
    if sizes == "ImInfo":
        images = np.concatenate([images, rng.uniform(0.5, 1.5, (n, 1))], -1)
    inputs = {
        "Scores": scores,
        "BboxDeltas": rng.uniform(-1, 1, (n, 4 * a, h, w)).astype(dtype),
        sizes: images.astype(dtype),
        "Anchors": corners(rng, h, w, a, extent=50, dtype=dtype),
        "Variances": rng.uniform(0.5, 1, (h, w, a, 4)).astype(dtype),
    }
    attributes = {
        "pre_nms_topN": int(one_of(rng, -1, 5, 12, 1000)),
        "post_nms_topN": int(one_of(rng, -1, 3, 100)),
        "nms_thresh": float(one_of(rng, 0.2, 0.5, 0.7, 0.0)),
        "min_size": float(one_of(rng, 0.1, 4.0, 12.0, 40.0)),
        "eta": float(one_of(rng, 1.0, 0.9)),
    }
    return inputs, attributes, {"outputs": {"RpnRoisNum": "rpnroisnum"}}


def proposals_v2(rng):
    inputs, attributes, options = proposals(rng, "ImShape")
    return inputs, {**attributes, "pixel_offset": flag(rng)}, options


drawn("generate_proposals", lambda rng: proposals(rng, "ImInfo"))
drawn("generate_proposals_v2", proposals_v2)


def large(name, top, threshold):
    """So many scores, many of them equal, that sorting them takes all parts of the algorithm."""
    inputs = {
        "Scores": lambda rng: coarse(rng, 1, 2, 5, 5),
        "BboxDeltas": lambda rng: (rng.integers(-1, 2, (1, 8, 5, 5)) / 4).astype("float32"),
        "ImShape": values([[50, 60]]),
        "Anchors": lambda rng: np.round(corners(rng, 5, 5, 2, extent=50)),
        "Variances": values(np.ones((5, 5, 2, 4))),
    }
    attributes = {"pre_nms_topN": top, "post_nms_topN": 8, "nms_thresh": threshold, "min_size": 1.0, "eta": 1.0}
    case(f"generate_proposals_v2.{name}", inputs, attributes, outputs={"RpnRoisNum": "rpnroisnum"})


large("sorted", 0, 0.0)
large("selected", 30, 0.0)
unknown(
    "generate_proposals_v2.unknown",
    {
        "Scores": rand(1, 2, 2, 2, low=0, high=1),
        "BboxDeltas": rand(1, 8, 2, 2, low=-1, high=1),
        "ImShape": values([[50, 60]]),
        "Anchors": lambda rng: corners(rng, 2, 2, 2, extent=50),
        "Variances": rand(2, 2, 2, 4, low=0.5, high=1),
    },
    {"pre_nms_topN": 6, "post_nms_topN": 4, "nms_thresh": 0.5, "min_size": 1.0, "eta": 1.0},
    {"scores": (0, 2, 3), "bboxdeltas": (0, 2, 3), "imshape": (0,)},
)


def distribute(rng):
    dtype = one_of(rng, *TYPES)
    counts = rng.integers(1, 6, int(rng.integers(1, 4))).astype("int32")
    low = int(rng.integers(1, 4))
    levels = int(rng.integers(1, 4))
    inputs = {"FpnRois": (corners(rng, int(counts.sum()), extent=300) * rng.uniform(0.1, 3)).astype(dtype), "RoisNum": counts}
    attributes = {
        "min_level": low,
        "max_level": low + levels - 1,
        "refer_level": int(rng.integers(low, low + levels)),
        "refer_scale": int(one_of(rng, 56, 112, 224)),
        "pixel_offset": flag(rng),
    }
    outputs = {
        "MultiFpnRois": [f"rois{i}" for i in range(levels)],
        "MultiLevelRoIsNum": [f"num{i}" for i in range(levels)],
    }
    if flag(rng):
        del inputs["RoisNum"], outputs["MultiLevelRoIsNum"]
        return inputs, attributes, {"outputs": outputs, "lod": {"fpnrois": offsets(*counts)}}
    return inputs, attributes, {"outputs": outputs}


drawn("distribute_fpn_proposals", distribute)
case(
    "distribute_fpn_proposals.edges",
    {"FpnRois": values([[0, 0, 112, 112], [0, 0, 224, 224], [0, 0, 56, 56], [5, 5, 4, 4], [0, 0, 448, 448]]), "RoisNum": int32s(2, 3)},
    {"min_level": 2, "max_level": 5, "refer_level": 4, "refer_scale": 224, "pixel_offset": False},
    outputs={"MultiFpnRois": ["a", "b", "c", "d"], "MultiLevelRoIsNum": ["e", "f", "g", "h"]},
)
unknown(
    "distribute_fpn_proposals.unknown",
    {"FpnRois": values([[0, 0, 112, 112], [0, 0, 10, 20]]), "RoisNum": int32s(2)},
    {"min_level": 2, "max_level": 3, "refer_level": 2, "refer_scale": 56},
    {"fpnrois": (0,), "roisnum": (0,)},
    outputs={"MultiFpnRois": ["a", "b"], "MultiLevelRoIsNum": ["c", "d"]},
)


def collect(rng):
    dtype = one_of(rng, *TYPES)
    levels, images = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    # The number of every image must be known at the end: the last one has boxes, and there are no images without between.
    counts = [rng.integers(1, 5, images).astype("int32") for _ in range(levels)]
    inputs = {
        "MultiLevelRois": [corners(rng, int(c.sum()), extent=50, dtype=dtype) for c in counts],
        "MultiLevelScores": [coarse(rng, int(c.sum()), 1, dtype=dtype) for c in counts],
        "MultiLevelRoIsNum": counts,
    }
    attributes = {"post_nms_topN": 1000 if flag(rng) else int(rng.integers(6, 12))}
    if flag(rng):
        del inputs["MultiLevelRoIsNum"]
        lods = {f"{slot}{i}": offsets(*c) for i, c in enumerate(counts) for slot in ("multilevelrois", "multilevelscores")}
        return inputs, attributes, {"lod": lods}
    return inputs, attributes, {"outputs": {"RoisNum": "roisnum"}}


drawn("collect_fpn_proposals", collect)
case(
    "collect_fpn_proposals.one_image",
    {
        "MultiLevelRois": [lambda rng: corners(rng, 20), lambda rng: corners(rng, 9)],
        "MultiLevelScores": [lambda rng: coarse(rng, 20, 1), lambda rng: coarse(rng, 9, 1)],
        "MultiLevelRoIsNum": [int32s(20), int32s(9)],
    },
    {"post_nms_topN": 14},
    outputs={"RoisNum": "roisnum"},
)
case(
    "collect_fpn_proposals.empty_image",
    {
        "MultiLevelRois": [lambda rng: corners(rng, 5), lambda rng: corners(rng, 4)],
        "MultiLevelScores": [rand(5, 1), rand(4, 1)],
        "MultiLevelRoIsNum": [int32s(2, 0, 3), int32s(1, 1, 2)],
    },
    {"post_nms_topN": 9},
    outputs={"RoisNum": "roisnum"},
)


if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
