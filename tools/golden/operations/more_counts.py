"""Makes graph/src/test/resources/golden/operations-counts.npz: how often numbers are there, rarer functions of single elements, and diagonals that are filled, in the entry format of
operations.py, which see. Run from the root of the repository: `python tools/golden/operations/more_counts.py`. Made with PaddlePaddle 2.6.2 (CPU)
and NumPy 1.26.
"""
import sys
from pathlib import Path

import cases
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


if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
