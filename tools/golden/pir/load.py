"""Whether PaddlePaddle 3 loads models, by each of its three ways and with its default flags, and computes what it should.

    python load.py FOLDER [PATTERN]

FOLDER has NAME.json, NAME.pdiparams and NAME.npz (arrays `in/FEED`, and `out/FETCH` in the order of the fetches). Each way runs in a process of
its own; if one dies, the next process goes on behind the model that killed it.
"""
import re
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np

WAYS = ("jit", "static", "predictor")


def compute(way, prefix, feeds):
    import paddle
    if way == "jit":
        layer = paddle.jit.load(str(prefix))
        layer.eval()
        names = [spec.name for spec in layer._input_spec()] if hasattr(layer, "_input_spec") else list(feeds)
        results = layer(*[paddle.to_tensor(feeds[name]) for name in names])
        return [result.numpy() for result in paddle.utils.flatten(results)]
    if way == "static":
        paddle.enable_static()
        scope = paddle.static.Scope()
        with paddle.static.scope_guard(scope):
            executor = paddle.static.Executor(paddle.CPUPlace())
            program, names, fetches = paddle.static.load_inference_model(str(prefix), executor)
            results = executor.run(program, feed={name: feeds[name] for name in names}, fetch_list=fetches)
        paddle.disable_static()
        return results
    config = paddle.inference.Config(f"{prefix}.json", f"{prefix}.pdiparams")
    config.disable_gpu()
    config.disable_glog_info()
    predictor = paddle.inference.create_predictor(config)
    for name in predictor.get_input_names():
        predictor.get_input_handle(name).copy_from_cpu(feeds[name])
    predictor.run()
    return [predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()]


def work(way, folder, names):
    for name in names:
        print("BEGIN", name, flush=True)
        try:
            npz = np.load(folder / f"{name}.npz")
            feeds = {key[3:]: npz[key] for key in npz if key.startswith("in/")}
            wanted = [npz[key] for key in npz if key.startswith("out/")]
            results = compute(way, folder / name, feeds)
            worst = 0.0
            for result, want in zip(results, wanted):
                result = np.asarray(result)
                if result.shape != want.shape:
                    raise ValueError(f"shape {result.shape} in place of {want.shape}")
                if want.size:
                    result, want = np.atleast_1d(result), np.atleast_1d(want)
                    difference = np.abs(result.astype("float64") - want.astype("float64"))
                    difference[(result == want) | (np.isnan(want) & np.isnan(result))] = 0
                    worst = max(worst, float(np.max(difference) / max(float(np.nanmax(np.abs(want))), 1e-3)))
            if len(results) != len(wanted):
                raise ValueError(f"{len(results)} results in place of {len(wanted)}")
            print("END", name, f"{worst:.1e}", "ok" if worst < 1e-4 else "WRONG", flush=True)
        except Exception as error:
            lines = [line for line in str(error).strip().splitlines() if line.strip()]
            kept = [line for line in lines if "Error" in line or "Hint" in line or "should" in line][-2:] or lines[-2:]
            print("END", name, "-", "FAILED", " ".join(kept)[:400].replace("\n", " "), flush=True)
            if "-v" in sys.argv:
                traceback.print_exc()


def main():
    folder = Path(sys.argv[1])
    if len(sys.argv) > 3 and sys.argv[2] in WAYS:
        work(sys.argv[2], folder, sys.argv[3].split(","))
        return
    pattern = sys.argv[2] if len(sys.argv) > 2 else ""
    names = sorted(path.stem for path in folder.glob("*.npz") if re.search(pattern, path.stem) and path.with_suffix(".json").exists())
    bad = 0
    for way in WAYS:
        left, good = list(names), 0
        while left:
            output = folder / f".{way}.log"
            with open(output, "w") as log, open(folder / f".{way}.err", "w") as errors:
                try:
                    code = subprocess.run([sys.executable, __file__, str(folder), way, ",".join(left)], stdout=log, stderr=errors,
                                          timeout=60 + 3 * len(left)).returncode
                except subprocess.TimeoutExpired:
                    code = "hung"
            begun = None
            for line in output.read_text().splitlines():
                words = line.split(" ", 4)
                if words[0] == "BEGIN":
                    begun = words[1]
                elif words[0] == "END":
                    left.remove(words[1])
                    begun = None
                    good += words[3] == "ok"
                    if words[3] != "ok":
                        bad += 1
                        print(way, line[4:], flush=True)
            if left:
                begun = begun or left[0]
                left.remove(begun)
                bad += 1
                errors = [line for line in (folder / f".{way}.err").read_text().splitlines() if "Error" in line or "Hint" in line][-2:]
                print(way, begun, "DIED", code, " ".join(errors)[:300], flush=True)
        print(way, good, "of", len(names), "right", flush=True)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
