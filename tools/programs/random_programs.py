"""Makes random programs with PaddlePaddle 2.6.2, and compares what Seriatim computes from them and leaves in the scope.

    python tools/programs/random_programs.py FOLDER --count 1000 [--first SEED] [--java JAVA --classpath PATH]

A program overwrites variables: feeds, temporaries, persistable variables of which some are fed or share memory, and lists, in branches and loops
within each other, built with paddle.static.nn and as operations. Its folder, seedN, has the startup program, two main programs that run alternately,
and for each run the feeds, the fetched results and all persistable variables. With --java, tools/programs/CompareStates.java then runs them all in
Seriatim, whose classes are on the class path. Numbers are small multiples of powers of two, so that sums and products of them are exact, except for
operations that say otherwise.
"""
import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import paddle
from paddle.static.nn import control_flow

RUNS = 4
DEEPEST = 3
STEPS = 3
FED = ["x0", "x1", "x2"]
TEMPORARIES = ["t0", "t1", "t2", "t3"]
PARAMETERS = ["p0", "p1", "p2", "p3"]
OTHERS = ["m", "v", "b1", "b2", "rate", "count"]


class Writer:
    """Writes the operations of one main program."""

    def __init__(self, rng, main, fed):
        self.rng = rng
        self.main = main
        block = main.global_block()
        self.vars = {}
        for name in FED:
            self.vars[name] = paddle.static.data(name, [3], "float32")
        for name, dtype in (("n", "int64"), ("i", "int64"), ("c", "bool"), ("shape", "int32")):
            self.vars[name] = paddle.static.data(name, [1], dtype)
        for name in TEMPORARIES:
            self.vars[name] = block.create_var(name=name, shape=[3], dtype="float32")
        for name in PARAMETERS + ["m", "v"]:
            self.vars[name] = block.create_var(name=name, shape=[3], dtype="float32", persistable=True)
        for name in ("b1", "b2", "rate"):
            self.vars[name] = block.create_var(name=name, shape=[1], dtype="float32", persistable=True)
        self.vars["count"] = block.create_var(name="count", shape=[1], dtype="int64", persistable=True)
        self.list = paddle.tensor.create_array("float32")
        # PaddlePaddle refuses blocks that write variables without a value.
        for name in TEMPORARIES:
            self.op("fill_constant", {}, {"Out": self.vars[name]}, {"shape": [3], "dtype": self.vars[name].dtype, "value": float(rng.integers(3))})
        self.known = FED + PARAMETERS + TEMPORARIES
        self.lists = False
        self.fed = fed

    def any(self):
        return self.vars[self.rng.choice(self.known)]

    def target(self):
        """The variable that the next operation writes; it then certainly has a value here."""
        name = self.rng.choice([self.rng.choice(TEMPORARIES), self.rng.choice(PARAMETERS), self.rng.choice(FED), self.rng.choice(self.known)])
        if name not in self.known:
            self.known = self.known + [str(name)]
        return self.vars[str(name)]

    def op(self, type, inputs, outputs, attrs=None):
        self.main.current_block().append_op(type=type, inputs=inputs, outputs=outputs, attrs=attrs or {})

    def write(self, count, depth):
        for _ in range(count):
            self.next(depth)

    def next(self, depth):
        a, b = self.any(), self.any()
        kind = self.rng.integers(19 if depth < DEEPEST else 12)
        if kind in (0, 1):
            self.op("scale", {"X": a}, {"Out": self.target()}, {"scale": 0.5, "bias": 0.25, "bias_after_scale": True})
        elif kind in (2, 3):
            self.op("elementwise_add", {"X": a, "Y": b}, {"Out": self.target()}, {"axis": -1})
        elif kind == 4:
            self.op("elementwise_max", {"X": a, "Y": b}, {"Out": self.target()}, {"axis": -1})
        elif kind == 5:
            paddle.assign(a, output=self.target())
        elif kind == 6:
            paddle.assign(a - b * 0.5, output=self.target())
        elif kind == 7:
            self.op("increment", {"X": self.vars["count"]}, {"Out": self.vars["count"]}, {"step": 1.0})
        elif kind == 8:
            p = self.vars[self.rng.choice(PARAMETERS)]
            if self.rng.integers(2):
                self.op("sgd", {"Param": p, "Grad": a, "LearningRate": self.vars["rate"]}, {"ParamOut": p})
            else:
                slots = {"Moment1": "m", "Moment2": "v", "Beta1Pow": "b1", "Beta2Pow": "b2"}
                self.op("adam", {"Param": p, "Grad": a, "LearningRate": self.vars["rate"], **{k: self.vars[v] for k, v in slots.items()}},
                        {"ParamOut": p, **{k + "Out": self.vars[v] for k, v in slots.items()}}, {"epsilon": 0.125})
        elif kind == 9:
            # PaddlePaddle refuses the sum of no elements, so there is always one.
            some = paddle.masked_select(paddle.concat([a, paddle.ones([1])]), paddle.concat([a > b, paddle.full([1], True, "bool")]))
            paddle.assign(b + paddle.sum(some) * 0.5, output=self.target())
        elif kind == 10:
            # In place, with a shape that only the run knows.
            self.op("reshape2", {"X": a, "Shape": self.vars["shape"]}, {"Out": a, "XShape": self.main.current_block().create_var(dtype="float32")},
                    {"shape": [3]})
        elif kind == 11:
            self.array(a)
        elif kind in (12, 13, 14):
            self.branch(a, depth)
        elif kind in (15, 16):
            self.loop(paddle.full([1], 0, "int64"), self.vars["n"], depth)
        elif kind == 17:
            self.loop(self.vars["i"], paddle.full([1], STEPS, "int64"), depth)
        else:
            self.carried(a, depth)

    def array(self, a):
        if not self.lists or self.rng.integers(2):
            index = self.rng.integers(2) if self.lists else 0
            paddle.tensor.array_write(a, paddle.full([1], int(index), "int64"), self.list)
            self.lists = True
        else:
            paddle.assign(paddle.tensor.array_read(self.list, paddle.full([1], 0, "int64")), output=self.target())
            paddle.assign(paddle.reshape(paddle.tensor.array_length(self.list), [1]), output=self.vars["count"])

    def inner(self, depth):
        """Writes operations of a block, which may not run: what it writes has no value for certain afterwards."""
        known, lists = self.known, self.lists
        self.write(1 + self.rng.integers(3), depth + 1)
        self.known, self.lists = known, lists

    def condition(self, a):
        kind = self.rng.integers(3)
        if kind == 0:
            return self.vars["c"]
        if kind == 1:
            return self.vars["count"] < paddle.full([1], 3, "int64")
        return paddle.sum(a, keepdim=True) > paddle.full([1], 0, "float32")

    def branch(self, a, depth):
        """A branch that returns nothing, or a value of one or the other side."""
        condition = paddle.reshape(self.condition(a), [1])
        if self.rng.integers(3):
            paddle.static.nn.cond(condition, lambda: self.inner(depth), None if self.rng.integers(2) else lambda: self.inner(depth))
            return

        def side():
            known, lists = self.known, self.lists
            self.write(self.rng.integers(3), depth + 1)
            value = self.any() * 0.5
            self.known, self.lists = known, lists
            return value
        paddle.assign(paddle.static.nn.cond(condition, side, side), output=self.target())

    def loop(self, index, bound, depth):
        more = paddle.less_than(index, bound)
        with control_flow.While(more, is_test=bool(self.rng.integers(2))).block():
            self.inner(depth)
            self.op("increment", {"X": index}, {"Out": index}, {"step": 1.0})
            paddle.assign(paddle.less_than(index, bound), output=more)

    def carried(self, a, depth):
        """A loop with variables that it passes from step to step."""
        bound = self.vars["n"]

        def body(index, value):
            self.inner(depth)
            return index + 1, value * 0.5 + self.any()
        result = paddle.static.nn.while_loop(lambda index, value: index < bound, body, [paddle.full([1], 0, "int64"), a * 0.5])
        paddle.assign(result[1], output=self.target())


