"""What ONNX Runtime computes from special numbers, operator by operator.

The cases are the sample of ONNX's node tests, with special numbers in place of some elements, in other types of
elements, and with empty axes and axes of length 1: onnx_cases.py OUTPUT [PART OF A NAME].
"""
import gzip
import os
import pickle
import select
import signal
import struct
import sys
import zipfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, numpy_helper

from numbers_of import replaced

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLE = os.path.join(HERE, "../../../onnx/src/test/resources/node-tests.zip")
# How many cases of an operator are templates, and how many elements they should have and have at most.
TEMPLATES, FEWEST, ELEMENTS = 2, 8, 400
SECONDS = 20
TYPES = {"float64": TensorProto.DOUBLE, "float16": TensorProto.FLOAT16, "int32": TensorProto.INT32,
         "int64": TensorProto.INT64, "uint8": TensorProto.UINT8, "int8": TensorProto.INT8}
# Their results are drawn.
WITHOUT = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike",
           "Dropout"}


def templates():
    """The smallest cases of each operator."""
    found = {}
    with zipfile.ZipFile(SAMPLE) as sample:
        names = sorted({n.split("/")[0] for n in sample.namelist() if n.endswith("model.onnx")})
        for name in names:
            model = onnx.load_model_from_string(sample.read(name + "/model.onnx"))
            inputs = []
            while f"{name}/input_{len(inputs)}.pb" in sample.namelist():
                data = sample.read(f"{name}/input_{len(inputs)}.pb")
                try:
                    inputs.append(numpy_helper.to_array(TensorProto.FromString(data)))
                except Exception:
                    inputs = None
                    break
            if len(model.graph.node) != 1 or inputs is None or len(inputs) != len(model.graph.input):
                continue
            node = model.graph.node[0]
            size = sum(a.size for a in inputs)
            if size <= ELEMENTS and node.op_type not in WITHOUT and all(a.dtype.kind in "fiub" for a in inputs):
                found.setdefault((node.domain, node.op_type), []).append(((size < FEWEST, size, name), model, inputs))
    for _, cases in sorted(found.items()):
        yield from sorted(cases, key=lambda each: each[0])[:TEMPLATES]


def retyped(model, dtype, inputs, changed_inputs):
    """
    A model whose operands of float32 have another type. Dimensions are those of the inputs, outputs are not declared,
    and vectors of whole numbers are constants unless they are changed.
    """
    changed = onnx.ModelProto.FromString(model.SerializeToString())
    fed = []
    for i, (value, array) in enumerate(zip(model.graph.input, inputs)):
        declared = changed.graph.input[len(fed)]
        if i not in changed_inputs and array.dtype.kind == "i" and array.ndim < 2:
            changed.graph.initializer.append(numpy_helper.from_array(array, value.name))
            del changed.graph.input[len(fed)]
            continue
        fed.append(array)
        tensor = declared.type.tensor_type
        if dtype and tensor.elem_type == TensorProto.FLOAT:
            tensor.elem_type = TYPES[dtype]
        tensor.shape.Clear()
        for length in array.shape:
            tensor.shape.dim.add().dim_value = length
    for value in changed.graph.output:
        value.ClearField("type")
    return changed.SerializeToString(), fed


def variants(name, model, inputs):
    """Kind, type of elements, model and inputs of each variant of a case."""
    names = [value.name for value in model.graph.input]
    floats = [i for i, a in enumerate(inputs) if a.dtype == np.float32]
    if floats:
        for kind in ("nan", "inf", "small", "huge"):
            given = [replaced(a, kind, f"{name}/{kind}/{names[i]}") if i in floats else a for i, a in enumerate(inputs)]
            yield kind, "float32", *retyped(model, None, given, floats)
        for dtype in TYPES:
            kind = "all" if dtype.startswith("float") else "whole"
            with np.errstate(invalid="ignore"):
                given = [replaced(a.astype(dtype), kind, f"{name}/{kind}/{names[i]}") if i in floats else a
                         for i, a in enumerate(inputs)]
            yield kind, dtype, *retyped(model, dtype, given, floats)
    whole = [i for i, a in enumerate(inputs)
             if a.dtype.kind in "iu" and names[i].lower() in ("x", "y", "a", "b", "data", "input")]
    if whole and not floats:
        given = [replaced(a, "whole", f"{name}/whole/{names[i]}") if i in whole else a for i, a in enumerate(inputs)]
        yield "whole", inputs[whole[0]].dtype.name, *retyped(model, None, given, whole)
    first = inputs[0] if inputs else np.zeros(())
    for axis in range(min(3, first.ndim)):
        for length in (0, 1):
            if first.shape[axis] > length:
                part = tuple(slice(0, length if i == axis else None) for i in range(first.ndim))
                given = [a[part] if a.shape == first.shape else a for a in inputs]
                yield f"length{length}of{axis}", first.dtype.name, *retyped(model, None, given, [0])


def older(model, version):
    """The same model for a former version of the operators."""
    changed = onnx.ModelProto.FromString(model)
    changed.ir_version = min(changed.ir_version, 10)
    for opset in changed.opset_import:
        if opset.domain == "":
            opset.version = min(opset.version, version)
    return changed.SerializeToString()


def computed(model, inputs):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return session.run(None, {value.name: a for value, a in zip(session.get_inputs(), inputs)})


def run(*request):
    """The result of a process of its own, which may crash or hang."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            result = computed(*request)
        except Exception as error:
            result = (str(error).strip().splitlines() or [repr(error)])[-1][:200]
        with os.fdopen(writer, "wb") as file:
            pickle.dump(result, file)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        data = b""
        while select.select([file], [], [], SECONDS)[0]:
            part = os.read(file.fileno(), 1 << 20)
            if not part:
                break
            data += part
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return pickle.loads(data) if data else "crashes or hangs"


def text(value):
    data = value.encode()
    return struct.pack(">H", len(data)) + data


def array(value):
    value = np.asarray(value)
    return (text(value.dtype.str) + struct.pack(f">B{value.ndim}i", value.ndim, *value.shape)
            + value.astype(value.dtype.newbyteorder("<")).tobytes())


def main(output, part=""):
    counts, errors = {}, []
    with gzip.GzipFile(output, "wb", 9, mtime=0) as file:
        for (_, _, name), model, inputs in templates():
            if part not in name:
                continue
            for kind, dtype, variant, given in variants(name, model, inputs):
                results = run(variant, given)
                for version in (21, 18, 16, 13):
                    if isinstance(results, str):
                        variant = older(variant, version)
                        results = run(variant, given)
                case = f"{name} {model.graph.node[0].op_type} {kind} {dtype}"
                plain = not isinstance(results, str) and all(
                    isinstance(r, np.ndarray) and r.dtype.kind in "fiub" and r.size <= 2 * ELEMENTS for r in results)
                if not plain:
                    errors.append(f"{case}: {results if isinstance(results, str) else 'sequences'}")
                    continue
                counts[kind] = counts.get(kind, 0) + 1
                file.write(text(case) + struct.pack(">i", len(variant)) + variant)
                for arrays in (given, results):
                    file.write(struct.pack(">B", len(arrays)) + b"".join(array(a) for a in arrays))
                if part:
                    print(case, [r.tolist() for r in results])
    print(counts, len(errors), "errors", os.path.getsize(output), "bytes")
    with open(output + ".errors.txt", "w") as file:
        file.write("\n".join(errors))


if __name__ == "__main__":
    main(*sys.argv[1:])
