"""Makes random models of ONNX with sequences, branches and loops, and ONNX Runtime's results.

    python sequence_cases.py FOLDER COUNT SEED
    python sequence_cases.py --sample onnx/src/test/resources/sequence-cases.zip

Places, lengths, conditions and numbers of steps are constants or feeds; dimensions of feeds are known or not. Needs onnx
and onnxruntime; random_cases.py writes the files.
"""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

import random_cases

WIDTH = 3


class Model:
    """A graph that grows. Values are known by their shapes, sequences by the shapes of their tensors."""

    def __init__(self, rng):
        self.rng = rng
        self.nodes, self.constants, self.inputs, self.feeds = [], [], [], {}
        self.tensors, self.lists, self.lengths = {}, {}, []
        self.count = 0

    def name(self, kind):
        self.count += 1
        return f"{kind}{self.count}"

    def chance(self, share):
        return self.rng.random() < share

    def pick(self, items):
        return items[int(self.rng.integers(len(items)))]

    def give(self, kind, value):
        """A value that is a constant or a feed."""
        name = self.name(kind)
        if self.chance(0.5):
            self.constants.append(numpy_helper.from_array(value, name))
        else:
            self.feeds[name] = value
            shape = value.shape if self.chance(0.6) else [None] * value.ndim
            self.inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), shape))
        return name

    def node(self, into, kind, inputs, **attributes):
        name = self.name("v")
        into.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def tensor(self, shape=None):
        shape = shape or (int(self.rng.integers(1, 5)), WIDTH)
        name = self.give("x", self.rng.standard_normal(shape).astype(np.float32))
        self.tensors[name] = shape
        return name

    def place(self, low, high):
        """A place from low to high."""
        kind = np.int64 if self.chance(0.7) else np.int32
        return int(self.rng.integers(low, high + 1)), kind

    # Each makes a value from others, in a list of nodes.

    def construct(self, into):
        names = [self.matrix() for _ in range(int(self.rng.integers(1, 4)))]
        return self.node(into, "SequenceConstruct", names), [self.tensors[name] for name in names]

    def matrix(self):
        matrices = [name for name, shape in self.tensors.items() if len(shape) == 2 and shape[1] == WIDTH]
        return self.pick(matrices) if matrices and self.chance(0.6) else self.tensor()

    def element(self, shapes):
        """A tensor for a list: lists that grow in a run hold tensors of one number of dimensions."""
        rank = len(shapes[0]) if shapes else 2
        return self.matrix() if rank == 2 else self.tensor((WIDTH,) if rank == 1 else shapes[0])

    def insert(self, into, source):
        name, shapes = source
        element = self.element(shapes)
        inputs, at = [name, element], len(shapes)
        if self.chance(0.7):
            at, kind = self.place(-len(shapes), len(shapes))
            inputs.append(self.give("at", np.array(at, kind)))
            at = at + len(shapes) if at < 0 else at
        return self.node(into, "SequenceInsert", inputs), shapes[:at] + [self.tensors[element]] + shapes[at:]

    def erase(self, into, source):
        name, shapes = source
        if not shapes:
            return self.insert(into, source)
        inputs, at = [name], len(shapes) - 1
        if self.chance(0.7):
            at, kind = self.place(-len(shapes), len(shapes) - 1)
            inputs.append(self.give("at", np.array(at, kind)))
            at = at % len(shapes)
        return self.node(into, "SequenceErase", inputs), shapes[:at] + shapes[at + 1:]

    def split(self, into):
        name = self.matrix()
        shape = self.tensors[name]
        axis = int(self.rng.integers(-2, 2))
        length = shape[axis]
        inputs, attributes = [name], {"axis": axis}
        draw = self.rng.random()
        if draw < 0.3:
            each = int(self.rng.integers(1, length + 2))
            inputs.append(self.give("each", np.array(each, np.int64)))
            parts = [min(each, length - start) for start in range(0, length, each)]
        elif draw < 0.6:
            first = int(self.rng.integers(0, length + 1))
            parts = [first, length - first]
            inputs.append(self.give("parts", np.array(parts, np.int64)))
        else:
            parts = [1] * length
            attributes["keepdims"] = int(self.rng.integers(0, 2))
        shapes = []
        for part in parts:
            dims = list(shape)
            dims[axis] = part
            if attributes.get("keepdims", 1) == 0:
                del dims[axis]
            shapes.append(tuple(dims))
        return self.node(into, "SplitToSequence", inputs, **attributes), shapes

    def changed(self, into, source):
        return self.pick([self.insert, self.erase])(into, source)

    def branch(self, source):
        """One of two lists that have the same kind of tensors."""
        taken = self.chance(0.5)
        condition = self.give("if", np.array(taken))
        branches, shapes = [], []
        for _ in range(2):
            nodes = []
            name, dims = self.changed(nodes, source) if self.chance(0.8) else source
            name = self.node(nodes, "Identity", [name])
            branches.append(helper.make_graph(nodes, self.name("g"), [], [sequence(name)]))
            shapes.append(dims)
        result = self.node(self.nodes, "If", [condition], then_branch=branches[0], else_branch=branches[1])
        return result, shapes[0] if taken else shapes[1]

    def loop(self, source):
        """A list that grows, and a tensor that a tensor of the list changes."""
        name, shapes = source
        steps = int(self.rng.integers(0, 4))
        limit = self.give("steps", np.array(steps, np.int64))
        element = self.element(shapes)
        nodes, front = [], self.chance(0.5)
        step, cond, state = self.name("i"), self.name("c"), self.name("s")
        factor = self.node(nodes, "Cast", [step], to=TensorProto.FLOAT)
        value = self.node(nodes, "Mul", [element, factor])
        inputs = [state, value]
        if front:
            inputs.append(self.give("at", np.array(0, np.int64)))
        after = self.node(nodes, "SequenceInsert", inputs)
        if shapes and self.chance(0.3):
            last = self.node(nodes, "SequenceAt", [after, self.give("at", np.array(-1, np.int64))])
            after = self.node(nodes, "SequenceInsert", [after, last])
            twice = True
        else:
            twice = False
        out = self.node(nodes, "Identity", [cond])
        sums = self.node(nodes, "ReduceSum", [value], keepdims=0)
        rank = None if self.chance(0.5) or not shapes else len(shapes[0])
        inputs = [helper.make_tensor_value_info(step, TensorProto.INT64, []),
                  helper.make_tensor_value_info(cond, TensorProto.BOOL, []), sequence(state, rank)]
        outputs = [helper.make_tensor_value_info(out, TensorProto.BOOL, []), sequence(after, rank),
                   helper.make_tensor_value_info(sums, TensorProto.FLOAT, [])]
        body = helper.make_graph(nodes, self.name("g"), inputs, outputs)
        grown, scanned = self.name("v"), self.name("v")
        self.nodes.append(helper.make_node("Loop", [limit, "", name], [grown, scanned], body=body))
        self.tensors[scanned] = (steps,)
        for _ in range(steps):
            shapes = [self.tensors[element]] + shapes if front else shapes + [self.tensors[element]]
            if twice:
                shapes = shapes + [shapes[-1]]
        return grown, shapes

    def map(self, source):
        name, shapes = source
        part, other = self.name("p"), self.tensor((1,) * len(shapes[0]))
        nodes = []
        out = self.node(nodes, "Add", [self.node(nodes, "Tanh", [part]), other])
        body = helper.make_graph(nodes, self.name("g"), [helper.make_tensor_value_info(part, TensorProto.FLOAT, None)],
                                 [helper.make_tensor_value_info(out, TensorProto.FLOAT, None)])
        return self.node(self.nodes, "SequenceMap", [name], body=body), shapes

    def at(self, source):
        name, shapes = source
        at, kind = self.place(-len(shapes), len(shapes) - 1)
        result = self.node(self.nodes, "SequenceAt", [name, self.give("at", np.array(at, kind))])
        self.tensors[result] = shapes[at]

    def join(self, source):
        name, shapes = source
        if len(set(shapes)) == 1 and self.chance(0.5):
            axis = int(self.rng.integers(-len(shapes[0]) - 1, len(shapes[0]) + 1))
            result = self.node(self.nodes, "ConcatFromSequence", [name], axis=axis, new_axis=1)
            self.tensors[result] = np.stack([np.zeros(shape) for shape in shapes], axis).shape
            return
        rank = len(shapes[0])
        axes = [axis for axis in range(rank)
                if len({shape[:axis] + shape[axis + 1:] for shape in shapes}) == 1]
        if axes:
            axis = self.pick(axes)
            result = self.node(self.nodes, "ConcatFromSequence", [name],
                               axis=axis - rank if self.chance(0.3) else axis)
            self.tensors[result] = np.concatenate([np.zeros(shape) for shape in shapes], axis).shape

    def grow(self):
        source = self.pick(list(self.lists.items())) if self.lists else None
        draw = self.rng.random()
        if source is None or draw < 0.15:
            made = self.construct(self.nodes) if self.chance(0.5) else self.split(self.nodes)
            if self.chance(0.1):
                made = self.node(self.nodes, "SequenceEmpty", []), []
        elif draw < 0.4:
            made = self.changed(self.nodes, source)
        elif draw < 0.55:
            made = self.branch(source)
        elif draw < 0.7:
            made = self.loop(source)
        elif draw < 0.8 and source[1]:
            made = self.map(source)
        else:
            made = source
            if source[1]:
                self.pick([self.at, self.join])(source)
        name, shapes = made
        self.lists[name] = shapes


def sequence(name, rank=None):
    return helper.make_tensor_sequence_value_info(name, TensorProto.FLOAT, None if rank is None else [None] * rank)


def case(rng):
    model = Model(rng)
    for _ in range(int(rng.integers(2, 8))):
        model.grow()
    outputs = []
    for name, shapes in list(model.lists.items()):
        if not any(name in node.output for node in model.nodes):
            continue
        outputs.append((model.node(model.nodes, "SequenceLength", [name]), TensorProto.INT64))
        if shapes:
            model.at((name, shapes))
            model.join((name, shapes))
    made = {output for node in model.nodes for output in node.output}
    outputs += [(name, TensorProto.FLOAT) for name in model.tensors if name in made]
    graph = helper.make_graph(model.nodes, "sequences", model.inputs,
                              [helper.make_tensor_value_info(name, kind, None) for name, kind in outputs],
                              model.constants)
    file = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    kinds = sorted({node.op_type.replace("Sequence", "").lower() for node in model.nodes})
    return "_".join(kinds)[:60], file, model.feeds, random_cases.run(file, model.feeds)


if __name__ == "__main__":
    random_cases.main(case, "sequence")
