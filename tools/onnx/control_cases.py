"""Makes random models of ONNX with nested Ifs, Loops and Scans, and ONNX Runtime's results for several feeds.

    python control_cases.py FOLDER COUNT SEED
    python control_cases.py --sample onnx/src/test/resources/control-cases.zip

Loops pass on matrices that grow, caches that are written at an index, vectors, numbers, truth values and sequences;
they end by conditions on these, by a number of steps, by both or in the first step; results are left out; blocks read
values of all graphs around them and use names that others use, too. Each model has feeds of several sizes, which run
one after the other on one plan. Needs onnx and onnxruntime; random_cases.py writes the files.
"""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

import branch_cases
import random_cases
from branch_cases import count

WIDTH = 3
CACHE = 4
LARGEST = 150
# The kinds of values: rows [?, WIDTH], a cache [CACHE, WIDTH], a vector [WIDTH], a list [?], a number, an integer, a
# truth value and a sequence of vectors.
TYPES = {"rows": (TensorProto.FLOAT, 2), "cache": (TensorProto.FLOAT, 2), "vector": (TensorProto.FLOAT, 1),
         "list": (TensorProto.FLOAT, 1), "number": (TensorProto.FLOAT, 0), "integer": (TensorProto.INT64, 0),
         "truth": (TensorProto.BOOL, 0)}
SIZES = {"rows": [None, WIDTH], "cache": [CACHE, WIDTH], "vector": [WIDTH], "list": [None], "number": [],
         "integer": [], "truth": []}


