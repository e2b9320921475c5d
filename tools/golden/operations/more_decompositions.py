"""Makes graph/src/test/resources/golden/operations-decompositions.npz: matrices as products of others, in the entry format of
operations.py, which see. Run from the root of the repository: `python tools/golden/operations/more_decompositions.py`. Made with PaddlePaddle 2.6.2 (CPU)
and NumPy 1.26.
"""
from pathlib import Path

import numpy as np
import paddle

import cases
from cases import case, rand

OUTPUT = Path("graph/src/test/resources/golden/operations-decompositions.npz")

case("qr.tall", {"X": rand(5, 3)})
case("qr.square_double", {"X": rand(4, 4, dtype="float64")})
case("qr.wide", {"X": rand(3, 5)}, grad=False)
case("qr.batch", {"X": rand(2, 4, 2)})
case("qr.complete", {"X": rand(4, 2)}, {"mode": "complete"}, grad=False)
case("qr.triangle_only", {"X": rand(4, 3)}, {"mode": "r"}, hidden=("q",), grad=False)


def main():
    paddle.enable_static()
    entries = {}
    for c in cases.CASES.values():
        made = cases.compute(c)
        if not all(np.isfinite(v).all() for k, v in made.items() if "/out/" in k):
            raise AssertionError(f"{c.name} is not finite")
        entries |= made
    np.savez_compressed(OUTPUT, **entries)
    print(len(cases.CASES), "cases,", OUTPUT.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
