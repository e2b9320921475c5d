"""Programs whose shapes only the data determine: shapes given by tensors, what a condition selects, and what grows in loops."""
import paddle
import paddle.nn.functional as F
from paddle import nn, static
from paddle.tensor.array import array_length, array_read, array_write, create_array
from paddle.tensor.manipulation import tensor_array_to_tensor

from program import Built, constant, distinct, real, whole


def counter(value=0):
    return paddle.full([1], value, "int64")


def cuts():
    """Starts, ends and steps are tensors, some computed from the data."""
    x, start, end = static.data("x", [-1, -1]), static.data("start", [1], "int64"), static.data("end", [1], "int64")
    rows = x[start : end + 1]
    last = paddle.slice(x, [0, 1], [-1, start], [1000, end])
    every = paddle.strided_slice(x, [1], [0], [1000], [2])
    longest = paddle.cast(paddle.sum(paddle.cast(x > 0, "int64")), "int32")
    positive = paddle.slice(paddle.flatten(x), [0], [0], [longest])
    hidden = F.tanh(paddle.sum(rows, axis=0, keepdim=True)) * 2
    return Built(
        [paddle.concat([rows, hidden]), last + 1, every, positive * positive],
        [{"x": real(5, 6), "start": whole(1), "end": whole(3)}, {"x": real(4, 3), "start": whole(0), "end": whole(2)}],
    )


def shapes():
    """reshape, expand, tile, full, arange and top_k by tensors."""
    x, shape, times = static.data("x", [-1, -1]), static.data("shape", [3], "int64"), static.data("times", [2], "int32")
    k = static.data("k", [1], "int32")
    blocks = paddle.reshape(x, shape)
    tiled = paddle.tile(x, times) + paddle.full([1], 0.5)
    column = paddle.mean(x, axis=1, keepdim=True)
    wide = paddle.expand(column, paddle.shape(x)) * x
    filled = paddle.full(paddle.shape(x) + 1, 2.0) - 1
    values, places = paddle.topk(x, k, axis=1)
    count = paddle.arange(0, paddle.shape(x)[1], 1, "int64")
    flat = paddle.reshape(wide, [paddle.shape(x)[0] * 2, -1])
    return Built(
        [F.softmax(blocks), tiled, wide, filled, values * 2, places, count * count, paddle.matmul(flat, flat, transpose_y=True)],
        [
            {"x": distinct(4, 6), "shape": whole(2, 3, 4), "times": whole(2, 1, dtype="int32"), "k": whole(2, dtype="int32")},
            {"x": distinct(2, 4), "shape": whole(2, -1, 2), "times": whole(1, 3, dtype="int32"), "k": whole(4, dtype="int32")},
        ],
    )


def selected():
    """What a condition selects goes through layers."""
    x, limit = static.data("x", [-1, 4]), static.data("limit", [1])
    linear = nn.Linear(4, 3)
    chosen = paddle.masked_select(x, x > limit)
    places = paddle.nonzero(x > limit)
    rows = paddle.nonzero(paddle.max(x, axis=1) > limit)
    hidden = F.relu(linear(paddle.gather(x, rows)))
    back = paddle.scatter_nd(places, chosen * 2, paddle.shape(x).astype("int64"))
    unique, inverse = paddle.unique(paddle.floor(x * 2), return_inverse=True)
    return Built(
        [chosen * chosen, places, hidden, back, paddle.sum(hidden) + paddle.sum(chosen), unique + 1, inverse],
        [{"x": distinct(5, 4), "limit": constant(0)}, {"x": distinct(3, 4), "limit": constant(0.25)}, {"x": distinct(5, 4), "limit": constant(-0.2)}],
    )


def nothing():
    """Something is selected at one run, nothing at the next."""
    x, limit = static.data("x", [-1, 4]), static.data("limit", [1])
    chosen = paddle.masked_select(x, x > limit)
    places = paddle.nonzero(x > limit)
    return Built(
        [chosen, places, paddle.shape(places), paddle.concat([chosen, paddle.flatten(x)]) * 2],
        [{"x": real(3, 4), "limit": constant(limit)} for limit in (0, 3, -3)],
    )


