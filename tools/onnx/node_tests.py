#!/usr/bin/env python3
"""Writes the node tests of the package onnx, without network: node_tests.py FOLDER [SAMPLE.zip | --open].

FOLDER is target/onnx for -Ponnx-suite. It gets a folder for each case with model.onnx, input_N.pb, output_N.pb and,
if it has sequences as inputs, shapes.txt, and a file cases.txt: name, relative and absolute tolerance. SAMPLE.zip,
onnx/src/test/resources/node-tests.zip for the default build, gets some small cases of each operator. With --open,
all dimensions of inputs are open: results must be the same, so that no constant depends on an open dimension.
Tested with onnx 1.23.2 and numpy 2.
"""
import pathlib
import random
import sys
import warnings
import zipfile

import numpy
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases
from onnx.backend.test.loader import load_model_tests


def tensor(value):
    """The message of an array or a number."""
    if isinstance(value, onnx.TensorProto):
        return value
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        return numpy_helper.from_array(numpy.asarray(value))
    return numpy_helper.from_array(numpy.asarray(value))


# Cases of the sample beside those that are drawn.
ALWAYS = ("test_flexattention_gqa", "test_flexattention_prob_mod", "test_flexattention_score_mod",
          "test_melweightmatrix", "test_optional_get_element_optional_tensor", "test_roialign_mode_max", "test_scan_sum",
          "test_sequence_map_add_2_sequences")


def tensors(value):
    """The messages of a value: one of a tensor, those of a sequence, and none of an optional value without element."""
    return [tensor(each) for each in value] if isinstance(value, list) else [] if value is None else [tensor(value)]


def write(folder, case):
    """Writes a case. The tensors of a sequence are inputs and outputs of their own; their shapes are options."""
    for inputs, outputs in case.data_sets[:1]:
        shapes = []
        files = {}
        for kind, values in (("input", inputs), ("output", outputs)):
            messages = [message for value in values for message in tensors(value)]
            for index, message in enumerate(messages):
                files[f"{kind}_{index}.pb"] = message.SerializeToString()
        for value, declared in zip(inputs, case.model.graph.input):
            for index, each in enumerate(value if isinstance(value, list) else []):
                shapes.append(f"{declared.name}.{index}=" + ",".join(map(str, numpy.shape(each))))
        folder.mkdir(parents=True, exist_ok=True)
        if shapes:
            (folder / "shapes.txt").write_text("\n".join(shapes) + "\n")
        for name, data in files.items():
            (folder / name).write_bytes(data)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())


def opened(model):
    """The model with a dimension of its own in place of each length of its inputs; other lengths are not declared."""
    constants = {each.name for each in model.graph.initializer}
    del model.graph.value_info[:]
    for value in list(model.graph.input) + list(model.graph.output):
        if value.name not in constants and value.type.HasField("tensor_type"):
            for axis, dim in enumerate(value.type.tensor_type.shape.dim):
                dim.ClearField("dim_value")
                dim.dim_param = f"{value.name}_{axis}"
    return model


def sample(root, lines, file):
    """Some small cases of each operator that is the first of a case."""
    cases = {}
    for line in lines:
        folder = root / line.split(" ")[0]
        size = sum(each.stat().st_size for each in folder.iterdir())
        nodes = onnx.load(folder / "model.onnx").graph.node
        if size < 12000 and nodes and not folder.name.endswith("_expanded"):
            cases.setdefault(nodes[0].op_type, []).append(line)
    draw = random.Random(24)
    chosen = []
    for _, all_of_operator in sorted(cases.items()):
        chosen += draw.sample(all_of_operator, min(3, len(all_of_operator)))
    chosen = sorted(set(chosen) | {line for line in lines if line.split(" ")[0] in ALWAYS})
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        def add(name, data):
            out.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)

        add("cases.txt", "\n".join(chosen) + "\n")
        for line in chosen:
            for each in sorted((root / line.split(" ")[0]).iterdir()):
                add(f"{each.parent.name}/{each.name}", each.read_bytes())
    print(len(chosen), "cases in", file)


def main():
    root = pathlib.Path(sys.argv[1])
    warnings.simplefilter("ignore")
    numpy.random.seed(0)
    lines = []
    for case in collect_testcases(None):
        write(root / case.name, case)
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
    lines = sorted(set(lines))
    (root / "cases.txt").write_text("\n".join(lines) + "\n")
    print(len(lines), "cases")
    if sys.argv[2:] == ["--open"]:
        for line in lines:
            file = root / line.split(" ")[0] / "model.onnx"
            file.write_bytes(opened(onnx.load(file)).SerializeToString())
    elif len(sys.argv) > 2:
        sample(root, lines, sys.argv[2])


main()
