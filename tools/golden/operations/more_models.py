"""Makes graph/src/test/resources/golden/operations-models.npz: activations, elementary functions, losses, diagonals, patches and older forms of operations.

Run from the root of the repository: `python tools/golden/operations/more_models.py [part of a case's name ...]`; with arguments the cases are
run but nothing is written. Made with PaddlePaddle 2.6.2 (CPU) and NumPy 1.26. Entries as in operations.npz.
"""
import sys
from pathlib import Path

import cases
from cases import bools, case, ints, longs, rand, unknown, values

OUTPUT = Path("graph/src/test/resources/golden/operations-models.npz")

wide = {"low": -4.0, "high": 4.0}
for name, attributes in {
    "brelu": {"t_min": -1.0, "t_max": 2.0},
    "hard_shrink": {"threshold": 0.7},
    "softshrink": {"lambda": 0.7},
    "thresholded_relu": {"threshold": 0.3},
    "tanh_shrink": {},
    "softsign": {},
    "logsigmoid": {},
    "stanh": {},
    "celu": {"alpha": 0.6},
    "selu": {},
    "atan": {},
    "tan": {},
    "sinh": {},
    "cosh": {},
    "asinh": {},
    "expm1": {},
    "trunc": {},
    "angle": {},
}.items():
    case(f"{name}.plain", {"X": rand(3, 5, **wide)}, attributes)
    unknown(f"{name}.unknown", {"X": rand(2, 3, dtype="float64", **wide)}, attributes, {"x": [0]})
for name, low, high in [("acos", -0.9, 0.9), ("asin", -0.9, 0.9), ("atanh", -0.9, 0.9), ("acosh", 1.1, 5), ("log1p", -0.8, 3),
                        ("log2", 0.1, 9), ("log10", 0.1, 9), ("lgamma", 0.2, 20), ("digamma", 0.2, 20), ("logit", 0.05, 0.95)]:
    case(f"{name}.plain", {"X": rand(3, 5, low=low, high=high)}, {})
    case(f"{name}.double", {"X": rand(7, low=low, high=high, dtype="float64")}, {})
case("lgamma.negative", {"X": rand(9, low=-3.45, high=0.4, dtype="float64")}, {})
case("digamma.negative", {"X": rand(9, low=-3.45, high=0.4, dtype="float64")}, {})
case("logsigmoid.far", {"X": values([-90.0, -30.0, 0.0, 30.0, 90.0])}, {})
case("logit.clipped", {"X": values([-0.5, 0.1, 0.25, 0.8, 0.95, 1.5])}, {"eps": 0.2})
case("trunc.whole", {"X": ints(4)}, {}, grad=False)
case("maxout.plain", {"X": rand(2, 6, 2, 1)}, {"groups": 3, "axis": 1})
unknown("maxout.last", {"X": rand(2, 3, 1, 4)}, {"groups": 2, "axis": -1}, {"x": [0]})

for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    case(f"{name}.plain", {"X": ints(2, 3, low=-9), "Y": ints(2, 3, low=-9)}, {})
    case(f"{name}.broadcast", {"X": ints(2, 1, dtype="int32"), "Y": ints(3, dtype="int32")}, {})
    case(f"{name}.bool", {"X": bools(2, 3), "Y": bools(2, 3)}, {})
case("bitwise_not.plain", {"X": ints(2, 3, low=-9)}, {})
case("bitwise_not.bool", {"X": bools(2, 3)}, {})

for reduction in ("none", "mean", "sum", "batchmean"):
    inputs = {"X": rand(3, 4), "Target": values([[0.1, 0, 0.4, -0.2]] * 3)}
    case(f"kldiv_loss.{reduction}", inputs, {"reduction": reduction}, constant=("target",))
for reduction in ("none", "mean", "sum"):
    weight = rand(4, low=0.2, high=1)
    case(f"nll_loss.{reduction}", {"X": rand(3, 4), "Label": longs(1, 3, 0)}, {"reduction": reduction}, targets=("out",))
    inputs = {"X": rand(2, 4, 1, 2), "Label": values([[[1, 3]], [[0, 2]]], "int64"), "Weight": weight}
    case(f"nll_loss.{reduction}_image", inputs, {"reduction": reduction, "ignore_index": 3}, targets=("out",), constant=("weight",))
