"""Makes graph/src/test/resources/golden/operations-more-complex.npz: elementary functions of complex numbers, in the entry format of operations.py,
which see. Run from the root of the repository: `python tools/golden/operations/more_complex.py`. Made with PaddlePaddle 2.6.2 (CPU) and NumPy 1.26.
"""
import sys
from pathlib import Path

import cases
from cases import case, complexes, drawn, values

OUTPUT = Path("graph/src/test/resources/golden/operations-more-complex.npz")
TYPES = ("complex64", "complex128")
FUNCTIONS = ("tan", "sinh", "cosh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "expm1")


def of_one(rng):
    dims = tuple(int(n) for n in rng.integers(1, 5, rng.integers(1, 4)))
    return {"X": complexes(*dims, dtype=TYPES[rng.integers(2)])}, {}


for name in FUNCTIONS:
    drawn(f"{name}.complex", of_one)
    # Both sides of the branch cuts, the axes, and numbers whose squares are large or small.
    beside = [complex(3, 0.0), complex(3, -0.0), complex(-3, 0.0), complex(-3, -0.0), 2j, -2j, complex(-0.0, 2), 0.5, 0.5j, 30 + 2j, -30 - 1j]
    case(f"{name}.complex_cuts", {"X": values(beside, "complex128")})
    case(f"{name}.complex_empty", {"X": complexes(0, 3)})
    if name not in ("tan", "sinh", "cosh", "expm1"):
        case(f"{name}.complex_large", {"X": values([1e8 + 1j, -1e10 - 1e10j, 1e-9 + 1e-7j], "complex128")})

if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
