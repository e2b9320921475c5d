"""Packs models that `networks.py` and `functions.py` saved, as the tests read them.

    python pack.py FOLDER graph/src/test/resources/golden/pir.zip
"""
import json
import sys
import zipfile
from pathlib import Path

with zipfile.ZipFile(sys.argv[2], "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
    for path in sorted(Path(sys.argv[1]).iterdir()):
        data = path.read_bytes()
        if path.suffix == ".json":
            document = json.loads(data)
            strip = [document["program"]["regions"]]
            while strip:
                for region in strip.pop():
                    for block in region["blocks"]:
                        for op in block["ops"]:
                            if op["#"] != "p":
                                op["A"] = [a for a in op["A"] if a["N"] not in ("op_callstack", "struct_name")]
                            strip.append(op.get("regions", []))
            data = json.dumps(document, separators=(",", ":")).encode()
        out.writestr(zipfile.ZipInfo(path.name), data, zipfile.ZIP_DEFLATED, 9)
