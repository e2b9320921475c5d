"""Makes executor/src/test/resources/golden/recommendation.npz: wide and deep networks that learn whether a visitor clicks, from words and numbers.

Run from the root of the repository: PYTHONHASHSEED=0 python tools/golden/executor/recommendation.py. Made with PaddlePaddle 2.6.2 and NumPy 1.26
on CPU. The entries of each network are

  <name>/main, <name>/fetch        ProgramDesc bytes of the training program, and the names of the loss and the probability, UTF-8, one a line
  <name>/before/<variable>         the persistable variables before the first step
  <name>/after/<variable>          those that training changed, after the last step
  <name>/feed/<variable>/<step>    the batches, which are used in turn
  <name>/lod/<variable>/<step>     the offsets of those that are sequences
  <name>/losses                    float32[20]: the loss of each step, taken before its update
  <name>/probability               the probabilities of the last step
"""
import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import static
from paddle.base import core

import formula
import recording

STEPS = 20
BATCHES = 2
WORDS, SITES, NUMBERS, HISTORY = 60, 12, 5, 4
PADDING = 0


def probability(network):
    click = static.data("click", [-1, 1])
    logits = network()
    loss = paddle.mean(F.binary_cross_entropy_with_logits(logits, click, reduction="none"))
    return loss, F.sigmoid(logits)


def sequences():
    """Words as sequences, beside the numbers of times that they were shown and clicked. Numbers are normalised by running sums."""
    words = static.data("words", [-1], "int64", lod_level=1)
    shown = static.data("shown", [-1, 2])
    site, numbers = static.data("site", [-1], "int64"), static.data("numbers", [-1, NUMBERS])
    vectors = static.nn.embedding(words, [WORDS, 8], padding_idx=PADDING)
    pooled = static.nn.sequence_pool(vectors, "sum")
    counted = static.nn.continuous_value_model(paddle.concat([shown, pooled], 1), shown, True)
    bare = static.nn.continuous_value_model(paddle.concat([shown, static.nn.sequence_pool(vectors, "average")], 1), shown, False)
    normal = static.nn.data_norm(numbers, name="numbers_norm")
    deep = paddle.concat([counted, bare, normal, paddle.nn.Embedding(SITES, 4)(site)], 1)
    for width in (16, 8):
        deep = static.nn.fc(deep, width, activation="tanh")
    wide = static.nn.sequence_pool(static.nn.embedding(words, [WORDS, 1], is_sparse=True), "sum")
    crossed = static.nn.embedding(site, [SITES, 1], is_sparse=True)
    return static.nn.fc(deep, 1) + wide + crossed


def sequences_batch(step):
    lengths = [3, 1, 5, 2, 4] if step % 2 == 0 else [2, 6, 1]
    rows, total = len(lengths), sum(lengths)
    words = formula.batch(f"words/{step}", [total], WORDS)
    words[::4] = PADDING
    feed = {
        "words": words,
        "shown": formula.batch(f"shown/{step}", [rows, 2], 9).astype(np.float32),
        "site": formula.batch(f"site/{step}", [rows], SITES),
        "numbers": formula.batch(f"numbers/{step}", [rows, NUMBERS], 0),
        "click": formula.batch(f"click/{step}", [rows, 1], 2).astype(np.float32),
    }
    return feed, {"words": np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)}


def segments():
    """Words as segments of one list, a padded history, and products of pairs of features."""
    words, owner = static.data("words", [-1], "int64"), static.data("owner", [-1], "int64")
    history, site = static.data("history", [-1, HISTORY], "int64"), static.data("site", [-1], "int64")
    table = paddle.nn.Embedding(WORDS, 6, padding_idx=PADDING)
    vectors = table(words)
    sums = [each(vectors, owner) for each in (paddle.geometric.segment_sum, paddle.geometric.segment_mean)]
    extremes = [each(vectors, owner) for each in (paddle.geometric.segment_max, paddle.geometric.segment_min)]
    seen = table(history)
    place = paddle.nn.Embedding(SITES, 6)(site)
    # The square of a sum without the sum of the squares is twice the sum of the products of pairs.
    fields = paddle.concat([seen, paddle.unsqueeze(place, 1)], 1)
    pairs = 0.5 * (paddle.square(paddle.sum(fields, 1)) - paddle.sum(paddle.square(fields), 1))
    weight = F.softmax(paddle.sum(seen * paddle.unsqueeze(place, 1), 2), axis=1)
    attended = paddle.squeeze(paddle.matmul(paddle.unsqueeze(weight, 1), seen), 1)
    deep = paddle.concat([*sums, *extremes, attended, place], 1)
    for size in (12, 8):
        deep = paddle.nn.PReLU()(paddle.nn.Linear(deep.shape[1], size)(deep))
    wide = paddle.geometric.segment_sum(paddle.nn.Embedding(WORDS, 1, padding_idx=PADDING, sparse=True)(words), owner)
    return paddle.nn.Linear(8, 1)(deep) + wide + paddle.sum(pairs, 1, keepdim=True)


