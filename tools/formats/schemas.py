"""Freezes the schemas of the systems that read the files which Seriatim writes: what their operations take.

    python schemas.py paddle2 graph/src/main/resources/io/seriatim/graph/dialect/paddle2.txt    (PaddlePaddle 2.6.2)
    python schemas.py paddle3 graph/src/main/resources/io/seriatim/graph/dialect/paddle3.txt    (PaddlePaddle 3.3.1)
    python schemas.py onnx onnx/src/main/resources/io/seriatim/onnx/emit/onnx.txt               (the package onnx)

Run in the root of the repository, each with a Python that has the system installed.

A line `%N types` names a set of element types. Any other line has five fields, separated by tabs:

    type[@version]   inputs   outputs   attributes   constraints

- a slot is `name`, with `?` if it may be absent, `*` if it takes several variables, and `:T` if constraint T says its element types. An output
  `name=Slot` must be the variable of that input. Inputs of paddle3 are numbers: its operands have positions. No slots at all: nothing is known.
- an attribute is `name:kind`, with `!` if it has no default, `=a/b` if only these values exist, `~pattern` if its text follows a regular expression.
- a constraint is `T=%N` or `T=type,type`.

PaddlePaddle: slots and attributes are those of its OpProto, element types those of its kernels for the CPU; float16 and bfloat16 are added to
float32, since other devices have them. OpProto has no enumerations: ENUMERATIONS is what the kernels of 2.6.2 and 3.3.1 compare with,
and check_written.py runs each value. ONNX: everything is from onnx.defs, enumerations from the documentation of the attributes.
"""
import re
import sys
from pathlib import Path

COMMON = {"op_role", "op_role_var", "op_namescope", "op_callstack", "op_device", "with_quant_attr"}
LAYOUTS_1D, LAYOUTS_2D, LAYOUTS_3D = ["NCL", "NLC"], ["NCHW", "NHWC"], ["NCDHW", "NDHWC"]
INTERPOLATED = ["NCHW", "NHWC", "NCDHW", "NDHWC", "NCW", "NWC"]

