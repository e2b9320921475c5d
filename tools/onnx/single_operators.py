"""Every operator of ONNX alone, in many forms, with ONNX Runtime's results: single_operators.py OUTPUT [REGEX] [SHARE].

The templates are the cases of ONNX's own node tests with one node, and those of CASES below. Of each there are forms
with other attributes, older versions, fixed and open sizes (named and unnamed), constant and computed operands, axes
of length 0 and 1, and counts of zero; with named sizes, outputs declare their ranks. Forms that ONNX Runtime runs are
kept, in the format of tools/golden/special/onnx_cases.py. SingleOperatorTest runs them: -Dseriatim.operators=OUTPUT.
REGEX picks templates by name, and of SHARE cases one is kept, chosen by their names: 24 for operators.gz. Tested with
onnx 1.23.2 and onnxruntime 1.32.
"""
import gzip
import hashlib
import multiprocessing
import os
import re
import struct
import sys
import warnings

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../golden/special"))
from onnx_cases import WITHOUT, array, computed, older, text  # noqa: E402

# How many cases of an operator are templates, and how many elements they may have.
TEMPLATES, ELEMENTS = 5, 3000
SECONDS = 20
# What was refused once is part of every share.
ALWAYS = re.compile(r"own\d+_(einsum|tile|topk|convtranspose|hardmax|dft|stft|attention|reducemax|reducemin) .*"
                    r"(base|zero|length0)")
RNG = np.random.default_rng(43)


def real(*dims):
    return RNG.standard_normal(dims).astype(np.float32)


def whole(*values):
    return np.array(values, np.int64)


