"""Derives the table of PIR's operations, `graph/src/main/resources/io/seriatim/graph/pir/operations.txt`, from facts of PaddlePaddle.

    python table.py --yaml CHECKOUT/paddle/phi/ops/yaml --headers SITE-PACKAGES/paddle/include/paddle/fluid/pir/dialect/operator/ir

The yaml files of a checkout of Paddle 3.x give the names that operations, slots and attributes had in Paddle 2.x, and which operands are
optional. The headers of an installed Paddle 3.x give the order of operands and results, and the types of attributes, of exactly that version.
`docs/operations.md` says which operations, slots and attributes there are here. Needs PyYAML.

A line of the table has five fields, separated by tabs:

    PIR's name   type   operands   attributes   results

- an operand is a slot (`X`; `X*` takes a list; `X?` may be absent), or an attribute that PIR passes as a value:
  `@name:int64[1]:Tensor:List` is attribute `name`, given by an operation full of that type and shape (`ints` for full_int_array), or
  by a tensor in slot `Tensor`, or by several in slot `List`; the latter two may be empty or missing. `-` is an operand that has no counterpart
  and is absent; `%uint8` one that has none and is a new tensor of that type.
- an attribute is `name:kind` or `name=other:kind`, where `other` is its name here, with `:default` behind it if it has one. If `other` is empty,
  there is no counterpart and the attribute must have its default. `!other=value` is an attribute here that follows from PIR's name.
- a result is a slot, or `-` if there is no counterpart.

What neither file says stands in `corrections.txt`, in the form of the table; a line there replaces that of the same name, `-name` removes it.
"""
import argparse
import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "graph/src/main/resources/io/seriatim/graph/pir/operations.txt"
KINDS = {"int": "i32", "int64_t": "i64", "float": "f32", "double": "f64", "bool": "bool", "const std::string&": "str",
         "const std::vector<int>&": "i32[]", "const std::vector<int64_t>&": "i64[]", "const std::vector<float>&": "f32[]",
         "const std::vector<double>&": "f64[]", "const std::vector<std::string>&": "str[]", "phi::DataType": "dtype",
         "const phi::Place&": "place", "const Place&": "place", "std::vector<phi::Scalar>": "scalar[]", "const std::vector<bool>&": "bool[]"}
DTYPES = {"i32": "int32", "i64": "int64", "f32": "float32", "f64": "float64", "bool": "bool"}


def split(text):
    """The parameters of a declaration or of yaml's args: commas outside of brackets and quotes."""
    parts, depth, quoted, part = [], 0, False, ""
    for c in text:
        quoted ^= c == '"'
        depth += (c in "<({[") - (c in ">)}]") if not quoted else 0
        if c == "," and depth == 0 and not quoted:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    return parts + ([part.strip()] if part.strip() else [])


