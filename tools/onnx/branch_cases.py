"""Makes random models of ONNX whose Ifs give tensors of different ranks and sizes, and ONNX Runtime's results.

    python branch_cases.py FOLDER COUNT SEED
    python branch_cases.py --sample onnx/src/test/resources/branch-cases.zip

Conditions are feeds, follow from them, or compare sizes, as torch.jit writes squeeze. Ifs are nested and in loops, and
their results are read by any nodes, by other Ifs and loops, and as outputs. Needs onnx and onnxruntime; random_cases.py
writes the files.
"""
import multiprocessing

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import random_cases

WIDTH = 3
# Nodes are translated once for each combination of conditions, so that larger ones take minutes altogether.
LARGEST = 60
UNARY = ["Neg", "Tanh", "Abs", "Transpose", "Identity", "Relu", "Softmax"]


class Graph:
    """A list of nodes with the values that they may read."""

    def __init__(self, model, around=None):
        self.model, self.rng = model, model.rng
        self.nodes, self.tensors = [], list(around.tensors) if around else []
        self.deep = around.deep + 1 if around else 0

    def node(self, kind, inputs, **attributes):
        name = self.model.name("v")
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def made(self, name):
        self.tensors.append(name)
        return name

    def pick(self):
        recent = self.tensors[-4:] if self.rng.random() < 0.7 else self.tensors
        return recent[int(self.rng.integers(len(recent)))]

    def condition(self):
        draw = self.rng.random()
        if draw < 0.5:
            return self.decided() if self.model.decides and draw < 0.3 else self.model.give(
                "c", np.array(bool(self.rng.integers(2))))
        shape = self.node("Shape", [self.pick()])
        at = self.node("Gather", [shape, self.model.constant(np.array(int(self.rng.integers(-1, 1)), np.int64))])
        return self.node("Equal", [at, self.model.constant(np.array(int(self.rng.choice([1, 1, 2, WIDTH])), np.int64))])

    def decided(self):
        """A condition that follows from an integer, such as a sampling rate, and perhaps from a truth value."""
        shape = () if self.rng.random() < 0.5 else (1,)
        fed = self.model.give("n", np.full(shape, self.rng.integers(3), np.int64))
        kind = str(self.rng.choice(["Equal", "Greater", "Less"]))
        condition = self.node(kind, [fed, self.model.constant(np.array(int(self.rng.integers(3)), np.int64))])
        draw = self.rng.random()
        if draw < 0.3:
            return self.node("Not", [condition])
        if draw < 0.6:
            other = self.model.give("c", np.array(bool(self.rng.integers(2))))
            return self.node(str(self.rng.choice(["And", "Or", "Xor"])), [condition, other])
        return condition

    def integers(self, *values):
        return self.model.constant(np.array(values, np.int64))

    def arm(self, source):
        """A tensor whose number of dimensions or size may differ from the other branch's."""
        draw = self.rng.random()
        if draw < 0.25:
            return self.node("Squeeze", [source])
        if draw < 0.4:
            return self.node("Unsqueeze", [source, self.integers(0)])
        if draw < 0.5:
            return self.node("Concat", [source, source], axis=0)
        if draw < 0.6:
            return self.node("ReduceMean", [source], axes=[-1], keepdims=int(self.rng.integers(2)))
        if draw < 0.7:
            return self.node("Reshape", [source, self.integers(-1)])
        if draw < 0.8 and self.deep < 3:
            return self.branch()
        return self.node("Identity", [source])

    def branch(self):
        condition, source = self.condition(), self.pick()
        arms, count = [], 1 if self.rng.random() < 0.7 else 2
        for _ in range(2):
            inner = Graph(self.model, self)
            for _ in range(int(self.rng.integers(0, 3))):
                inner.grow()
            names = [inner.node("Identity", [inner.arm(source if self.rng.random() < 0.7 else inner.pick())])
                     for _ in range(count)]
            arms.append(helper.make_graph(inner.nodes, self.model.name("g"), [], [info(name) for name in names]))
        results = [self.model.name("v") for _ in range(count)]
        self.nodes.append(helper.make_node("If", [condition], results, then_branch=arms[0], else_branch=arms[1]))
        return [self.made(name) for name in results][-1]

    def loop(self):
        """A loop that reads values around it and passes on and stacks a tensor of one rank."""
        inner = Graph(self.model, self)
        step, again, state, out = (self.model.name(kind) for kind in "icsv")
        for _ in range(int(self.rng.integers(1, 4))):
            inner.grow()
        inner.nodes.append(helper.make_node("Identity", [again], [out]))
        total = inner.node("ReduceSum", [inner.pick()], keepdims=0)
        after = inner.node("Add", [state, total])
        scanned = inner.node("Mul", [total, state])
        body = helper.make_graph(inner.nodes, self.model.name("g"),
                                 [info(step, TensorProto.INT64, []), info(again, TensorProto.BOOL, []), info(state)],
                                 [info(out, TensorProto.BOOL, []), info(after), info(scanned)])
        results = [self.model.name("v"), self.model.name("v")]
        start = self.pick() if self.rng.random() < 0.5 else self.model.constant(np.ones((1,), np.float32))
        steps = self.model.constant(np.array(int(self.rng.integers(0, 3)), np.int64))
        self.nodes.append(helper.make_node("Loop", [steps, "", start], results, body=body))
        self.made(results[0])

    def resized(self):
        """Reads sizes."""
        source, draw = self.pick(), self.rng.random()
        shape = self.node("Shape", [self.pick() if draw < 0.2 else source])
        if draw < 0.4:
            self.made(self.node("Expand", [self.model.constant(np.full((1,), 0.5, np.float32)), shape]))
        elif draw < 0.7:
            self.made(self.node("Reshape", [self.node("Neg", [source]), shape]))
        elif draw < 0.85:
            both = self.node("Concat", [self.integers(1), shape], axis=0)
            self.made(self.node("Reshape", [source, both]))
        else:
            zeros = self.node("ConstantOfShape", [shape])
            self.made(self.node("Add", [zeros, source]))

    def grow(self):
        draw = self.rng.random()
        if draw < 0.3 and self.deep < 3:
            self.branch()
        elif draw < 0.4 and self.deep < 2:
            self.loop()
        elif draw < 0.55:
            self.made(self.node(str(self.rng.choice(UNARY)), [self.pick()]))
        elif draw < 0.7:
            self.made(self.node(str(self.rng.choice(["Add", "Mul", "Sub"])), [self.pick(), self.pick()]))
        elif draw < 0.8:
            self.resized()
        elif draw < 0.85:
            shape = ((-1,), (1, -1), (-1, 1, 1))[int(self.rng.integers(3))]
            self.made(self.node("Reshape", [self.pick(), self.integers(*shape)]))
        elif draw < 0.9:
            self.made(self.node("Concat", [self.pick(), self.pick()], axis=int(self.rng.integers(-1, 1))))
        elif draw < 0.95:
            self.made(self.node("ReduceMax", [self.pick()], keepdims=int(self.rng.integers(2)),
                                **({"axes": [-1]} if self.rng.random() < 0.5 else {})))
        else:
            weights = self.model.constant(self.rng.standard_normal((WIDTH, WIDTH)).astype(np.float32))
            self.made(self.node("MatMul", [self.pick(), weights]))