class Graph:
    """A list of nodes with the values that they may read, by kind."""

    def __init__(self, model, around=None):
        self.model, self.rng = model, model.rng
        self.nodes, self.prefix = [], around.prefix if around else ""
        self.values = {kind: list(names) for kind, names in around.values.items()} if around else {}
        self.deep = around.deep + 1 if around else 0

    def chance(self, share):
        return self.rng.random() < share

    def any(self, items):
        return items[int(self.rng.integers(len(items)))]

    def node(self, kind, inputs, results=1, **attributes):
        names = [self.model.name("v") for _ in range(results)]
        self.nodes.append(helper.make_node(kind, inputs, names, **attributes))
        return names[0] if results == 1 else names

    def made(self, kind, name):
        self.values.setdefault(kind, []).append(name)
        return name

    def pick(self, kind):
        """A value of a kind, the latest ones more often."""
        known = self.values.get(kind, [])
        if known:
            recent = known[-3:] if self.chance(0.7) else known
            return self.any(recent)
        return self.made(kind, self.first(kind))

    def first(self, kind):
        """A value of a kind that is not there yet."""
        if kind == "sequence":
            return self.node("SequenceConstruct", [self.pick("vector")])
        if kind == "list":
            return self.node("ReduceSum", [self.pick("rows"), self.integers(1)], keepdims=0)
        shape = [2 if size is None else size for size in SIZES[kind]]
        if kind == "integer":
            return self.model.constant(np.array(int(self.rng.integers(-1, 4)), np.int64))
        if kind == "truth":
            return self.model.constant(np.array(bool(self.rng.integers(2))))
        return self.model.constant(self.rng.standard_normal(shape).astype(np.float32))

    def integers(self, *values):
        return self.model.constant(np.array(values, np.int64))

    def floats(self, *shape):
        return self.model.constant(self.rng.standard_normal(shape).astype(np.float32))

    # Each gives a value of its kind.

    def rows(self):
        x, draw = self.pick("rows"), self.rng.random()
        if draw < 0.2:
            return self.node("MatMul", [x, self.floats(WIDTH, WIDTH)])
        if draw < 0.4:
            return self.node(self.any(["Add", "Mul", "Sub"]), [x, self.pick(self.any(["vector", "number"]))])
        if draw < 0.5:
            return self.node("Concat", [x, self.node("Unsqueeze", [self.pick("vector"), self.integers(0)])], axis=0)
        if draw < 0.6:
            return self.node("Unsqueeze", [self.pick("vector"), self.integers(0)])
        if draw < 0.7:
            return self.node("Slice", [x, self.integers(0), self.integers(int(self.rng.integers(1, 4))),
                                       self.integers(0)])
        if draw < 0.75:
            return self.node("Softmax", [x], axis=-1)
        return self.node(self.any(["Tanh", "Neg", "Sigmoid", "Identity", "Relu"]), [x])

    def cache(self):
        x, draw = self.pick("cache"), self.rng.random()
        if draw < 0.6:
            at = self.node("Reshape", [self.place(CACHE), self.integers(1, 1)])
            return self.node("ScatterND", [x, at, self.node("Unsqueeze", [self.pick("vector"), self.integers(0)])])
        if draw < 0.8:
            return self.node("Add", [x, self.pick("vector")])
        return self.node("Tanh", [x])

    def place(self, size):
        """An integer from 0 to a size."""
        return self.node("Mod", [self.pick("integer"), self.model.constant(np.array(size, np.int64))])

    def vector(self):
        draw = self.rng.random()
        if draw < 0.25:
            return self.node("ReduceMax" if self.chance(0.3) else "ReduceMin", [self.pick("rows")], axes=[0],
                             keepdims=0)
        if draw < 0.4:
            return self.node("Gather", [self.pick("cache"), self.place(CACHE)], axis=0)
        if draw < 0.5:
            return self.node("SequenceAt", [self.pick("sequence"), self.model.constant(np.array(-1, np.int64))])
        if draw < 0.7:
            return self.node(self.any(["Add", "Mul", "Sub"]),
                             [self.pick("vector"), self.pick(self.any(["vector", "number"]))])
        if draw < 0.8:
            return self.node("MatMul", [self.pick("vector"), self.floats(WIDTH, WIDTH)])
        if draw < 0.85:
            return self.node("Where", [self.pick("truth"), self.pick("vector"), self.pick("vector")])
        return self.node(self.any(["Tanh", "Neg", "Sigmoid", "Identity"]), [self.pick("vector")])

    def list(self):
        draw = self.rng.random()
        if draw < 0.3:
            return self.node("Concat", [self.pick("list"), self.node("Reshape", [self.pick("number"),
                                                                                self.integers(-1)])], axis=0)
        if draw < 0.6:
            return self.node("ReduceSum", [self.pick("rows"), self.integers(1)], keepdims=0)
        return self.node(self.any(["Tanh", "Neg"]), [self.pick("list")])

    def number(self):
        draw = self.rng.random()
        if draw < 0.4:
            return self.node("ReduceSum", [self.pick(self.any(["vector", "list", "rows", "cache"]))], keepdims=0)
        if draw < 0.5:
            return self.node("Cast", [self.pick("integer")], to=TensorProto.FLOAT)
        if draw < 0.8:
            return self.node(self.any(["Add", "Mul", "Sub"]), [self.pick("number"), self.pick("number")])
        return self.node(self.any(["Tanh", "Neg", "Identity"]), [self.pick("number")])

    def integer(self):
        draw = self.rng.random()
        if draw < 0.3:
            return self.node("Add", [self.pick("integer"), self.model.constant(np.array(1, np.int64))])
        if draw < 0.5:
            shape = self.node("Shape", [self.pick(self.any(["rows", "list", "cache"]))])
            return self.node("Gather", [shape, self.model.constant(np.array(0, np.int64))])
        if draw < 0.7:
            return self.node("ArgMax", [self.pick("vector")], axis=0, keepdims=0)
        if draw < 0.8:
            return self.node("SequenceLength", [self.pick("sequence")])
        if draw < 0.9:
            return self.place(3)
        return self.node(self.any(["Sub", "Add"]), [self.pick("integer"), self.pick("integer")])

    def truth(self):
        draw = self.rng.random()
        if draw < 0.4:
            return self.node(self.any(["Less", "Greater", "Equal"]), [
                self.pick("integer"), self.model.constant(np.array(int(self.rng.integers(0, 5)), np.int64))])
        if draw < 0.7:
            return self.node("Less", [self.pick("number"), self.model.constant(np.array(0.7, np.float32))])
        if draw < 0.8:
            return self.node("Not", [self.pick("truth")])
        return self.node(self.any(["And", "Or"]), [self.pick("truth"), self.pick("truth")])

    def sequence(self):
        x, draw = self.pick("sequence"), self.rng.random()
        if draw < 0.5:
            return self.node("SequenceInsert", [x, self.pick("vector")])
        if draw < 0.7:
            return self.node("SequenceInsert", [x, self.pick("vector"), self.model.constant(np.array(0, np.int64))])
        return self.node("Identity", [x])

    def grown(self, kind):
        return getattr(self, kind)()

    def body(self, most):
        for _ in range(int(self.rng.integers(0, most + 1))):
            self.grow()

    def grow(self):
        draw = self.rng.random()
        if self.deep < 3 and draw < 0.12:
            self.branch()
        elif self.deep < 3 and draw < 0.27:
            self.loop()
        elif self.deep < 3 and draw < 0.35:
            self.scan()
        else:
            kind = self.kind(True)
            self.made(kind, self.grown(kind))

    def kind(self, lists):
        kinds = ["rows", "rows", "vector", "vector", "number", "integer", "truth", "cache"]
        return self.any(kinds + ["list", "sequence"] if lists else kinds)

    def own(self, name):
        """A value of this graph, as outputs are."""
        return self.node("Identity", [name])

    def passed(self, names):
        """The outputs of an operator, of which some may be left out."""
        return [name if self.chance(0.9) else "" for name in names] if self.chance(0.2) else names

    def branch(self):
        kinds = [self.kind(True) for _ in range(int(self.rng.integers(1, 4)))]
        condition, arms, start = self.pick("truth") if self.chance(0.5) else self.truth(), [], self.model.count
        for _ in range(2):
            if self.chance(0.3):
                # Both branches use the same names.
                self.model.count = start
            inner = Graph(self.model, self)
            inner.body(3)
            outs = [inner.own(inner.grown(kind) if self.chance(0.6) else inner.pick(kind)) for kind in kinds]
            arms.append(helper.make_graph(inner.nodes, self.model.name("g"), [],
                                          [info(name, kind) for name, kind in zip(outs, kinds)]))
            self.model.most = max(self.model.most, self.model.count)
            self.model.count = self.model.most
        results = [self.model.name("v") for _ in kinds]
        self.nodes.append(helper.make_node("If", [condition], self.passed(results), then_branch=arms[0],
                                           else_branch=arms[1]))
        self.add(kinds, results)

    def add(self, kinds, results):
        outputs = self.nodes[-1].output
        for kind, name in zip(kinds, results):
            if name in outputs:
                self.made(kind, name)

    def loop(self):
        kinds = [self.kind(True) for _ in range(int(self.rng.integers(0, 5)))]
        starts = [self.pick(kind) for kind in kinds]
        given = [self.any(["vector", "number", "number", "integer"])
                 for _ in range(int(self.rng.integers(0 if kinds else 1, 3)))]
        inner = Graph(self.model, self)
        step, again = self.model.name("i"), self.model.name("c")
        states = [self.model.name("s") for _ in kinds]
        inner.made("integer", step)
        for kind, name in zip(kinds, states):
            inner.made(kind, name)
        draw = self.rng.random()
        inner.body(4)
        following = []
        for kind, name in zip(kinds, states):
            inner.values[kind].append(name)
            following.append(inner.grown(kind) if self.chance(0.8) else name)
        if len(set(kinds)) < len(kinds) and self.chance(0.3):
            # Swaps values of one kind.
            order = sorted(range(len(kinds)), key=lambda i: (kinds[i], -i))
            back = sorted(range(len(kinds)), key=lambda i: (kinds[i], i))
            following = [following[order[back.index(i)]] for i in range(len(kinds))]
        following = [inner.own(name) for name in following]
        stacked = [inner.own(inner.grown(kind) if self.chance(0.6) else inner.pick(kind)) for kind in given]
        counted = inner.node("Less", [step, self.model.constant(np.array(int(self.rng.integers(0, 5)), np.int64))])
        if draw < 0.4:
            out = inner.node("Identity", [again])
        elif draw < 0.6:
            out = counted
        else:
            out = inner.node("And", [counted, inner.truth()])
        body = helper.make_graph(
            inner.nodes, self.model.name("g"),
            [helper.make_tensor_value_info(step, TensorProto.INT64, []),
             helper.make_tensor_value_info(again, TensorProto.BOOL, [])]
            + [info(name, kind) for name, kind in zip(states, kinds)],
            [helper.make_tensor_value_info(out, TensorProto.BOOL, [])]
            + [info(name, kind) for name, kind in zip(following + stacked, kinds + given)])
        results = [self.model.name("v") for _ in kinds + given]
        limit = "" if draw >= 0.4 and self.chance(0.4) else self.steps()
        first = "" if self.chance(0.6) else self.pick("truth")
        self.nodes.append(helper.make_node("Loop", [limit, first] + starts, self.passed(results), body=body))
        after = {"vector": "rows", "number": "list"}
        self.add(kinds + [after.get(kind) for kind in given], results)
        self.values.pop(None, None)

    def steps(self):
        return self.place(4) if self.chance(0.3) else self.model.constant(
            np.array(int(self.rng.integers(0, 5)), np.int64))

    def scan(self):
        kinds = [self.any(["vector", "number", "cache", "integer"]) for _ in range(int(self.rng.integers(0, 3)))]
        starts = [self.pick(kind) for kind in kinds]
        # One matrix, perhaps twice, or caches, so that all have as many steps.
        source = self.any(["rows", "cache", "list"])
        one = self.pick(source)
        scanned = [one for _ in range(int(self.rng.integers(1, 3)))]
        if source == "rows" and self.chance(0.5):
            scanned[-1] = self.node("Tanh", [one])
        across = source == "cache" and self.chance(0.3)
        part = "number" if source == "list" else "vector"
        inner = Graph(self.model, self)
        states = [self.model.name("s") for _ in kinds]
        elements = [self.model.name("e") for _ in scanned]
        for kind, name in zip(kinds, states):
            inner.made(kind, name)
        for name in elements:
            inner.made(part, inner.node("Slice", [name, self.integers(0), self.integers(WIDTH)]) if across else name)
        inner.body(3)
        following = [inner.own(inner.grown(kind) if self.chance(0.8) else inner.pick(kind)) for kind in kinds]
        given = [self.any(["vector", "vector", "number"]) for _ in range(int(self.rng.integers(0 if kinds else 1, 4)))]
        stacked = [inner.own(inner.grown(kind) if self.chance(0.6) else inner.pick(kind)) for kind in given]
        body = helper.make_graph(
            inner.nodes, self.model.name("g"),
            [info(name, kind) for name, kind in zip(states, kinds)]
            + [helper.make_tensor_value_info(name, TensorProto.FLOAT, [CACHE] if across else SIZES[part])
               for name in elements],
            [info(name, kind) for name, kind in zip(following + stacked, kinds + given)])
        attributes = {"num_scan_inputs": len(scanned), "body": body}
        if across:
            attributes["scan_input_axes"] = [1] * len(scanned)
        if self.chance(0.5):
            attributes["scan_input_directions"] = [int(each) for each in self.rng.integers(0, 2, len(scanned))]
        if self.chance(0.5) and given:
            attributes["scan_output_directions"] = [int(each) for each in self.rng.integers(0, 2, len(given))]
        turned = [kind == "vector" and self.chance(0.2) for kind in given]
        if any(turned):
            attributes["scan_output_axes"] = [int(each) for each in turned]
        results = [self.model.name("v") for _ in kinds + given]
        self.nodes.append(helper.make_node("Scan", starts + scanned, self.passed(results), **attributes))
        outputs = list(self.nodes[-1].output)
        for kind, name, turn in zip(kinds + given, results, [False] * len(kinds) + turned):
            if name in outputs:
                if turn:
                    self.made("rows", self.node("Transpose", [name], perm=[1, 0]))
                else:
                    stacks = name in results[len(kinds):]
                    self.made({"vector": "rows", "number": "list"}[kind] if stacks else kind, name)


