"""Makes executor/src/test/resources/golden/training.npz: whole training programs, and the losses of ten steps.

Run from the root of the repository: PYTHONHASHSEED=0 python tools/golden/executor/training.py. Made with PaddlePaddle 2.6.2 and NumPy 1.26 on
CPU, where two runs write the same file. The networks are in trainings.py; the entries of each are

  <name>/main, <name>/startup   ProgramDesc bytes, with op_callstack removed from each operation
  <name>/fetch                  the loss's name, UTF-8
  <name>/shape/<feed>           the shape of a feed; the first dimension is one less at the tenth step
  <name>/bound/<feed>           for whole numbers, what they are below
  <name>/losses                 float32[10]: the loss of each step, taken before its update
  <name>/norms                  float64[n]: after the ten steps, the Euclidean norm of each parameter, in the order of the parameters' names

What main declares as parameters (running mean and variance are among them) is set by formula.py after startup. The batches of a feed are
those of the names "<feed>/0" and "<feed>/1", in turn. Before the first step paddle.seed(7) is called, which counts where a program draws random numbers.
"""
import numpy as np
import paddle
from paddle import static

import formula
import recording
import trainings

STEPS = 10
SEED = 7


def record(build, make_optimizer):
    recording.first_program()
    main, startup = static.Program(), static.Program()
    with paddle.utils.unique_name.guard(), static.program_guard(main, startup):
        network = build()
        make_optimizer().minimize(network.loss)
    names = recording.parameters(main)
    (main_bytes, main), (startup_bytes, startup) = recording.stored(main), recording.stored(startup)
    entries = {
        "main": recording.as_array(main_bytes),
        "startup": recording.as_array(startup_bytes),
        "fetch": recording.as_array(network.loss.name.encode()),
    }
    entries |= {f"shape/{feed}": np.array(shape, np.int64) for feed, shape in network.shapes.items()}
    entries |= {f"bound/{feed}": np.array(bound) for feed, bound in network.bounds.items()}
    executor, scope = static.Executor(paddle.CPUPlace()), static.Scope()
    executor.run(startup, scope=scope)
    recording.set_parameters(scope, main, names)
    paddle.seed(SEED)
    losses = []
    for step in range(STEPS):
        shapes = {feed: [rows - (step == STEPS - 1), *others] for feed, (rows, *others) in network.shapes.items()}
        batch = {feed: formula.batch(f"{feed}/{step % 2}", shape, network.bounds.get(feed, 0)) for feed, shape in shapes.items()}
        losses.append(executor.run(main, feed=batch, fetch_list=[network.loss.name], scope=scope)[0])
    entries["losses"] = np.array(losses, np.float32).reshape(STEPS)
    values = [np.array(scope.find_var(name).get_tensor()) for name in names]
    entries["norms"] = np.array([np.linalg.norm(each.astype(np.float64)) for each in values])
    return entries


def main():
    recording.begin()
    entries = {}
    for name, parts in trainings.TRAININGS.items():
        recorded = record(*parts)
        print(f"{name:22}", len(recorded["main"]), recorded["losses"])
        entries |= {f"{name}/{key}": value for key, value in recorded.items()}
    recording.write("training.npz", entries, 500_000)


if __name__ == "__main__":
    main()
