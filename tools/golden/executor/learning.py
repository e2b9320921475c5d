"""Programs that are trained although only the data determine their shapes: gradients of loops, branches, lists and selections."""
import paddle
import paddle.nn.functional as F
from paddle import nn, optimizer, static
from paddle.base import core

from program import Built, real, whole


def counter(value=0):
    return paddle.full([1], value, "int64")


def loop():
    """The data says how often the loop runs."""
    x, y, length = static.data("x", [-1, 4]), static.data("y", [-1, 1]), static.data("length", [1], "int64")
    first, recurrence = nn.Linear(4, 4), nn.Linear(4, 4)

    def body(step, hidden):
        return [step + 1, 0.5 * hidden + F.tanh(recurrence(hidden) + x)]

    _, hidden = static.nn.while_loop(lambda step, hidden: step < length, body, [counter(), first(x)])
    loss = F.mse_loss(nn.Linear(4, 1)(hidden), y)
    optimizer.SGD(0.1).minimize(loss)
    feeds = [{"x": real(rows, 4), "y": real(rows, 1), "length": whole(length)} for rows, length in ((3, 2), (5, 4), (3, 2), (1, 7), (4, 1), (2, 3))]
    return Built([loss, hidden], feeds)


def branch():
    """The data says which branch learns."""
    x, y = static.data("x", [-1, 4]), static.data("y", [-1, 1])
    shared, left, right = nn.Linear(4, 4), nn.Linear(4, 3), nn.Linear(4, 3)
    hidden = F.tanh(shared(x))
    chosen = static.nn.cond(paddle.mean(x) > 0, lambda: F.tanh(left(hidden)), lambda: F.sigmoid(right(hidden)))
    loss = F.mse_loss(nn.Linear(3, 1)(chosen), y)
    optimizer.Adam(0.02, epsilon=1e-3).minimize(loss)
    feeds = [{"x": sign * abs(real(rows, 4)), "y": real(rows, 1)} for sign, rows in ((1, 3), (-1, 2), (-1, 3), (1, 5), (1, 3))]
    return Built([loss, left.weight, right.weight], feeds)


def recurrent():
    """A recurrent layer as Paddle builds one of a cell: a loop over as many steps as the data has, with lists of states and outputs."""
    x, y = static.data("x", [-1, -1, 3]), static.data("y", [-1, 1])
    outputs, last = nn.RNN(nn.SimpleRNNCell(3, 5))(x)
    loss = F.mse_loss(nn.Linear(5, 1)(paddle.mean(outputs, axis=1) + last), y)
    optimizer.Momentum(0.1, 0.9).minimize(loss)
    feeds = [{"x": real(rows, steps, 3), "y": real(rows, 1)} for rows, steps in ((3, 4), (2, 6), (3, 4), (4, 1))]
    return Built([loss, outputs, last], feeds)


def unrolled(reverse):
    """Paddle's operation recurrent, which earlier versions of it built, and this one still runs and differentiates."""
    x, first, y = static.data("x", [-1, 3, 4]), static.data("first", [3, 5]), static.data("y", [3, 1])
    x.stop_gradient = first.stop_gradient = False
    input_weight, state_weight = static.create_parameter([4, 5], "float32"), static.create_parameter([5, 5], "float32")
    main = static.default_main_program()
    outer = main.current_block()
    inner = main._create_block()
    part = inner.create_var(name=x.name, shape=[3, 4], dtype="float32")
    before = inner.create_var(name="before", shape=[3, 5], dtype="float32")
    state = F.tanh(paddle.matmul(part, input_weight) + paddle.matmul(before, state_weight))
    paddle.assign(state * 2, output=inner.create_var(name="states", shape=[3, 5], dtype="float32"))
    main._rollback()
    states = outer.create_var(name="states", shape=[-1, 3, 5], dtype="float32")
    scopes = outer.create_var(name="scopes", type=core.VarDesc.VarType.STEP_SCOPES)
    outer.append_op(
        type="recurrent",
        inputs={"inputs": [x], "initial_states": [first], "parameters": [input_weight, state_weight]},
        outputs={"outputs": [states], "step_scopes": [scopes]},
        attrs={
            "has_states": True,
            "ex_states": [before.name],
            "states": [state.name],
            "sub_block": inner,
            "reverse": reverse,
            "is_train": True,
        },
    )
    loss = F.mse_loss(nn.Linear(5, 1)(paddle.mean(states, axis=0)), y) + paddle.mean(states[0] * states[0])
    optimizer.Momentum(0.1, 0.9).minimize(loss)
    return Built([loss, states], [{"x": real(steps, 3, 4), "first": real(3, 5), "y": real(3, 1)} for steps in (4, 6, 4, 1)])


def unrolled_forwards():
    return unrolled(reverse=False)


def unrolled_backwards():
    return unrolled(reverse=True)


def selection():
    """Only what is selected is learned from."""
    x, y = static.data("x", [-1, 4]), static.data("y", [-1, 1])
    hidden = F.tanh(nn.Linear(4, 4)(x))
    chosen = paddle.masked_select(hidden, hidden > 0)
    rows = paddle.nonzero(paddle.squeeze(y, 1) > 0)
    error = paddle.gather(nn.Linear(4, 1)(hidden) - y, rows)
    loss = paddle.mean(chosen) + paddle.sum(error * error)
    optimizer.SGD(0.1).minimize(loss)
    return Built([loss, chosen, error], [{"x": real(rows, 4), "y": real(rows, 1)} for rows in (6, 4, 6, 5)])


def cut():
    """What is cut, reshaped and expanded by tensors has gradients."""
    x, y, length = static.data("x", [-1, 6, 4]), static.data("y", [-1, 1]), static.data("length", [1], "int64")
    steps = F.relu(nn.Linear(4, 4)(x))[:, :length]
    mean = paddle.mean(steps, axis=1)
    spread = paddle.expand(paddle.unsqueeze(mean, 1), paddle.shape(steps))
    flat = paddle.reshape(steps * spread, [paddle.shape(x)[0] * paddle.cast(length, "int32"), 4])
    loss = F.mse_loss(nn.Linear(4, 1)(mean), y) + paddle.mean(nn.Linear(4, 1)(flat))
    optimizer.Momentum(0.05, 0.9).minimize(loss)
    feeds = [{"x": real(rows, 6, 4), "y": real(rows, 1), "length": whole(length)} for rows, length in ((3, 2), (2, 6), (3, 2), (5, 1))]
    return Built([loss, mean, flat], feeds)


PROGRAMS = {each.__name__: each for each in (loop, branch, recurrent, unrolled_forwards, unrolled_backwards, selection, cut)}