chances = rand(4, 1, low=0.1, high=0.9)
case("log_loss.plain", {"Predicted": chances, "Labels": values([[0], [1], [1], [0]])}, {"epsilon": 1e-4}, constant=("labels",))
case("hinge_loss.plain", {"Logits": rand(4, 1), "Labels": values([[0], [1], [1], [0]])}, {}, constant=("labels",))
case("label_smooth.plain", {"X": rand(2, 4)}, {"epsilon": 0.1})
case("label_smooth.prior", {"X": rand(2, 4), "PriorDist": rand(1, 4, low=0, high=1)}, {"epsilon": 0.1}, constant=("priordist",))

for name in ("elementwise_fmax", "elementwise_fmin"):
    case(f"{name}.plain", {"X": rand(2, 3), "Y": rand(2, 3)}, {})
    case(f"{name}.broadcast", {"X": rand(2, 3), "Y": rand(3)}, {})
case("elementwise_heaviside.plain", {"X": values([-1, 0, 2, 0]), "Y": rand(4)}, {})
case("atan2.plain", {"X1": rand(2, 3), "X2": rand(2, 3)}, {})
case("lerp.plain", {"X": rand(2, 3), "Y": rand(2, 3), "Weight": rand(2, 3)}, {}, constant=("weight",))
case("lerp.scalar", {"X": rand(2, 3), "Y": rand(3), "Weight": rand(1)}, {}, constant=("weight",))
case("dot.vectors", {"X": rand(3), "Y": rand(3)}, {})
unknown("dot.rows", {"X": rand(2, 3), "Y": rand(2, 3)}, {}, {"x": [0], "y": [0]})
case("mv.plain", {"X": rand(2, 3), "Vec": rand(3)}, {})
case("addmm.plain", {"Input": rand(2, 4), "X": rand(2, 3), "Y": rand(3, 4)}, {"Alpha": 0.5, "Beta": 2.0})
case("addmm.broadcast", {"Input": rand(1, 4), "X": rand(2, 3), "Y": rand(3, 4)}, {})
near = [1.0, 1.0001, float("inf"), 3.0]
for name in ("isclose", "allclose"):
    inputs = {"Input": values(near), "Other": values([1.0, 1.0, float("inf"), 3.00001])}
    case(f"{name}.plain", inputs, {"rtol": "1e-5", "atol": "1e-8"})
    case(f"{name}.wide", inputs, {"rtol": "1e-3", "atol": "1e-8"})
case("equal_all.same", {"X": values([1.0, 2.0]), "Y": values([1.0, 2.0])}, {})
case("equal_all.other", {"X": values([1.0, 2.0]), "Y": values([1.0, 3.0])}, {})

for name in ("diagonal", "trace"):
    case(f"{name}.plain", {"Input": rand(3, 4)}, {})
    case(f"{name}.above", {"Input": rand(2, 3, 4)}, {"offset": 1, "axis1": 0, "axis2": 2})
    case(f"{name}.below", {"Input": rand(2, 3, 4)}, {"offset": -1, "axis1": 1, "axis2": 2})
case("diagonal.exchanged", {"Input": rand(2, 3, 4)}, {"offset": 1, "axis1": 2, "axis2": 0})
case("diag_v2.vector", {"X": rand(3)}, {"offset": 1})
case("diag_v2.padded", {"X": rand(3)}, {"offset": -1, "padding_value": 1.5}, grad=False)
case("diag_v2.matrix", {"X": rand(3, 4)}, {"offset": 1})
case("diag_embed.plain", {"Input": rand(2, 3)}, {"offset": 0, "dim1": -2, "dim2": -1})
case("diag_embed.moved", {"Input": rand(2, 3)}, {"offset": -1, "dim1": 0, "dim2": 2})
case("tril_indices.plain", {}, {"rows": 3, "cols": 4, "offset": 1, "dtype": 3})
case("triu_indices.plain", {}, {"row": 3, "col": 4, "offset": -1, "dtype": 2})

window = {"kernel_sizes": [2, 3], "strides": [1, 2], "paddings": [1, 0, 1, 0], "dilations": [1, 1]}
case("unfold.plain", {"X": rand(2, 3, 4, 5)}, window)
unknown("unfold.unknown", {"X": rand(2, 2, 4, 4)}, {**window, "kernel_sizes": [2, 2], "dilations": [2, 1]}, {"x": [0]})
case("fold.plain", {"X": rand(2, 12, 10)}, {"output_sizes": [4, 5], **window, "kernel_sizes": [2, 2]})
case("pixel_unshuffle.plain", {"X": rand(1, 2, 4, 6)}, {"downscale_factor": 2, "data_format": "NCHW"})
case("pixel_unshuffle.channels_last", {"X": rand(1, 4, 6, 2)}, {"downscale_factor": 2, "data_format": "NHWC"})
case("channel_shuffle.plain", {"X": rand(1, 6, 2, 2)}, {"groups": 3, "data_format": "NCHW"})
case("channel_shuffle.channels_last", {"X": rand(1, 2, 2, 6)}, {"groups": 2, "data_format": "NHWC"})

