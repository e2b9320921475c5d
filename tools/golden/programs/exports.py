"""Makes graph/src/test/resources/golden/exports.npz: programs before and after save_inference_model, their hashes, and streams of tensors.

Run from the root of the repository: PYTHONHASHSEED=0 python tools/golden/programs/exports.py (see programs.py for why). Made with PaddlePaddle
2.6.2 and NumPy 1.26 on CPU, where two runs write the same file. Call stacks are removed from all programs before anything else is done with
them. The entries of each program <name> are

  <name>/main                   ProgramDesc bytes, before save_inference_model has appended to it
  <name>/hash                   Paddle's hash of it, decimal digits as ASCII
  <name>/feeds, <name>/fetches  names, separated by line ends
  <name>/inference              the .pdmodel
  <name>/params                 the .pdiparams; absent where Paddle writes none
  <name>/in/<feed>              a batch for <feed>
  <name>/out/<i>                the i-th output on that batch

and stream/<dtype>, stream/lod and stream/rows are single tensors and selected rows as Paddle writes them:

  stream/<dtype>                [2, 3], elements 0 … 5 (bool: i % 2)
  stream/scalar                 float32 without dimensions, 2.5
  stream/empty                  float32 [0, 4]
  stream/lod                    float32 [3, 2] with the levels [0, 2] and [0, 1, 3]
  stream/rows                   float32 rows 5, 1, 5 of height 7, [3, 2]
"""
import os
import pathlib
import sys
import tempfile

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import static
from paddle.base import core, framework

TARGET = pathlib.Path("graph/src/test/resources/golden/exports.npz")
FILE_LIMIT = 200_000


def data(*shape, dtype=np.float32):
    return (np.arange(np.prod(shape)) % 7 - 3).astype(dtype).reshape(shape)


def branches():
    """Branches within a branch with weights of their own, and before them a condition that nobody needs."""
    x = static.data("x", [None, 4])
    hidden = paddle.nn.Linear(4, 3)(x)
    unused, inner, other = (paddle.nn.Linear(3, 3) for _ in range(3))
    static.nn.cond(paddle.mean(x) > 7, lambda: unused(hidden), lambda: hidden - 1)

    def nested():
        return static.nn.cond(paddle.mean(hidden) > 0, lambda: F.tanh(inner(hidden)), lambda: hidden * 3)

    out = static.nn.cond(paddle.mean(x) > -9, nested, lambda: F.sigmoid(other(hidden)))
    return [x], [out], {"x": data(2, 4)}


def loop():
    """A loop with a weight, whose body computes something that nobody needs."""
    x = static.data("x", [2, 3])
    linear, unused = paddle.nn.Linear(3, 3), paddle.nn.Linear(3, 3)
    i, end = paddle.full([1], 0, "int64"), paddle.full([1], 3, "int64")

    def body(i, h):
        F.relu(unused(h))
        return i + 1, F.tanh(linear(h))

    i, h = static.nn.while_loop(lambda i, h: i < end, body, [i, x * 2])
    return [x], [h, i], {"x": data(2, 3)}


def targets():
    """Two feeds, and as fetches a truth value, a feed, a whole number, a parameter and twice the same."""
    x, y = static.data("x", [None, 3]), static.data("y", [None, 3])
    weight = static.create_parameter([3], "float32", name="weight")
    total = x * weight + y
    return [y, x], [total > 0, x, paddle.argmax(total, axis=1), weight, total, total], {"x": data(2, 3), "y": data(2, 3) * 2}


def cut():
    """A feed in the middle of the network: what is before it goes."""
    x = static.data("x", [None, 3])
    middle = paddle.nn.Linear(3, 4)(x)
    out = paddle.nn.Linear(4, 2)(F.relu(middle))
    return [middle], [out], {middle.name: data(2, 4)}


def without_parameters():
    x = static.data("x", [None, 3])
    return [x], [F.relu(x) + 1], {"x": data(2, 3)}


def trained():
    """A program for training, with operations that work otherwise at inference, of which some have outputs that are not exported."""
    x, label = static.data("x", [None, 2, 4, 4]), static.data("label", [None, 1], "int64")
    h = paddle.nn.BatchNorm2D(3)(paddle.nn.Conv2D(2, 3, 3)(x))
    h = paddle.nn.InstanceNorm2D(3)(F.dropout(F.leaky_relu(h), 0.5))
    with static.device_guard("cpu"):
        h = paddle.squeeze(paddle.unsqueeze(paddle.flatten(h, 1), 0), 0)
    h = paddle.nn.LayerNorm(12)(h)
    logits = paddle.nn.Linear(12, 2)(paddle.transpose(h, [1, 0]).reshape([-1, 12]))
    loss = paddle.mean(F.cross_entropy(logits, label))
    paddle.optimizer.Adam(0.1).minimize(loss)
    return [x], [F.softmax(logits)], {"x": data(2, 2, 4, 4)}


def in_place():
    """A variable that is written twice, and a running count that is a persistable variable."""
    x = static.data("x", [None, 3])
    count = static.create_global_var([1], 5.0, "float32", persistable=True, name="count")
    paddle.increment(count)
    h = x * 2
    paddle.assign(x, output=h)
    paddle.increment(count)
    return [x], [h + count, count], {"x": data(2, 3)}