def startup(rng):
    program = paddle.static.Program()
    block = program.global_block()

    def fill(name, shape, dtype, value):
        var = block.create_var(name=name, shape=shape, dtype=dtype, persistable=True)
        block.append_op(type="fill_constant", outputs={"Out": var}, attrs={"shape": shape, "dtype": var.dtype, "value": float(value)})
        return var
    for name, value in (("m", 0), ("v", 0)):
        fill(name, [3], "float32", value)
    for name in ("b1", "b2", "rate"):
        fill(name, [1], "float32", 0.5)
    fill("count", [1], "int64", 0)
    parameters = [fill(name, [3], "float32", rng.integers(-2, 3)) for name in PARAMETERS]
    names = PARAMETERS + OTHERS
    if rng.integers(3):
        shared = parameters[:2 + rng.integers(3)]
        flat = block.create_var(name="flat", shape=[3 * len(shared)], dtype="float32", persistable=True)
        block.append_op(type="coalesce_tensor", inputs={"Input": shared}, outputs={"Output": shared, "FusedOutput": flat},
                        attrs={"copy_data": True, "use_align": False, "dtype": flat.dtype})
        names = names + ["flat"]
    return program, names


def feeds(rng, fed, run):
    values = {name: rng.integers(-4, 5, 3).astype(np.float32) for name in FED + fed}
    return values | {"n": np.array([rng.integers(STEPS)], np.int64), "i": np.array([rng.integers(STEPS + 1)], np.int64),
                     "c": np.array([run % 2 == 1]), "shape": np.array([3], np.int32)}


