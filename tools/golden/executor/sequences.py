"""Makes executor/src/test/resources/golden/sequences.npz: training of text classifiers on sequences of words, which differ in length and number
from batch to batch.

Run from the root of the repository: PYTHONHASHSEED=0 python tools/golden/executor/sequences.py. Made with PaddlePaddle 2.6.2 and NumPy 1.26 on CPU.
The entries of each classifier are

  <name>/main, <name>/startup         ProgramDesc bytes, with op_callstack removed from each operation
  <name>/fetch                        the loss's name, UTF-8
  <name>/<step>/words, <step>/label   the batch of a step
  <name>/<step>/offsets               the offsets of the words' sequences
  <name>/losses                       float32[8]: the loss of each step, taken before its update
  <name>/norms                        float64[n]: after the steps, the Euclidean norm of each parameter, in the order of the parameters' names

What main declares as parameters is set by formula.py after startup.
"""
import numpy as np
import paddle
from paddle import static
from paddle.base import core

import recording

STEPS = 8
WORDS, CLASSES = 40, 3


def convolution(words):
    """The largest features of three neighbouring words."""
    features = static.nn.sequence_conv(static.nn.embedding(words, [WORDS, 8]), 6, filter_size=3, act="tanh")
    return static.nn.sequence_pool(features, "max")


def attention(words):
    """A weighted sum of the words, beside the last one, both in relation to their average."""
    embedded = static.nn.embedding(words, [WORDS, 6])
    average = static.nn.sequence_expand(static.nn.sequence_pool(embedded, "average"), embedded)
    weights = static.nn.sequence_softmax(static.nn.fc(paddle.tanh(embedded - average), 1))
    weighted = static.nn.sequence_pool(paddle.multiply(embedded, weights), "sum")
    return paddle.concat([weighted, static.nn.sequence_pool(static.nn.sequence_reverse(embedded), "first")], 1)


def padded(words):
    """A batch of padded sequences, scaled by their lengths, and back to sequences."""
    embedded = static.nn.embedding(words, [WORDS, 6])
    batch, length = static.nn.sequence_pad(embedded, static.data("padding", [1], "float32"))
    hidden = paddle.tanh(batch.cumsum(1))
    return static.nn.sequence_pool(static.nn.sequence_unpad(hidden, length), "sqrt")


def append(op, inputs, kind=core.VarDesc.VarType.LOD_TENSOR, dtype="float32", shape=(-1, 6), **attributes):
    """Appends an operation with slots of one variable each; returns its output."""
    block = static.default_main_program().current_block()
    what = {} if kind == core.VarDesc.VarType.LOD_RANK_TABLE else {"dtype": dtype, "shape": shape}
    made = block.create_var(name=paddle.utils.unique_name.generate(op), type=kind, **what)
    block.append_op(type=op, inputs={slot: [v] for slot, v in inputs.items()}, outputs={"Out": [made]}, attrs=attributes)
    return made


def recurrent(words):
    """A network that steps through all sequences together, the longest first, until each has ended."""
    array = core.VarDesc.VarType.LOD_TENSOR_ARRAY
    embedded = static.nn.embedding(words, [WORDS, 6])
    table = append("lod_rank_table", {"X": embedded}, kind=core.VarDesc.VarType.LOD_RANK_TABLE, level=0)
    longest = append("max_sequence_len", {"RankTable": table}, dtype="int64", shape=(1,))
    parts = append("lod_tensor_to_array", {"X": embedded, "RankTable": table}, kind=array)
    step = paddle.full([1], 0, "int64")
    # So that the gradient counts back.
    step.stop_gradient = False
    initial = append("reorder_lod_tensor_by_rank", {"X": static.nn.sequence_pool(embedded, "average"), "RankTable": table})
    memory = paddle.tensor.array_write(initial, step)
    results = paddle.tensor.create_array("float32")
    running = paddle.less_than(step, longest)
    loop = static.nn.control_flow.While(running)
    with loop.block():
        before = paddle.tensor.array_read(memory, step)
        before.stop_gradient = False
        left = append("shrink_rnn_memory", {"X": before, "RankTable": table, "I": step})
        word = append("read_from_array", {"X": parts, "I": step})
        hidden = paddle.tanh(static.nn.fc([word, left], 6))
        paddle.tensor.array_write(hidden, step, results)
        paddle.increment(step)
        paddle.tensor.array_write(hidden, step, memory)
        paddle.assign(paddle.less_than(step, longest), running)
    outputs = append("array_to_lod_tensor", {"X": results, "RankTable": table})
    return static.nn.sequence_pool(outputs, "last")


