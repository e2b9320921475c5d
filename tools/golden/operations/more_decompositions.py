"""Makes graph/src/test/resources/golden/operations-decompositions.npz: matrices as products of others, in the entry format of
operations.py, which see. Run from the root of the repository: `python tools/golden/operations/more_decompositions.py`. Made with PaddlePaddle 2.6.2 (CPU)
and NumPy 1.26.
"""
import sys
from pathlib import Path

import cases
from cases import case, rand

OUTPUT = Path("graph/src/test/resources/golden/operations-decompositions.npz")

case("qr.tall", {"X": rand(5, 3)})
case("qr.square_double", {"X": rand(4, 4, dtype="float64")})
case("qr.wide", {"X": rand(3, 5)}, grad=False)
case("qr.batch", {"X": rand(2, 4, 2)})
case("qr.complete", {"X": rand(4, 2)}, {"mode": "complete"}, grad=False)
case("qr.triangle_only", {"X": rand(4, 3)}, {"mode": "r"}, hidden=("q",), grad=False)


if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
