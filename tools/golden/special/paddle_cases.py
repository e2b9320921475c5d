"""What PaddlePaddle 2.6.2 computes from special numbers, operation by operation.

The cases are those of tools/golden/operations that are small, with special numbers in place of some elements, in other
types of elements, and with empty axes and axes of length 1: paddle_cases.py OUTPUT [PART OF A NAME].
"""
import glob
import gzip
import os
import pickle
import select
import signal
import struct
import sys

import numpy as np
import paddle
from paddle.base.proto import framework_pb2

from numbers_of import replaced

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "../../../graph/src/test/resources/golden")
# How many cases of an operation are templates, and how many elements they should have and have at most.
TEMPLATES, FEWEST, ELEMENTS = 2, 8, 400
SECONDS = 6
TYPES = {"float32": 5, "float64": 6, "float16": 4}
# Draws, files and other operations whose results do not follow from their inputs.
WITHOUT = {"save", "load", "save_combine", "load_combine", "print", "py_func", "read_file"}


def templates():
    """The smallest cases of each operation."""
    found = {}
    for file in sorted(glob.glob(os.path.join(GOLDEN, "operations*.npz"))):
        entries = np.load(file)
        inputs, outputs, offsets = {}, {}, {}
        for key in entries.files:
            name, part, *rest = key.split("/", 2)
            if part == "in":
                inputs.setdefault(name, {})[rest[0]] = entries[key]
            elif part == "lod":
                offsets.setdefault(name, {})[rest[0]] = entries[key]
            elif part == "out" and "@GRAD" not in rest[0]:
                outputs.setdefault(name, {})[rest[0]] = entries[key]
        for key in entries.files:
            name, _, part = key.partition("/")
            given, made, lods = inputs.get(name, {}), outputs.get(name, {}), offsets.get(name, {})
            lods = {n: a.tolist() for n, a in lods.items() if n in given}
            if part != "program" or any(isinstance(a[0], list) for a in lods.values()):
                continue
            size = sum(a.size for a in given.values())
            if made and size <= ELEMENTS and sum(a.size for a in made.values()) <= ELEMENTS:
                op = name.split(".")[0]
                rank = (size < FEWEST, size, name)
                found.setdefault(op, []).append((rank, bytes(entries[key]), given, sorted(made), lods))
    for op, cases in sorted(found.items()):
        if op not in WITHOUT:
            yield from sorted(cases, key=lambda each: each[0])[:TEMPLATES]


def sliced(inputs, axis, length):
    """The inputs of the first one's shape with another length of an axis; None where it has no such axis."""
    first = next(iter(inputs.values()))
    if first.ndim <= axis or first.shape[axis] <= length:
        return None
    part = tuple(slice(0, length if i == axis else None) for i in range(first.ndim))
    return {n: a[part] if a.shape == first.shape else a for n, a in inputs.items()}


def variants(name, op_inputs, inputs, lods):
    """Name, type of elements and inputs of each variant of a case."""
    used = {n: a for n, a in inputs.items() if n in op_inputs}
    floats = [n for n, a in used.items() if a.dtype == np.float32]
    if floats:
        for kind in ("nan", "inf", "small", "huge"):
            yield kind, "float32", {n: replaced(a, kind, f"{name}/{kind}/{n}") if n in floats else a
                                    for n, a in used.items()}
        for dtype in ("float64", "float16"):
            yield "all", dtype, {n: replaced(a.astype(dtype), "all", f"{name}/all/{n}") if n in floats else a
                                 for n, a in used.items()}
    whole = [n for n, a in used.items() if a.dtype.kind in "iu" and n in ("x", "y", "x0", "x1", "input")]
    if whole and not floats:
        yield "whole", "float32", {n: replaced(a, "whole", f"{name}/whole/{n}") if n in whole else a
                                   for n, a in used.items()}
    for axis in range(3):
        for length in (0, 1):
            part = sliced(used, axis, length) if used else None
            if part:
                yield f"length{length}of{axis}", "float32", part


