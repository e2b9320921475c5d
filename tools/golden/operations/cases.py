"""What a case is, and how Paddle runs it.

`case(name, inputs, attributes)` declares one: a static program of one operation on data variables and, where the operation has a gradient,
what `paddle.static.gradients` appends for seeded output gradients. An input is a function of a NumPy generator, an array, or a list of those;
the generator is seeded by the name of the case, so a case does not change when others are added.
"""
import json
import os
import traceback
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

import numpy as np
import paddle
from paddle.base import core, unique_name
from paddle.base.framework import OpProtoHolder
from paddle.base.proto import framework_pb2

FLOATS = ("float16", "float32", "float64", "complex64", "complex128")
WITHOUT_VALUE = {"XShape", "ReserveSpace", "Reserve", "DropoutState"}
# What the global generator starts every run with: bernoulli and randperm draw from it, whatever their attributes.
GENERATOR_SEED = 7
CASES: dict[str, "Case"] = {}
# How many drawn cases of an operation are committed.
COMMITTED = 3
# A folder for files with all drawn cases, or nothing for the committed files.
EVERYTHING = os.environ.get("GOLDEN_OUT", "")
paddle.enable_static()


@dataclass
class Case:
    name: str
    inputs: dict
    attributes: dict
    outputs: dict = field(default_factory=dict)
    """Slot to variable or to a list of variables, where the rule (one variable per required slot, named as the slot) does not do."""
    grad: bool = True
    constant: tuple = ()
    """Float inputs that want no gradient."""
    targets: tuple = ()
    hidden: tuple = ()
    """Variables without a defined value."""
    declared: dict = field(default_factory=dict)
    """Output variable to its shape and dtype, for the operations that infer none; input variable to its shape, where some of it is unknown."""
    unknown: dict = field(default_factory=dict)
    """Variable to the dimensions that are not known when the program is built."""
    repeat: int = 1
    lod: dict = field(default_factory=dict)
    """Variable to its levels of offsets."""
    more: dict = field(default_factory=dict)
    """Feeds that only `then` reads."""
    then: Callable | None = None
    """Appends more operations after the gradients; returns the variables that they make."""

    @property
    def op(self):
        return self.name.split(".")[0]


def case(name, inputs, attributes=None, **options):
    if name in CASES:
        raise ValueError(f"case {name} is declared twice")
    CASES[name] = Case(name, inputs, attributes or {}, **options)


def drawn(op, draw, count=20):
    """`count` cases of an operation whose inputs and attributes are drawn: `draw(rng)` gives `(inputs, attributes)` or `(inputs, attributes, options)`.

    The name of a case seeds its generator. The first COMMITTED cases belong to the committed file, all of them to the files for `mvn -Pgolden`.
    """
    for i in range(count if EVERYTHING else min(count, COMMITTED)):
        name = f"{op}.drawn{i:02}"
        inputs, attributes, *options = draw(np.random.default_rng(zlib.crc32(f"draw {name}".encode())))
        case(name, inputs, attributes, **(options[0] if options else {}))


def unknown(name, inputs, attributes, axes, **options):
    """A case in which the dimensions `axes` of some variables are not known when the program is built."""
    case(name, inputs, attributes, unknown=axes, **options)


def gradients(block, of, given, wrt):
    """Appends the gradients of some variables with respect to others; returns the names of those that there are, by variable."""
    for name in wrt:
        block.var(name).stop_gradient = False
    made = paddle.static.gradients([block.var(n) for n in of], [block.var(n) for n in wrt], [block.var(n) for n in given])
    return {n: g.name for n, g in zip(wrt, made) if g is not None}


def second(name, inputs, attributes, first, wrt, dtype="float32", **options):
    """The gradients of an operation's gradients with respect to the variables `first`."""
    draws = {slot.lower(): given for slot, given in inputs.items()}
    shapes = {n: draws[n](np.random.default_rng(0)).shape for n in first}
    case(
        name,
        inputs,
        attributes,
        more={f"dd_{n}": rand(*shape, dtype=dtype) for n, shape in shapes.items()},
        then=lambda block: list(gradients(block, [f"{n}@GRAD" for n in first], [f"dd_{n}" for n in first], wrt).values()),
        **options,
    )


def rand(*shape, low=-2.0, high=2.0, dtype="float32"):
    """Distinct numbers, none nearer than 0.02 to another where the range has room, so that no maximum ties and no order flips."""

    def draw(rng):
        count = int(np.prod(shape))
        steps = (np.arange(count) + 0.5 + rng.uniform(-0.3, 0.3, count)) / max(count, 1)
        return np.asarray(rng.permutation(low + (high - low) * steps).reshape(shape).astype(dtype))

    return draw


def complexes(*shape, dtype="complex64"):
    """Complex numbers with parts as `rand` gives them."""
    part = "float32" if dtype == "complex64" else "float64"
    return lambda rng: np.asarray(rand(*shape, dtype=part)(rng) + 1j * rand(*shape, dtype=part)(rng), dtype)


