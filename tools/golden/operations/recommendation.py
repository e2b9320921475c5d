"""Makes graph/src/test/resources/golden/operations-recommendation.npz: losses over many classes, statistics of clicks, hashes, orders of pairs, and
pooled segments, in the entry format of operations.py, which see. Run from the root of the repository:
`python tools/golden/operations/recommendation.py`. Made with PaddlePaddle 2.6.2 (CPU) and NumPy 1.26.
"""
import sys
from pathlib import Path

import cases
import numpy as np
from cases import case, drawn, ints, longs, rand, unknown, values

OUTPUT = Path("graph/src/test/resources/golden/operations-recommendation.npz")


def real(rng, *shape, low=-2.0, high=2.0, dtype="float32"):
    return np.asarray(rng.uniform(low, high, shape).astype(dtype))


def whole(rng, low, high, *shape, dtype="int64"):
    return np.asarray(rng.integers(low, high, shape).astype(dtype))


def floats(rng):
    return ("float32", "float64")[rng.integers(2)]


def aliases(probabilities):
    """Walker's tables: for each class another, and how probably the class itself is kept."""
    scaled = np.asarray(probabilities, "float64") / np.sum(probabilities, dtype="float64") * len(probabilities)
    other, kept = np.full(len(scaled), -1), np.ones(len(scaled))
    while (scaled < 1 - 1e-6).any():
        small, large = int(np.argmin(scaled)), int(np.argmax(scaled))
        other[small], kept[small] = large, scaled[small]
        scaled[large] -= 1 - scaled[small]
        scaled[small] = 1
    return other.astype("int32"), kept.astype("float32")


# Samples of classes.


def contrastive(rng):
    batch, width, classes, rights = (int(n) for n in rng.integers((1, 1, 3, 1), (5, 5, 9, 3)))
    dtype, sampler, negatives = floats(rng), int(rng.integers(3)), int(rng.integers(1, 6))
    inputs = {"Input": real(rng, batch, width, dtype=dtype), "Label": whole(rng, 0, classes, batch, rights)}
    inputs["Weight"] = real(rng, classes, width, dtype=dtype)
    if rng.integers(2):
        inputs["Bias"] = real(rng, classes, 1, dtype=dtype)
    if rng.integers(2):
        inputs["SampleWeight"] = real(rng, batch, 1, low=0.5, dtype=dtype)
    if sampler == 2:
        probabilities = rng.dirichlet(np.ones(classes)).astype("float32")
        inputs["CustomDistProbs"] = probabilities
        inputs["CustomDistAlias"], inputs["CustomDistAliasProbs"] = aliases(probabilities)
    attributes = {"num_total_classes": classes, "num_neg_samples": negatives, "sampler": sampler, "seed": int(rng.integers(1, 100))}
    return inputs, attributes, {"constant": ("sampleweight", "customdistprobs", "customdistaliasprobs")}


NCE = {"Input": rand(3, 4), "Label": ints(3, 1, high=7), "Weight": rand(7, 4), "Bias": rand(7, 1)}
case("nce.given", NCE, {"num_total_classes": 7, "num_neg_samples": 3, "custom_neg_classes": [1, 5, 2]})
case("nce.test", NCE, {"num_total_classes": 7, "num_neg_samples": 3, "custom_neg_classes": [1, 5, 2], "is_test": True}, grad=False, hidden=("samplelogits", "samplelabels"))
unknown("nce.unknown", NCE, {"num_total_classes": 7, "num_neg_samples": 4, "seed": 5}, {"input": (0,), "label": (0,)})
drawn("nce", contrastive)