def program_of(parsed, op, dtype):
    """The first operation of a type alone, in another type of elements."""
    desc = framework_pb2.ProgramDesc.FromString(parsed)
    block = desc.blocks[0]
    kept = [o for o in block.ops if o.type == op][:1]
    del block.ops[:]
    block.ops.extend(kept)
    number = TYPES[dtype]
    for var in block.vars:
        var.need_check_feed = False
        tensor = var.type.lod_tensor.tensor
        if var.type.type == 7 and tensor.data_type == 5:
            tensor.data_type = number
    for attr in kept[0].attrs:
        if attr.name in ("dtype", "in_dtype", "out_dtype") and attr.type == 0 and attr.i == 5:
            attr.i = number
    return desc


def computed(parsed, op, dtype, inputs, outputs, lods):
    """Each output's value."""
    desc = program_of(parsed, op, dtype)
    program = paddle.static.Program.parse_from_string(desc.SerializeToString())
    paddle.seed(7)
    feeds = dict(inputs)
    for n, levels in lods.items():
        if n in inputs:
            feeds[n] = paddle.base.core.LoDTensor()
            feeds[n].set(inputs[n], paddle.CPUPlace())
            feeds[n].set_lod([levels])
    names = {n for o in desc.blocks[0].ops[0].outputs for n in o.arguments}
    fetched = [n for n in outputs if n in names]
    values = paddle.static.Executor(paddle.CPUPlace()).run(
        program, feed=feeds, fetch_list=fetched, scope=paddle.static.Scope(), return_numpy=False)
    return dict(zip(fetched, (np.array(v) for v in values)))


class Forked:
    """Runs cases in a process of its own, which may crash or hang; then another one goes on."""

    def __init__(self):
        self.child = 0

    def start(self):
        reader, self.requests = os.pipe()
        self.results, writer = os.pipe()
        self.child = os.fork()
        if self.child:
            os.close(reader)
            os.close(writer)
            return
        with open(os.devnull, "w") as none:
            os.dup2(none.fileno(), 2)
        requests, results = os.fdopen(reader, "rb"), os.fdopen(writer, "wb")
        while True:
            request = pickle.load(requests)
            try:
                result = computed(*request)
            except Exception as error:
                result = (str(error).strip().splitlines() or [repr(error)])[-1][:200]
            pickle.dump(pickle.dumps(result), results)
            results.flush()

    def end(self):
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
        os.close(self.requests)
        os.close(self.results)
        self.child = 0

    def run(self, *request):
        if not self.child:
            self.start()
        with os.fdopen(os.dup(self.requests), "wb") as file:
            pickle.dump(request, file)
        if select.select([self.results], [], [], SECONDS)[0]:
            try:
                with os.fdopen(os.dup(self.results), "rb", 0) as file:
                    return pickle.loads(pickle.load(file))
            except EOFError:
                pass
        self.end()
        return "crashes or hangs"


def framed(text):
    data = text.encode()
    return struct.pack(">H", len(data)) + data


def main(output, part=""):
    paddle.enable_static()
    counts, errors = {}, []
    forked = Forked()
    with gzip.GzipFile(output, "wb", 9, mtime=0) as file:
        for (_, _, name), parsed, inputs, outputs, lods in templates():
            if part not in name:
                continue
            op = name.split(".")[0]
            desc = framework_pb2.ProgramDesc.FromString(parsed)
            first = next((o for o in desc.blocks[0].ops if o.type == op), None)
            if first is None or len(desc.blocks) > 1:
                continue
            op_inputs = {n for i in first.inputs for n in i.arguments}
            for kind, dtype, given in variants(name, op_inputs, inputs, lods):
                result = forked.run(parsed, op, dtype, given, outputs, lods)
                case = f"{name} {kind} {dtype}"
                if isinstance(result, str):
                    errors.append(f"{case}: {result}")
                    continue
                for variable, value in sorted(result.items()):
                    if value.size > 2 * ELEMENTS or value.dtype.kind not in "fiub":
                        continue
                    counts[kind] = counts.get(kind, 0) + 1
                    file.write(framed(f"{case} {variable}") + framed(value.dtype.str))
                    file.write(struct.pack(f">B{value.ndim}i", value.ndim, *value.shape))
                    file.write(value.astype(value.dtype.newbyteorder("<")).tobytes())
                if part:
                    print(case, {v: r.tolist() for v, r in result.items()})
    if forked.child:
        forked.end()
    print(counts, len(errors), "errors", os.path.getsize(output), "bytes")
    with open(output + ".errors.txt", "w") as file:
        file.write("\n".join(errors))


if __name__ == "__main__":
    main(*sys.argv[1:])
