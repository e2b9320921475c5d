"""Finds the operations that mean something else in another version of PaddlePaddle.

    python versions.py FOLDER RESULTS run        with the Python of each version, and a RESULTS folder for each
    python versions.py RESULTS OTHER compare

FOLDER is what WriteCases.java has written. Each `.pdmodel` with fixed sizes runs with its own feeds, and with special numbers in their place
(halves, infinities, zeros of both signs, NaN, ties) where these are no indices. The first FEW cases of
each operation run, each in a process of its own. `compare` prints the cases
whose results differ; what stops in either version says nothing about meaning and is counted only.
"""
import os
import resource
import signal
import sys
import zlib
from collections import Counter
from pathlib import Path

import numpy as np

SECONDS, TOLERANCE, FEW = 30, 1e-4, int(os.environ.get("FEW", "3"))
SPECIAL = np.array([0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.0, -0.0, 1, -1, 2, 3, -3, np.inf, -np.inf, np.nan, 1e-40, 1e30, 0.49999997, 7])


def load(file):
    with np.load(file) as arrays:
        return [arrays[str(i)] for i in range(len(arrays.files))]


def special(name, values, finite):
    random = np.random.default_rng(zlib.crc32(name.encode()))
    choice = SPECIAL[np.isfinite(SPECIAL) & (np.abs(SPECIAL) < 1e3)] if finite else SPECIAL
    return [random.choice(choice, each.shape).astype(each.dtype) if each.dtype.kind == "f" else each for each in values]


def run(folder, results):
    os.environ["FLAGS_enable_pir_api"] = "0"
    import paddle
    paddle.enable_static()
    results.mkdir(parents=True, exist_ok=True)

    def one(model, feeds, values):
        exe = paddle.static.Executor(paddle.CPUPlace())
        program, names, targets = paddle.static.load_inference_model(str(model).rsplit(".", 1)[0], exe)
        return [np.asarray(each) for each in exe.run(program, feed=dict(zip(feeds, values)), fetch_list=targets)]

    cases = Counter()
    for line in open(folder / "index.tsv"):
        name, where, form, feeds, _, refusal = line.rstrip("\n").split("\t")
        if form != "pdmodel" or refusal or name.endswith(" open") or "[" in name:
            continue
        cases[name.split(".")[0]] += 1
        if cases[name.split(".")[0]] > FEW:
            continue
        pid = os.fork()
        if pid == 0:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            signal.alarm(SECONDS)
            kept = {}
            given = load(folder / where / "feeds.npz")
            for kind, values in (("own", given), ("finite", special(name, given, True)), ("special", special(name, given, False))):
                try:
                    for i, each in enumerate(one(folder / where / form / "m.pdmodel", feeds.split(" ") if feeds else [], values)):
                        kept[f"{kind}{i}"] = each
                except BaseException as e:
                    kept[f"{kind}!"] = np.array(type(e).__name__)
                np.savez(results / f"{name.replace('/', '_')}.npz", **{key: each for key, each in kept.items() if each.dtype != object})
            os._exit(0)
        os.waitpid(pid, 0)


def differs(want, have):
    if want.dtype != have.dtype or want.shape != have.shape:
        return f"{want.dtype}{want.shape} and {have.dtype}{have.shape}"
    if want.dtype.kind not in "fc":
        return "" if (want == have).all() else f"{want.ravel()[:6]} and {have.ravel()[:6]}"
    with np.errstate(all="ignore"):
        finite = np.isfinite(want)
        same = np.where(finite, np.abs(want - have) <= TOLERANCE * max(1e-30, np.abs(want[finite]).max(initial=0)),
                        (want == have) | (np.isnan(want) & np.isnan(have)))
    if same.all():
        return ""
    at = np.flatnonzero(~same.ravel())[:3]
    return f"{want.ravel()[at]} and {have.ravel()[at]}"


def compare(results, others):
    same, stopped = 0, 0
    for file in sorted(results.glob("*.npz")):
        other = others / file.name
        if not other.exists() or min(file.stat().st_size, other.stat().st_size) < 30:
            stopped += 1
            continue
        with np.load(file) as first, np.load(other) as second:
            for key in first.files:
                if key.endswith("!") or key not in second.files:
                    stopped += 1
                    continue
                message = differs(first[key], second[key])
                same += not message
                if message:
                    print(f"{file.stem}\t{key}\t{message}"[:300])
    print(f"{same} results are the same; {stopped} runs stopped in one version")


if sys.argv[3] == "run":
    run(Path(sys.argv[1]), Path(sys.argv[2]))
else:
    compare(Path(sys.argv[1]), Path(sys.argv[2]))