def declared():
    """docs/operations.md: type to (input slots, output slots, attribute names)."""
    found = {}
    for line in (ROOT / "docs/operations.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.split(" | ")]
        match = re.match(r"\| `(\w+)`$", cells[0])
        if match and len(cells) > 3 and "→" in cells[1]:
            ins, outs = (side.split() for side in cells[1].strip("`").split("→"))
            slots = [{re.sub(r"[*?~]+$", "", slot): slot for slot in side} for side in (ins, outs)]
            attributes = {re.split(r"[=!]", word)[0] for word in re.sub(r'"[^"]*"|\[[^]]*\]', '""', cells[2].strip("`")).split()}
            found[match.group(1)] = (*slots, attributes)
    return found


def headers(folder):
    """PIR's name to (operands, attributes, results): names in order, with C++ type and default of what Build takes."""
    text = "".join((folder / name).read_text() for name in ("pd_op.h", "manual_op.h"))
    found = {}
    for body in re.split(r"\nclass ", text)[1:]:
        name = re.search(r'name\(\) \{ return "pd_op\.(\w+)"', body)
        builds = re.findall(r"static void Build\((.*?)\);", re.sub(r"//.*", "", body), re.S)
        if not name or not builds:
            continue
        parameters = {}
        for build in builds[::-1]:
            for parameter in split(" ".join(build.split())):
                match = re.match(r"((?:const )?[\w:]+(?:<[^>]*>)?\s?&?)\s*(\w+)\s*(?:=\s*(.*))?$", parameter)
                if match:
                    parameters[match.group(2)] = (match.group(1).replace(" &", "&").strip(), match.group(3))
        operands = {int(i): operand for operand, i in re.findall(r"pir::Value (\w+)\(\) \{ return operand_source\((\d+)\)", body)}
        results = {int(i): result for result, i in re.findall(r"pir::Value (\w+)\(\) \{ return result\((\d+)\)", body)}
        attributes = {key: value for key, value in parameters.items()
                      if not value[0].startswith("pir::") and key not in ("builder", "argument")}
        found[name.group(1)] = ([operands[i] for i in sorted(operands)], attributes, [results[i] for i in sorted(results)])
    return found


def constant(text):
    """A default of C++ as the table says it, or None."""
    if text is None:
        return None
    text = text.strip()
    if text.startswith("{"):
        return "[" + ",".join(constant(part) for part in split(text[1:-1])) + "]"
    if text.startswith("phi::DataType::"):
        return text.rsplit(":", 1)[1].lower()
    if "Place" in text:
        return "cpu" if "CPU" in text else "undefined"
    text = {"INT64_MAX": str(2 ** 63 - 1), "(2 << 12) - 1": "8191"}.get(text, text)
    if text.startswith('"'):
        return text
    number = re.fullmatch(r"(-?[\d.]+(?:e-?\d+)?)[fL]?", text)
    return number.group(1) if number else text


def yaml_facts(folder):
    """The yaml files: PIR's name to yaml's entry, and PIR's name to the entry of op_compat."""
    ops = {}
    for name in ("ops.yaml", "fused_ops.yaml", "inconsistent/static_ops.yaml", "inconsistent/update_ops.yaml"):
        file = folder / name
        for entry in yaml.safe_load((file if file.exists() else folder / file.name).read_text()):
            ops[entry["op"]] = entry
    compat = {}
    for entry in yaml.safe_load((folder / "op_compat.yaml").read_text()):
        match = re.match(r"(\w+)\s*(?:\(\s*(\w+)\s*\))?", entry["op"])
        compat[match.group(1)] = (match.group(2) or match.group(1), entry)
    return ops, compat


def names(mapping):
    """op_compat's renames, whose yaml flow style without spaces after colons gives strings."""
    if isinstance(mapping, dict):
        return {str(key): str(value) for key, value in mapping.items()}
    return {}


def find(name, choices):
    """A name as declared here: itself, or that with other case and underscores."""
    if name in choices:
        return name
    plain = name.replace("_", "").lower()
    return next((choice for choice in choices if choice.replace("_", "").lower() == plain), None)


def line(pir, header, entry, compat, here):
    """A line of the table, or the reason why there is none."""
    old, renames = compat.get(pir.rstrip("_") if pir not in compat else pir, (pir, {}))
    if old not in here:
        return None, f"no type {old}"
    ins, outs, attributes = here[old]
    operands, parameters, results = header
    inputs, outputs, other = (names(renames.get(key)) for key in ("inputs", "outputs", "attrs"))
    optional = [word.strip() for word in str(entry.get("optional", "")).split(",")]
    kinds = {}
    for arg in split(str(entry.get("args", "()"))[1:-1].replace("\n", " ")):
        match = re.match(r"([\w\[\]]+(?:\(\w+\))?)\s+(\w+)", arg)
        if match:
            kinds[match.group(2)] = match.group(1)
    tensors = {**(renames.get("int_array") or {}), **(renames.get("scalar") or {})}
    missing, fields, seen = [], [], set()
    for operand in operands:
        kind, default = parameters.get(operand, (None, None))
        slot = inputs.get(operand) or find(operand, ins)
        folded = operand in tensors and find(other.get(operand, operand), attributes) is not None
        if kind is not None and (slot not in ins or slot in attributes or operand in other or folded):
            attribute = other.get(operand, operand)
            attribute = find(attribute, attributes)
            tensor = tensors.get(operand) or {}
            value = KINDS.get(kind, kind)
            shape = "ints" if value.endswith("[]") else DTYPES.get(value, value) + "[1]"
            slots = [tensor.get("tensor_name") or "", tensor.get("tensors_name") or ""]
            slots = [each if each in ins else "" for each in slots]
            if attribute is None and not any(slots):
                missing.append(f"operand {operand}")
                continue
            seen.add(attribute)
            seen.update(slots)
            fields.append(f"@{attribute or ''}:{shape}" + ("".join(":" + each for each in slots) if slots[1] else
                                                           ":" + slots[0] if slots[0] else ""))
        elif slot in ins:
            seen.add(slot)
            mark = "*" if "*" in ins[slot] else ""
            fields.append(slot + mark + ("?" if operand in optional else ""))
        elif operand in optional:
            fields.append("-")
        else:
            missing.append(f"operand {operand}")
    given = []
    for name, (kind, default) in parameters.items():
        if name in operands:
            continue
        attribute = find(other.get(name, name), attributes)
        if kind not in KINDS:
            missing.append(f"attribute {name} of {kind}")
            continue
        value = KINDS[kind]
        if kinds.get(name) == "IntArray":
            value = "ints"
        elif kinds.get(name, "").startswith("Scalar") and "[" not in value:
            value = "scalar"
        elif kinds.get(name) == "DataLayout":
            value = "layout"
        seen.add(attribute)
        default = constant(default)
        if attribute is None and default is None:
            missing.append(f"attribute {name} without default")
        rename = "" if attribute == name else "=" + (attribute or "")
        given.append(f"{name}{rename}:{value}" + ("" if default is None else ":" + default.replace(" ", "")))
    produced = []
    for result in results:
        slot = outputs.get(result) or find(result, outs) or (next(iter(outs)) if len(outs) == len(results) == 1 else None)
        if slot not in outs:
            slot = find(result, outs)
        produced.append("-" if slot is None else slot + ("*" if "*" in outs[slot] else ""))
        seen.add(slot)
    if all(each == "-" for each in produced) and outs:
        missing.append("results " + " ".join(results))
    missing += [f"required slot {slot} is not given" for slot, marks in ins.items() if slot not in seen and not re.search(r"\?", marks)]
    extra = sorted(attributes - seen - {None})
    text = "\t".join([pir, old, " ".join(fields), " ".join(given), " ".join(produced)])
    return (text, f"extra attributes {extra}" if extra else "") if not missing else (None, "; ".join(missing))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--yaml", type=Path, required=True)
    parser.add_argument("--headers", type=Path, required=True)
    parser.add_argument("--report", action="store_true", help="print what has no line, and attributes that only exist here")
    arguments = parser.parse_args()
    here = declared()
    ops, compat = yaml_facts(arguments.yaml)
    known = headers(arguments.headers)
    table = {}
    for pir, header in sorted(known.items()):
        if pir.endswith(("_grad", "_grad_")) or (pir.endswith("_") and pir[:-1] in known):
            continue
        entry = ops.get(pir, {})
        text, remark = line(pir, header, entry, compat, here)
        if text:
            table[pir] = text
        if arguments.report and remark and not remark.startswith("no type"):
            print(f"{'+' if text else '-'} {pir}: {remark}")
    for correction in (Path(__file__).parent / "corrections.txt").read_text().splitlines():
        if correction.startswith("-"):
            table.pop(correction[1:], None)
        elif correction and not correction.startswith("#"):
            table[correction.split("\t")[0]] = correction
    if arguments.report:
        used = {text.split("\t")[1] for text in table.values()}
        print("types without a line:", " ".join(sorted(type for type in here if type not in used and not type.endswith("_grad"))))
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text("".join(table[pir] + "\n" for pir in sorted(table)))
    print(len(table), "lines")


if __name__ == "__main__":
    main()
