"""Makes executor/src/test/resources/golden/inference.npz: models as save_inference_model writes them, and what they compute.

Run from the root of the repository: PYTHONHASHSEED=0 python tools/golden/executor/inference.py. The hash seed counts because Paddle orders
the arguments of control flow by sets of strings. Made with PaddlePaddle 2.6.2 and NumPy 1.26 on CPU, where two runs write the same file.
The networks are in networks.py; the entries of each are

  <name>/program                the .pdmodel, with op_callstack removed from each operation
  <name>/<k>/shape/<feed>       the shape of a feed in the k-th batch
  <name>/bound/<feed>           for whole numbers, what they are below
  <name>/<k>/out/<i>            the i-th output on the k-th batch

All persistable variables but feed and fetch are parameters of formula.py, under their names; the k-th batch of a feed is that of the name
"<feed>/<k>".
"""
import pathlib
import tempfile

import numpy as np
import paddle
from paddle import static

import formula
import networks
import recording


def record(build):
    recording.first_program()
    main, startup = static.Program(), static.Program()
    executor = static.Executor(paddle.CPUPlace())
    with paddle.utils.unique_name.guard(), static.program_guard(main, startup), tempfile.TemporaryDirectory() as folder:
        network = build()
        prefix = pathlib.Path(folder, "model")
        with static.scope_guard(static.Scope()):
            executor.run(startup)
            static.save_inference_model(str(prefix), network.feeds, network.fetches, executor, program=main)
        file = prefix.with_suffix(".pdmodel")
        file.write_bytes(recording.stripped(file.read_bytes()))
        entries = {"program": recording.as_array(file.read_bytes())}
        entries |= {f"bound/{feed}": np.array(bound) for feed, bound in network.bounds.items()}
        scope = static.Scope()
        with static.scope_guard(scope):
            program, feeds, fetches = static.load_inference_model(str(prefix), executor)
            names = [each.name for each in program.list_vars() if each.persistable and each.name not in ("feed", "fetch")]
            recording.set_parameters(scope, program, names)
            for k, shapes in enumerate(network.shapes):
                batch = {feed: formula.batch(f"{feed}/{k}", shapes[feed], network.bounds.get(feed, 0)) for feed in feeds}
                entries |= {f"{k}/shape/{feed}": np.array(shape, np.int64) for feed, shape in shapes.items()}
                outputs = executor.run(program, feed=batch, fetch_list=fetches)
                entries |= {f"{k}/out/{i}": output for i, output in enumerate(outputs)}
    return entries


def main():
    recording.begin()
    entries = {}
    for name, build in networks.NETWORKS.items():
        recorded = record(build)
        print(f"{name:14}", len(recorded["program"]))
        for key, value in recorded.items():
            if "/out/" in key:
                print("   ", key, value.shape, value.min(), value.max(), value.reshape(-1)[:4])
        entries |= {f"{name}/{key}": value for key, value in recorded.items()}
    recording.write("inference.npz", entries, 400_000)


if __name__ == "__main__":
    main()
