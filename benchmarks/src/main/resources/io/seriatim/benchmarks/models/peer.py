"""Runs a model in ONNX Runtime and OpenVINO for 'seriatim bench models', which writes commands on standard input.

peer.py --versions NAME... prints a line for each library: its name and version, or its name, '-' and the reason why it
cannot be used. peer.py MODEL FOLDER runs a model with the inputs of FOLDER: inputs.txt has a line for each, and
input_K.npy its value. Each command is answered by one line:
  open NAME THREADS    makes a session, in place of the one that the library had: 'ok'
  warm NAME SECONDS    runs it for at least that time: the median in milliseconds
  run NAME N           runs it N times: the median in milliseconds
  results NAME         writes NAME_K.npy for each output into FOLDER: their number
  nodes                writes nodes.tsv, with a line for each node of the file, which needs the package onnx: its outputs
  profile NAME THREADS RUNS    writes NAME_profile.tsv with a line for each operation that the library runs, in its
                       order: the number of the file's node that it is named after, or -1; its type; microseconds
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


def profile_onnxruntime(path, feeds, threads, folder, runs):
    import json
    import onnxruntime as library
    options = library.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.enable_profiling = True
    options.profile_file_prefix = f"{folder}/trace"
    session = library.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    known = {each.name for each in session.get_inputs()}
    given = {name: value for name, value in feeds.items() if name in known}
    for _ in range(runs):
        session.run(None, given)
    trace = session.end_profiling()
    times = {}
    with open(trace, encoding="utf-8") as file:
        for event in json.load(file):
            if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
                key = event["name"].removesuffix("_kernel_time"), event["args"]["op_name"]
                times.setdefault(key, []).append(event["dur"])
    os.remove(trace)
    # An operation of a loop runs several times.
    return [(name, kind, statistics.median(each) * len(each) / runs) for (name, kind), each in times.items()]


def profile_openvino(path, feeds, threads, folder, runs):
    import openvino as library
    core = library.Core()
    compiled = core.compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY",
                                                "INFERENCE_NUM_THREADS": threads, "PERF_COUNT": True})
    request = compiled.create_infer_request()
    given = {index: next(value for name, value in feeds.items() if name in port.get_names())
             for index, port in enumerate(compiled.inputs)}
    times = {}
    for _ in range(runs):
        request.infer(given, share_inputs=True, share_outputs=True)
        for each in request.get_profiling_info():
            key = each.node_name, f"{each.node_type} {each.exec_type}"
            times.setdefault(key, []).append(each.real_time.total_seconds() * 1e6)
    return [(name, kind, statistics.median(each)) for (name, kind), each in times.items()]


PROFILES = {"onnxruntime": profile_onnxruntime, "openvino": profile_openvino}


def graph(path):
    import onnx
    return onnx.load(path, load_external_data=False).graph.node


def write_profile(name, path, folder, feeds, threads, runs):
    """Libraries name an operation after one of the nodes that it is made of, with something before or after it."""
    numbers = {}
    for number, node in enumerate(graph(path)):
        for each in [node.name, *node.output]:
            if each:
                numbers.setdefault(each, number)
    names = sorted(numbers, key=len, reverse=True)

    def number(operation):
        if operation in numbers:
            return numbers[operation]
        return next((numbers[each] for each in names if len(each) > 2 and each in operation), -1)

    lines = PROFILES[name](path, feeds, threads, folder, runs)
    with open(f"{folder}/{name}_profile.tsv", "w", encoding="utf-8") as file:
        for operation, kind, micros in lines:
            if micros > 0:
                file.write(f"{number(operation)}\t{kind}\t{micros!r}\n")
    return str(len(lines))


def timed(run):
    begin = time.perf_counter()
    run()
    return (time.perf_counter() - begin) * 1e3


def answer(words, path, folder, feeds, sessions):
    import numpy
    command = words[0]
    if command == "nodes":
        with open(f"{folder}/nodes.tsv", "w", encoding="utf-8") as file:
            for node in graph(path):
                file.write("\t".join(node.output) + "\n")
        return "ok"
    name = words[1]
    if command == "profile":
        return write_profile(name, path, folder, feeds, int(words[2]), int(words[3]))
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