# By attribute, or by operation and attribute.
ENUMERATIONS = {
    "padding_algorithm": ["EXPLICIT", "SAME", "VALID"],
    "pooling_type": ["max", "avg"],
    "dropout_implementation": ["downgrade_in_infer", "upscale_in_train"],
    "UPLO": ["L", "U"],
    "normalization": ["backward", "ortho", "forward"],
    "conv2d.data_format": LAYOUTS_2D, "depthwise_conv2d.data_format": LAYOUTS_2D, "conv3d.data_format": LAYOUTS_3D,
    "conv2d_transpose.data_format": LAYOUTS_2D, "depthwise_conv2d_transpose.data_format": LAYOUTS_2D,
    "conv3d_transpose.data_format": LAYOUTS_2D + LAYOUTS_3D, "pool2d.data_format": LAYOUTS_2D, "pool3d.data_format": LAYOUTS_3D,
    "temporal_shift.data_format": LAYOUTS_2D, "pixel_shuffle.data_format": LAYOUTS_2D, "pixel_unshuffle.data_format": LAYOUTS_2D,
    "channel_shuffle.data_format": LAYOUTS_2D, "lrn.data_format": LAYOUTS_2D + ["AnyLayout"], "pad2d.data_format": LAYOUTS_2D, "pad3d.data_format": LAYOUTS_3D,
    "batch_norm.data_layout": LAYOUTS_2D,
    "group_norm.data_layout": LAYOUTS_1D + LAYOUTS_2D + LAYOUTS_3D + ["AnyLayout"], "affine_channel.data_layout": LAYOUTS_2D + ["AnyLayout"],
    "linear_interp_v2.data_layout": INTERPOLATED, "bilinear_interp_v2.data_layout": INTERPOLATED, "trilinear_interp_v2.data_layout": INTERPOLATED,
    "nearest_interp_v2.data_layout": INTERPOLATED, "bicubic_interp_v2.data_layout": INTERPOLATED,
    "pad3d.mode": ["constant", "reflect", "replicate", "circular"],
    "pad2d.mode": ["constant", "reflect", "edge"],
    "prelu.mode": ["all", "channel", "element"],
    "rnn.mode": ["LSTM", "GRU", "RNN_RELU", "RNN_TANH"],
    "qr.mode": ["reduced", "complete", "r"],
    "grid_sampler.mode": ["bilinear", "nearest"],
    "grid_sampler.padding_mode": ["zeros", "border", "reflection"],
    "kldiv_loss.reduction": ["mean", "sum", "batchmean", "none"],
    "nll_loss.reduction": ["mean", "sum", "none"],
    "segment_pool.pooltype": ["SUM", "MEAN", "MAX", "MIN"],
    "sequence_pool.pooltype": ["AVERAGE", "SUM", "SQRT", "MAX", "LAST", "FIRST"],
    "box_coder.code_type": ["encode_center_size", "decode_center_size"],
    "bipartite_match.match_type": ["bipartite", "per_prediction"],
    "auc.curve": ["ROC", "PR"],
    "unpool.unpooling_type": ["max"],
    "lstm.gate_activation": ["sigmoid", "tanh", "relu", "identity"],
    "lstm.cell_activation": ["sigmoid", "tanh", "relu", "identity"],
    "lstm.candidate_activation": ["sigmoid", "tanh", "relu", "identity"],
    "graph_send_recv.reduce_op": ["SUM", "MEAN", "MAX", "MIN"],
    "detection_map.ap_type": ["integral", "11point"],
    "mine_hard_examples.mining_type": ["max_negative", "hard_example"],
    "chunk_eval.chunk_scheme": ["IOB", "IOE", "IOBES", "plain"],
}
PATTERNS = {"einsum.equation": r"(?!.*([a-z])[a-z]*\1)[a-z]*(,[a-z]*)?->[a-z]*"}
# The input whose element type decides which kernel runs, where it is not the first that must be there; None if there is none.
DECIDING = {"chunk_eval": None, "edit_distance": None, "lookup_table": "W", "lookup_table_v2": "W", "where": "X", "multiplex": "X", "select_input": "X", "merge_lod_tensor": "InTrue"}
# Results that must be in the memory of an operand: InferShape of these operations says so.
IN_PLACE = {"batch_norm": {"MeanOut": "Mean", "VarianceOut": "Variance"}, "sync_batch_norm": {"MeanOut": "Mean", "VarianceOut": "Variance"}}
KINDS = ["int32", "float32", "text", "int32s", "float32s", "texts", "bool", "bools", "block", "int64", "blocks", "int64s", "float64s", "var",
         "vars", "float64", "scalar", "scalars"]
ELEMENTS = {"float": "float32", "double": "float64", "int": "int32", "int64_t": "int64", "bool": "bool", "int8_t": "int8", "uint8_t": "uint8",
            "int16_t": "int16", "float16": "float16", "bfloat16": "bfloat16", "complex<float>": "complex64", "complex<double>": "complex128"}
ORDER = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64", "complex64",
         "complex128"]


class Sets:
    """Sets of element types, each written once."""

    def __init__(self):
        self.numbers = {}

    def name(self, types):
        return "%" + str(self.numbers.setdefault(",".join(sorted(types, key=ORDER.index)), len(self.numbers)))

    def lines(self):
        return [f"%{number} {types}" for types, number in self.numbers.items()]


def kernels(core, library="all"):
    """The element types of each operation's kernels; none for those that have no kernels, such as loops."""
    found = {}
    for name, keys in core._get_all_register_op_kernels(library).items():
        types = set()
        for key in keys:
            match = re.match(r"\{data_type\[(?:::)?(?:\w+::)*([^\]]*)\]; data_layout\[Undefined\(AnyLayout\)\]; place\[Place\(cpu\)\]", key)
            element = ELEMENTS.get(match.group(1)) if match else None
            if element:
                types.add(element)
        if types:
            found[name] = types | ({"float16", "bfloat16"} if "float32" in types else set())
    return found