CLASSIFIERS = {
    "convolution": (convolution, lambda: paddle.optimizer.Adam(0.05)),
    "attention": (attention, lambda: paddle.optimizer.Momentum(0.1)),
    "recurrent": (recurrent, lambda: paddle.optimizer.SGD(0.5)),
    "padded": (padded, lambda: paddle.optimizer.SGD(0.5)),
}


def batch(step):
    """Words whose class is that of most of them; sequences of 1 to 6 words."""
    rng = np.random.default_rng(step)
    lengths = rng.integers(1, 7, rng.integers(3, 7))
    label = rng.integers(0, CLASSES, len(lengths))
    words = [rng.choice(np.arange(kind, WORDS, CLASSES), n) for kind, n in zip(label, lengths)]
    return np.concatenate(words), np.concatenate([[0], np.cumsum(lengths)]), label[:, None]


def record(build, make_optimizer):
    recording.first_program()
    main, startup = static.Program(), static.Program()
    with paddle.utils.unique_name.guard(), static.program_guard(main, startup):
        words = static.data("words", [-1], "int64", lod_level=1)
        label = static.data("label", [-1, 1], "int64")
        logits = static.nn.fc(build(words), CLASSES)
        loss = paddle.mean(paddle.nn.functional.softmax_with_cross_entropy(logits, label))
        make_optimizer().minimize(loss)
    names = recording.parameters(main)
    (main_bytes, main), (startup_bytes, startup) = recording.stored(main), recording.stored(startup)
    entries = {
        "main": recording.as_array(main_bytes),
        "startup": recording.as_array(startup_bytes),
        "fetch": recording.as_array(loss.name.encode()),
    }
    executor, scope = static.Executor(paddle.CPUPlace()), static.Scope()
    executor.run(startup, scope=scope)
    recording.set_parameters(scope, main, names)
    losses = []
    for step in range(STEPS):
        words, offsets, label = batch(step)
        tensor = core.LoDTensor()
        tensor.set(words, paddle.CPUPlace())
        tensor.set_lod([[int(n) for n in offsets]])
        feed = {"words": tensor, "label": label}
        if build is padded:
            feed["padding"] = np.array([0.25], np.float32)
        # Lists of an earlier run in the scope would be longer than those of this run.
        losses.append(executor.run(main, feed=feed, fetch_list=[loss.name], scope=scope.new_scope())[0])
        entries |= {f"{step}/words": words, f"{step}/label": label, f"{step}/offsets": offsets.astype(np.int64)}
    entries["losses"] = np.array(losses, np.float32).reshape(STEPS)
    values = [np.array(scope.find_var(name).get_tensor()) for name in names]
    entries["norms"] = np.array([np.linalg.norm(each.astype(np.float64)) for each in values])
    return entries


def main():
    recording.begin()
    entries = {}
    for name, parts in CLASSIFIERS.items():
        recorded = record(*parts)
        print(f"{name:22}", len(recorded["main"]), recorded["losses"])
        entries |= {f"{name}/{key}": value for key, value in recorded.items()}
    recording.write("sequences.npz", entries, 60_000)


if __name__ == "__main__":
    main()
