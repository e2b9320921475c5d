"""Writes the operation types of the installed PaddlePaddle with their slots and attributes, without those of gradients.

Usage: python tools/formats/paddle_operations.py graph/src/main/resources/io/seriatim/graph/format/paddle-operations.txt
Each line: type|inputs|outputs|attributes. Slots and attributes are empty for types that have no description in Python.
"""

import sys

from paddle.base import core, framework

COMMON = {"op_role", "op_role_var", "op_namescope", "op_callstack", "op_device", "with_quant_attr"}

protos = {proto.type: proto for proto in framework.get_all_op_protos()}
lines = []
for name in sorted(set(core.get_all_op_names()) | set(protos)):
    if name.endswith("_grad"):
        continue
    inputs, outputs, attributes = [], [], set()
    if name in protos:
        proto = protos[name]
        inputs = [each.name for each in proto.inputs]
        outputs = [each.name for each in proto.outputs]
        attributes = {each.name for each in proto.attrs} | set(core.get_op_extra_attrs(name).keys())
    lines.append("|".join([name, " ".join(inputs), " ".join(outputs), " ".join(sorted(attributes - COMMON))]))
with open(sys.argv[1], "w", encoding="utf-8", newline="\n") as file:
    file.write("\n".join(lines) + "\n")