# Operator, attributes, operands (None where one is left out) and version of what the node tests leave out.
CASES = [
    ("Einsum", {"equation": "ij,jk->ik"}, [real(3, 1), real(4, 2)], 17),
    ("Einsum", {"equation": "bij,bjk->bik"}, [real(1, 3, 4), real(2, 4, 2)], 17),
    ("Einsum", {"equation": "...i,...i"}, [real(2, 1, 3), real(4, 3)], 17),
    ("Einsum", {"equation": "i,i->i"}, [real(1), real(4)], 17),
    ("Einsum", {"equation": "bij,jk,kl->bil"}, [real(2, 3, 1), real(4, 2), real(2, 3)], 17),
    ("Einsum", {"equation": "ij->"}, [real(3, 4)], 17),
    ("Tile", {}, [real(2, 3), whole(0, 2)], 17),
    ("Tile", {}, [real(2, 3), whole(2, 0)], 17),
    ("TopK", {"axis": 0}, [real(4, 3), whole(0)], 17),
    ("ConvTranspose", {"output_shape": [10, 8], "strides": [3, 2]}, [real(1, 2, 3, 3), real(2, 3, 3, 3)], 17),
    ("ConvTranspose", {"output_shape": [8], "strides": [2], "auto_pad": "SAME_LOWER"},
     [real(2, 2, 4), real(2, 2, 3), real(2)], 17),
    ("ConvTranspose", {"output_shape": [9], "strides": [2], "auto_pad": "SAME_UPPER", "group": 2},
     [real(2, 2, 4), real(2, 2, 3)], 17),
    ("ConvTranspose", {"output_padding": [1], "strides": [2], "pads": [1, 0]}, [real(2, 2, 4), real(2, 2, 3)], 17),
    ("ConvTranspose", {"auto_pad": "SAME_UPPER", "strides": [2]}, [real(2, 2, 4), real(2, 2, 3)], 17),
    ("Conv", {"auto_pad": "SAME_LOWER", "strides": [2, 3]}, [real(1, 2, 7, 8), real(3, 2, 3, 2)], 17),
    ("Hardmax", {"axis": 1}, [real(3, 4)], 17),
    ("DFT", {"axis": 1}, [real(2, 5, 1)], 17),
    ("DFT", {"onesided": 1}, [real(2, 6, 1), None, whole(1).reshape(())], 20),
    ("DFT", {}, [real(2, 6, 2), whole(4).reshape(()), whole(1).reshape(())], 20),
    ("DFT", {"inverse": 1}, [real(2, 3, 4, 2), None, whole(-2).reshape(())], 20),
    ("Attention", {}, [real(2, 3, 4, 5), real(2, 3, 6, 5), real(2, 3, 6, 7)], 23),
    ("Attention", {"is_causal": 1}, [real(2, 3, 4, 5), real(2, 3, 6, 5), real(2, 3, 6, 5)], 23),
    ("Attention", {"q_num_heads": 2, "kv_num_heads": 2}, [real(2, 4, 6), real(2, 5, 6), real(2, 5, 6)], 23),
    ("GatherND", {"batch_dims": 1}, [real(2, 3, 4), whole(0, 2).reshape(2, 1)], 17),
    ("Gather", {"axis": 1}, [real(2, 3, 4), whole(0, 2, -1)], 17),
    ("Gather", {}, [real(3, 4), whole(1).reshape(())], 17),
    ("GatherElements", {"axis": 0}, [real(3, 4), whole(0, 2, -1, 1).reshape(1, 4)], 17),
    ("ScatterElements", {"axis": 1, "reduction": "add"}, [real(2, 4), whole(0, 2).reshape(2, 1), real(2, 1)], 18),
    ("ScatterND", {"reduction": "max"}, [real(4, 3), whole(0, 2).reshape(2, 1), real(2, 3)], 18),
    ("Slice", {}, [real(5, 6), whole(4), whole(-100), whole(0), whole(-2)], 17),
    ("Slice", {}, [real(5, 6), whole(1, 0), whole(3, 100)], 17),
    ("Pad", {"mode": "reflect"}, [real(4, 5), whole(1, 0, 2, 0)], 17),
    ("Pad", {"mode": "edge"}, [real(4, 5), whole(1, 0, -1, 2)], 17),
    ("Pad", {}, [real(4, 5), whole(1, 2), np.float32(3), whole(-1)], 18),
    ("Expand", {}, [real(3, 1), whole(2, 1, 4)], 17),
    ("Reshape", {}, [real(2, 3, 4), whole(0, -1)], 17),
    ("Reshape", {}, [real(2, 3, 4), whole(-1, 0, 2)], 17),
    ("Reshape", {"allowzero": 1}, [real(2, 0, 4), whole(0, 4)], 17),
    ("Squeeze", {}, [real(1, 3, 1)], 17),
    ("Squeeze", {}, [real(1, 3, 1), whole(0)], 17),
    ("Unsqueeze", {}, [real(2, 3), whole(-1, 0)], 17),
    ("Split", {"axis": 1}, [real(2, 6), whole(2, 0, 4)], 17),
    ("Split", {"axis": 0, "num_outputs": 2}, [real(3, 2)], 18),
    ("Concat", {"axis": 1}, [real(2, 3), real(2, 1), real(2, 2)], 17),
    ("Range", {}, [np.int64(3), np.int64(-4), np.int64(-2)], 17),
    ("Range", {}, [np.float32(1), np.float32(2.5), np.float32(0.5)], 17),
    ("ConstantOfShape", {}, [whole(2, 0, 3)], 17),
    ("OneHot", {"axis": 0}, [whole(0, 2, -1), np.int64(4), real(2)], 17),
    ("Trilu", {"upper": 0}, [real(3, 4), np.int64(-1)], 17),
    ("EyeLike", {"k": 1}, [real(3, 4)], 17),
    ("CumSum", {"exclusive": 1, "reverse": 1}, [real(3, 4), np.int64(-1)], 17),
    ("Compress", {"axis": 1}, [real(2, 3), np.array([True, False, True])], 17),
    ("NonZero", {}, [np.array([[1, 0, 2], [0, 0, 3]], np.int64)], 17),
    ("Where", {}, [np.array([[True], [False]]), real(1, 3), real(2, 1)], 17),
    ("MatMul", {}, [real(2, 1, 3, 4), real(3, 4, 2)], 17),
    ("MatMul", {}, [real(4), real(3, 4, 2)], 17),
    ("MatMul", {}, [real(2, 3, 4), real(4)], 17),
    ("Gemm", {"transA": 1, "alpha": 0.5, "beta": 2.0}, [real(4, 3), real(4, 2), real(3, 1)], 17),
    ("LayerNormalization", {"axis": 1}, [real(2, 3, 4), real(3, 4), real(3, 4)], 17),
    ("InstanceNormalization", {}, [real(2, 3, 4), real(3), real(3)], 17),
    ("GroupNormalization", {"num_groups": 2}, [real(2, 4, 3), real(4), real(4)], 21),
    ("BatchNormalization", {}, [real(2, 3, 4), real(3), real(3), real(3), np.abs(real(3))], 17),
    ("MaxPool", {"kernel_shape": [3], "strides": [2], "ceil_mode": 1}, [real(1, 2, 6)], 17),
    ("MaxPool", {"kernel_shape": [2, 2], "auto_pad": "SAME_UPPER", "strides": [2, 2]}, [real(1, 2, 5, 3)], 17),
    ("AveragePool", {"kernel_shape": [3], "strides": [2], "pads": [1, 1], "count_include_pad": 1}, [real(1, 2, 6)], 17),
    ("Resize", {"mode": "linear"}, [real(1, 1, 3, 4), None, np.array([1, 1, 2, 0.5], np.float32)], 17),
    ("Resize", {"mode": "nearest"}, [real(1, 1, 3, 4), None, None, whole(1, 1, 6, 3)], 17),
    ("DepthToSpace", {"blocksize": 2, "mode": "CRD"}, [real(1, 8, 2, 3)], 17),
    ("SpaceToDepth", {"blocksize": 2}, [real(1, 2, 4, 6)], 17),
    ("ReverseSequence", {"batch_axis": 0, "time_axis": 1}, [real(3, 4), whole(1, 4, 2)], 17),
    ("LSTM", {"hidden_size": 2}, [real(3, 2, 4), real(1, 8, 4), real(1, 8, 2)], 17),
    ("GRU", {"hidden_size": 2, "direction": "reverse"}, [real(3, 2, 4), real(1, 6, 4), real(1, 6, 2)], 17),
    ("Flatten", {"axis": 2}, [real(2, 3, 4)], 17),
    ("Transpose", {"perm": [2, 0, 1]}, [real(2, 3, 4)], 17),
    ("Shape", {"start": 1, "end": -1}, [real(2, 3, 4)], 17),
    ("Size", {}, [real(2, 3, 4)], 17),
    ("STFT", {}, [real(1, 16, 1), np.int64(4), real(8)], 17),
    ("BlackmanWindow", {"periodic": 0}, [np.int64(6)], 17),
    ("RoiAlign", {"output_height": 2, "output_width": 3},
     [real(1, 2, 6, 6), np.array([[0, 0, 4, 4], [1, 1, 5, 3]], np.float32), whole(0, 0)], 17),
    ("NonMaxSuppression", {}, [np.abs(real(1, 5, 4)), np.abs(real(1, 2, 5)), np.int64(2), np.float32(0.5)], 17),
    ("Unique", {"axis": 1}, [np.array([[1, 2, 1], [3, 4, 3]], np.float32)], 17),
    ("QuantizeLinear", {"axis": 0}, [real(3, 4), np.abs(real(3)), np.zeros(3, np.uint8)], 17),
    ("DequantizeLinear", {"axis": 1}, [np.arange(12, dtype=np.int8).reshape(3, 4), np.abs(real(4))], 17),
] + [(f"Reduce{kind}", {"keepdims": 0}, [data, whole(1)], 18)
     for kind in ("Max", "Min", "Sum", "Prod", "Mean", "L1", "L2", "LogSum", "LogSumExp", "SumSquare")
     for data in (real(2, 3, 2), RNG.integers(-9, 9, (2, 3, 2)), RNG.integers(-9, 9, (2, 3)).astype(np.int32))] + [
    (f"Reduce{kind}", {"keepdims": keep}, [data], 18) for kind in ("Max", "Min") for keep in (0, 1)
    for data in (real(2, 3).astype(np.float64), real(2, 3).astype(np.float16), np.ones((2, 3), np.uint8),
                 np.ones((2, 3), np.int8), np.ones((2, 3), np.bool_))]