def unusable(core):
    """Operations whose kernels only give views of tensors: programs cannot run them."""
    return {name for name, keys in core._get_all_register_op_kernels("phi").items() if all("data_layout[STRIDED]" in key for key in keys) and keys}


def constraint(sets, types):
    return f"K={sets.name(types)}" if types and types != set(ORDER) - {"uint16", "uint32", "uint64"} else ""


def limited(operation, attribute):
    values = ENUMERATIONS.get(f"{operation}.{attribute}", ENUMERATIONS.get(attribute))
    pattern = PATTERNS.get(f"{operation}.{attribute}")
    return "=" + "/".join(values) if values else "~" + pattern if pattern else ""


def paddle2():
    from paddle.base import core, framework
    sets, lines, types, views = Sets(), [], kernels(core), unusable(core)
    protos = {proto.type: proto for proto in framework.get_all_op_protos()}
    for name in sorted(set(core.get_all_op_names()) | set(protos)):
        if name.endswith("_grad") or name in views:
            continue
        if name not in protos:
            lines.append(f"{name}\t\t\t\t")
            continue
        proto, extra = protos[name], core.get_op_extra_attrs(name)
        defaults = core.get_op_attrs_default_value(name.encode()) if proto.attrs else {}
        key = DECIDING.get(name, next((each.name for each in proto.inputs if not each.dispensable), ""))
        held = constraint(sets, types.get(name)) if key else ""

        def slot(each, absent):
            return each.name + ("?" if absent else "") + ("*" if each.duplicable else "")
        inputs = [slot(each, each.dispensable or each.extra) + (":K" if held and each.name == key else "") for each in proto.inputs]
        outputs = [slot(each, each.dispensable or each.extra or each.intermediate)
                   + ("=" + IN_PLACE[name][each.name] if each.name in IN_PLACE.get(name, {}) else "") for each in proto.outputs]
        attributes = {}
        for each in proto.attrs:
            if each.name not in COMMON:
                absent = each.name in defaults or each.extra or each.name in extra
                attributes[each.name] = f"{each.name}:{KINDS[each.type]}{'' if absent else '!'}{limited(name, each.name)}"
        for each in extra:
            if each not in COMMON:
                attributes.setdefault(each, f"{each}:any")
        lines.append("\t".join([name, " ".join(inputs), " ".join(outputs), " ".join(attributes[each] for each in sorted(attributes)), held]))
    return sets.lines() + lines


def paddle3():
    from paddle.base import core
    sets, lines, types, own = Sets(), [], kernels(core), kernels(core, "phi")
    views = unusable(core)
    table = Path(__file__).resolve().parents[2] / "graph/src/main/resources/io/seriatim/graph/pir/operations.txt"
    for line in table.read_text().splitlines():
        name, old, operands, attributes, _ = line.split("\t")
        if name in views:
            continue
        names = [operand.rstrip("?*") for operand in operands.split(" ")]
        key = names.index(DECIDING[old]) if DECIDING.get(old) in names else 0
        kernel = own.get(name.rstrip("_"), types.get(old))
        held = constraint(sets, kernel) if operands and names[key][0] not in "@-%" and DECIDING.get(old, key) is not None else ""
        limits = []
        for word in attributes.split(" "):
            if word and not word.startswith("!"):
                pir = re.split("[:=]", word)[0]
                here = re.match(r"\w+=(\w+):", word)
                values = limited(old, here.group(1) if here else pir)
                if values:
                    limits.append(f"{pir}:any{values}")
        lines.append("\t".join([name, f"{key}:K" if held else "", "", " ".join(limits), held]))
    return sets.lines() + lines


