"""Makes random recurrent layers of ONNX (LSTM, GRU, RNN with any attributes and operands) and ONNX Runtime's results.

    python recurrent_cases.py FOLDER COUNT SEED
    python recurrent_cases.py --sample onnx/src/test/resources/recurrent-cases.zip

Needs onnx and onnxruntime; random_cases.py writes the files.
"""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

import random_cases

ACTIVATIONS = ["Relu", "Tanh", "Sigmoid", "Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu",
               "Softsign", "Softplus"]
# Whether a function takes alpha and beta.
PARAMETERS = {"Affine": (True, True), "LeakyRelu": (True, False), "ThresholdedRelu": (True, False),
              "ScaledTanh": (True, True), "HardSigmoid": (True, True), "Elu": (True, False)}
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
FUNCTIONS = {"LSTM": 3, "GRU": 2, "RNN": 1}


def attributes(rng, mode, directions):
    chosen = {}
    if rng.random() < 0.5:
        names = [str(rng.choice(ACTIVATIONS)) for _ in range(FUNCTIONS[mode] * directions)]
        flags = [PARAMETERS.get(name, (False, False)) for name in names]
        chosen["activations"] = names
        for index, attribute in enumerate(("activation_alpha", "activation_beta")):
            values = [float(np.float32(rng.uniform(0.1, 0.9))) for flag in flags if flag[index]]
            if values:
                chosen[attribute] = values
    if rng.random() < 0.2:
        chosen["clip"] = float(np.float32(rng.uniform(0.2, 2)))
    if mode == "GRU" and rng.random() < 0.4:
        chosen["linear_before_reset"] = 1
    if mode == "LSTM" and rng.random() < 0.2:
        chosen["input_forget"] = 1
    return chosen


def operands(rng, mode, directions):
    ends = (6, 4, 5, 5) if rng.random() < 0.9 else (30, 9, 20, 40)
    steps, batch, features, size = (int(rng.integers(1, end)) for end in ends)
    gates = GATES[mode]
    values = {"X": rng.standard_normal((steps, batch, features)),
              "W": rng.standard_normal((directions, gates * size, features)),
              # Of larger ones, errors would grow from step to step.
              "R": rng.standard_normal((directions, gates * size, size)) * min(1, 2 / size)}
    optional = [("B", 0.6, rng.standard_normal((directions, 2 * gates * size))),
                ("L", 0.5, rng.integers(1, steps + 1, size=batch)),
                ("H", 0.5, rng.standard_normal((directions, batch, size)))]
    if mode == "LSTM":
        optional += [("C", 0.5, rng.standard_normal((directions, batch, size))),
                     ("P", 0.4, rng.standard_normal((directions, 3 * size)))]
    names = ["X", "W", "R"]
    for name, share, value in optional:
        given = rng.random() < share
        names.append(name if given else "")
        if given:
            values[name] = value
    return size, names, {name: value.astype(np.int32 if name == "L" else np.float32) for name, value in values.items()}


def case(rng):
    mode = str(rng.choice(list(GATES)))
    direction = str(rng.choice(["forward", "reverse", "bidirectional"]))
    directions = 2 if direction == "bidirectional" else 1
    size, names, values = operands(rng, mode, directions)
    outputs = ["Y", "Y_h"] + (["Y_c"] if mode == "LSTM" else [])
    node = helper.make_node(mode, names, outputs, hidden_size=size, direction=direction,
                            **attributes(rng, mode, directions))
    feeds = [name for name in ("X", "L", "H", "C") if name in values]

    def info(name):
        known = rng.random() < 0.7
        shape = values[name].shape
        return helper.make_tensor_value_info(name, TensorProto.INT32 if name == "L" else TensorProto.FLOAT,
                                             shape if known else [None] * len(shape))

    graph = helper.make_graph([node], "recurrent", [info(name) for name in feeds],
                              [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
                              [numpy_helper.from_array(values[name], name) for name in values if name not in feeds])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", int(rng.choice([14, 22])))], ir_version=9)
    feed = {name: values[name] for name in feeds}
    return mode.lower(), model, feed, random_cases.run(model, feed)


if __name__ == "__main__":
    random_cases.main(case, "recurrent")
