"""Runs programs that overwrite what they are fed, and their files, in PaddlePaddle 2.6.2, PaddlePaddle 3 and ONNX Runtime.

    mvn -pl onnx -am verify -Dtest=OverwrittenFeedsTest -Dsurefire.failIfNoSpecifiedTests=false -Dseriatim.keep=/tmp/feeds
    python tools/formats/overwritten_feeds.py /tmp/feeds --paddle2 PYTHON --paddle3 PYTHON --onnx PYTHON

The test writes a folder for each seed: the whole program, the pruned model in three formats, and feeds and expected results of each run. Each
PYTHON is an interpreter that has the system; one that is left out is not asked. PaddlePaddle 2 runs the whole program and the .pdmodel, PaddlePaddle
3 the .pdmodel (with its old executor) and the .json, which it also saves again and loads, and ONNX Runtime the .onnx. All numbers are small
integers, so results must be equal to the bit. Ends with 1 if one is not.
"""
import argparse
import itertools
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def runs(folder):
    """The feeds and expected results of each run of a program."""
    import numpy as np
    for run in sorted(folder.glob("run*")):
        count = len(list(run.glob("expected*.npy")))
        yield ({name: np.load(run / f"{name}.npy") for name in ("x", "y", "n", "m", "b")},
               [np.load(run / f"expected{i}.npy") for i in range(count)])


def compare(what, folder, call):
    """Runs a form of a program; returns the number of differences, which are printed."""
    import numpy as np
    try:
        for number, (feeds, expected) in enumerate(runs(folder)):
            found = call(feeds)
            for i, (one, other) in enumerate(zip(expected, found, strict=True)):
                if one.dtype != other.dtype or one.shape != other.shape or not np.array_equal(one, other):
                    print(f"{folder.name} {what} run {number} output {i}: expected\n{one}\nbut found\n{other}")
                    return 1
    except Exception as error:  # every failure of the system is a difference, and is printed
        print(f"{folder.name} {what}: {type(error).__name__}: {str(error).strip().splitlines()[-1]}")
        return 1
    return 0


def paddle_model(paddle, prefix):
    """A model that PaddlePaddle has loaded, as a function of feeds."""
    executor, scope = paddle.static.Executor(paddle.CPUPlace()), paddle.static.Scope()
    with paddle.static.scope_guard(scope):
        program, names, fetches = paddle.static.load_inference_model(str(prefix), executor)

    def call(feeds):
        with paddle.static.scope_guard(scope):
            return executor.run(program, feed={name: feeds[name] for name in names}, fetch_list=fetches)
    return call


def paddle2(folder):
    import paddle
    paddle.enable_static()
    executor = paddle.static.Executor(paddle.CPUPlace())
    program = paddle.static.Program.parse_from_string((folder / "main.program").read_bytes())
    fetches = (folder / "fetches.txt").read_text().split()
    wrong = compare("the whole program", folder, lambda feeds: executor.run(program, feed=feeds, fetch_list=fetches))
    return wrong + compare(".pdmodel", folder, lambda feeds: paddle_model(paddle, folder / "model")(feeds))


def paddle3_old(folder):
    import paddle
    paddle.enable_static()
    return compare(".pdmodel", folder, lambda feeds: paddle_model(paddle, folder / "model")(feeds))


def paddle3(folder):
    import paddle
    paddle.enable_static()
    wrong = compare(".json", folder, lambda feeds: paddle_model(paddle, folder / "model")(feeds))
    executor = paddle.static.Executor(paddle.CPUPlace())
    with tempfile.TemporaryDirectory() as temporary:
        def saved(feeds):
            program, names, fetches = paddle.static.load_inference_model(str(folder / "model"), executor)
            values = {op.attrs()["name"]: op.result(0) for op in program.global_block().ops if op.name() == "pd_op.data"}
            # PaddlePaddle refuses to save feeds that nothing needs, and does not say which.
            subsets = (subset for count in range(len(names), -1, -1) for subset in itertools.combinations(names, count))
            for subset in subsets:
                try:
                    paddle.static.save_inference_model(f"{temporary}/again", [values[name] for name in subset], fetches, executor,
                                                       program=program)
                    break
                except ValueError as error:
                    if "is not involved in the target_vars calculation" not in str(error):
                        raise
            return paddle_model(paddle, f"{temporary}/again")(feeds)
        return wrong + compare(".json, saved again", folder, saved)


def onnx(folder):
    import onnxruntime
    if not (folder / "model.onnx").exists():
        return 0  # it fetches what it is fed and overwrites, which ONNX cannot express
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3

    def call(feeds):
        session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
        return session.run(None, {each.name: feeds[each.name] for each in session.get_inputs()})
    return compare(".onnx", folder, call)


SYSTEMS = {"paddle2": (paddle2, {}), "paddle3-old": (paddle3_old, {"FLAGS_enable_pir_api": "0"}),
           "paddle3": (paddle3, {}), "onnx": (onnx, {})}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    for name in ("paddle2", "paddle3", "onnx"):
        parser.add_argument("--" + name)
    parser.add_argument("--system", choices=SYSTEMS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.system:
        folders = sorted(options.folder.glob("seed*"), key=lambda path: int(path.name[4:]))
        wrong = sum(SYSTEMS[options.system][0](folder) for folder in folders)
        print(f"{options.system}: {len(folders)} programs, {wrong} differences")
        return 1 if wrong or not folders else 0
    result = 0
    for name, (_, environment) in SYSTEMS.items():
        python = getattr(options, name.split("-")[0])
        if python:
            result |= subprocess.run([python, __file__, options.folder, "--system", name],
                                     env={**os.environ, "OMP_NUM_THREADS": "1", "GLOG_minloglevel": "3", **environment}, check=False).returncode
    return 1 if result else 0


if __name__ == "__main__":
    sys.exit(main())