case("unbind.plain", {"X": rand(3, 2)}, {"axis": 1}, outputs={"Out": ["a", "b"]})
case("repeat_interleave.plain", {"X": rand(2, 3)}, {"Repeats": 2, "dim": 1})
case("repeat_interleave.each", {"X": rand(2, 3), "RepeatsTensor": longs(2, 0, 1)}, {"dim": 1}, grad=False)
case("pad.plain", {"X": rand(2, 3)}, {"paddings": [1, 0, 0, 2], "pad_value": 0.5})
case("flatten2.plain", {"X": rand(2, 3, 2)}, {"axis": 2})
case("flatten2.first", {"X": rand(2, 3, 2)}, {"axis": 0})
case("top_k.plain", {"X": rand(2, 5)}, {"k": 3}, targets=("out",))
case("sequence_mask.given", {"X": longs(1, 4, 0)}, {"maxlen": 5, "out_dtype": 5}, declared={"y": {"dtype": "float32"}})
case("sequence_mask.longest", {"X": longs(1, 4, 0)}, {"maxlen": -1, "out_dtype": 3}, declared={"y": {"dtype": "int64"}})
case("searchsorted.vector", {"SortedSequence": values([1, 2, 2, 5]), "Values": values([[0, 2], [5, 9]])}, {})
case("searchsorted.right", {"SortedSequence": values([[1, 2, 2, 5], [0, 1, 2, 3]]), "Values": values([[0, 2], [5, 1]])}, {"right": True, "out_int32": True})
case("index_add.plain", {"X": rand(3, 2), "Index": longs(2, 0, 2), "AddValue": rand(3, 2)}, {"axis": 0})
for name in ("reduce_amax", "reduce_amin"):
    case(f"{name}.ties", {"X": values([[1, 3, 3], [0, 0, -1]])}, {"dim": [1], "keep_dim": False})
    case(f"{name}.all", {"X": rand(2, 3)}, {"reduce_all": True, "dim": [0, 1], "keep_dim": True})
case("frobenius_norm.plain", {"X": rand(2, 3, 2)}, {"dim": [0, 2], "keep_dim": False})
case("frobenius_norm.kept", {"X": rand(2, 3)}, {"dim": [0, 1], "keep_dim": True, "reduce_all": True})

case("index_put.rows", {"x": rand(3, 2), "indices": [longs(2, -3)], "value": rand(2, 2)}, {}, outputs={"out": "out"})
case("index_put.added", {"x": rand(3, 2), "indices": [longs(2, 2), longs(0, 0)], "value": rand(2)}, {"accumulate": True})
case("index_put.mask", {"x": rand(2, 2), "indices": [values([[1, 0], [0, 1]], "bool")], "value": rand(1)}, {})
case("max_pool2d_with_index.plain", {"X": rand(1, 2, 5, 4)}, {"ksize": [3, 2], "strides": [2, 1], "paddings": [1, 0]}, targets=("out",))
case("max_pool2d_with_index.adaptive", {"X": rand(1, 2, 5, 4)}, {"ksize": [3, 3], "adaptive": True}, targets=("out",))
case("cumprod.plain", {"X": rand(2, 3)}, {"dim": 1})
case("cumprod.zeros", {"X": values([[1, 0, 3], [0, 0, 2]])}, {"dim": 0})
sorts = {"return_index": True, "return_inverse": True, "return_counts": True, "is_sorted": True, "dtype": 3}
parts = {"Indices": "indices", "Index": "index", "Counts": "counts"}
case("unique.plain", {"X": values([[2, 1, 2], [5, 1, 1]])}, sorts, outputs=parts, declared={n: {"dtype": "int64"} for n in parts.values()})
case("crop_tensor.plain", {"X": rand(3, 4)}, {"shape": [2, -1], "offsets": [1, 2]})
case("norm.plain", {"X": rand(2, 3)}, {"axis": 1, "epsilon": 1e-10}, targets=("out",))
for p in (0.0, 1.0, 2.0, 3.0, float("inf")):
    case(f"dist.{p:g}", {"X": rand(2, 3), "Y": rand(3)}, {"p": p})


if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
