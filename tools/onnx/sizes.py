"""Measures models with open sizes in ONNX Runtime and in Seriatim: processor time of a run, in ms, for sizes that have
not come before, for 40 sizes in rotation, and for one size again and again, both after a second of the same; and
resident memory at the end. Prints a table for docs/benchmarks.md.

sizes.py FOLDER CLASSPATH [NAME...]: FOLDER gets the models of open_networks.py if it does not exist, and holds
NAME.onnx; CLASSPATH has the jars of the modules up to onnx, their dependencies and oneDNN's; NAMEs choose models. Needs
onnxruntime and numpy, and java in the PATH, with javac. Each system runs in a process of its own with one thread, after
160 other sizes. Processor time is that of the whole process. Open axes but the first have lengths from 5 up for
indices, and multiples of 16 from 48 up for numbers.
"""
import glob
import os
import statistics
import subprocess
import sys
import time

ROUND = 40
HERE = os.path.dirname(os.path.abspath(__file__))


def child(path):
    import numpy
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    random = numpy.random.default_rng(20261127)

    def feeds(batch, size):
        made = {}
        for value in session.get_inputs():
            whole = "int64" in value.type
            length = 5 + size if whole else 16 * (3 + size)
            dims = [dim if isinstance(dim, int) else batch if i == 0 else length for i, dim in enumerate(value.shape)]
            made[value.name] = random.integers(0, 20, dims) if whole else random.random(dims, dtype=numpy.float32)
        return made

    def mean(batch, times):
        used = 0
        for i in range(times * ROUND):
            given = feeds(batch, i % ROUND)
            begin = time.process_time()
            session.run(None, given)
            used += time.process_time() - begin
        return used * 1e3 / (times * ROUND)

    for batch in range(3, 7):
        mean(batch, 1)
    first = mean(2, 1)
    rotated = mean(2, 2)
    given = feeds(2, ROUND // 2)
    begin = time.process_time()
    for _ in range(2 * ROUND):
        session.run(None, given)
    repeated = (time.process_time() - begin) * 1e3 / (2 * ROUND)
    with open("/proc/self/status", encoding="ascii") as status:
        memory = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
    print(first, rotated, repeated, memory / 1024)


def measured(command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(command)}:\n{result.stderr}")
    return [float(number) for number in result.stdout.split()[-4:]]


def main():
    import tempfile
    root, classpath, *names = sys.argv[1:]
    if not os.path.isdir(root):
        subprocess.run([sys.executable, HERE + "/open_networks.py", root], check=True)
    classes = tempfile.mkdtemp()
    subprocess.run(["javac", "-cp", classpath, "-d", classes, HERE + "/Sizes.java"], check=True)
    print("| model | new size: ONNX Runtime | Seriatim | ÷ | 40 in rotation: ONNX Runtime | Seriatim | ÷ "
          "| repeated: ONNX Runtime | Seriatim | ÷ | memory, MiB: ONNX Runtime | Seriatim |")
    print("|---|" + "---:|" * 11)
    ratios = []
    for path in sorted(glob.glob(root + "/*.onnx")):
        name = os.path.basename(path)[:-5]
        if names and name not in names:
            continue
        theirs = measured([sys.executable, __file__, "--child", path])
        ours = measured(["java", "-Xmx1g", "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED", "-cp",
                         classes + ":" + classpath, "Sizes", path, str(ROUND)])
        ratios.append([mine / other for mine, other in zip(ours[:3], theirs[:3])])
        cells = [f"{theirs[i]:.2f} | {ours[i]:.2f} | {ratios[-1][i]:.2f}" for i in range(3)]
        print(f"| {name} | {' | '.join(cells)} | {theirs[3]:.0f} | {ours[3]:.0f} |", flush=True)
    means = [statistics.geometric_mean(each[i] for each in ratios) for i in range(3)]
    print(f"Geometric means of {len(ratios)} ratios: " + ", ".join(f"{each:.2f}" for each in means), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--child":
        child(sys.argv[2])
    else:
        main()
