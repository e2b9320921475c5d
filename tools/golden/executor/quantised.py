"""Makes executor/src/test/resources/golden/quantised.npz: a small network as PaddlePaddle's passes prepare it for quantisation-aware training, and
as they freeze it.

Run from the root of the repository: PYTHONHASHSEED=0 python tools/golden/executor/quantised.py. Made with PaddlePaddle 2.6.2 and NumPy 1.26 on CPU.
The entries of each network are

  <name>/train, <name>/loss     ProgramDesc bytes of the training program, and the loss's name, UTF-8
  <name>/before/<variable>      the persistable variables before the first step
  <name>/losses                 float32[6]: the loss of each step
  <name>/scales/<variable>      scales and their state after the last step
  <name>/test, <name>/out       ProgramDesc bytes of the program for tests with the same variables, and its result's name
  <name>/tested                 its result on the first batch after training
  <name>/frozen                 ProgramDesc bytes of the frozen program, whose result has the same name
  <name>/after/<variable>       its persistable variables
  <name>/inferred               its result on the first batch

and image/<step>, label/<step> are the batches of all networks.
"""
import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import static
from paddle.base import core
from paddle.base.framework import IrGraph
from paddle.static.quantization import quantization_pass as passes

import formula
import recording

STEPS = 6
BATCHES = 3
PLACE = paddle.CPUPlace()
WEIGHED = ["conv2d", "mul", "matmul_v2"]


def network():
    image, label = static.data("image", [-1, 1, 8, 8]), static.data("label", [-1, 1], "int64")
    hidden = F.relu(paddle.nn.Conv2D(1, 4, 3, padding=1)(image))
    hidden = paddle.nn.Conv2D(4, 4, 3, stride=2)(F.max_pool2d(hidden, 2, 2) + 0.1)
    out = paddle.nn.Linear(4, 5)(paddle.flatten(F.relu(hidden), 1))
    return out, F.cross_entropy(out, label)


def transformed(program, scope, test, weights, activations, v2=False):
    """The program with quantised weights and activations."""
    graph = IrGraph(core.Graph(program.desc), for_test=test)
    transform = passes.QuantizationTransformPassV2 if v2 else passes.QuantizationTransformPass
    transform(
        scope=scope,
        place=PLACE,
        weight_quantize_type=weights,
        activation_quantize_type=activations,
        window_size=4,
        quantizable_op_type=WEIGHED,
        is_test=test,
    ).apply(graph)
    add = passes.AddQuantDequantPassV2 if v2 else passes.AddQuantDequantPass
    add(scope=scope, place=PLACE, quantizable_op_type=["elementwise_add", "pool2d"], is_test=test).apply(graph)
    if not v2:
        passes.OutScaleForTrainingPass(scope=scope, place=PLACE, is_test=test).apply(graph)
    return graph


def persistables(program, scope):
    read = {name for op in recording.operations(program) for name in op.input_arg_names + op.output_arg_names}
    names = [v.name for v in program.list_vars() if v.persistable and v.name in read]
    found = {name: scope.find_var(name) for name in sorted(names)}
    return {name: np.array(v.get_tensor()) for name, v in found.items() if v is not None and v.get_tensor()._is_initialized()}


def batches():
    rows = {f"image/{i}": formula.batch(f"image/{i}", [8, 1, 8, 8], 0) for i in range(BATCHES)}
    return rows | {f"label/{i}": formula.batch(f"label/{i}", [8, 1], 5) for i in range(BATCHES)}


def record(weights, activations, v2=False):
    recording.first_program()
    main, startup = static.Program(), static.Program()
    with paddle.utils.unique_name.guard(), static.program_guard(main, startup):
        out, loss = network()
        test = main.clone(for_test=True)
        paddle.optimizer.Momentum(0.1, 0.9).minimize(loss)
        executor, scope = static.Executor(PLACE), static.Scope()
        executor.run(startup, scope=scope)
        recording.set_parameters(scope, main, recording.parameters(main))
        with static.scope_guard(scope):
            train = transformed(main, scope, False, weights, activations, v2).to_program()
            tested = transformed(test, scope, True, weights, activations, v2)
            test = tested.to_program()
    entries = {"train": recording.as_array(recording.stored(train)[0]), "loss": recording.as_array(loss.name.encode())}
    entries |= {f"before/{name}": value for name, value in persistables(train, scope).items()}
    given = batches()
    losses = []
    with static.scope_guard(scope):
        for step in range(STEPS):
            feed = {"image": given[f"image/{step % BATCHES}"], "label": given[f"label/{step % BATCHES}"]}
            losses.append(executor.run(train, feed=feed, fetch_list=[loss.name])[0])
        first = {"image": given["image/0"], "label": given["label/0"]}
        entries["losses"] = np.array(losses, np.float32).reshape(STEPS)
        parameters = set(recording.parameters(main))
        state = {n: v for n, v in persistables(train, scope).items() if n not in parameters and v.dtype == np.float32}
        entries |= {f"scales/{name}": value for name, value in state.items()}
        entries |= {"test": recording.as_array(recording.stored(test)[0]), "out": recording.as_array(out.name.encode())}
        entries["tested"] = executor.run(test, feed=first, fetch_list=[out.name])[0]
        if v2:
            passes.QuantWeightPass(scope, PLACE).apply(tested)
        else:
            passes.QuantizationFreezePass(scope, PLACE, weight_quantize_type=weights, quantizable_op_type=WEIGHED).apply(tested)
        frozen = tested.to_program()
        entries["frozen"] = recording.as_array(recording.stored(frozen)[0])
        entries |= {f"after/{name}": value for name, value in persistables(frozen, scope).items()}
        entries["inferred"] = executor.run(frozen, feed=first, fetch_list=[out.name])[0]
    types = sorted({op.type for program in (train, test, frozen) for op in recording.operations(program) if "quant" in op.type or "scale" in op.type})
    print(weights, activations, entries["losses"], types)
    return entries


NETWORKS = {
    "averages": ("channel_wise_abs_max", "moving_average_abs_max"),
    "windows": ("abs_max", "range_abs_max"),
    "linear": ("channel_wise_abs_max", "moving_average_abs_max", True),
}


def main():
    recording.begin()
    entries = batches()
    for name, kinds in NETWORKS.items():
        entries |= {f"{name}/{key}": value for key, value in record(*kinds).items()}
    recording.write("quantised.npz", entries, 200_000)


if __name__ == "__main__":
    main()
