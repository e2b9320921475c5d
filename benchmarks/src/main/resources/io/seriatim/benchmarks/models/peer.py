"""Runs a model in ONNX Runtime and OpenVINO for 'seriatim bench models', which writes commands on standard input.

peer.py --versions NAME... prints a line for each library: its name and version, or its name, '-' and the reason why it
cannot be used. peer.py MODEL FOLDER runs a model with the inputs of FOLDER: inputs.txt has a line for each, and
input_K.npy its value. Each command is answered by one line:
  open NAME THREADS    makes a session, in place of the one that the library had: 'ok'
  warm NAME SECONDS    runs it for at least that time: the median in milliseconds
  run NAME N           runs it N times: the median in milliseconds
  results NAME         writes NAME_K.npy for each output into FOLDER: their number
An answer that begins with 'failed' has the reason.
"""
import os
import statistics
import sys
import time


def version(name):
    try:
        module = __import__(name)
        __import__("numpy")
        return f"{name} {module.__version__}"
    except Exception as error:  # A library that is there may still fail to load its own libraries.
        return f"{name} - {type(error).__name__}: {line(error)}"


def line(error):
    return " ".join(str(error).split())[:300]


def onnxruntime(path, feeds, threads):
    import onnxruntime as library
    options = library.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = library.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    known = {each.name for each in session.get_inputs()}
    given = {name: value for name, value in feeds.items() if name in known}
    return lambda: session.run(None, given)


def openvino(path, feeds, threads):
    import openvino as library
    core = library.Core()
    compiled = core.compile_model(path, "CPU", {
        "INFERENCE_PRECISION_HINT": "f32",  # It computes in bfloat16 otherwise where the processor can.
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_NUM_THREADS": threads})
    request = compiled.create_infer_request()
    given = {}
    for index, port in enumerate(compiled.inputs):
        given[index] = next(value for name, value in feeds.items() if name in port.get_names())
    outputs = range(len(compiled.outputs))

    def run():
        results = request.infer(given, share_inputs=True, share_outputs=True)
        return [results[index] for index in outputs]
    return run


LIBRARIES = {"onnxruntime": onnxruntime, "openvino": openvino}


def timed(run):
    begin = time.perf_counter()
    run()
    return (time.perf_counter() - begin) * 1e3


def answer(words, path, folder, feeds, sessions):
    import numpy
    command, name = words[:2]
    if command == "open":
        sessions.pop(name, None)
        sessions[name] = LIBRARIES[name](path, feeds, int(words[2]))
        return "ok"
    run = sessions[name]
    if command == "warm":
        end = time.perf_counter() + float(words[2])
        times = [timed(run)]
        while time.perf_counter() < end:
            times.append(timed(run))
        return repr(statistics.median(times))
    if command == "run":
        run()  # The first after a pause is slower.
        return repr(statistics.median(timed(run) for _ in range(int(words[2]))))
    if command == "results":
        results = run()
        for index, value in enumerate(results):
            numpy.save(f"{folder}/{name}_{index}.npy", numpy.ascontiguousarray(value).reshape(numpy.shape(value)))
        return str(len(results))
    raise ValueError(f"there is no command {command!r}")


def main():
    if sys.argv[1] == "--versions":
        for name in sys.argv[2:]:
            print(version(name))
        return
    # Libraries may print on standard output, which would mix with answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    import numpy
    path, folder = sys.argv[1:3]
    with open(f"{folder}/inputs.txt", encoding="utf-8") as names:
        feeds = {name: numpy.load(f"{folder}/input_{index}.npy")
                 for index, name in enumerate(names.read().split("\n")[:-1])}
    sessions = {}
    for words in map(str.split, sys.stdin):
        try:
            text = answer(words, path, folder, feeds, sessions)
        except Exception as error:  # The caller reports it; the other library can go on.
            text = f"failed {type(error).__name__}: {line(error)}"
        print(text, file=answers, flush=True)


main()