def ints(*shape, low=0, high=10, dtype="int64"):
    return lambda rng: np.asarray(rng.integers(low, high, shape).astype(dtype))


def bools(*shape):
    return lambda rng: np.asarray(rng.integers(0, 2, shape).astype("bool"))


def values(data, dtype="float32"):
    return lambda rng: np.asarray(data, dtype)


def longs(*numbers):
    return values(numbers, "int64")


def int32s(*numbers):
    return values(numbers, "int32")


def dtype_number(name):
    return int(getattr(core.VarDesc.VarType, {"float32": "FP32", "float64": "FP64", "float16": "FP16", "bool": "BOOL", "complex64": "COMPLEX64", "complex128": "COMPLEX128"}.get(name, name.upper())))


def _named(slot, drawn):
    base = slot.lower()
    return [(f"{base}{i}", a) for i, a in enumerate(drawn)] if isinstance(drawn, list) else [(base, drawn)]


def _seed(rng, shape, dtype):
    drawn = rng.uniform(-1.5, 1.5, shape)
    return np.asarray((drawn + 1j * rng.uniform(-1.5, 1.5, shape) if dtype.startswith("complex") else drawn).astype(dtype))


def _draw(rng, given):
    if isinstance(given, list):
        return [_draw(rng, g) for g in given]
    return given(rng) if callable(given) else given


def divided(array, levels):
    """A tensor that is divided into sequences."""
    tensor = core.LoDTensor()
    tensor.set(array, paddle.CPUPlace())
    tensor.set_lod(levels)
    return tensor


def flat(levels):
    """Offsets as one array: those of one level as they are; for several levels a column of their number, their sizes, and their offsets."""
    if len(levels) < 2:
        return np.asarray(levels[0] if levels else [], "int64")
    numbers = [len(levels), *map(len, levels), *(offset for level in levels for offset in level)]
    return np.asarray(numbers, "int64")[:, None]


def nested(levels):
    """Whether offsets are those of sequences: some operations keep other indexes in their place."""
    return all(upper[-1] == len(lower) - 1 for upper, lower in zip(levels, levels[1:]))


class Build:
    """One program of a case; without the gradients when `output_gradients` is None."""

    def __init__(self, c, output_gradients=None, dtypes=None):
        self.case = c
        self.dtypes = dtypes or {}
        rng = np.random.default_rng(zlib.crc32(c.name.encode()))
        self.feeds = {}
        self.program = paddle.static.Program()
        self.meta = {"op": c.op, "targets": [], "target_gradients": [], "inputs": [], "gradients": [], "no_grad": True}
        with paddle.static.program_guard(self.program, paddle.static.Program()), unique_name.guard():
            self.block = self.program.global_block()
            inputs = {slot: self._data(slot, _draw(rng, given)) for slot, given in c.inputs.items()}
            for name, given in c.more.items():
                self._data(name, _draw(rng, given))
            outputs = self._outputs()
            for _ in range(c.repeat):
                op = self.block.append_op(type=c.op, inputs=inputs, outputs=outputs, attrs=c.attributes)
            self.fetches = [n for slot, names in outputs.items() if slot not in WITHOUT_VALUE for n in names if n not in c.hidden]
            self.fetches = list(dict.fromkeys(self.fetches))
            self.differentiable = self._differentiable(op, outputs) if c.grad else []
            if output_gradients is not None and self.differentiable:
                self._gradients(rng, output_gradients)
            if c.then and (output_gradients is not None or not self.differentiable):
                self.fetches += c.then(self.block)
        for op in self.block.ops:
            op.desc.remove_attr("op_callstack")

    def _data(self, slot, drawn):
        names = []
        for name, array in _named(slot, drawn):
            shape = self.case.declared.get(name, {}).get("shape", array.shape)
            axes = self.case.unknown.get(name, ())
            levels = len(self.case.lod.get(name, ()))
            data = paddle.static.data(name, [-1 if i in axes else d for i, d in enumerate(shape)], array.dtype.name, lod_level=levels)
            data.stop_gradient = array.dtype.name not in FLOATS or name in self.case.constant or slot in self.case.more
            self.feeds[name] = array
            names.append(name)
        return names

    def _outputs(self):
        self.made = []
        result = {}
        for out in OpProtoHolder.instance().get_op_proto(self.case.op).outputs:
            given = self.case.outputs.get(out.name, None if out.dispensable else out.name.lower())
            if given is None:
                continue
            result[out.name] = [given] if isinstance(given, str) else list(given)
            for name in result[out.name]:
                if not self.block.has_var(name):
                    self.made.append(name)
                    declared = {"dtype": self.dtypes[name]} if name in self.dtypes else {}
                    self.block.create_var(name=name, **declared, **self.case.declared.get(name, {}))
        unknown = set(self.case.outputs) - set(result)
        if unknown:
            raise ValueError(f"{self.case.name}: no output slot {unknown}")
        return result

    def _differentiable(self, op, outputs):
        try:
            grad_ops, _ = core.get_grad_op_desc(op.desc, set(), [])
        except Exception as none:
            # Operations without a gradient answer with an error that says so.
            if "grad" not in str(none).lower():
                raise
            return []
        read = {name for g in grad_ops for name in g.input_arg_names()}
        names = [n for ns in outputs.values() for n in ns if n + "@GRAD" in read]
        return [n for n in names if not self.case.targets or n in self.case.targets]

    def _gradients(self, rng, shapes):
        targets = [self.block.var(n) for n in self.differentiable if n in shapes]
        wrt = [n for n in self.feeds if not self.block.var(n).stop_gradient]
        given = []
        for target in targets:
            shape, dtype = shapes[target.name]
            name = "d_" + target.name
            d = paddle.static.data(name, target.shape, dtype)
            # Some shapes that are inferred when the program is built are not those of the run, and gradients() demands the former.
            if any(a not in (-1, b) for a, b in zip(target.shape, shape)) or len(target.shape) != len(shape):
                d.desc.set_need_check_feed(False)
            given.append(d)
            self.feeds[name] = _seed(rng, shape, dtype)
        found = paddle.static.gradients(targets, [self.block.var(n) for n in wrt], given)
        found = [(n, g.name) for n, g in zip(wrt, found) if g is not None]
        if not found:
            raise ValueError("no gradient was made although the operation has one")
        self.meta.update(
            targets=[t.name for t in targets],
            target_gradients=[g.name for g in given],
            inputs=[n for n, _ in found],
            gradients=[g for _, g in found],
            no_grad=False,
        )
        dense = core.VarDesc.VarType.LOD_TENSOR
        self.fetches += [g for _, g in found if g not in self.case.hidden and self.block.var(g).type == dense]

    def run(self):
        paddle.seed(GENERATOR_SEED)
        executor = paddle.static.Executor(paddle.CPUPlace())
        feeds = {n: divided(a, self.case.lod[n]) if n in self.case.lod else a for n, a in self.feeds.items()}
        fetched = executor.run(self.program, feed=feeds, fetch_list=self.fetches, scope=paddle.static.Scope(), return_numpy=False)
        self.lods = {n: f.lod() for n, f in zip(self.fetches, fetched) if f.lod() and nested(f.lod())}
        return dict(zip(self.fetches, (np.array(f) for f in fetched)))


