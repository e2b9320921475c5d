#!/usr/bin/env python3
"""Writes the node tests of the package onnx, without network: node_tests.py FOLDER (target/onnx for -Ponnx-suite).

A folder for each case with model.onnx, input_N.pb and output_N.pb, and a file cases.txt: name, relative and absolute
tolerance. Tested with onnx 1.23.2 and numpy 2.
"""
import pathlib
import sys
import warnings

import numpy
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases
from onnx.backend.test.loader import load_model_tests


def tensor(value):
    """The message of an array; None for what is not a dense tensor."""
    if isinstance(value, onnx.TensorProto):
        return value
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        return numpy_helper.from_array(numpy.asarray(value))
    if isinstance(value, (bool, int, float)):
        return numpy_helper.from_array(numpy.asarray(value))
    return None


def write(folder, case):
    """Writes a case; False if it needs more than dense tensors."""
    for inputs, outputs in case.data_sets[:1]:
        messages = [("input", i, tensor(value)) for i, value in enumerate(inputs)]
        messages += [("output", i, tensor(value)) for i, value in enumerate(outputs)]
        if any(message is None for _, _, message in messages):
            return False
        folder.mkdir(parents=True, exist_ok=True)
        for kind, index, message in messages:
            (folder / f"{kind}_{index}.pb").write_bytes(message.SerializeToString())
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    return True


def main():
    root = pathlib.Path(sys.argv[1])
    warnings.simplefilter("ignore")
    numpy.random.seed(0)
    lines = []
    for case in collect_testcases(None):
        if write(root / case.name, case):
            lines.append(f"{case.name} {case.rtol} {case.atol}")
    for kind in ("simple", "pytorch-converted", "pytorch-operator"):
        for case in load_model_tests(kind=kind):
            data = pathlib.Path(case.model_dir) / "test_data_set_0"
            folder = root / case.name
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "model.onnx").write_bytes((pathlib.Path(case.model_dir) / "model.onnx").read_bytes())
            for file in data.glob("*.pb"):
                (folder / file.name).write_bytes(file.read_bytes())
            lines.append(f"{case.name} {case.rtol} {case.atol}")
    (root / "cases.txt").write_text("\n".join(sorted(set(lines))) + "\n")
    print(len(lines), "cases")


main()