def again():
    """The second export of one program."""
    feeds, fetches, batch = targets()
    with tempfile.TemporaryDirectory() as folder:
        executor = static.Executor(paddle.CPUPlace())
        with static.scope_guard(static.Scope()):
            executor.run(static.default_startup_program())
            static.save_inference_model(os.path.join(folder, "model"), feeds, fetches[:3], executor)
    return feeds, fetches[:3], batch


PROGRAMS = {each.__name__: each for each in (branches, loop, targets, cut, without_parameters, trained, in_place, again)}


def without_call_stacks(program):
    for block in program.blocks:
        for op in block.ops:
            if op.desc.has_attr("op_callstack"):
                op.desc.remove_attr("op_callstack")


def stripped(content):
    message = framework.framework_pb2.ProgramDesc.FromString(content)
    for block in message.blocks:
        for op in block.ops:
            kept = [attribute for attribute in op.attrs if attribute.name != "op_callstack"]
            del op.attrs[:]
            op.attrs.extend(kept)
    return message.SerializeToString()


def as_bytes(content):
    return np.frombuffer(content.encode() if isinstance(content, str) else content, np.uint8)


def record(build):
    framework._name_scope = framework.NameScope()
    main, startup = static.Program(), static.Program()
    executor = static.Executor(paddle.CPUPlace())
    entries = {}
    with paddle.utils.unique_name.guard(), static.program_guard(main, startup), static.scope_guard(static.Scope()):
        feeds, fetches, batch = build()
        without_call_stacks(main)
        main.desc.flush()
        entries["main"] = main.desc.serialize_to_string()
        entries["hash"] = main.desc.cached_hash_str()
        entries["feeds"] = "\n".join(variable.name for variable in feeds)
        entries["fetches"] = "\n".join(variable.name for variable in fetches)
        executor.run(startup)
        for i, name in enumerate(sorted(p.name for p in main.list_vars() if p.persistable and p.type == core.VarDesc.VarType.LOD_TENSOR)):
            tensor = static.global_scope().find_var(name).get_tensor()
            values = np.array(tensor)
            if values.size > 1:
                tensor.set((0.3 * np.sin(1.7 * np.arange(values.size) + i)).astype(values.dtype).reshape(values.shape), paddle.CPUPlace())
        with tempfile.TemporaryDirectory() as folder:
            prefix = os.path.join(folder, "model")
            static.save_inference_model(prefix, feeds, fetches, executor, program=main)
            entries["inference"] = stripped(pathlib.Path(prefix + ".pdmodel").read_bytes())
            params = pathlib.Path(prefix + ".pdiparams")
            if params.exists():
                entries["params"] = params.read_bytes()
            with static.scope_guard(static.Scope()):
                loaded, names, targets = static.load_inference_model(prefix, executor)
                outputs = executor.run(loaded, feed={name: batch[name] for name in names}, fetch_list=targets)
    entries = {key: as_bytes(value) for key, value in entries.items()}
    entries |= {f"in/{name}": value for name, value in batch.items()}
    return entries | {f"out/{i}": value for i, value in enumerate(outputs)}


def lod_tensor(values, levels=()):
    tensor = core.LoDTensor()
    tensor.set(values, paddle.CPUPlace())
    if levels:
        tensor.set_lod(list(levels))
    return tensor


def streams():
    values = {name: np.arange(6).reshape(2, 3).astype(name) for name in ("int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")}
    values["bool"] = (np.arange(6) % 2).astype(bool).reshape(2, 3)
    values["scalar"] = np.array(2.5, np.float32)
    values["empty"] = np.zeros((0, 4), np.float32)
    tensors = {name: lod_tensor(array) for name, array in values.items()}
    tensors["lod"] = lod_tensor(np.arange(6, dtype=np.float32).reshape(3, 2), ([0, 2], [0, 1, 3]))
    rows = core.SelectedRows([5, 1, 5], 7)
    rows.get_tensor().set(np.arange(6, dtype=np.float32).reshape(3, 2), paddle.CPUPlace())
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "stream")
        entries = {}
        for name, tensor in tensors.items():
            core.save_lod_tensor(tensor, str(path))
            entries[f"stream/{name}"] = as_bytes(path.read_bytes())
        core.save_selected_rows(rows, str(path))
        entries["stream/rows"] = as_bytes(path.read_bytes())
    return entries


def main():
    if os.environ.get("PYTHONHASHSEED") != "0":
        sys.exit("run with PYTHONHASHSEED=0 in the environment, so that two runs write the same programs")
    paddle.enable_static()
    entries = streams()
    for name, build in PROGRAMS.items():
        recorded = record(build)
        print(f"{name:20}", len(recorded["main"]), bytes(recorded["hash"]).decode(), [key for key in recorded if key.startswith(("params", "out"))])
        entries |= {f"{name}/{key}": value for key, value in recorded.items()}
    np.savez_compressed(TARGET, **entries)
    size = TARGET.stat().st_size
    print(len(entries), "entries,", size, "bytes")
    if size >= FILE_LIMIT:
        sys.exit(f"{TARGET} has {size} bytes, and must stay below {FILE_LIMIT}")


if __name__ == "__main__":
    main()