def segments_batch(step):
    # Each visitor has words, as the number of segments is that of the last.
    lengths = [2, 4, 1, 3] if step % 2 == 0 else [1, 5]
    rows, total = len(lengths), sum(lengths)
    words = formula.batch(f"words/{step}", [total], WORDS)
    words[1::3] = PADDING
    history = formula.batch(f"history/{step}", [rows, HISTORY], WORDS)
    history[:, -1] = PADDING
    feed = {
        "words": words,
        "owner": np.repeat(np.arange(rows, dtype=np.int64), lengths),
        "history": history,
        "site": formula.batch(f"site/{step}", [rows], SITES),
        "click": formula.batch(f"click/{step}", [rows, 1], 2).astype(np.float32),
    }
    return feed, {}


NETWORKS = {
    "segments": (segments, segments_batch, lambda: paddle.optimizer.Adagrad(0.05)),
    "sequences": (sequences, sequences_batch, lambda: paddle.optimizer.SGD(0.2)),
}


def fed(feed, lod):
    """The batch as Paddle's executor takes it."""
    tensors = dict(feed)
    for name, offsets in lod.items():
        tensors[name] = core.LoDTensor()
        tensors[name].set(feed[name], paddle.CPUPlace())
        tensors[name].set_lod([[int(each) for each in offsets]])
    return tensors


def persistables(program, scope):
    found = {v.name: scope.find_var(v.name) for v in program.list_vars() if v.persistable}
    return {name: np.array(v.get_tensor()) for name, v in sorted(found.items()) if v is not None and v.get_tensor()._is_initialized()}


def record(network, batch, make_optimizer):
    recording.first_program()
    main, startup = static.Program(), static.Program()
    with paddle.utils.unique_name.guard(), static.program_guard(main, startup):
        loss, chance = probability(network)
        make_optimizer().minimize(loss)
    executor, scope = static.Executor(paddle.CPUPlace()), static.Scope()
    executor.run(startup, scope=scope)
    # The sums of data_norm start as Paddle sets them: those of a formula could have negative variances.
    names = [name for name in recording.parameters(main) if "numbers_norm" not in name]
    content, main = recording.stored(main)
    recording.set_parameters(scope, main, names)
    before = persistables(main, scope)
    entries = {"main": recording.as_array(content), "fetch": recording.as_array(f"{loss.name}\n{chance.name}".encode())}
    entries |= {f"before/{name}": value for name, value in before.items()}
    batches = [batch(step) for step in range(BATCHES)]
    for step, (feed, lod) in enumerate(batches):
        entries |= {f"feed/{name}/{step}": value for name, value in feed.items()}
        entries |= {f"lod/{name}/{step}": value for name, value in lod.items()}
    losses = []
    for step in range(STEPS):
        value, last = executor.run(main, feed=fed(*batches[step % BATCHES]), fetch_list=[loss.name, chance.name], scope=scope)
        losses.append(value)
    entries["losses"] = np.array(losses, np.float32).reshape(STEPS)
    entries["probability"] = last
    after = persistables(main, scope)
    entries |= {f"after/{name}": value for name, value in after.items() if not np.array_equal(value, before.get(name))}
    return entries


def main():
    recording.begin()
    entries = {}
    for name, parts in NETWORKS.items():
        recorded = record(*parts)
        print(name, len(recorded["main"]), recorded["losses"], sorted(key for key in recorded if key.startswith("after/")))
        entries |= {f"{name}/{key}": value for key, value in recorded.items()}
    recording.write("recommendation.npz", entries, 100_000)


if __name__ == "__main__":
    main()
