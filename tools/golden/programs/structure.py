"""Networks that are about the graph and its backward pass: control flow, shared weights, stopped and higher gradients."""
import paddle
import paddle.nn.functional as F
from paddle import nn, optimizer, static

from network import Network


def cond(positive):
    """The predicate is x's mean above zero; the feed decides which branch all steps take."""

    def build(feed):
        x, y = static.data("x", [-1, 4]), static.data("y", [-1, 1])
        shared, left, right = nn.Linear(4, 4), nn.Linear(4, 3), nn.Linear(4, 3)
        hidden = F.tanh(shared(x))
        branch = static.nn.cond(paddle.mean(x) > 0, lambda: F.tanh(left(hidden)), lambda: F.sigmoid(right(hidden)))
        batch = abs(feed.real(3, 4))
        return Network(
            loss=F.mse_loss(nn.Linear(3, 1)(branch), y),
            optimizer=optimizer.SGD(0.1),
            feed={"x": batch if positive else -batch, "y": feed.real(3, 1)},
        )

    return build


def while_loop(feed):
    x, y = static.data("x", [-1, 4]), static.data("y", [-1, 1])
    recurrence = nn.Linear(4, 4)
    step, last = paddle.full([1], 0, "int64"), paddle.full([1], 3, "int64")
    hidden = nn.Linear(4, 4)(x)

    def body(step, hidden):
        return step + 1, hidden + F.tanh(recurrence(hidden) + x)

    _, hidden = static.nn.while_loop(lambda step, hidden: step < last, body, [step, hidden])
    return Network(
        loss=F.mse_loss(nn.Linear(4, 1)(hidden), y),
        optimizer=optimizer.SGD(0.1),
        feed={"x": feed.real(3, 4), "y": feed.real(3, 1)},
    )


def shared_weight(feed):
    x, y = static.data("x", [-1, 4]), static.data("y", [-1, 4])
    weight = static.create_parameter([4, 4], "float32")
    hidden = x
    for _ in range(3):
        hidden = F.tanh(paddle.matmul(hidden, weight))
    return Network(
        loss=F.mse_loss(hidden, y),
        optimizer=optimizer.SGD(1.0),
        feed={"x": feed.real(3, 4), "y": feed.real(3, 4)},
    )


def no_grad_branch(feed):
    """Of three branches the first learns, the second's output stops gradients, the third's weight is in the no-gradient set."""
    x, y = static.data("x", [-1, 4]), static.data("y", [-1, 1])
    learning, stopped, excluded = nn.Linear(4, 1), nn.Linear(4, 1), nn.Linear(4, 1)
    constant = F.tanh(stopped(x))
    constant.stop_gradient = True
    output = learning(x) * constant + F.tanh(excluded(x))
    return Network(
        loss=F.mse_loss(output, y),
        optimizer=optimizer.SGD(0.1),
        no_grad_set={excluded.weight.name},
        feed={"x": feed.real(3, 4), "y": feed.real(3, 1)},
    )


def tanh_squared():
    x = static.data("x", [-1, 4])
    x.stop_gradient = False
    weight = static.create_parameter([4, 3], "float32")
    activation = F.tanh(paddle.matmul(x, weight))
    value = paddle.sum(activation * activation)
    (gradient,) = static.gradients([value], [x])
    return x, weight, value, gradient


def gradients_twice(feed):
    """No optimizer: the gradient with regard to the weight of the squared gradient with regard to x."""
    _, weight, _, gradient = tanh_squared()
    penalty = paddle.mean(gradient * gradient)
    (second,) = static.gradients([penalty], [weight])
    return Network(loss=penalty, feed={"x": feed.real(3, 4)}, fetch={"first": gradient, "second": second})


def gradient_penalty(feed):
    _, _, value, gradient = tanh_squared()
    return Network(
        loss=value + paddle.mean(gradient * gradient),
        optimizer=optimizer.SGD(0.1),
        feed={"x": feed.real(3, 4)},
        fetch={"first": gradient},
    )


NETWORKS = {
    "cond": cond(positive=True),
    "cond_else": cond(positive=False),
    "while_loop": while_loop,
    "shared_weight": shared_weight,
    "no_grad_branch": no_grad_branch,
    "gradients_twice": gradients_twice,
    "gradient_penalty": gradient_penalty,
}
