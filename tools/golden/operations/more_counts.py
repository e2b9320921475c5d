"""Makes graph/src/test/resources/golden/operations-counts.npz: how often numbers are there, rarer functions of single elements, diagonals that are
filled, areas under curves, norms by power iteration, softmax with noise, and sums for averages of parameters, in the entry format of
operations.py, which see. Run from the root of the repository: `python tools/golden/operations/more_counts.py`. Made with PaddlePaddle 2.6.2 (CPU)
and NumPy 1.26.
"""
import sys
from pathlib import Path

import cases
import numpy as np
from cases import case, int32s, ints, longs, rand, unknown, values

OUTPUT = Path("graph/src/test/resources/golden/operations-counts.npz")

case("bincount.plain", {"X": longs(3, 1, 1, 5, 0, 3, 3)})
case("bincount.minlength", {"X": longs(1, 1, 2)}, {"minlength": 6})
case("bincount.weights", {"X": longs(1, 0, 1, 4), "Weights": rand(4)})
case("bincount.weights_double", {"X": int32s(1, 0, 1, 4), "Weights": rand(4, dtype="float64")}, {"minlength": 3})
unknown("bincount.unknown", {"X": longs(2, 2, 7)}, {}, {"x": (0,)})

case("histogram.range", {"X": rand(3, 20)}, {"bins": 7, "min": -1, "max": 2})
case("histogram.own_range", {"X": rand(50, dtype="float64")}, {"bins": 6})
case("histogram.ints", {"X": ints(4, 9)}, {"bins": 4, "min": 1, "max": 8})
case("histogram.int32", {"X": ints(30, dtype="int32")}, {"bins": 5})
case("histogram.same", {"X": values([3, 3, 3])}, {"bins": 4})
case("histogram.edges", {"X": values([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1])}, {"bins": 10, "min": 0, "max": 1})
unknown("histogram.unknown", {"X": rand(6)}, {"bins": 3}, {"x": (0,)})

ROWS = [[1, 1, 2], [1, 1, 2], [3, 1, 2], [3, 1, 2], [1, 1, 2]]
ALL = {"return_inverse": True, "return_counts": True}
ASKED = {"Index": "index", "Counts": "counts"}
case("unique_consecutive.flat", {"X": values(ROWS)}, {"dtype": 3, **ALL}, outputs=ASKED)
case("unique_consecutive.rows", {"X": values(ROWS)}, {"dtype": 2, "axis": [0], **ALL}, outputs=ASKED)
case("unique_consecutive.columns", {"X": values(ROWS, "int64")}, {"dtype": 3, "axis": [-1], **ALL}, outputs=ASKED)
case("unique_consecutive.doubles", {"X": values([0.5, 0.5, -1, 0.5], "float64")}, {"dtype": 3, **ALL}, outputs=ASKED)
unknown("unique_consecutive.unknown", {"X": ints(8, high=3)}, {"dtype": 3}, {"x": (0,)})

for name in ("i0", "i1", "i0e", "i1e"):
    case(f"{name}.plain", {"x": rand(3, 4, low=-6, high=6)})
    case(f"{name}.double", {"x": values([-700, -40, -31, -29, -8.5, -1, 1e-9, 2, 7.9, 30, 33, 250], "float64")})
case("i0.zero", {"x": values([0])})
case("i1.zero", {"x": values([0])})
case("i1e.zero", {"x": values([0])})
case("polygamma.one", {"x": rand(3, 4, low=0.1, high=20)}, {"n": 1})
case("polygamma.two_double", {"x": rand(3, 4, low=0.1, high=20, dtype="float64")}, {"n": 2})
case("polygamma.five_double", {"x": rand(6, low=0.5, high=30, dtype="float64")}, {"n": 5})
case("polygamma.negative", {"x": values([-1.5, -0.25, -3.75])}, {"n": 1}, grad=False)
case("nextafter.plain", {"x": rand(3, 4), "y": rand(3, 4)})
case("nextafter.double", {"x": values([1, 1, 0, -1], "float64"), "y": values([2, 1, -3, 5], "float64")})

case("fill_diagonal.square", {"X": rand(3, 3)}, {"value": 1.5})
case("fill_diagonal.wide_offset", {"X": rand(2, 5)}, {"value": 1.5, "offset": -1})
case("fill_diagonal.tall_offset", {"X": rand(5, 3, dtype="float64")}, {"value": -1.5, "offset": 1})
case("fill_diagonal.wrap", {"X": rand(8, 3)}, {"value": 1.5, "wrap": True})
case("fill_diagonal.cube", {"X": rand(3, 3, 3)}, {"value": 2.0, "wrap": True})
case("fill_diagonal.cube_once", {"X": rand(3, 3, 3)}, {"value": 2.0})
case("fill_diagonal.ints", {"X": ints(3, 3)}, {"value": 1.5})
case("fill_diagonal_tensor.plain", {"X": rand(4, 3), "Y": rand(3)}, constant=("y",))
case("fill_diagonal_tensor.offset", {"X": rand(3, 4, dtype="float64"), "Y": rand(2, dtype="float64")}, {"offset": 2}, constant=("y",))
case("fill_diagonal_tensor.below", {"X": rand(4, 3), "Y": rand(2)}, {"offset": -2}, constant=("y",))
case("fill_diagonal_tensor.axes", {"X": rand(3, 2, 4), "Y": rand(2, 3)}, {"dim1": 0, "dim2": 2}, constant=("y",))