def make(seed, folder):
    """Writes one program and what PaddlePaddle computes."""
    rng = np.random.default_rng(seed)
    paddle.utils.unique_name.switch()
    begin, names = startup(rng)
    mains = []
    for _ in range(2):
        main = paddle.static.Program()
        fed = [str(name) for name in rng.permutation(PARAMETERS)[:max(0, rng.integers(4) - 1)]]
        with paddle.static.program_guard(main, paddle.static.Program()):
            writer = Writer(rng, main, fed)
            writer.write(4 + rng.integers(9), 0)
        fetched = [str(name) for name in rng.permutation(writer.known + ["count"])[:2 + rng.integers(4)]]
        mains.append((main, fed, fetched))
    scope = paddle.static.Scope()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "startup.program").write_bytes(begin.desc.serialize_to_string())
    for number, (main, _, fetched) in enumerate(mains):
        (folder / f"main{number}.program").write_bytes(main.desc.serialize_to_string())
        (folder / f"fetches{number}.txt").write_text("\n".join(fetched) + "\n")
    with paddle.static.scope_guard(scope):
        paddle.static.Executor(paddle.CPUPlace()).run(begin)
        for run in range(RUNS):
            main, fed, fetched = mains[run % 2]
            values = feeds(rng, fed, run)
            # PaddlePaddle's executors keep the elements of lists from one run to the next.
            results = paddle.static.Executor(paddle.CPUPlace()).run(main, feed=values, fetch_list=fetched)
            left = {name: np.array(scope.find_var(name).get_tensor()) for name in names}
            for kind, arrays in (("feed", values), ("fetch", dict(zip(fetched, results, strict=True))), ("left", left)):
                (folder / f"run{run}" / kind).mkdir(parents=True)
                for name, array in arrays.items():
                    np.save(folder / f"run{run}" / kind / f"{name}.npy", array)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--java", help="a JDK's java")
    parser.add_argument("--classpath", help="the classes of engine, device, tensor, graph and executor, and what they need")
    options = parser.parse_args()
    paddle.enable_static()
    refused = 0
    for seed in range(options.first, options.first + options.count):
        folder = options.folder / f"seed{seed}"
        try:
            make(seed, folder)
        except Exception as error:  # a program that PaddlePaddle itself refuses is no case, and is counted
            shutil.rmtree(folder, ignore_errors=True)
            refused += 1
            print(f"seed {seed}: PaddlePaddle fails: {type(error).__name__}: {str(error).strip().splitlines()[-1][:200]}", file=sys.stderr)
    print(f"{options.count - refused} programs, {refused} that PaddlePaddle refuses")
    if not options.java:
        return 0
    return subprocess.run([options.java, "--enable-native-access=ALL-UNNAMED", "-cp", options.classpath,
                           Path(__file__).with_name("CompareStates.java"), options.folder], env=os.environ, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
