"""Makes random models of ONNX with Scan of version 8, which has batches, and ONNX Runtime's results.

    python scan_cases.py FOLDER COUNT SEED
    python scan_cases.py --sample onnx/src/test/resources/scan-cases.zip

Lengths of sequences are left out, constants or feeds; dimensions of feeds are known or not. What follows the end of a
sequence is not compared with anything but ONNX Runtime's zeros. Needs onnx and onnxruntime; random_cases.py writes the
files.
"""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

import random_cases


def case(rng):
    batches, steps, width = int(rng.integers(1, 4)), int(rng.integers(1, 5)), int(rng.integers(1, 4))
    states, scanned = int(rng.integers(0, 3)), int(rng.integers(1, 3))
    scalars = states > 0 and rng.random() < 0.3
    inputs, constants, feeds = [], [], {}

    def give(name, value, open_dims=True):
        if rng.random() < 0.3:
            constants.append(numpy_helper.from_array(value, name))
        else:
            feeds[name] = value
            shape = [None] * value.ndim if open_dims and rng.random() < 0.4 else value.shape
            inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), shape))
        return name

    operands = [""]
    if rng.random() < 0.6:
        lengths = rng.integers(1, steps + 1, batches)
        lengths[rng.integers(batches)] = steps
        operands[0] = give("lengths", lengths.astype(np.int64), False)
    for i in range(states):
        shape = (batches,) if scalars and i == 0 else (batches, width)
        operands.append(give(f"initial{i}", rng.standard_normal(shape).astype(np.float32)))
    for i in range(scanned):
        operands.append(give(f"x{i}", rng.standard_normal((batches, steps, width)).astype(np.float32)))
    body_in = [helper.make_tensor_value_info(f"s{i}", TensorProto.FLOAT, [] if scalars and i == 0 else [width])
               for i in range(states)]
    body_in += [helper.make_tensor_value_info(f"e{i}", TensorProto.FLOAT, [width]) for i in range(scanned)]
    nodes, body_out, total = [], [], "e0"
    for i in range(1, scanned):
        nodes.append(helper.make_node("Sub", [total, f"e{i}"], [f"t{i}"]))
        total = f"t{i}"
    for i in range(states):
        one = scalars and i == 0
        if one:
            nodes.append(helper.make_node("ReduceMean", [total], [f"m{i}"], keepdims=0))
        nodes.append(helper.make_node("Add", [f"s{i}", f"m{i}" if one else total], [f"a{i}"]))
        nodes.append(helper.make_node("Tanh", [f"a{i}"], [f"n{i}"]))
        body_out.append(helper.make_tensor_value_info(f"n{i}", TensorProto.FLOAT, [] if one else [width]))
    given = int(rng.integers(0 if states else 1, 3))
    for i in range(given):
        nodes.append(helper.make_node("Mul" if i else "Identity", [total, total][:1 + i], [f"g{i}"]))
        body_out.append(helper.make_tensor_value_info(f"g{i}", TensorProto.FLOAT, [width]))
    attributes = {"num_scan_inputs": scanned, "body": helper.make_graph(nodes, "body", body_in, body_out)}
    if rng.random() < 0.6:
        attributes["directions"] = [int(each) for each in rng.integers(0, 2, scanned)]
    results = [f"final{i}" for i in range(states)] + [f"all{i}" for i in range(given)]
    graph = helper.make_graph([helper.make_node("Scan", operands, results, **attributes)], "scan", inputs,
                              [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in results],
                              constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 8)], ir_version=4)
    kind = f"{states}_states_{scanned}_scanned_{'all' if not operands[0] else 'lengths'}"
    return kind, model, feeds, random_cases.run(model, feeds)


if __name__ == "__main__":
    random_cases.main(case, "scan")