def made(operator, attributes, operands, version):
    """A model with one node."""
    names = ["" if each is None else f"x{i}" for i, each in enumerate(operands)]
    fed = [np.asarray(each) for each in operands if each is not None]
    outputs = {"Split": 3, "TopK": 2, "Unique": 4, "LSTM": 3, "GRU": 2}.get(operator, 1)
    if operator == "Split" and "num_outputs" in attributes:
        outputs = 2
    node = helper.make_node(operator, names, [f"y{i}" for i in range(outputs)], **attributes)
    given = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(each.dtype), each.shape)
             for name, each in zip([n for n in names if n], fed)]
    graph = helper.make_graph([node], "g", given, [onnx.ValueInfoProto(name=name) for name in node.output])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=9), fed


def templates():
    """Names, models and operands: some cases of each operator, as different as possible."""
    from onnx.backend.test.case.node import collect_testcases

    for index, case in enumerate(CASES):
        yield f"own{index}_{case[0].lower()}", *made(*case)
    found = {}
    np.random.seed(0)
    for case in collect_testcases(None):
        model = case.model
        if len(model.graph.node) != 1 or model.graph.node[0].op_type in WITHOUT or not case.data_sets:
            continue
        inputs = [np.asarray(each) if isinstance(each, (np.ndarray, np.generic)) else None
                  for each in case.data_sets[0][0]]
        if any(each is None or each.dtype.kind not in "fiub" for each in inputs):
            continue
        if sum(each.size for each in inputs) <= ELEMENTS and len(inputs) == len(model.graph.input):
            node = model.graph.node[0]
            found.setdefault((node.domain, node.op_type), []).append((case.name, model, inputs))
    for _, cases in sorted(found.items()):
        seen = set()
        chosen = []
        for name, model, inputs in sorted(cases, key=lambda each: sum(a.size for a in each[2])):
            node = model.graph.node[0]
            form = (tuple(sorted(a.name for a in node.attribute)), tuple(bool(i) for i in node.input),
                    inputs[0].dtype.kind if inputs else "")
            chosen.append((form in seen, name, model, inputs))
            seen.add(form)
        yield from (each[1:] for each in sorted(chosen, key=lambda each: each[0])[:TEMPLATES])