def onnx():
    import onnx.defs as defs
    kinds = {"INT": "int64", "FLOAT": "float32", "STRING": "text", "INTS": "int64s", "FLOATS": "float32s", "STRINGS": "texts", "TENSOR": "tensor",
             "GRAPH": "graph", "SPARSE_TENSOR": "sparse", "TYPE_PROTO": "type"}
    elements = {"float": "float32", "double": "float64"} | {name: name for name in ORDER}
    automatic = ["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]
    values = {"auto_pad": automatic, "Pad.mode": ["constant", "reflect", "edge", "wrap"], "DepthToSpace.mode": ["DCR", "CRD"],
              "GridSample.padding_mode": ["zeros", "border", "reflection"], "RoiAlign.mode": ["avg", "max"],
              "RoiAlign.coordinate_transformation_mode": ["half_pixel", "output_half_pixel"],
              "Resize.mode": ["nearest", "linear", "cubic"], "Gelu.approximate": ["none", "tanh"],
              "Resize.nearest_mode": ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"],
              "Resize.coordinate_transformation_mode": ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
                                                        "tf_crop_and_resize"],
              "LSTM.direction": ["forward", "reverse", "bidirectional"], "GRU.direction": ["forward", "reverse", "bidirectional"],
              "RNN.direction": ["forward", "reverse", "bidirectional"]}
    changed = {("Pad.mode", 13): ["constant", "reflect", "edge"], ("Pad.mode", 18): ["constant", "reflect", "edge"],
               ("Resize.coordinate_transformation_mode", 13): ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize"],
               ("GridSample.mode", 16): ["bilinear", "nearest", "bicubic"], ("GridSample.mode", 20): ["linear", "nearest", "cubic"],
               ("ScatterElements.reduction", 16): ["none", "add", "mul"], ("ScatterElements.reduction", 18): ["none", "add", "mul", "max", "min"],
               ("ScatterND.reduction", 16): ["none", "add", "mul"], ("ScatterND.reduction", 18): ["none", "add", "mul", "max", "min"]}
    patterns = {"Einsum.equation": r"(?!.*->.*([A-Za-z]).*\1)[A-Za-z,. ]*(->[A-Za-z. ]*)?"}
    sets, lines = Sets(), []
    option = defs.OpSchema.FormalParameterOption

    def set_of(allowed):
        return sorted({elements[match.group(1)] for each in allowed if (match := re.fullmatch(r"tensor\((\w+)\)", each)) and match.group(1) in elements},
                      key=ORDER.index)
    for schema in sorted(defs.get_all_schemas_with_history(), key=lambda each: (each.name, each.since_version)):
        newest = [each.since_version for each in defs.get_all_schemas_with_history()
                  if each.domain == "" and each.name == schema.name and each.since_version <= 17]
        if schema.domain or schema.deprecated or schema.since_version > 20 or (schema.since_version < max(newest, default=0)):
            continue
        constraints = {each.type_param_str: set_of(each.allowed_type_strs) for each in schema.type_constraints}

        def slot(each):
            held = each.type_str
            if held not in constraints:
                constraints[held] = set_of([held])
            marks = ("?" if each.option == option.Optional or (each.option == option.Variadic and each.min_arity == 0) else "") \
                + ("*" if each.option == option.Variadic else "")
            # Several operands of different types have one variable: its types hold for each of them.
            return each.name.split(" ")[0] + marks + ":" + re.sub(r"\W", "", held) + ("" if each.is_homogeneous else "+")
        inputs, outputs = [slot(each) for each in schema.inputs], [slot(each) for each in schema.outputs]
        attributes = []
        for name in sorted(schema.attributes):
            each, key = schema.attributes[name], f"{schema.name}.{name}"
            limits = changed.get((key, schema.since_version), values.get(key, values.get(name)))
            attributes.append(f"{name}:{kinds[each.type.name]}{'!' if each.required else ''}"
                              + ("=" + "/".join(limits) if limits else "~" + patterns[key].replace(" ", r"\x20") if key in patterns else ""))
        lines.append("\t".join([f"{schema.name}@{schema.since_version}", " ".join(inputs), " ".join(outputs), " ".join(attributes),
                                " ".join(f"{re.sub(r'[^A-Za-z0-9_]', '', name)}={sets.name(types)}" for name, types in constraints.items())]))
    return sets.lines() + lines


Path(sys.argv[2]).write_text("\n".join({"paddle2": paddle2, "paddle3": paddle3, "onnx": onnx}[sys.argv[1]]()) + "\n")
