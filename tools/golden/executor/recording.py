"""What the scripts of this folder share: programs as bytes, parameters by formula, and files of a limited size."""
import os
import pathlib
import sys

import numpy as np
import paddle
from paddle import static
from paddle.base import framework
from paddle.base.proto.framework_pb2 import ProgramDesc

import formula

FOLDER = pathlib.Path("executor/src/test/resources/golden")


def begin():
    if os.environ.get("PYTHONHASHSEED") != "0":
        sys.exit("run with PYTHONHASHSEED=0 in the environment, so that two runs write the same programs")
    paddle.enable_static()


def first_program():
    """Lets the next program be numbered as if it were its process's first; no guard of Paddle's does this for name scopes."""
    framework._name_scope = framework.NameScope()


def stripped(content):
    """The program's bytes without call stacks, which name files of the machine that built it."""
    message = ProgramDesc.FromString(content)
    for block in message.blocks:
        for op in block.ops:
            kept = [attribute for attribute in op.attrs if attribute.name != "op_callstack"]
            del op.attrs[:]
            op.attrs.extend(kept)
    return message.SerializeToString()


def as_array(content):
    return np.frombuffer(content, np.uint8)


def stored(program):
    """The bytes of a program, and it as Paddle reads it out of them."""
    content = stripped(program.desc.serialize_to_string())
    return content, static.Program.parse_from_string(content)


def operations(program):
    return [op for block in program.blocks for op in block.ops]


def parameters(program):
    return sorted(parameter.name for parameter in program.all_parameters())


def set_parameters(scope, program, names):
    ops = operations(program)
    for name in names:
        variable = program.global_block().var(name)
        scope.var(name).get_tensor().set(formula.parameter(name, list(variable.shape), ops), paddle.CPUPlace())


def write(name, entries, limit):
    FOLDER.mkdir(parents=True, exist_ok=True)
    target = FOLDER / name
    np.savez_compressed(target, **entries)
    size = target.stat().st_size
    print(len(entries), "entries,", size, "bytes")
    if size >= limit:
        sys.exit(f"{target} has {size} bytes, and must stay below {limit}")