def declared(model, inputs, sizes, constant):
    """A model whose inputs have the sizes of the operands, or open ones, and whose chosen operands are constants."""
    changed = onnx.ModelProto.FromString(model.SerializeToString())
    fed = []
    given = list(changed.graph.input)
    del changed.graph.input[:]
    for i, (value, operand) in enumerate(zip(given, inputs)):
        if i in constant:
            changed.graph.initializer.append(numpy_helper.from_array(np.asarray(operand), value.name))
            continue
        fed.append(operand)
        shape = value.type.tensor_type.shape
        shape.Clear()
        shape.SetInParent()
        for axis, length in enumerate(operand.shape):
            dim = shape.dim.add()
            if sizes == "fixed":
                dim.dim_value = length
            elif sizes == "named":
                dim.dim_param = f"d{i}_{axis}"
        changed.graph.input.append(value)
    for value in changed.graph.output:
        value.ClearField("type")
    return changed.SerializeToString(), fed


def ranked(model, results):
    """The model, which declares the types and the numbers of dimensions of its outputs, as exporters do."""
    changed = onnx.ModelProto.FromString(model)
    for value, result in zip(changed.graph.output, results):
        dtype = helper.np_dtype_to_tensor_dtype(result.dtype)
        value.CopyFrom(helper.make_tensor_value_info(value.name, dtype, [None] * result.ndim))
    return changed.SerializeToString()


def lists(inputs):
    """Operands that are counts, axes, sizes or numbers of their own."""
    return [i for i, a in enumerate(inputs) if a.dtype.kind == "i" and a.ndim < 2]


def lengths(inputs):
    """Forms of the operands with an axis of length 0 or 1: all that have its length, or one operand alone."""
    for i, first in enumerate(inputs):
        for axis in range(min(4, first.ndim)):
            for length in (0, 1):
                if first.shape[axis] <= length:
                    continue
                part = tuple(slice(0, length if j == axis else None) for j in range(first.ndim))
                yield f"length{length}of{i}.{axis}", [np.asarray(a[part]) if j == i else a for j, a in enumerate(inputs)]
                if i == 0 and len(inputs) > 1:
                    yield f"length{length}of{axis}", [
                        a[part] if a.shape == first.shape
                        else np.asarray(a[tuple(slice(0, length if n == first.shape[axis] else None) for n in a.shape)])
                        for a in inputs]
    for i in lists(inputs):
        if inputs[i].size and inputs[i].any():
            yield f"zero{i}", [np.zeros_like(a) if j == i else a for j, a in enumerate(inputs)]


def attributes(model):
    """Forms of the model: without an attribute, or with another value of one that is small."""
    for index, attribute in enumerate(model.graph.node[0].attribute):
        changes = [("no", None)]
        if attribute.type == onnx.AttributeProto.INT and -4 <= attribute.i <= 4:
            # Others than axes are often flags, which are 0 or 1.
            values = (0, 1, -1) if "axis" in attribute.name else (0, 1)
            changes += [(str(value), value) for value in values if value != attribute.i]
        for label, value in changes:
            changed = onnx.ModelProto.FromString(model.SerializeToString())
            if value is None:
                del changed.graph.node[0].attribute[index]
            else:
                changed.graph.node[0].attribute[index].i = value
            yield f"{label}-{attribute.name}", changed


