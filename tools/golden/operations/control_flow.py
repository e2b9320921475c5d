"""Programs with branches, loops and lists of tensors, and their gradients; run as cases by more_control.py."""
import zlib

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import static
from paddle.base import unique_name
from paddle.base.proto import framework_pb2
from paddle.tensor.array import array_length, array_read, array_write, create_array

CASES = {}


def program(name):
    def register(build):
        CASES[name] = build
        return build

    return register


class Inputs:
    """Data variables with the values that they are fed."""

    def __init__(self, name, dtype):
        self.dtype = dtype
        self._random = np.random.default_rng(zlib.crc32(name.encode()))
        self.feeds = {}

    def real(self, name, *shape):
        data = static.data(name, shape, self.dtype)
        data.stop_gradient = False
        self.feeds[name] = (self._random.integers(-8, 9, shape) / 8).astype(self.dtype)
        return data

    def flag(self, name, value):
        self.feeds[name] = np.array([value])
        return static.data(name, [1], "bool")

    def whole(self, name, value):
        self.feeds[name] = np.array([value], np.int64)
        return static.data(name, [1], "int64")


def counter(value=0):
    return paddle.full([1], value, "int64")


def loop(inputs, steps):
    h, w = inputs.real("h", 2, 3), inputs.real("w", 3, 3)
    last = inputs.whole("last", steps)
    zero = paddle.zeros([], inputs.dtype)
    zero.stop_gradient = False
    _, h2, total = static.nn.while_loop(
        lambda i, h, total: i < last,
        lambda i, h, total: [i + 1, F.tanh(paddle.matmul(h, w)) + 0.5 * h, total + paddle.sum(h)],
        [counter(), paddle.assign(h), zero],
    )
    return [h2, total], [h, w]


program("while.some_steps")(lambda inputs: loop(inputs, 3))
program("while.one_step")(lambda inputs: loop(inputs, 1))


@program("while.nested")
def nested(inputs):
    h, w = inputs.real("h", 2, 3), inputs.real("w", 3, 3)
    limit, inner_limit = counter(2), counter(3)

    def outer(i, h):
        def inner(j, h):
            return [j + 1, F.tanh(paddle.matmul(h, w)) + 0.5 * h]

        _, h = static.nn.while_loop(lambda j, h: j < inner_limit, inner, [counter(), paddle.assign(h)])
        return [i + 1, h * 1.5]

    _, out = static.nn.while_loop(lambda i, h: i < limit, outer, [counter(), paddle.assign(h)])
    return [out], [h, w]


@program("while.branch_inside")
def branch_inside(inputs):
    h, w, v = inputs.real("h", 2, 2), inputs.real("w", 2, 2), inputs.real("v", 2, 2)
    limit, one = counter(3), counter(1)

    def body(i, h):
        return [i + 1, static.nn.cond(i < one, lambda: F.tanh(paddle.matmul(h, w)), lambda: h * v)]

    _, out = static.nn.while_loop(lambda i, h: i < limit, body, [counter(), paddle.assign(h)])
    return [out], [h, w, v]


@program("while.without_gradient")
def without_gradient(inputs):
    x = inputs.whole("x", 48)
    limit = counter(100)
    (out,) = static.nn.while_loop(lambda a: a < limit, lambda a: [a * 2 + 1], [paddle.assign(x)])
    return [out], []


@program("while.collects")
def collects(inputs):
    """Each step writes an element of a list, which is joined after the loop."""
    h, w = inputs.real("h", 2, 2), inputs.real("w", 2, 2)
    limit = counter(3)
    steps = create_array(inputs.dtype)
    zero = paddle.zeros([2, 2], inputs.dtype)
    steps.stop_gradient = zero.stop_gradient = False
    array_write(zero, counter(), steps)

    def body(i, h):
        h = F.tanh(paddle.matmul(h, w))
        array_write(h, i, steps)
        return [i + 1, h]

    static.nn.while_loop(lambda i, h: i < limit, body, [counter(), paddle.assign(h)])
    out, _ = paddle.tensor.manipulation.tensor_array_to_tensor(steps, axis=0, use_stack=True)
    return [out, array_length(steps)], [h, w]


@program("while.counted_in_place")
def counted_in_place(inputs):
    """Paddle's older form: the counter is incremented in place, and then is the index of what is written."""
    a, b, first = inputs.real("a", 2, 2), inputs.real("b", 2, 2), inputs.real("first", 2, 2)
    data, memory = create_array(inputs.dtype), create_array(inputs.dtype)
    data.stop_gradient = memory.stop_gradient = False
    array_write(a, counter(), data)
    array_write(b, counter(1), data)
    array_write(first, counter(), memory)
    i, limit = counter(), counter(2)
    condition = paddle.less_than(i, limit)
    with static.nn.control_flow.While(condition).block():
        result = F.tanh(array_read(memory, i)) * array_read(data, i)
        i = paddle.increment(i)
        array_write(result, i, memory)
        paddle.assign(paddle.less_than(i, limit), condition)
    return [array_read(memory, counter(2))], [a, b, first]