def compute(c):
    """The entries of one case: program, meta, in/<variable>, out/<variable>, and lod/<variable> of those that are divided into sequences."""
    plain = Build(c)
    forward = plain.run()
    # A first run tells the types, which not every operation infers when a program is built, and the shapes of the output gradients.
    first = next(iter(plain.feeds.values()), np.zeros(0, np.float32)).dtype.name
    dtypes = {n: forward[n].dtype.name if n in forward else first for n in plain.made if n not in c.declared}
    shapes = {n: (v.shape, v.dtype.name) for n, v in forward.items() if n in plain.differentiable and v.dtype.name in FLOATS}
    wanted = any(not plain.block.var(n).stop_gradient for n in plain.feeds)
    build = Build(c, shapes if wanted and shapes else None, dtypes)
    out = build.run()
    program = framework_pb2.ProgramDesc.FromString(build.program.desc.serialize_to_string())
    program.ClearField("op_version_map")
    texts = {"program": program.SerializeToString(), "meta": json.dumps(build.meta, sort_keys=True).encode()}
    entries = {k: np.frombuffer(v, np.uint8) for k, v in texts.items()}
    entries.update({f"in/{n}": v for n, v in build.feeds.items()})
    entries.update({f"out/{n}": v for n, v in out.items()})
    entries.update({f"lod/{n}": flat(levels) for n, levels in {**build.lods, **c.lod}.items()})
    return {f"{c.name}/{k}": v for k, v in entries.items()}


def write(output, parts=(), more=None):
    """Runs the cases, and writes them with what is given besides; with parts of names, runs those cases only and prints what they give. Returns whether any failed."""
    entries, failures = dict(more or {}), 0
    chosen = [c for c in CASES.values() if not parts or any(p in c.name for p in parts)]
    for c in chosen:
        try:
            made = compute(c)
        except Exception:
            failures += 1
            print("FAILED", c.name, traceback.format_exc() if parts else traceback.format_exc().strip().splitlines()[-3:])
            continue
        entries.update(made)
        for key, value in made.items():
            if parts and not key.endswith("/program"):
                print(key, bytes(value).decode() if key.endswith("/meta") else (value.dtype, value.shape, value.tolist()))
            if "/out/" in key and value.dtype.kind == "f" and not np.isfinite(value).all():
                print("not finite:", key)
    if not parts:
        if EVERYTHING:
            output = Path(EVERYTHING) / output.name
            output.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(output, **entries)
        print(f"{len(chosen) - failures} cases, {output.stat().st_size} bytes")
    return failures > 0
