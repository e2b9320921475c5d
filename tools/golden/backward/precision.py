"""Programs that Paddle's static.amp makes for mixed precision, as text in the form of backward.py.

A CPU build says that no operation supports the low types and casts nothing; here all are declared supported, as on a GPU.

    python tools/golden/backward/precision.py > graph/src/test/resources/golden/precision.txt

Run with paddlepaddle 2.6.2 (CPU).
"""

import paddle
from paddle import static
from paddle.base import core, unique_name
from paddle.static.amp import decorator, fp16_lists

import backward

fp16_lists._get_sys_unsupported_list = lambda dtype: (None, set(), set(core.op_supported_infos("CPU", core.VarDesc.VarType.FP32)[0]))


def mlp():
    x = static.data("x", [-1, 8])
    y = static.data("y", [-1, 1])
    hidden = paddle.nn.functional.relu(paddle.nn.Linear(8, 16)(x))
    hidden = paddle.nn.functional.layer_norm(hidden, [16])
    output = paddle.nn.Linear(16, 1)(hidden)
    return paddle.nn.functional.mse_loss(output, y)


def convolution():
    x = static.data("x", [-1, 1, 8, 8])
    label = static.data("label", [-1, 1], "int64")
    hidden = paddle.nn.Conv2D(1, 4, 3, padding=1, bias_attr=False)(x)
    hidden = paddle.nn.functional.relu(paddle.nn.BatchNorm2D(4)(hidden))
    hidden = paddle.nn.functional.max_pool2d(hidden, 2, 2)
    logits = paddle.nn.Linear(64, 10)(paddle.flatten(hidden, 1))
    return paddle.nn.functional.cross_entropy(logits, label)


def grey():
    x = static.data("x", [-1, 4])
    w = paddle.create_parameter([4, 4], "float32")
    low = paddle.matmul(x, w)
    full = paddle.exp(x)
    a = low + full
    b = paddle.tanh(low) + paddle.tanh(full)
    c = paddle.tanh(x) * 2.0
    d = paddle.sin(low) + paddle.matmul(low, w)
    return paddle.mean(a * b + c * d)


def show(name, network, optimizer, **options):
    case = backward.Case(name)
    startup = static.Program()
    with unique_name.guard(), static.program_guard(case.program, startup):
        loss = network()
        before = list(case.lines())
        print(f"case {name} after 0 calls")
        print("\n".join(before))
        print(f"call minimize loss={loss.name}")
        decorated = decorator.decorate(optimizer(), **options)
        decorated.minimize(loss)
    print("then")
    known = {line for line in before if line.startswith(" ")}
    print("\n".join(line for line in case.lines() if line not in known))
    print()


if __name__ == "__main__":
    sgd = lambda: paddle.optimizer.SGD(0.1)
    adam = lambda: paddle.optimizer.Adam(0.1)
    for name, network in (("mlp", mlp), ("convolution", convolution), ("grey", grey)):
        show(f"{name}_float16", network, sgd, level="O1", dtype="float16", init_loss_scaling=65536.0, use_dynamic_loss_scaling=True)
        show(f"{name}_bfloat16", network, sgd, level="O1", dtype="bfloat16")
    show("mlp_adam", mlp, adam, level="O1", dtype="float16", init_loss_scaling=65536.0, use_dynamic_loss_scaling=True)
