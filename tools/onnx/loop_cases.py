"""Makes random models of ONNX whose Loops pass on tensors of different ranks and sizes, and ONNX Runtime's results.

    python loop_cases.py FOLDER COUNT SEED
    python loop_cases.py --sample onnx/src/test/resources/loop-cases.zip

Bodies squeeze, unsqueeze, reshape and reduce what they pass on, swap two values, choose by Ifs and end by conditions on
sizes. The numbers of steps are constants or feeds. Needs onnx and onnxruntime; branch_cases.py has the other nodes.
"""
import numpy as np
from onnx import TensorProto, helper

import branch_cases
import random_cases
from branch_cases import WIDTH, Graph, info

# Each number of dimensions that a value has in a loop repeats the nodes of its body.
LARGEST = 22


class Loops(Graph):
    """A graph with loops whose values change their ranks."""

    def changed(self, source):
        """A tensor that often has another number of dimensions than its source."""
        draw = self.rng.random()
        if draw < 0.2:
            return self.node("Squeeze", [source])
        if draw < 0.4:
            return self.node("Unsqueeze", [source, self.integers(int(self.rng.choice([0, -1])))])
        if draw < 0.5:
            shape = ((-1,), (1, -1), (-1, 1, 1))[int(self.rng.integers(3))]
            return self.node("Reshape", [source, self.integers(*shape)])
        if draw < 0.6:
            return self.node("ReduceMean", [source], axes=[-1], keepdims=0)
        if draw < 0.7:
            return self.node("ReduceMax", [source], keepdims=0)
        if draw < 0.8:
            return self.node("Concat", [source, source], axis=0)
        if draw < 0.9:
            return self.branch()
        return self.node("Mul", [source, self.pick()])

    def choice(self, source):
        """One of two tensors of different ranks, the same in each step."""
        condition = self.model.give("c", np.array(bool(self.rng.integers(2))))
        arms = []
        for kind in ("Unsqueeze", "Neg"):
            inner = Graph(self.model, self)
            name = inner.node(kind, [source] + ([self.integers(0)] if kind == "Unsqueeze" else []))
            arms.append(helper.make_graph(inner.nodes, self.model.name("g"), [], [info(name)]))
        result = self.model.name("v")
        self.nodes.append(helper.make_node("If", [condition], [result], then_branch=arms[0], else_branch=arms[1]))
        return result

    def again(self, step, again, states):
        """Whether another step follows."""
        draw = self.rng.random()
        if draw < 0.5:
            return self.node("Identity", [again])
        if draw < 0.75:
            rank = self.node("Shape", [self.node("Shape", [states[0]])])
            limit = self.integers(int(self.rng.integers(2, 5)))
            return self.node("Squeeze", [self.node("Less", [rank, limit])])
        return self.node("Less", [step, self.model.constant(np.array(int(self.rng.integers(1, 3)), np.int64))])

    def ranks(self):
        """A loop that passes on one or two tensors of any ranks, and perhaps stacks a tensor."""
        inner = type(self)(self.model, self)
        count = int(self.rng.integers(1, 3))
        starts = [self.pick() for _ in range(count)]
        step, again = self.model.name("i"), self.model.name("c")
        states = [self.model.name("s") for _ in range(count)]
        inner.tensors.extend(states)
        for _ in range(int(self.rng.integers(0, 2))):
            inner.grow()
        following = []
        for each in states:
            value = inner.changed(each if self.rng.random() < 0.8 else inner.pick())
            following.append(value if self.rng.random() < 0.7 else inner.node("Neg", [value]))
        if count == 2 and self.rng.random() < 0.3:
            following.reverse()
        following = [inner.node("Identity", [each]) for each in following]
        out = inner.again(step, again, following)
        given = [out] + following
        # Of a loop without steps, ONNX Runtime stacks a list without elements if it has not inferred a rank. It stacks
        # steps of different shapes but equal sizes in the shape of the first one, which is an error here.
        number = np.array(int(self.rng.integers(0, 4)), np.int64)
        draw = self.rng.random()
        if draw < 0.5 and number > 0:
            source = self.pick()
            if draw < 0.2:
                given.append(inner.node("ReduceSum", [inner.pick()], keepdims=0))
            elif draw < 0.3:
                given.append(inner.node("Neg", [source]))
            else:
                given.append(inner.node("Neg", [inner.choice(source)]))
        body = helper.make_graph(
            inner.nodes, self.model.name("g"),
            [info(step, TensorProto.INT64, []), info(again, TensorProto.BOOL, [])] + [info(each) for each in states],
            [info(out, TensorProto.BOOL)] + [info(each) for each in given[1:]])
        results = [self.model.name("v") for _ in given[1:]]
        limit = self.model.give("n", number) if self.rng.random() < 0.4 else self.model.constant(number)
        self.nodes.append(helper.make_node("Loop", [limit, ""] + starts, results, body=body))
        for each in results:
            self.made(each)

    def loop(self):
        """The loops of branch_cases.py have bodies that do not run and need not allow their operands."""
        self.ranks()

    def grow(self):
        """Adds a node, a branch or a loop; a MatMul allows few operands."""
        if self.rng.random() < 0.2 and self.deep < 2:
            self.ranks()
            return
        before = len(self.nodes)
        super().grow()
        if self.nodes[before:] and self.nodes[-1].op_type in ("MatMul", "Concat"):
            self.tensors.remove(self.nodes.pop().output[0])


def case(rng):
    model = branch_cases.Model(rng)
    main = Loops(model)
    for _ in range(int(rng.integers(1, 3))):
        dims = [int(rng.choice([1, 2, WIDTH])) for _ in range(int(rng.integers(1, 4)))]
        main.made(model.give("x", rng.standard_normal(dims).astype(np.float32)))
    if rng.random() < 0.3:
        main.grow()
    main.ranks()
    for _ in range(int(rng.integers(0, 4))):
        main.grow()
    made = [name for name in main.tensors if name not in model.feeds]
    chosen = [name for name in made if name == made[-1] or rng.random() < 0.5]
    graph = helper.make_graph(main.nodes, "loops", model.inputs, [info(name) for name in chosen], model.constants)
    if branch_cases.count(graph) > LARGEST:
        raise ValueError("the model is too large")
    file = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    kinds = sorted({node.op_type.lower() for node in main.nodes})
    return "_".join(kinds)[:60], file, model.feeds, branch_cases.run(file, model.feeds)


if __name__ == "__main__":
    random_cases.main(case, "loops")