def tree(rng):
    batch, width, classes, dtype = *(int(n) for n in rng.integers((1, 1, 2), (5, 5, 12))), floats(rng)
    inputs = {"X": real(rng, batch, width, dtype=dtype), "Label": whole(rng, 0, classes, batch, 1), "W": real(rng, classes - 1, width, dtype=dtype)}
    if rng.integers(2):
        inputs["Bias"] = real(rng, classes - 1, 1, dtype=dtype)
    if rng.integers(2):
        steps = int(rng.integers(1, 5))
        lengths = rng.integers(1, steps + 1, (batch, 1))
        inputs["PathTable"] = np.where(np.arange(steps) < lengths, whole(rng, 0, classes - 1, batch, steps), -1)
        inputs["PathCode"] = np.where(np.arange(steps) < lengths, whole(rng, 0, 2, batch, steps), -1)
    return inputs, {"num_classes": classes}, {"hidden": ("w_out",)}


HIERARCHY = {"X": rand(4, 3), "Label": ints(4, 1, high=6), "W": rand(5, 3), "Bias": rand(5, 1)}
PATHS = {"PathTable": values([[0, 2, -1], [0, 1, 4], [3, -1, -1], [0, 1, 3]], "int64"), "PathCode": values([[0, 1, -1], [1, 1, 0], [1, -1, -1], [0, 0, 0]], "int64")}
case("hierarchical_sigmoid.plain", HIERARCHY, {"num_classes": 6}, hidden=("w_out",))
case("hierarchical_sigmoid.paths", {**HIERARCHY, **PATHS}, {"num_classes": 6}, hidden=("w_out",))
case("hierarchical_sigmoid.large", {**HIERARCHY, "X": rand(4, 3, low=-60, high=60)}, {"num_classes": 6}, hidden=("w_out",))
unknown("hierarchical_sigmoid.unknown", HIERARCHY, {"num_classes": 6}, {"x": (0,), "label": (0,)}, hidden=("w_out",))
drawn("hierarchical_sigmoid", tree)


def centers(rng):
    classes, dtype = int(rng.integers(2, 20)), ("int32", "int64")[rng.integers(2)]
    attributes = {"num_classes": classes, "num_samples": int(rng.integers(1, classes + 1)), "fix_seed": True, "seed": int(rng.integers(1, 50))}
    return {"Label": whole(rng, 0, classes, int(rng.integers(1, 8)), dtype=dtype)}, attributes


FIXED = {"num_classes": 20, "num_samples": 6, "fix_seed": True}
case("class_center_sample.seeded", {"Label": ints(5, high=20)}, {**FIXED, "seed": 3})
case("class_center_sample.process", {"Label": ints(5, high=20)}, FIXED)
case("class_center_sample.many", {"Label": longs(0, 3, 1, 2, 5, 4, 9, 7)}, FIXED)
unknown("class_center_sample.unknown", {"Label": ints(5, high=20)}, FIXED, {"label": (0,)})
drawn("class_center_sample", centers)

# Statistics.


def clicks(rng):
    batch, width, dtype = int(rng.integers(1, 5)), int(rng.integers(3, 7)), floats(rng)
    return {"X": real(rng, batch, width, low=0, dtype=dtype), "CVM": real(rng, batch, 2, dtype=dtype)}, {"use_cvm": bool(rng.integers(2))}, {"constant": ("cvm",)}


CVM = {"X": rand(3, 5, low=0), "CVM": rand(3, 2)}
case("cvm.plain", CVM, constant=("cvm",))
case("cvm.without", CVM, {"use_cvm": False}, constant=("cvm",))
unknown("cvm.unknown", CVM, {"use_cvm": False}, {"x": (0,), "cvm": (0,)}, constant=("cvm",))
drawn("cvm", clicks)


def normal(rng):
    batch, slots, slot, dtype = *(int(n) for n in rng.integers(1, 4, 3)), floats(rng)
    width, scaled = slots * slot, bool(rng.integers(2))
    x = real(rng, batch, width, dtype=dtype)
    x[:, ::slot] *= rng.integers(0, 2, (batch, slots))
    inputs = {"X": x}
    for name in ("BatchSize", "BatchSum", "BatchSquareSum"):
        inputs[name] = real(rng, width, low=1, high=9, dtype=dtype)
    if scaled:
        inputs.update({"scale_w": real(rng, width, dtype=dtype), "bias": real(rng, width, dtype=dtype)})
    return inputs, {"slot_dim": (slot, -1)[rng.integers(2)], "enable_scale_and_shift": scaled}, {}