class Model:
    """Constants and feeds of all graphs of a file."""

    def __init__(self, rng):
        self.rng, self.constants, self.inputs, self.sets = rng, [], [], [{} for _ in range(4)]
        self.count, self.most, self.constant_count = 0, 0, 0

    def name(self, kind):
        self.count += 1
        return f"{kind}{self.count}"

    def constant(self, value):
        self.constant_count += 1
        name = f"k{self.constant_count}"
        self.constants.append(numpy_helper.from_array(value, name))
        return name

    def give(self, kind):
        name = self.name("x")
        shape = SIZES[kind]
        for i, feeds in enumerate(self.sets):
            if kind == "integer":
                value = np.array(int(self.rng.integers(0, 5)), np.int64)
            elif kind == "truth":
                value = np.array(bool(self.rng.integers(2)))
            else:
                # The third set has the sizes of the first.
                sizes = [2 if i in (0, 2) else int(self.rng.integers(1, 6)) if size is None else size
                         for size in shape] if None in shape else shape
                sizes = [WIDTH if fixed is not None else size for fixed, size in zip(shape, sizes)] \
                    if kind == "rows" else sizes
                value = self.rng.standard_normal(sizes).astype(np.float32)
            feeds[name] = value
        self.inputs.append(helper.make_tensor_value_info(name, TYPES[kind][0], shape))
        return name


