"""Runs in the real Paddle what Seriatim has saved, and compares what comes out with what Seriatim computed.

    python tools/golden/programs/load_saved.py FOLDER

FOLDER has a folder for each network, in which are, written by Seriatim,

  main.pdmodel, startup.pdmodel  two programs for training (ProgramFiles)
  values.pdiparams               the persistable variables of main, to be set after startup has run (ParameterFiles.writeCombined)
  feed.npz                       the batch of each step
  loss.txt                       the name of the loss
  losses.npz                     loss: float32[n], of n steps from those values
  inference.pdmodel, .pdiparams  an inference model of the loss at those values (InferenceModels), and
  inference_out.npz              0, 1, …: its outputs on the feed

Each part may be missing. The last run, with PaddlePaddle 2.6.2 on CPU, had 22 networks that Seriatim's own layers, backward and optimizers had
built, recurrent ones and control flow among them. The real Paddle loaded all 66 programs, and all losses of five steps and all outputs
agreed to 2.1e-7, relative to the largest number.
"""
import pathlib
import sys

import numpy as np
import paddle
from paddle import static
from paddle.base import core

TOLERANCE = 2e-5


def difference(expected, actual):
    """The largest, relative to the largest number that is expected."""
    expected, actual = np.asarray(expected, np.float64), np.asarray(actual, np.float64)
    if expected.size != actual.size:
        raise AssertionError(f"{expected.size} numbers are expected, but there are {actual.size}")
    return float(np.abs(expected.ravel() - actual.ravel()).max() / max(1e-30, np.abs(expected).max()))


def program(path):
    return static.Program.parse_from_string(path.read_bytes())


def set_values(main, path):
    """The tensors of a .pdiparams have no names: they are in the order of the names of the program's persistable variables."""
    names = sorted(v.name for v in main.list_vars() if v.persistable and v.type == core.VarDesc.VarType.LOD_TENSOR)
    loader, scope = static.Program(), static.global_scope()
    block = loader.global_block()
    outputs = [block.create_var(name=name, persistable=True) for name in names]
    block.append_op(type="load_combine", outputs={"Out": outputs}, attrs={"file_path": str(path)})
    static.Executor(paddle.CPUPlace()).run(loader)
    return len([name for name in names if scope.find_var(name).get_tensor()._is_initialized()])


def train(folder, feed):
    main, startup = program(folder / "main.pdmodel"), program(folder / "startup.pdmodel")
    executor = static.Executor(paddle.CPUPlace())
    expected = np.load(folder / "losses.npz")["loss"]
    loss = (folder / "loss.txt").read_text()
    with static.scope_guard(static.Scope()):
        executor.run(startup)
        count = set_values(main, folder / "values.pdiparams")
        losses = [executor.run(main, feed=feed, fetch_list=[loss])[0].item() for _ in expected]
    return f"{count} values, losses {np.array(losses, np.float32)}", difference(expected, losses)


def infer(folder, feed):
    executor = static.Executor(paddle.CPUPlace())
    with static.scope_guard(static.Scope()):
        loaded, names, targets = static.load_inference_model(str(folder / "inference"), executor)
        outputs = executor.run(loaded, feed={name: feed[name] for name in names}, fetch_list=targets)
    expected = np.load(folder / "inference_out.npz")
    if len(expected.files) != len(outputs):
        raise AssertionError(f"{len(expected.files)} outputs are expected, but there are {len(outputs)}")
    return f"{len(loaded.global_block().ops)} operations, {names} -> {outputs[0].ravel()[:4]}", max(
        difference(expected[str(i)], output) for i, output in enumerate(outputs))


def main():
    paddle.enable_static()
    wrong = []
    for folder in sorted(each for each in pathlib.Path(sys.argv[1]).iterdir() if each.is_dir()):
        feed = dict(np.load(folder / "feed.npz"))
        for kind, present, run in (("train", "losses.npz", train), ("infer", "inference_out.npz", infer)):
            if (folder / present).exists():
                text, error = run(folder, feed)
                print(f"{folder.name:22} {kind} {'ok ' if error <= TOLERANCE else 'BAD'} {error:.1e}  {text}")
                wrong += [folder.name] if error > TOLERANCE else []
    if wrong:
        sys.exit(f"more than {TOLERANCE} away: {wrong}")


if __name__ == "__main__":
    main()
