"""Makes graph/src/test/resources/golden/operations-sequence.npz: operations on sequences of different lengths, in the entry format of operations.py,
which see, with the offsets of feeds and results. Run from the root of the repository: `python tools/golden/operations/sequence.py`. Made with
PaddlePaddle 2.6.2 (CPU) and NumPy 1.26.
"""
import sys
from pathlib import Path

import cases
import numpy as np
from cases import case, drawn, int32s, ints, longs, rand, unknown, values

OUTPUT = Path("graph/src/test/resources/golden/operations-sequence.npz")
FLOAT = ("float32", "float32", "float64")


def offsets(*lengths):
    """One level for sequences of some lengths."""
    return [[0, *(int(n) for n in np.cumsum(lengths))]]


def lengths(rng, least=0, most=5, count=None):
    """Lengths of some sequences, of which at least one has rows."""
    drawn = rng.integers(least, most + 1, count or int(rng.integers(1, 6)))
    drawn[rng.integers(0, len(drawn))] = rng.integers(1, most + 1)
    return [int(n) for n in drawn]


def two_levels(*groups):
    """Two levels for groups of sequences, whose lengths are given."""
    return [offsets(*(len(g) for g in groups))[0], offsets(*(n for g in groups for n in g))[0]]


LOD = offsets(2, 3, 1)
POOLS = ("AVERAGE", "SUM", "SQRT", "MAX", "LAST", "FIRST")

INDEX = {"hidden": ("maxindex",)}
for kind in ("AVERAGE", "SQRT", "MAX", "LAST"):
    case(f"sequence_pool.{kind.lower()}_empty", {"X": rand(5, 2)}, {"pooltype": kind, "pad_value": 1.5}, lod={"x": offsets(0, 3, 0, 2, 0)}, **INDEX)
case("sequence_pool.levels", {"X": rand(6, 2)}, {"pooltype": "SUM"}, lod={"x": two_levels([2, 1], [3])}, **INDEX)
case("sequence_pool.max_levels", {"X": rand(6, 2)}, {"pooltype": "MAX"}, lod={"x": two_levels([2, 0], [3, 1], [])}, **INDEX)
unknown("sequence_pool.unknown", {"X": rand(6, 2)}, {"pooltype": "FIRST"}, {"x": (0,)}, lod={"x": LOD}, **INDEX)


def pool(rng):
    n = lengths(rng)
    kind = POOLS[rng.integers(len(POOLS))]
    more = tuple(rng.integers(1, 4, rng.integers(1, 3)))
    attributes = {"pooltype": kind, "pad_value": float(rng.integers(-1, 2))}
    return {"X": rand(sum(n), *more, dtype=FLOAT[rng.integers(3)])}, attributes, {"lod": {"x": offsets(*n)}, **INDEX}


drawn("sequence_pool", pool)

case("lod_reset.target", {"X": rand(6, 2)}, {"target_lod": [0, 4, 6]}, lod={"x": LOD})
case("lod_reset.plain", {"X": rand(6, 2, dtype="float64")}, {"target_lod": [0, 1, 1, 6]})
case("lod_reset.append", {"X": rand(6, 2)}, {"target_lod": [0, 1, 2, 3, 4, 5, 6], "append": True}, lod={"x": LOD})
case("lod_reset.offsets", {"X": rand(6, 1), "Y": int32s(0, 2, 6)})
case("lod_reset.like", {"X": rand(6, 1), "Y": rand(6, 3)}, lod={"y": two_levels([2, 1], [3])}, constant=("y",))
case("lod_reset.ints", {"X": ints(4, 1)}, {"target_lod": [0, 4]}, grad=False)

if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