def info(name, kind):
    if kind == "sequence":
        return helper.make_tensor_sequence_value_info(name, TensorProto.FLOAT, [WIDTH])
    return helper.make_tensor_value_info(name, TYPES[kind][0], SIZES[kind])


def case(rng):
    model = Model(rng)
    main = Graph(model)
    for kind in ("rows", "vector", "cache", "integer", "truth"):
        if rng.random() < 0.8:
            main.made(kind, model.give(kind))
    for _ in range(int(rng.integers(1, 4))):
        [main.loop, main.loop, main.scan, main.branch, main.grow][int(rng.integers(5))]()
    outputs = []
    for kind, names in main.values.items():
        for name in names:
            if any(name in node.output for node in main.nodes) and (rng.random() < 0.7 or not outputs):
                outputs.append((name, kind) if kind != "sequence" else (main.node("SequenceLength", [name]), "integer"))
    if not outputs:
        raise ValueError("the model has no outputs")
    graph = helper.make_graph(main.nodes, "control", model.inputs, [info(name, kind) for name, kind in outputs],
                              model.constants)
    if count(graph) > LARGEST:
        raise ValueError("the model is too large")
    file = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    kinds = sorted({node.op_type.lower() for node in main.nodes})
    several = [(feeds, branch_cases.run(file, feeds)) for feeds in model.sets]
    return "_".join(kinds)[:60], file, several[0][0], several[0][1], several[1:]


if __name__ == "__main__":
    random_cases.main(case, "control")
