"""Measures exported models in ONNX Runtime and in Seriatim: time from the start of loading to the first answer, median
time of runs after three seconds of others, and the largest resident memory of a process that does only this. Prints a table for
docs/benchmarks.md.

speed.py FOLDER CLASSPATH [NAME...]: FOLDER holds what exports.py or networks.py wrote; CLASSPATH has the jars of the
modules up to onnx, their dependencies and oneDNN's; NAMEs choose cases. Needs onnx, onnxruntime and numpy, and java in
the PATH, with javac. Each case is run with one thread.
"""
import glob
import os
import subprocess
import sys

RUNS = 20
WARM_UP = 3
HERE = os.path.dirname(os.path.abspath(__file__))


def tensors(folder):
    import onnx
    from onnx import numpy_helper
    found = []
    while os.path.exists(f"{folder}/input_{len(found)}.pb"):
        tensor = onnx.TensorProto()
        with open(f"{folder}/input_{len(found)}.pb", "rb") as file:
            tensor.ParseFromString(file.read())
        found.append(numpy_helper.to_array(tensor))
    return found


def child(folder):
    """Runs a case in ONNX Runtime; numpy files of its inputs lie in the folder of the second argument."""
    import time
    import numpy
    import onnxruntime
    inputs = [numpy.load(path) for path in sorted(glob.glob(sys.argv[3] + "/*.npy"))]
    begin = time.perf_counter()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(f"{folder}/model.onnx", options, providers=["CPUExecutionProvider"])
    feeds = {value.name: tensor for value, tensor in zip(session.get_inputs(), inputs)}
    session.run(None, feeds)
    first = time.perf_counter() - begin
    begin = time.perf_counter()
    while time.perf_counter() - begin < WARM_UP:
        session.run(None, feeds)
    times = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        session.run(None, feeds)
        times.append(time.perf_counter() - begin)
    with open("/proc/self/status", encoding="ascii") as status:
        memory = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    print(first * 1e3, sorted(times)[RUNS // 2] * 1e3, memory / 1024)


def measured(command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(command)}:\n{result.stderr}")
    return [float(number) for number in result.stdout.split()[-3:]]


def main():
    import tempfile
    import numpy
    root, classpath, *names = sys.argv[1:]
    classes = tempfile.mkdtemp()
    subprocess.run(["javac", "-cp", classpath, "-d", classes, HERE + "/Speed.java"], check=True)
    print("| model | a run, ms: ONNX Runtime | Seriatim | ÷ | first answer, ms: ONNX Runtime | Seriatim "
          "| memory, MiB: ONNX Runtime | Seriatim |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    ratios = []
    for folder in sorted(glob.glob(root + "/*/")):
        name = os.path.basename(folder.rstrip("/"))
        if names and name not in names:
            continue
        with tempfile.TemporaryDirectory() as feeds:
            for number, tensor in enumerate(tensors(folder)):
                numpy.save(f"{feeds}/{number:03}.npy", tensor)
            theirs = measured([sys.executable, __file__, "--child", folder, feeds])
            ours = measured(["java", "-Xmx1g", "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED", "-cp",
                             classes + ":" + classpath, "Speed", folder + "model.onnx", feeds, str(RUNS)])
        ratios.append(ours[1] / theirs[1])
        print(f"| {name} | {theirs[1]:.3f} | {ours[1]:.3f} | {ratios[-1]:.2f} | {theirs[0]:.0f} | {ours[0]:.0f} "
              f"| {theirs[2]:.0f} | {ours[2]:.0f} |", flush=True)
    print(f"Geometric mean of {len(ratios)} ratios: {numpy.exp(numpy.log(ratios).mean()):.2f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--child":
        child(sys.argv[2])
    else:
        main()
