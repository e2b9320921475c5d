"""Makes graph/src/test/resources/golden/programs.npz: whole programs as PaddlePaddle's static graph builds, trains and exports them.

Run from the root of the repository: PYTHONHASHSEED=0 python tools/golden/programs/programs.py. The hash seed counts because Paddle orders
the arguments of control flow by sets of strings. Made with PaddlePaddle 2.6.2 and NumPy 1.26 on CPU, where two runs write the same file.
Each program is built as if it were its process's first. The networks are in layers.py and structure.py; the entries of each are

  <name>/main, <name>/startup       ProgramDesc bytes, with op_callstack removed from each operation, as from all programs here
  <name>/feed/<variable>            the one batch that is fed at each step
  <name>/loss                       float32[5]: the loss of five steps, each taken before that step's update
  <name>/fetch/<label>              other variables at the first step (gradients)
  <name>/lr                         float32[5]: the learning rate of each step, where a scheduler writes it (step() follows each run)
  <name>/infer_test                 main.clone(for_test=True), taken before minimize
  <name>/test_out                   the output of infer_test on the feed after the five steps (transformer_dropout: after none)
  <name>/inference                  the .pdmodel that save_inference_model writes of main, at the parameters before the first step
  <name>/params                     its .pdiparams, if below 20 kB
  <name>/inference_out/0            its output on the feed

Weights are not stored. The parameters that an operation of main reads, in whichever block (so not the flat weight of lstm and gru), are
sorted by name. Mean and Variance of batch_norm are not among them, although Paddle declares them as parameters. After the startup program
the i-th, of n elements, becomes 0.3 * sin(1.7 * j + i) for j = 0 … n-1, in row-major order, computed in float64 and then cast to float32;
where it is the Scale of batch_norm or layer_norm, 1 + 0.1 * that. All other persistable variables (running mean and variance, accumulators,
learning rate) stay as startup leaves them.
"""
import os
import pathlib
import sys
import tempfile

import numpy as np
import paddle
from paddle import static
from paddle.base import framework
from paddle.base.proto.framework_pb2 import ProgramDesc

import layers
import structure
from network import Feed

STEPS = 5
PARAMS_LIMIT = 20_000
FILE_LIMIT = 700_000
TARGET = pathlib.Path("graph/src/test/resources/golden/programs.npz")


def stripped(content):
    """The program's bytes without call stacks, which name files of the machine that built it.

    Works on the message: Paddle's own ProgramDesc adds attributes to what it reads, and so would change an exported program.
    """
    message = ProgramDesc.FromString(content)
    if message.SerializeToString() != content:
        raise AssertionError("parsing and writing a program must give the same bytes")
    for block in message.blocks:
        for op in block.ops:
            kept = [attribute for attribute in op.attrs if attribute.name != "op_callstack"]
            del op.attrs[:]
            op.attrs.extend(kept)
    return np.frombuffer(message.SerializeToString(), np.uint8)


def operations(program):
    return [op for block in program.blocks for op in block.ops]


def initialise(scope, main):
    """Writes the parameters that the docstring of this file defines."""
    ops = operations(main)
    norms = [op for op in ops if op.type == "batch_norm"]
    read = {name for op in ops for name in op.input_arg_names} - {name for op in norms for name in op.input("Mean") + op.input("Variance")}
    scales = {name for op in ops if op.type in ("batch_norm", "layer_norm") for name in op.input("Scale")}
    names = sorted(parameter.name for parameter in main.all_parameters() if parameter.name in read)
    for i, name in enumerate(names):
        tensor = scope.find_var(name).get_tensor()
        shape = tensor.shape()
        values = 0.3 * np.sin(1.7 * np.arange(np.prod(shape)) + i)
        values = 1 + 0.1 * values if name in scales else values
        tensor.set(values.astype(np.float32).reshape(shape), paddle.CPUPlace())


def started(executor, startup, main):
    """A scope in which startup has run and the parameters have their constants."""
    scope = static.Scope()
    executor.run(startup, scope=scope)
    initialise(scope, main)
    return scope


def train(executor, scope, main, network):
    losses, rates, fetched = [], [], {}
    for step in range(STEPS):
        targets = [network.loss, *network.fetch.values()]
        loss, *others = executor.run(main, feed=network.feed, fetch_list=targets, scope=scope)
        losses.append(np.float32(loss))
        if step == 0:
            fetched = {f"fetch/{label}": value for label, value in zip(network.fetch, others)}
        if network.schedule is not None:
            rates.append(network.schedule.get_lr())
            network.schedule.step()
    if rates:
        fetched["lr"] = np.array(rates, np.float32)
    return {"loss": np.array(losses, np.float32).reshape(STEPS), **fetched}


def export(executor, startup, main, network):
    feed_name = next(iter(network.feed))
    feed_variable = main.global_block().var(feed_name)
    scope = started(executor, startup, main)
    with tempfile.TemporaryDirectory() as folder, static.scope_guard(scope), paddle.utils.unique_name.guard():
        prefix = os.path.join(folder, "model")
        static.save_inference_model(prefix, [feed_variable], [network.output], executor, program=main)
        model = pathlib.Path(prefix + ".pdmodel").read_bytes()
        params = pathlib.Path(prefix + ".pdiparams").read_bytes()
        loaded, feeds, fetches = static.load_inference_model(prefix, executor)
        (output,) = executor.run(loaded, feed={feeds[0]: network.feed[feed_name]}, fetch_list=fetches)
    entries = {"inference": stripped(model), "inference_out/0": output}
    if len(params) < PARAMS_LIMIT:
        entries["params"] = np.frombuffer(params, np.uint8)
    return entries


def record(name, build):
    # Paddle counts /optimizer_n/ and the like for the process, in an object that no guard replaces.
    framework._name_scope = framework.NameScope()
    main, startup = static.Program(), static.Program()
    with paddle.utils.unique_name.guard(), static.program_guard(main, startup):
        network = build(Feed(name))
        test = main.clone(for_test=True) if network.output is not None else None
        if network.optimizer is not None:
            network.optimizer.minimize(network.loss, no_grad_set=network.no_grad_set)
    entries = {"main": stripped(main.desc.serialize_to_string()), "startup": stripped(startup.desc.serialize_to_string())}
    entries |= {f"feed/{variable}": value for variable, value in network.feed.items()}
    executor = static.Executor(paddle.CPUPlace())
    scope = started(executor, startup, main)
    if not network.random:
        entries |= train(executor, scope, main, network)
    if test is not None:
        entries["infer_test"] = stripped(test.desc.serialize_to_string())
        (entries["test_out"],) = executor.run(test, feed=network.feed, fetch_list=[network.output.name], scope=scope)
        if network.export:
            entries |= export(executor, startup, main, network)
    return {f"{name}/{entry}": value for entry, value in entries.items()}


def main():
    if os.environ.get("PYTHONHASHSEED") != "0":
        sys.exit("run with PYTHONHASHSEED=0 in the environment, so that two runs write the same programs")
    paddle.enable_static()
    entries = {}
    for name, build in {**layers.NETWORKS, **structure.NETWORKS}.items():
        entries |= record(name, build)
        print(f"{name:22}", len(entries[f"{name}/main"]), entries.get(f"{name}/loss"))
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(TARGET, **entries)
    size = TARGET.stat().st_size
    print(len(entries), "entries,", size, "bytes")
    if size >= FILE_LIMIT:
        sys.exit(f"{TARGET} has {size} bytes, and must stay below {FILE_LIMIT}")


if __name__ == "__main__":
    main()
