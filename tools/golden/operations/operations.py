"""Makes graph/src/test/resources/golden/operations.npz: programs of one operation each, with their feeds and what Paddle computes for them.

Run from the root of the repository: `python tools/golden/operations/operations.py [part of a case's name ...]`; with arguments the cases
are run but nothing is written. Made with PaddlePaddle 2.6.2 (CPU) and NumPy 1.26. Entries of a case: `<case>/program` (the main program's
bytes without call stacks and without op_version_map, the same 68 pairs in each),
`<case>/meta` (JSON: op, the variables that are differentiated and with respect to which, whether there is no gradient),
`<case>/in/<variable>` for every feed, `<case>/out/<variable>` for every fetched variable.
"""
import importlib
import sys
import traceback
from pathlib import Path

import numpy as np
import paddle

import cases

FAMILIES = ["unary", "binary", "products", "shape", "indexing", "drawing", "network", "optimizing"]
OUTPUT = Path("graph/src/test/resources/golden/operations.npz")


def main(parts):
    paddle.enable_static()
    for family in FAMILIES:
        importlib.import_module(family)
    chosen = [c for c in cases.CASES.values() if not parts or any(p in c.name for p in parts)]
    entries, failures = {}, []
    for c in chosen:
        try:
            made = cases.compute(c)
        except Exception:
            failures.append((c.name, traceback.format_exc()))
            continue
        entries.update(made)
        for key, value in made.items():
            if parts and not key.endswith("/program"):
                print(key, bytes(value).decode() if key.endswith("/meta") else (value.dtype, value.shape, value.tolist()))
            if "/out/" in key and value.dtype.kind == "f" and not np.isfinite(value).all():
                print("not finite:", key)
    if not parts:
        np.savez_compressed(OUTPUT, **entries)
        print(f"{len(chosen) - len(failures)} cases of {len({c.op for c in chosen})} operations, {OUTPUT.stat().st_size} bytes")
    for name, error in failures:
        print("FAILED", name, error if parts else " | ".join(error.strip().splitlines()[-3:]))
    return len(failures) > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
