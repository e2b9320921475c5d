"""Makes graph/src/test/resources/golden/operations.npz: programs of one operation each, with their feeds and what Paddle computes for them.

Run from the root of the repository: `python tools/golden/operations/operations.py [part of a case's name ...]`; with arguments the cases
are run but nothing is written. Made with PaddlePaddle 2.6.2 (CPU) and NumPy 1.26. Entries of a case: `<case>/program` (the main program's
bytes without call stacks and without op_version_map, the same 68 pairs in each),
`<case>/meta` (JSON: op, the variables that are differentiated and with respect to which, whether there is no gradient),
`<case>/in/<variable>` for every feed, `<case>/out/<variable>` for every fetched variable.
"""
import importlib
import sys
from pathlib import Path

import cases

FAMILIES = ["unary", "binary", "products", "shape", "indexing", "drawing", "network", "optimizing"]
OUTPUT = Path("graph/src/test/resources/golden/operations.npz")


if __name__ == "__main__":
    for family in FAMILIES:
        importlib.import_module(family)
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