STATISTICS = {"X": rand(3, 4), "BatchSize": rand(4, low=1, high=9), "BatchSum": rand(4), "BatchSquareSum": rand(4, low=1, high=9)}
case("data_norm.plain", STATISTICS)
case("data_norm.epsilon", STATISTICS, {"epsilon": 0.001})
case("data_norm.slots", {**STATISTICS, "X": values([[0, 1, 2, 3], [1, 2, 0, 4], [0, 1, 0, 2]])}, {"slot_dim": 2})
unknown("data_norm.unknown", STATISTICS, {}, {"x": (0,)})
drawn("data_norm", normal)


def hashes(rng):
    dtype = ("int32", "int64")[rng.integers(2)]
    attributes = {"num_hash": int(rng.integers(1, 4)), "mod_by": int((100000, 7, 1 << 30)[rng.integers(3)])}
    return {"X": whole(rng, -9, 1000, int(rng.integers(1, 5)), int(rng.integers(1, 12)), dtype=dtype)}, attributes


case("hash.plain", {"X": ints(3, 4)}, {"num_hash": 4})
unknown("hash.unknown", {"X": ints(3, 9, dtype="int32")}, {"num_hash": 2}, {"x": (0,)})
drawn("hash", hashes)

# Orders.


def ranks(rng):
    shape, dtype = ((5, 1), (3,), (1, 1))[rng.integers(3)], "float32"
    return {"Label": whole(rng, 0, 2, *shape, dtype=dtype), "Left": real(rng, *shape, high=5, dtype=dtype), "Right": real(rng, *shape, dtype=dtype)}, {}, {"constant": ("label",)}


RANKS = {"Label": ints(4, 1, high=2, dtype="float32"), "Left": rand(4, 1), "Right": rand(4, 1)}
case("rank_loss.plain", RANKS, constant=("label",))
unknown("rank_loss.unknown", RANKS, {}, {"label": (0,), "left": (0,), "right": (0,)}, constant=("label",))
drawn("rank_loss", ranks)


def bayesian(rng):
    batch, classes, dtype = int(rng.integers(1, 5)), int(rng.integers(2, 6)), floats(rng)
    return {"X": real(rng, batch, classes, high=5, dtype=dtype), "Label": whole(rng, 0, classes, batch, 1)}, {}


case("bpr_loss.plain", {"X": rand(3, 4), "Label": ints(3, 1, high=4)})
case("bpr_loss.far", {"X": values([[200, -200, 50, 0], [-60, 0, 3, 40]]), "Label": values([[1], [0]], "int64")})
case("bpr_loss.cube", {"X": rand(2, 3, 4), "Label": ints(2, 3, 1, high=4)}, grad=False)
unknown("bpr_loss.unknown", {"X": rand(3, 4), "Label": ints(3, 1, high=4)}, {}, {"x": (0,), "label": (0,)})
drawn("bpr_loss", bayesian)


def taught(rng):
    batch, dtype = int(rng.integers(1, 7)), floats(rng)
    label = np.where(rng.integers(2, size=(batch, 1)), rng.integers(-2, 0, (batch, 1)), rng.uniform(0, 2, (batch, 1)))
    attributes = {"soft_max_up_bound": float((15, 2)[rng.integers(2)]), "soft_max_lower_bound": float((-15, -2)[rng.integers(2)])}
    return {"X": real(rng, batch, 1, low=-4, high=4, dtype=dtype), "Label": label.astype(dtype)}, attributes, {"constant": ("label",)}