case("temporal_shift.plain", {"X": rand(6, 4, 2, 1)}, {"seg_num": 3})
case("temporal_shift.ratio", {"X": rand(4, 5, 1, 2)}, {"seg_num": 2, "shift_ratio": 0.4})
case("temporal_shift.channels_last", {"X": rand(4, 2, 1, 5, dtype="float64")}, {"seg_num": 2, "data_format": "NHWC"})


def auc(name, batch=12, thresholds=15, slide=0, step=0, dtype="float32", width=2, **options):
    """The buckets of a metric after some batches; where they slide, the last number counts the batches."""
    shape = ((1 + slide) * (thresholds + 1) + 1,) if slide else (1, thresholds + 1)

    def buckets(rng):
        drawn = rng.integers(0, 5, shape)
        if slide:
            parts = drawn[:-1].reshape(slide + 1, -1)
            parts[-1] = parts[:-1].sum(0)
            drawn[-1] = step
        return drawn.astype("int64")

    inputs = {
        "Predict": rand(batch, width, low=0, high=1, dtype=dtype),
        "Label": ints(batch, 1, high=2),
        "StatPos": buckets,
        "StatNeg": buckets,
        **options.pop("inputs", {}),
    }
    attributes = {"num_thresholds": thresholds, "slide_steps": slide, **options.pop("attributes", {})}
    case(f"auc.{name}", inputs, attributes, outputs={"StatPosOut": "statpos", "StatNegOut": "statneg"}, grad=False, **options)


auc("all")
auc("precision_recall", attributes={"curve": "PR"})
auc("slide_one", slide=1, step=4)
auc("slide_three", slide=3, step=5, repeat=2)
auc("slide_two", slide=2, width=1)
auc("other_buckets", thresholds=255)
edges = {"Predict": values([[0], [1], [0.2], [0.6], [0.999]]), "Label": values([[1], [0], [3], [-1], [1]], "int64")}
auc("edges", batch=5, width=1, inputs=edges)
auc("one_class", batch=3, inputs={"Label": values([[1], [1], [1]], "int64"), "StatNeg": values([[0] * 16], "int64")})
auc("fake", slide=2, step=1, inputs={"InsTagWeight": values([[0.0]])})
auc("tagged", slide=2, inputs={"InsTagWeight": values([[1.0]])})
auc("unknown", unknown={"predict": (0,), "label": (0,)})


def spectral(name, shape, dim=0, iterations=1, dtype="float32", **options):
    """A weight with the vectors that its norm is found with, of the sizes of its dimension `dim` and of the others together."""
    height = shape[dim]
    inputs = {"Weight": rand(*shape, dtype=dtype), "U": rand(height, dtype=dtype), "V": rand(int(np.prod(shape)) // height, dtype=dtype)}
    case(f"spectral_norm.{name}", inputs, {"dim": dim, "power_iters": iterations, **options}, constant=("u", "v"))


spectral("plain", (4, 6))
spectral("images", (3, 4, 2, 2), iterations=3)
spectral("second", (5, 3, 2, 2), dim=1, iterations=2)
spectral("none", (4, 6), iterations=0)
spectral("double", (6, 2, 3), iterations=5, dtype="float64")
spectral("epsilon", (4, 3), dim=1, eps=0.5)

case("gumbel_softmax.plain", {"X": rand(3, 5)})
case("gumbel_softmax.temperature", {"X": rand(2, 6)}, {"temperature": 1.7})
case("gumbel_softmax.hard", {"X": rand(3, 5)}, {"hard": True, "temperature": 2.0})
case("gumbel_softmax.axis", {"X": rand(2, 4, 3)}, {"axis": 1, "temperature": 0.7})
case("gumbel_softmax.hard_axis", {"X": rand(2, 4, 3)}, {"axis": 1, "hard": True})
case("gumbel_softmax.double", {"X": rand(4, 3, dtype="float64")}, {"axis": 0})
case("gumbel_softmax.vector", {"X": rand(5)})
unknown("gumbel_softmax.unknown", {"X": rand(2, 3)}, {}, {"x": (0,)})


def accumulated(name, updates, counted, window, least, most, old=3, dtype="float32", repeat=1):
    """Sums of a parameter for its average, and how many there are in them."""
    sums = {f"in_sum_{i}": rand(2, 3, dtype=dtype) for i in (1, 2, 3)}
    counts = {"in_num_accumulates": longs(counted), "in_old_num_accumulates": longs(old), "in_num_updates": longs(updates)}
    outputs = {slot.replace("in_", "out_", 1): slot for slot in (*sums, *counts)}
    attributes = {"average_window": window, "min_average_window": least, "max_average_window": most}
    inputs = {"param": rand(2, 3, dtype=dtype), **sums, **counts}
    case(f"average_accumulates.{name}", inputs, attributes, outputs=outputs, grad=False, repeat=repeat)


accumulated("added", 20, 5, 0.5, 10, 100)
accumulated("window", 20, 11, 0.5, 10, 100, repeat=2)
accumulated("longest", 2000, 99, 0.5, 10, 100)
accumulated("shortest", 4, 8, 0.1, 10, 100, repeat=3)
accumulated("moved", 16383, 100, 0.5, 10000, 20000, repeat=2)
accumulated("moved_window", 16383, 9999, 0.15, 10000, 20000, dtype="float64")
accumulated("all", 0, 0, 1.0, 2, 3, old=0, dtype="float64", repeat=4)


if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
