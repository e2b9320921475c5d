"""Runs the models that WriteCases.java has written in the system that reads them, and compares the results.

    python check_written.py FOLDER pdmodel|json|onnx [NAMES]

with a Python that has PaddlePaddle 2.6.2 for pdmodel, PaddlePaddle 3.3.1 for json and ONNX Runtime for onnx. NAMES is a regular expression of the
cases to run. Each case runs in a process of its own, so that a crash is one failed case. Prints the failures, and how many cases hold; writes
them to FOLDER/FORMAT.txt. Results are equal within 1e-4 of the largest value, or a rounding of the largest fed one; those of random operations, and
the vectors of a null space of several dimensions, have the same type and shape.

The target is ONNX, of which ONNX Runtime has no kernels for many operators of float64. Such files, which the checker of ONNX takes, run with float32 in
place of float64, and are counted apart.
"""
import os
import re
import resource
import signal
import sys
from collections import Counter
from pathlib import Path

import numpy as np

NO_KERNEL = re.compile(r"NOT_IMPLEMENTED : Could not find an implementation for|does not support double yet")
APART = "valid, no kernel in ONNX Runtime"
# Runs that stop where ONNX cannot say what the program means, as docs/formats.md says: an axis of open length that is squeezed has not one element.
STOPS = {("squeeze2.not_one open", "onnx"): "Squeeze node"}
STOPPED = "stopped as docs/formats.md says"
JOBS, SECONDS, TOLERANCE = int(os.environ.get("JOBS", "2")), 60, 1e-4
RANDOM = re.compile(r"^(bernoulli|dropout|dropout_nd|exponential|gaussian_random|truncated_gaussian_random|uniform_random|randint|randperm|multinomial|"
                    r"poisson|dirichlet|gumbel_softmax|rrelu|sampling_id|random_crop|shuffle_batch|class_center_sample|nce|random|"
                    r"uniform_random_inplace|gaussian_inplace|gaussian_random_batch_size_like|uniform_random_batch_size_like|test_dropout|test_bernoulli|"
                    r"test_training_dropout|svd\.left\[full_matrices=true\])")


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
    return run, None


def onnx_runner():
    import onnx
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)

    def execute(model, feeds, values):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        return session.run(None, dict(zip(feeds, values)))

    def run(model, feeds, values, count):
        onnx.checker.check_model(str(model), full_check=True)
        return execute(str(model), feeds, values)

    def narrow(model, feeds, values, count):
        types = [result.type.tensor_type.elem_type for result in onnx.load(str(model)).graph.output]
        given = [each.astype(np.float32) if each.dtype == np.float64 else each for each in values]
        results = execute(narrowed(onnx.load(str(model))).SerializeToString(), feeds, given)
        return [each.astype(np.float64) if kind == onnx.TensorProto.DOUBLE else each for kind, each in zip(types, results)]
    return run, narrow


def narrowed(message):
    """A model, or a part of one, with float32 for each float64."""
    import onnx
    from google.protobuf.message import Message
    double, single = onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT
    if isinstance(message, onnx.TensorProto) and message.data_type == double:
        message.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(message).astype(np.float32), message.name))
    elif isinstance(message, onnx.TypeProto.Tensor) and message.elem_type == double:
        message.elem_type = single
    elif isinstance(message, onnx.NodeProto):
        for attribute in message.attribute:
            if attribute.name in ("to", "dtype") and attribute.i == double:
                attribute.i = single
    for field, value in message.ListFields():
        for each in [value] if isinstance(value, Message) else value if field.message_type else []:
            narrowed(each)
    return message


def difference(name, want, have, fed):
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
    allowed = (TOLERANCE if want.dtype.itemsize > 2 else 2e-2) * scale
    return "" if apart <= max(allowed, np.finfo(np.float32).eps * fed) else f"apart by {apart:.3g} of {scale:.3g}"


def check(run, folder, case):
    name, where, form, feeds, fetches, _ = case
    expected = load(folder / where / "expected.npz")
    values = load(folder / where / "feeds.npz")
    fed = max((float(np.abs(each[np.isfinite(each)]).max(initial=0)) for each in values if each.dtype.kind in "fc"), default=0)
    results = run(folder / where / form / f"m.{form}", feeds.split(" ") if feeds else [], values, len(expected))
    for fetch, want, have in zip(fetches.split(" "), expected, results):
        wrong = difference(name, want, have, fed)
        if wrong:
            return f"'{fetch}': {wrong}"
    return "" if len(results) == len(expected) else f"{len(results)} results"


def checked(run, narrow, folder, case):
    try:
        return check(run, folder, case)
    except Exception as e:
        if STOPS.get((case[0], case[2]), "\0") in str(e):
            return STOPPED
        if narrow is None or not NO_KERNEL.search(str(e)):
            raise
        return check(narrow, folder, case) or APART


def child(run, narrow, folder, case, pipe):
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(SECONDS)
    try:
        message = checked(run, narrow, folder, case)
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
    run, narrow = onnx_runner() if form == "onnx" else paddle_runner()
    waiting, running, failures, held, apart = [case for case in cases if not case[5]][::-1], {}, [], 0, Counter()
    while waiting or running:
        while waiting and len(running) < JOBS:
            case = waiting.pop()
            read, write = os.pipe()
            pid = os.fork()
            if pid == 0:
                child(run, narrow, folder, case, write)
            os.close(write)
            running[pid] = (case, read)
        pid, status = os.wait()
        case, read = running.pop(pid)
        message = os.read(read, 5000).decode(errors="replace")
        os.close(read)
        if status:
            message = f"CRASH signal {status & 127}"
        if message in (APART, STOPPED):
            apart[message] += 1
        elif message:
            failures.append(f"{case[0]}\t{case[1]}\t{message}")
            print(failures[-1], flush=True)
        else:
            held += 1
    (folder / f"{form}.txt").write_text("\n".join(sorted(failures)) + "\n")
    total, others = held + len(failures) + apart.total(), "".join(f", {count} {what}" for what, count in apart.items())
    print(f"{form}: {held} of {total} models hold{others}; {sum(1 for case in cases if case[5])} were refused")


main()
