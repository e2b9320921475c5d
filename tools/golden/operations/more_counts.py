"""Makes graph/src/test/resources/golden/operations-counts.npz: how often numbers are there, and rarer functions of single elements, in the entry format of
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


if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