def forms(model, inputs):
    """Names, models and feeds of the forms of a template."""
    few, every = lists(inputs), range(len(inputs))
    for sizes in ("fixed", "named", "unnamed"):
        for constants, which in (("computed", []), ("counts", few), ("weights", every[1:]), ("only0", every[:1]),
                                 ("all", every)):
            if (which or constants == "computed") and (constants != "all" or sizes == "fixed"):
                yield f"base {sizes} {constants}", *declared(model, inputs, sizes, which)
    for kind, given in lengths(inputs):
        for sizes, constants, which in (("fixed", "counts", few), ("named", "computed", []), ("named", "counts", few),
                                        ("named", "weights", every[1:])):
            if which or constants == "computed" or sizes == "fixed":
                yield f"{kind} {sizes} {constants}", *declared(model, given, sizes, which)
    for kind, other in attributes(model):
        for sizes, constants, which in (("fixed", "counts", few), ("named", "computed", []), ("unnamed", "counts", few)):
            yield f"{kind} {sizes} {constants}", *declared(other, inputs, sizes, which)
    for version in (13, 17, 21):
        for sizes, constants, which in (("fixed", "counts", few), ("named", "computed", [])):
            changed, fed = declared(model, inputs, sizes, which)
            if older(changed, version) != changed:
                yield f"version{version} {sizes} {constants}", older(changed, version), fed


def work(pipe):
    while True:
        request = pipe.recv()
        try:
            pipe.send(computed(*request))
        except Exception as error:
            pipe.send((str(error).strip().splitlines() or [repr(error)])[-1][:200])


class Worker:
    """A process that computes, and that is replaced when it crashes or hangs."""

    def __init__(self):
        self.start()

    def start(self):
        self.pipe, other = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=work, args=(other,), daemon=True)
        self.process.start()
        other.close()

    def run(self, model, inputs):
        self.pipe.send((model, inputs))
        try:
            if self.pipe.poll(SECONDS):
                return self.pipe.recv()
        except EOFError:
            pass
        self.process.kill()
        self.start()
        return "crashes or hangs"


def checked(model, inputs, worker):
    """The model, for an older version if ONNX Runtime does not know its version, and the results or an error."""
    try:
        onnx.checker.check_model(model)
    except Exception as error:
        if "has no type" not in str(error) and "type" not in str(error):
            return model, "checker: " + str(error).splitlines()[0]
    results = worker.run(model, inputs)
    for version in (23, 21, 18, 17, 13):
        if isinstance(results, str) and older(model, version) != model:
            changed = older(model, version)
            results = worker.run(changed, inputs)
            if not isinstance(results, str):
                return changed, results
    return model, results


def main(output, pattern="", share="1"):
    warnings.simplefilter("ignore")
    counts, errors, written = {}, [], set()
    worker = Worker()
    with gzip.GzipFile(output, "wb", 9, mtime=0) as file:
        for name, template, inputs in templates():
            if not re.search(pattern, name):
                continue
            operator = template.graph.node[0].op_type
            for form, model, given in forms(template, inputs):
                case = f"{name} {operator} {form}"
                if int(hashlib.md5(case.encode()).hexdigest(), 16) % int(share) and not ALWAYS.match(case):
                    continue
                model, results = checked(model, given, worker)
                if isinstance(results, str) or not all(isinstance(r, np.ndarray) and r.dtype.kind in "fiub"
                                                       and r.size <= 2 * ELEMENTS for r in results):
                    errors.append(f"{case}: {results if isinstance(results, str) else 'sequences or too large'}")
                    continue
                if " named " in case:
                    model = ranked(model, results)
                data = struct.pack(">i", len(model)) + model
                for arrays in (given, results):
                    data += struct.pack(">B", len(arrays)) + b"".join(array(a) for a in arrays)
                if data not in written:
                    written.add(data)
                    file.write(text(case) + data)
                    counts[operator] = counts.get(operator, 0) + 1
    print(sum(counts.values()), "cases of", len(counts), "operators,", len(errors), "that ONNX Runtime refuses,",
          os.path.getsize(output), "bytes")
    with open(output + ".errors.txt", "w") as file:
        file.write("\n".join(errors))


if __name__ == "__main__":
    main(*sys.argv[1:])