def repeats():
    """Rows as often as the data says, and their sums put together again."""
    x, times = static.data("x", [-1, 3]), static.data("times", [-1], "int64")
    many = paddle.repeat_interleave(x, times, axis=0)
    owner = paddle.repeat_interleave(paddle.arange(0, paddle.shape(times)[0], 1, "int64"), times)
    sums = paddle.scatter(paddle.zeros_like(x), owner, F.sigmoid(many), overwrite=False)
    return Built(
        [many + 1, owner, sums],
        [{"x": real(3, 3), "times": whole(2, 0, 3)}, {"x": real(4, 3), "times": whole(1, 1, 4, 2)}],
    )


def grows():
    """A loop attends over all that it has made so far, and appends to it."""
    x, length = static.data("x", [-1, 1, 8]), static.data("length", [1], "int64")
    query, key, value, next_ = (nn.Linear(8, 8) for _ in range(4))
    made = paddle.assign(x)
    made.desc.set_shape([-1, -1, 8])

    def body(step, made):
        last = made[:, -1:]
        weights = F.softmax(paddle.matmul(query(last), key(made), transpose_y=True) / 8**0.5)
        mixed = F.tanh(next_(paddle.matmul(weights, value(made)) + last))
        return [step + 1, paddle.concat([made, mixed], axis=1)]

    step, made = static.nn.while_loop(lambda step, made: step < length, body, [counter(), made])
    return Built(
        [made, paddle.sum(made, axis=1), step],
        [{"x": real(2, 1, 8), "length": whole(5)}, {"x": real(3, 1, 8), "length": whole(9)}, {"x": real(1, 1, 8), "length": whole(0)}],
    )


def until():
    """A loop ends when the data is small enough; one within it runs once more at each of its steps."""
    x, small = static.data("x", [-1, 3]), static.data("small", [1])

    def shrink(total, steps):
        _, total = static.nn.while_loop(lambda i, total: i < steps, lambda i, total: [i + 1, F.tanh(total) * 0.75], [counter(), total * 0.9])
        return [total, steps + 1]

    total, steps = static.nn.while_loop(lambda total, steps: paddle.sum(total * total) > small, shrink, [paddle.assign(x), counter()])
    return Built(
        [total, steps],
        [{"x": real(2, 3), "small": constant(0.01)}, {"x": real(5, 3), "small": constant(1e-4)}],
    )


def lists():
    """A loop reads and writes lists of tensors whose elements have different shapes."""
    x, length = static.data("x", [-1, -1]), static.data("length", [1], "int64")
    linear = nn.Linear(1, 2)
    states, sums = create_array("float32"), create_array("float32")
    array_write(paddle.mean(x, axis=1, keepdim=True), counter(), states)
    i = counter()
    condition = paddle.less_than(i, length)
    with static.nn.control_flow.While(condition).block():
        state = array_read(states, i)
        array_write(paddle.sum(state, axis=0, keepdim=True), i, sums)
        longer = paddle.concat([state, F.tanh(paddle.sum(linear(state), axis=1, keepdim=True))])
        paddle.increment(i)
        array_write(longer, i, states)
        paddle.assign(paddle.less_than(i, length), condition)
    joined, _ = tensor_array_to_tensor(states, axis=0)
    stacked, _ = tensor_array_to_tensor(sums, axis=0, use_stack=True)
    return Built(
        [joined, stacked, array_length(states), array_read(states, length)],
        [{"x": real(2, 3), "length": whole(3)}, {"x": real(1, 4), "length": whole(4)}],
    )


def branches():
    """Branches within branches, whose results have shapes of their own, and one of several by number."""
    x, which = static.data("x", [-1, 4]), static.data("which", [1], "int64")
    left, right = nn.Linear(4, 4), nn.Linear(4, 4)
    mean = paddle.mean(x)
    inner = lambda: static.nn.cond(which > 1, lambda: F.tanh(left(x)), lambda: x * 2)
    out = static.nn.cond(mean > 0, inner, lambda: F.sigmoid(right(x))[:1])
    cases = {0: lambda: paddle.flatten(x), 1: lambda: paddle.sum(x, axis=0), 2: lambda: paddle.masked_select(x, x > 0)}
    picked = static.nn.switch_case(which, cases, lambda: paddle.reshape(mean, [1]))
    return Built(
        [out + 1, picked, paddle.sum(picked) + paddle.sum(out)],
        [{"x": sign * abs(real(rows, 4)), "which": whole(key)} for sign, rows, key in ((1, 2, 0), (1, 3, 2), (-1, 4, 1), (1, 2, 7), (-1, 3, 0))],
    )


PROGRAMS = {each.__name__: each for each in (cuts, shapes, selected, nothing, repeats, grows, until, lists, branches)}
