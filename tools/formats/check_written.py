"""Runs the models that WriteCases.java has written in the system that reads them, and compares the results.

    python check_written.py FOLDER pdmodel|json|onnx [NAMES]

with a Python that has PaddlePaddle 2.6.2 for pdmodel, PaddlePaddle 3.3.1 for json and ONNX Runtime for onnx. NAMES is a regular expression of the
cases to run. Each case runs in a process of its own, so that a crash is one failed case. Prints the failures, and how many cases hold; writes
them to FOLDER/FORMAT.txt. Results are equal within 1e-4 of the largest value; those of random operations have the same type and shape.
"""
import os
import re
import resource
import signal
import sys
from pathlib import Path

import numpy as np

JOBS, SECONDS, TOLERANCE = int(os.environ.get("JOBS", "2")), 60, 1e-4
RANDOM = re.compile(r"^(bernoulli|dropout|dropout_nd|exponential|gaussian_random|truncated_gaussian_random|uniform_random|randint|randperm|multinomial|"
                    r"poisson|dirichlet|gumbel_softmax|rrelu|sampling_id|random_crop|shuffle_batch|class_center_sample|nce|random|"
                    r"uniform_random_inplace|gaussian_inplace|gaussian_random_batch_size_like|uniform_random_batch_size_like|test_dropout|test_bernoulli|"
                    r"test_training_dropout)")


def load(file):
    with np.load(file) as arrays:
        return [arrays[str(i)] for i in range(len(arrays.files))]


def paddle_runner():
    import paddle
    paddle.enable_static()

    def run(model, feeds, values, count):
        exe = paddle.static.Executor(paddle.CPUPlace())
        program, names, targets = paddle.static.load_inference_model(str(model).rsplit(".", 1)[0], exe)
        if sorted(names) != sorted(feeds):
            raise ValueError(f"the feeds are {names}, not {feeds}")
        results = exe.run(program, feed=dict(zip(feeds, values)), fetch_list=targets)
        return [np.asarray(each) for each in results]
    return run


def onnx_runner():
    import onnx
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)

    def run(model, feeds, values, count):
        onnx.checker.check_model(str(model), full_check=True)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        return session.run(None, dict(zip(feeds, values)))
    return run


def difference(name, want, have):
    if isinstance(have, (list, tuple)) or want.shape != have.shape:
        return f"shape {np.shape(have)} instead of {want.shape}"
    if want.dtype != have.dtype and not (have.dtype == np.uint16 and want.dtype.itemsize == 2):
        return f"type {have.dtype} instead of {want.dtype}"
    if RANDOM.match(name) or want.size == 0:
        return ""
    if want.dtype.kind not in "fc":
        return "" if (want == have).all() else f"{have.ravel()[:4]} instead of {want.ravel()[:4]}"
    finite = np.isfinite(want)
    if not (np.isnan(want) == np.isnan(have)).all() or not (finite == np.isfinite(have)).all():
        return f"{have.ravel()[:4]} instead of {want.ravel()[:4]}"
    scale = max(1e-30, float(np.abs(want[finite]).max())) if finite.any() else 1
    apart = float(np.abs(want[finite] - have[finite]).max()) if finite.any() else 0
    return "" if apart <= (TOLERANCE if want.dtype.itemsize > 2 else 2e-2) * scale else f"apart by {apart:.3g} of {scale:.3g}"


def check(run, folder, case):
    name, where, form, feeds, fetches, _ = case
    expected = load(folder / where / "expected.npz")
    results = run(folder / where / form / f"m.{form}", feeds.split(" ") if feeds else [], load(folder / where / "feeds.npz"), len(expected))
    for fetch, want, have in zip(fetches.split(" "), expected, results):
        wrong = difference(name, want, have)
        if wrong:
            return f"'{fetch}': {wrong}"
    return "" if len(results) == len(expected) else f"{len(results)} results"


def child(run, folder, case, pipe):
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(SECONDS)
    try:
        message = check(run, folder, case)
    except BaseException as e:
        lines = [line for line in str(e).strip().splitlines() if line.strip() and "[operator <" not in line] or [type(e).__name__]
        hints = [line for line in lines if re.search(r"Error:|Hint|NOT_IMPLEMENTED|Error", line)] or lines
        message = "ERROR " + " ".join(hints[-2:])[:300]
    os.write(pipe, message.encode()[:4000])
    os._exit(0)


def main():
    folder, form, wanted = Path(sys.argv[1]), sys.argv[2], re.compile(sys.argv[3] if len(sys.argv) > 3 else "")
    cases = [line.rstrip("\n").split("\t") for line in open(folder / "index.tsv")]
    cases = [case for case in cases if case[2] == form and wanted.search(case[0])]
    run = onnx_runner() if form == "onnx" else paddle_runner()
    waiting, running, failures, held = [case for case in cases if not case[5]][::-1], {}, [], 0
    while waiting or running:
        while waiting and len(running) < JOBS:
            case = waiting.pop()
            read, write = os.pipe()
            pid = os.fork()
            if pid == 0:
                child(run, folder, case, write)
            os.close(write)
            running[pid] = (case, read)
        pid, status = os.wait()
        case, read = running.pop(pid)
        message = os.read(read, 5000).decode(errors="replace")
        os.close(read)
        if status:
            message = f"CRASH signal {status & 127}"
        if message:
            failures.append(f"{case[0]}\t{case[1]}\t{message}")
            print(failures[-1], flush=True)
        else:
            held += 1
    (folder / f"{form}.txt").write_text("\n".join(sorted(failures)) + "\n")
    print(f"{form}: {held} of {held + len(failures)} models hold; {sum(1 for case in cases if case[5])} were refused")


main()