class Model:
    """Constants and feeds of all graphs of a file; decides says whether integers are fed for conditions."""

    def __init__(self, rng, decides=False):
        self.rng, self.decides = rng, decides
        self.constants, self.inputs, self.feeds, self.count = [], [], {}, 0

    def name(self, kind):
        self.count += 1
        return f"{kind}{self.count}"

    def constant(self, value):
        name = self.name("k")
        self.constants.append(numpy_helper.from_array(value, name))
        return name

    def give(self, kind, value):
        name = self.name(kind)
        self.feeds[name] = value
        shape = value.shape if self.rng.random() < 0.5 else [None] * value.ndim
        self.inputs.append(info(name, helper.np_dtype_to_tensor_dtype(value.dtype), shape))
        return name


def info(name, kind=TensorProto.FLOAT, shape=None):
    return helper.make_tensor_value_info(name, kind, shape)


def count(graph):
    """The number of nodes with those of inner graphs."""
    return sum(1 + sum(count(each.g) for each in node.attribute if each.HasField("g")) for node in graph.node)


def run(model, feeds):
    """ONNX Runtime's results, from a process of its own: some of these models end it by a segmentation fault."""
    receiver, sender = multiprocessing.get_context("fork").Pipe(False)

    def child():
        try:
            sender.send(random_cases.run(model, feeds))
        except Exception as error:
            sender.send(error.args)

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    sender.close()
    try:
        result = receiver.recv()
    except EOFError:
        result = ("ONNX Runtime ended",)
    process.join()
    if not isinstance(result, dict):
        raise ValueError(*result)
    return result


def case(rng):
    model = Model(rng, decides=True)
    main = Graph(model)
    for _ in range(int(rng.integers(1, 3))):
        dims = [int(rng.choice([1, 2, WIDTH])) for _ in range(int(rng.integers(1, 4)))]
        main.made(model.give("x", rng.standard_normal(dims).astype(np.float32)))
    for _ in range(int(rng.integers(2, 7))):
        main.branch() if rng.random() < 0.3 else main.grow()
    made = [name for name in main.tensors if name not in model.feeds]
    chosen = [name for name in made if name == made[-1] or rng.random() < 0.5]
    graph = helper.make_graph(main.nodes, "branches", model.inputs, [info(name) for name in chosen], model.constants)
    if count(graph) > LARGEST:
        raise ValueError("the model is too large")
    file = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    kinds = sorted({node.op_type.lower() for node in main.nodes})
    return "_".join(kinds)[:60], file, model.feeds, run(file, model.feeds)


if __name__ == "__main__":
    random_cases.main(case, "branches")