TAUGHT = {"X": rand(6, 1, low=-20, high=20), "Label": values([[-2], [-1], [0], [0.3], [1], [1.7]])}
case("teacher_student_sigmoid_loss.plain", TAUGHT, constant=("label",))
case("teacher_student_sigmoid_loss.inside", {**TAUGHT, "X": rand(6, 1, low=-4, high=4, dtype="float64"), "Label": values([[-2], [-1], [0], [0.3], [1], [1.7]], "float64")}, constant=("label",))
unknown("teacher_student_sigmoid_loss.unknown", TAUGHT, {}, {"x": (0,), "label": (0,)}, constant=("label",))
drawn("teacher_student_sigmoid_loss", taught)


def pairs(rng):
    batch, columns, dtype = int(rng.integers(1, 9)), int(rng.integers(1, 4)), floats(rng)
    inputs = {"Score": whole(rng, 0, 4, batch, columns, dtype=dtype), "Label": whole(rng, 0, 3, batch, 1, dtype=dtype), "QueryID": whole(rng, 0, 3, batch, 1)}
    if rng.integers(2):
        inputs.update({f"Accumulate{kind}Pair": real(rng, 1, dtype=dtype) for kind in ("Positive", "Negative", "Neutral")})
    if rng.integers(2):
        inputs["Weight"] = real(rng, batch, 1, low=0, dtype=dtype)
    return inputs, {"column": int(rng.integers(-columns, columns))}, {"outputs": {"NeutralPair": "neutral"}, "grad": False}


drawn("positive_negative_pair", pairs)


def precisions(rng):
    batch, classes, dtype = int(rng.integers(1, 9)), int(rng.integers(1, 5)), floats(rng)
    inputs = {"MaxProbs": real(rng, batch, 1, dtype=dtype), "Indices": whole(rng, 0, classes, batch, 1, dtype="int32"), "Labels": whole(rng, 0, classes, batch, 1, dtype="int32")}
    if rng.integers(2):
        inputs["Weights"] = real(rng, batch, 1, low=0, dtype=dtype)
    if rng.integers(2):
        inputs["StatesInfo"] = real(rng, classes, 4, low=0, dtype=dtype)
    return inputs, {"class_number": classes}, {"grad": False}


PRECISION = {"MaxProbs": rand(4, 1), "Indices": ints(4, 1, high=3, dtype="int32"), "Labels": ints(4, 1, high=3, dtype="int32")}
unknown("precision_recall.unknown", PRECISION, {"class_number": 3}, {"maxprobs": (0,), "indices": (0,), "labels": (0,)}, grad=False)
drawn("precision_recall", precisions)

# Segments, and categories by their probability.


def segments(rng):
    batch, dtype, index = int(rng.integers(1, 8)), floats(rng), ("int32", "int64")[rng.integers(2)]
    shape = (batch, *(int(n) for n in rng.integers(1, 4, rng.integers(0, 3))))
    ids = np.sort(rng.integers(0, 5, batch)).astype(index)
    return {"X": real(rng, *shape, dtype=dtype), "SegmentIds": ids}, {"pooltype": ("SUM", "MEAN", "MAX", "MIN")[rng.integers(4)]}, {"hidden": ("summedids",)}


for pool in ("SUM", "MEAN", "MAX", "MIN"):
    case(f"segment_pool.{pool.lower()}", {"X": rand(5, 3), "SegmentIds": longs(0, 0, 1, 3, 3)}, {"pooltype": pool}, hidden=("summedids",))
case("segment_pool.ints", {"X": ints(5, 3), "SegmentIds": longs(1, 1, 1, 3, 3)}, {"pooltype": "MAX"}, hidden=("summedids",))
case("segment_pool.ties", {"X": values([[1], [1], [0]]), "SegmentIds": longs(0, 0, 0)}, {"pooltype": "MAX"}, hidden=("summedids",))
unknown("segment_pool.unknown", {"X": rand(5, 3), "SegmentIds": longs(0, 0, 1, 3, 3)}, {}, {"x": (0,), "segmentids": (0,)}, hidden=("summedids",))
drawn("segment_pool", segments)

# Messages along the edges of graphs.


def edges(rng, *names):
    nodes, count, index = int(rng.integers(1, 7)), int(rng.integers(1, 12)), ("int32", "int64")[rng.integers(2)]
    return nodes, {name: whole(rng, 0, nodes, count, dtype=index) for name in names}, count