def branches(inputs, first, second):
    x, w, v = inputs.real("x", 2, 2), inputs.real("w", 2, 2), inputs.real("v", 2, 2)
    p, q = inputs.flag("p", first), inputs.flag("q", second)
    shared = F.tanh(x)

    def then():
        return static.nn.cond(q, lambda: paddle.matmul(shared, w), lambda: shared * 2)

    out = static.nn.cond(p, then, lambda: paddle.matmul(shared, v))
    return [out + shared], [x, w, v]


for first in (True, False):
    for second in (True, False):
        text = f"conditional_block.{first}_{second}".lower()
        program(text)(lambda inputs, first=first, second=second: branches(inputs, first, second))


@program("conditional_block.several_results")
def several_results(inputs):
    x, y = inputs.real("x", 2, 2), inputs.real("y", 3)
    p = inputs.flag("p", False)
    a, b = static.nn.cond(p, lambda: (x * 2, y), lambda: (paddle.exp(x), y * y))
    return [a, b], [x, y]


@program("conditional_block.switch")
def switch(inputs):
    x, key = inputs.real("x", 2, 2), inputs.whole("key", 2)
    functions = {1: lambda: x * 2, 2: lambda: paddle.exp(x), 5: lambda: x * x}
    return [static.nn.switch_case(key, functions, lambda: x - 1)], [x]


@program("write_to_array.reads")
def reads(inputs):
    """Elements are read once, twice and never; what is joined is read too."""
    a, b, c = inputs.real("a", 2, 2), inputs.real("b", 2, 2), inputs.real("c", 2, 2)
    elements = create_array(inputs.dtype)
    for i, value in enumerate((a, b, c)):
        array_write(value * (i + 1), counter(i), elements)
    first, again = array_read(elements, counter(0)), array_read(elements, counter(1))
    return [first * again, array_length(elements)], [a, b, c]


@program("tensor_array_to_tensor.concat")
def concat(inputs):
    a, b = inputs.real("a", 2, 2), inputs.real("b", 2, 3)
    elements = create_array(inputs.dtype)
    array_write(a * 2, counter(0), elements)
    array_write(b * b, counter(1), elements)
    out, _ = paddle.tensor.manipulation.tensor_array_to_tensor(elements, axis=1)
    return [out], [a, b]


@program("tensor_array_to_tensor.stack")
def stack(inputs):
    a, b = inputs.real("a", 2, 2), inputs.real("b", 2, 2)
    elements = create_array(inputs.dtype)
    array_write(a * 2, counter(0), elements)
    array_write(b * b, counter(1), elements)
    out, _ = paddle.tensor.manipulation.tensor_array_to_tensor(elements, axis=1, use_stack=True)
    return [out], [a, b]


def build(name, dtype):
    main = static.Program()
    inputs = Inputs(name, dtype)
    with static.program_guard(main, static.Program()), unique_name.guard():
        outputs, wanted = CASES[name](inputs)
        # A weight of its own for each element, so that a gradient in the wrong place shows.
        parts = [paddle.sum(out * paddle.cos(out)) for out in outputs if wanted and out.dtype == wanted[0].dtype]
        loss = None if not parts else parts[0] if len(parts) == 1 else paddle.add_n(parts)
        gradients = static.gradients([loss], wanted) if dtype == "float32" and wanted else []
    for block in main.blocks:
        for op in block.ops:
            op.desc.remove_attr("op_callstack")
    return main, inputs.feeds, outputs, loss, wanted, gradients


def differences(name):
    """Gradients by central differences of fourth order in float64: Paddle's own gradients of control flow are not always right."""
    main, feeds, _, loss, wanted, _ = build(name, "float64")
    executor, scope = static.Executor(paddle.CPUPlace()), static.Scope()

    def at(data, index, shift):
        shifted = {n: v.copy() for n, v in feeds.items()}
        shifted[data][index] += shift
        return float(executor.run(main, feed=shifted, fetch_list=[loss], scope=scope)[0])

    found = {}
    for data in (w.name for w in wanted):
        found[data] = np.zeros(feeds[data].shape)
        for i in np.ndindex(*feeds[data].shape):
            near, far = (at(data, i, h) - at(data, i, -h) for h in (1e-3, 2e-3))
            found[data][i] = (8 * near - far) / 12e-3
    return found


def compute(name):
    main, feeds, outputs, _, wanted, gradients = build(name, "float32")
    executor = static.Executor(paddle.CPUPlace())
    forward = build(name, "float64" if wanted else "float32")
    out = executor.run(forward[0], feed=forward[1], fetch_list=forward[2], scope=static.Scope())
    expected = dict(zip((o.name for o in outputs), map(np.asarray, out)))
    if wanted:
        found = differences(name)
        missing = [w.name for w, g in zip(wanted, gradients) if g is None]
        if missing:
            raise AssertionError(f"{name}: Paddle builds no gradient of {missing}")
        expected |= {g.name: found[w.name] for w, g in zip(wanted, gradients)}
    desc = framework_pb2.ProgramDesc.FromString(main.desc.serialize_to_string())
    desc.ClearField("op_version_map")
    entries = {"program": np.frombuffer(desc.SerializeToString(), np.uint8), "meta": np.frombuffer(b"{}", np.uint8)}
    entries |= {f"in/{n}": v for n, v in feeds.items()}
    entries |= {f"out/{n}": v.astype(np.float32) if v.dtype == np.float64 else v for n, v in expected.items()}
    return {f"{name}/{k}": v for k, v in entries.items()}
