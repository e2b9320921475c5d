"""Writes random models of ONNX and ONNX Runtime's results in the form of node_tests.py, for other tools here.

The folder is read with -Dseriatim.onnx=FOLDER. Cases that ONNX Runtime refuses, or whose results are not finite, are
counted and left out.
"""
import os
import shutil
import sys
import tempfile
import zipfile

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper


def run(model, feeds):
    """The results of ONNX Runtime by name."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return dict(zip([output.name for output in session.get_outputs()], session.run(None, feeds)))


def is_tame(result):
    """Whether numbers are finite and not so large that rounding shows."""
    return result.size == 0 or np.isfinite(result).all() and np.abs(result).max() < 1e6


def make(case, kind, folder, count, seed):
    """Writes cases.

    case(generator) gives the end of a name, a model, its feeds and its results, and perhaps a list of further feeds and
    results, which are written to folders in that of the case.
    """
    rng = np.random.default_rng(seed)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    lines, left_out = [], 0
    for index in range(count):
        try:
            name, model, feed, results, *others = case(rng)
        except Exception as error:
            print(f"{index}: {str(error)[:100]}", file=sys.stderr)
            left_out += 1
            continue
        several = [(feed, results)] + [each for other in others for each in other]
        if not all(is_tame(result) for _, each in several for result in each.values()):
            left_out += 1
            continue
        name = f"test_{kind}_{seed}_{index:03}_{name}"
        os.makedirs(f"{folder}/{name}")
        onnx.save(model, f"{folder}/{name}/model.onnx")
        for number, (feed, results) in enumerate(several):
            into = f"{folder}/{name}/again_{number}" if number else f"{folder}/{name}"
            os.makedirs(into, exist_ok=True)
            for kind_of_file, values in (("input", feed), ("output", results)):
                for position, (key, value) in enumerate(values.items()):
                    with open(f"{into}/{kind_of_file}_{position}.pb", "wb") as file:
                        file.write(numpy_helper.from_array(np.asarray(value), key).SerializeToString())
        lines.append(f"{name} 0.0002 1e-05")
    with open(f"{folder}/cases.txt", "w") as file:
        file.write("\n".join(lines) + "\n")
    print(f"{len(lines)} cases, {left_out} left out")


def sample(case, kind, target):
    """A zip file with 40 cases."""
    with tempfile.TemporaryDirectory() as folder:
        make(case, kind, folder, 40, 1)
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for path, _, files in sorted(os.walk(folder)):
                for file in sorted(files):
                    full = os.path.join(path, file)
                    archive.writestr(zipfile.ZipInfo(os.path.relpath(full, folder)), open(full, "rb").read(),
                                     zipfile.ZIP_DEFLATED)


def main(case, kind):
    if sys.argv[1] == "--sample":
        sample(case, kind, sys.argv[2])
    else:
        make(case, kind, sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