def messages(rng):
    nodes, indexes, _ = edges(rng, "Src_index", "Dst_index")
    shape = (nodes, *(int(n) for n in rng.integers(1, 4, rng.integers(1, 3))))
    size = int((0, nodes, nodes + 3)[rng.integers(3)])
    attrs = {"reduce_op": ("SUM", "MEAN", "MAX", "MIN")[rng.integers(4)], "out_size": [size]}
    return {"X": real(rng, *shape, dtype=floats(rng)), **indexes}, attrs, {"hidden": ("dst_count",)}


def messages_of_edges(rng):
    nodes, indexes, count = edges(rng, "Src_index", "Dst_index")
    dtype, width = floats(rng), int(rng.integers(1, 5))
    attrs = {"message_op": ("ADD", "MUL")[rng.integers(2)], "reduce_op": ("SUM", "MEAN", "MAX", "MIN")[rng.integers(4)], "out_size": [0]}
    y = real(rng, count, (width, 1)[rng.integers(2)], dtype=dtype)
    return {"X": real(rng, nodes, width, dtype=dtype), "Y": y, **indexes}, attrs, {"hidden": ("dst_count",)}


def features_of_edges(rng):
    nodes, indexes, _ = edges(rng, "src_index", "dst_index")
    dtype, width = floats(rng), int(rng.integers(1, 5))
    return {"x": real(rng, nodes, width, dtype=dtype), "y": real(rng, nodes, (width, 1)[rng.integers(2)], dtype=dtype), **indexes}, {"message_op": ("ADD", "MUL")[rng.integers(2)]}


EDGES = {"Src_index": longs(0, 1, 2, 0), "Dst_index": longs(1, 2, 1, 0)}
for reduction in ("SUM", "MEAN", "MAX", "MIN"):
    case(f"graph_send_recv.{reduction.lower()}", {"X": rand(4, 3), **EDGES}, {"reduce_op": reduction, "out_size": [0]}, hidden=("dst_count",))
    case(f"graph_send_ue_recv.{reduction.lower()}", {"X": rand(4, 3), "Y": rand(4, 1), **EDGES}, {"message_op": "MUL", "reduce_op": reduction, "out_size": [0]}, hidden=("dst_count",))
case("graph_send_recv.ties", {"X": values([[1], [1], [1], [0]]), **EDGES}, {"reduce_op": "MAX", "out_size": [0]}, hidden=("dst_count",))
case("graph_send_recv.nodes", {"X": rand(4, 3), **EDGES, "Out_size": longs(6)}, {"reduce_op": "SUM", "out_size": [0]}, hidden=("dst_count",))
case("graph_send_recv.ints", {"X": ints(4, 3), **EDGES}, {"reduce_op": "MEAN", "out_size": [0]}, hidden=("dst_count",), grad=False)
case("graph_send_uv.add", {"x": rand(4, 3), "y": rand(4, 3), "src_index": EDGES["Src_index"], "dst_index": EDGES["Dst_index"]}, {"message_op": "ADD"})
drawn("graph_send_recv", messages)
drawn("graph_send_ue_recv", messages_of_edges)
drawn("graph_send_uv", features_of_edges)


def categories(rng):
    batch, width, dtype = int(rng.integers(1, 9)), int(rng.integers(1, 9)), floats(rng)
    return {"X": rng.dirichlet(np.ones(width), batch).astype(dtype)}, {"seed": int(rng.integers(1, 1 << 20)), "max": float((1.0, 0.5)[rng.integers(2)])}, {"grad": False}


unknown("sampling_id.unknown", {"X": values([[0.2, 0.3, 0.5]] * 6)}, {"seed": 9}, {"x": (0,)}, grad=False)
case("sampling_id.process", {"X": values([[0.2, 0.3, 0.5]] * 6, "float64")}, grad=False)
drawn("sampling_id", categories)

if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
