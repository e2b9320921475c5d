"""Makes graph/src/test/resources/golden/operations-text.npz: losses of sequences that are not aligned with their labels, chains of tags, distances of
sequences, chunks and beams, in the entry format of operations.py, which see. Run from the root of the repository:
`python tools/golden/operations/text.py`. Made with PaddlePaddle 2.6.2 (CPU) and NumPy 1.26.
"""
import sys
from pathlib import Path

import cases
import numpy as np
from cases import case, drawn, int32s, ints, longs, rand, unknown, values

OUTPUT = Path("graph/src/test/resources/golden/operations-text.npz")


def real(rng, *shape, scale=2.0, dtype="float32"):
    return np.asarray(rng.uniform(-scale, scale, shape).astype(dtype))


def whole(rng, low, high, *shape, dtype="int64"):
    return np.asarray(rng.integers(low, high, shape).astype(dtype))


def floats(rng):
    return ("float32", "float64")[rng.integers(2)]


def offsets(*lengths):
    """One level for sequences of some lengths."""
    return [[0, *(int(n) for n in np.cumsum(lengths))]]


def lengths(rng, least=0, most=5, count=None):
    """Lengths of some sequences, of which the last has rows."""
    return [int(n) for n in (*rng.integers(least, most + 1, (count or int(rng.integers(1, 5))) - 1), rng.integers(1, most + 1))]


# Losses without an alignment.


def ctc(rng):
    batch, classes, width, dtype = int(rng.integers(1, 4)), int(rng.integers(2, 6)), int(rng.integers(1, 4)), floats(rng)
    steps = int(rng.integers(1, 7))
    blank = int(rng.integers(classes))
    label = whole(rng, 0, classes - 1, batch, width, dtype="int32")
    inputs = {
        "Logits": real(rng, steps, batch, classes, dtype=dtype),
        "Label": label + (label >= blank).astype("int32"),
        "LogitsLength": whole(rng, 1, steps + 1, batch),
        "LabelLength": np.append(whole(rng, 0, width + 1, batch - 1), np.int64(1)),
    }
    return inputs, {"blank": blank, "norm_by_times": bool(rng.integers(2))}


def divided_ctc(rng):
    steps = lengths(rng, 1, 6)
    marks, classes = lengths(rng, 0, 3, len(steps)), int(rng.integers(2, 6))
    inputs = {"Logits": real(rng, sum(steps), classes, dtype=floats(rng)), "Label": whole(rng, 1, classes, sum(marks), 1, dtype="int32")}
    return inputs, {"norm_by_times": bool(rng.integers(2))}, {"lod": {"logits": offsets(*steps), "label": offsets(*marks)}, "hidden": ("warpctcgrad",)}


CTC = {"Logits": rand(5, 2, 4), "Label": values([[1, 2, 3], [2, 2, 0]], "int32"), "LogitsLength": longs(5, 4), "LabelLength": longs(3, 2)}
case("warpctc.plain", CTC)
case("warpctc.scaled", CTC, {"norm_by_times": True})
case("warpctc.last_blank", {**CTC, "Label": values([[1, 2, 0], [2, 2, 0]], "int32")}, {"blank": 3})
case("warpctc.too_short", {**CTC, "LogitsLength": longs(2, 2)})
case("warpctc.empty_label", {**CTC, "LabelLength": longs(0, 2)})
case("warpctc.large", {**CTC, "Logits": rand(5, 2, 4, low=-40, high=40, dtype="float64")})
unknown("warpctc.unknown", CTC, {}, {"logits": (0, 1), "label": (0, 1), "logitslength": (0,), "labellength": (0,)})
drawn("warpctc", lambda rng: divided_ctc(rng) if rng.integers(2) else ctc(rng))
DIVIDED = {"Logits": rand(9, 4), "Label": values([[1], [2], [3], [2], [2]], "int32")}
case("warpctc.divided", DIVIDED, lod={"logits": offsets(5, 4), "label": offsets(3, 2)}, hidden=("warpctcgrad",))
unknown("warpctc.divided_unknown", DIVIDED, {"norm_by_times": True}, {"logits": (0,), "label": (0,)}, lod={"logits": offsets(5, 4), "label": offsets(3, 2)}, hidden=("warpctcgrad",))


def transducer(rng):
    batch, steps, width, classes = (int(rng.integers(1, high)) for high in (3, 5, 4, 5))
    blank = int(rng.integers(classes))
    label = whole(rng, 0, max(classes - 1, 1), batch, max(width - 1, 1), dtype="int32")
    scores = real(rng, batch, steps, width, classes, dtype=floats(rng))
    inputs = {
        "input": scores - np.log(np.exp(scores).sum(-1, keepdims=True)) if rng.integers(4) else scores,
        "label": np.minimum(label + (label >= blank).astype("int32"), classes - 1),
        "input_lengths": whole(rng, 1, steps + 1, batch, dtype="int32"),
        "label_lengths": whole(rng, 0, width if classes > 1 else 1, batch, dtype="int32"),
    }
    return inputs, {"blank": blank, "fastemit_lambda": float((0.0, 0.25)[rng.integers(2)])}


RNNT = {"input": rand(2, 4, 3, 5, high=0), "label": values([[1, 2], [3, 3]], "int32"), "input_lengths": int32s(4, 3), "label_lengths": int32s(2, 1)}
case("warprnnt.plain", RNNT)
case("warprnnt.early", RNNT, {"fastemit_lambda": 0.5})
case("warprnnt.empty_labels", {**RNNT, "label_lengths": int32s(0, 0)})
unknown("warprnnt.unknown", RNNT, {}, {"input": (0, 1, 2), "label": (0, 1), "input_lengths": (0,), "label_lengths": (0,)})
drawn("warprnnt", transducer)


def align(rng):
    batch, steps, dtype = int(rng.integers(1, 5)), int(rng.integers(1, 9)), ("int32", "int64")[rng.integers(2)]
    inputs = {"Input": whole(rng, 0, 4, batch, steps, dtype=dtype), "InputLength": whole(rng, 0, steps + 1, batch, 1, dtype=dtype)}
    attributes = {"blank": int(rng.integers(4)), "merge_repeated": bool(rng.integers(2)), "padding_value": int(rng.integers(-1, 3))}
    return inputs, attributes, {"outputs": {"OutputLength": "length"}}


def divided_align(rng):
    n, dtype = lengths(rng, 0, 8), ("int32", "int64")[rng.integers(2)]
    attributes = {"blank": int(rng.integers(4)), "merge_repeated": bool(rng.integers(2))}
    return {"Input": whole(rng, 0, 4, sum(n), 1, dtype=dtype)}, attributes, {"lod": {"input": offsets(*n)}}


ALIGNED = {"Input": values([[0, 1, 1, 0, 1, 2], [3, 3, 0, 0, 0, 0]], "int32"), "InputLength": values([[6], [4]], "int32")}
case("ctc_align.plain", ALIGNED, outputs={"OutputLength": "length"})
case("ctc_align.repeated", ALIGNED, {"merge_repeated": False, "padding_value": -1}, outputs={"OutputLength": "length"})
unknown("ctc_align.unknown", ALIGNED, {}, {"input": (0, 1), "inputlength": (0,)}, outputs={"OutputLength": "length"})
case("ctc_align.divided", {"Input": values([[0], [1], [1], [0], [2], [0]], "int32")}, lod={"input": offsets(4, 0, 2)})
drawn("ctc_align", lambda rng: divided_align(rng) if rng.integers(2) else align(rng))

# Chains of tags.


def chain(rng, labelled, column=True):
    batch, steps, tags, dtype = int(rng.integers(1, 4)), int(rng.integers(1, 6)), int(rng.integers(2, 10)), floats(rng)
    length = (batch, 1) if rng.integers(2) else (batch,)
    inputs = {"Emission": real(rng, batch, steps, tags, scale=1.0, dtype=dtype), "Transition": real(rng, tags + 2, tags, scale=1.0, dtype=dtype)}
    inputs["Length"] = whole(rng, 0, steps + 1, *length)
    if labelled:
        inputs["Label"] = whole(rng, 0, tags, batch, steps, *([1] * int(rng.integers(2)) if column else []))
    return inputs, {}


def divided_chain(rng, labelled):
    n, tags, dtype = lengths(rng), int(rng.integers(2, 10)), floats(rng)
    inputs = {"Emission": real(rng, sum(n), tags, scale=1.0, dtype=dtype), "Transition": real(rng, tags + 2, tags, scale=1.0, dtype=dtype)}
    lod = {"emission": offsets(*n)}
    if labelled:
        inputs["Label"] = whole(rng, 0, tags, sum(n), 1)
        lod["label"] = lod["emission"]
    return inputs, {}, {"lod": lod}


CRF = {"Emission": rand(3, 4, 5), "Transition": rand(7, 5), "Label": ints(3, 4, high=5), "Length": longs(4, 1, 3)}
UNKNOWN = {"emission": (0, 1), "label": (0, 1), "length": (0,)}
case("linear_chain_crf.plain", CRF)
case("linear_chain_crf.double", {**CRF, "Emission": rand(3, 4, 5, dtype="float64"), "Transition": rand(7, 5, dtype="float64")})
case("linear_chain_crf.empty_sequence", {**CRF, "Length": longs(4, 0, 2)})
unknown("linear_chain_crf.unknown", CRF, {}, UNKNOWN)
ROWS = {"Emission": rand(6, 5), "Transition": rand(7, 5), "Label": ints(6, 1, high=5)}
ROW_LOD = {"emission": offsets(2, 0, 4), "label": offsets(2, 0, 4)}
unknown("linear_chain_crf.divided", ROWS, {}, {"emission": (0,), "label": (0,)}, lod=ROW_LOD)
drawn("linear_chain_crf", lambda rng: divided_chain(rng, True) if rng.integers(2) else chain(rng, True))
UNLABELLED = {k: v for k, v in CRF.items() if k != "Label"}
case("crf_decoding.plain", UNLABELLED)
case("crf_decoding.labelled", CRF)
case("crf_decoding.ties", {**UNLABELLED, "Emission": ints(3, 4, 5, high=2, dtype="float32"), "Transition": ints(7, 5, high=2, dtype="float32")})
unknown("crf_decoding.unknown", CRF, {}, UNKNOWN)
unknown("crf_decoding.divided", ROWS, {}, {"emission": (0,), "label": (0,)}, lod=ROW_LOD)
drawn("crf_decoding", lambda rng: divided_chain(rng, bool(rng.integers(2))) if rng.integers(2) else chain(rng, bool(rng.integers(2)), False))


def viterbi(rng):
    batch, steps, tags, dtype = int(rng.integers(1, 4)), int(rng.integers(1, 6)), int(rng.integers(3, 6)), floats(rng)
    inputs = {"Input": real(rng, batch, steps, tags, dtype=dtype), "Transition": real(rng, tags, tags, dtype=dtype)}
    inputs["Length"] = whole(rng, 1, steps + 1, batch)
    return inputs, {"include_bos_eos_tag": bool(rng.integers(2))}


VITERBI = {"Input": rand(3, 4, 5), "Transition": rand(5, 5), "Length": longs(4, 1, 3)}
case("viterbi_decode.plain", VITERBI)
case("viterbi_decode.unbounded", VITERBI, {"include_bos_eos_tag": False})
case("viterbi_decode.short", {**VITERBI, "Length": longs(2, 1, 2)})
case("viterbi_decode.empty_sequence", {**VITERBI, "Length": longs(2, 0, 3)})
unknown("viterbi_decode.unknown", VITERBI, {}, {"input": (0, 1), "length": (0,)})
drawn("viterbi_decode", viterbi)

# Comparisons of sequences.


def edits(rng):
    batch, width, other = (int(n) for n in rng.integers(1, 6, 3))
    inputs = {"Hyps": whole(rng, 0, 3, batch, width), "Refs": whole(rng, 0, 3, batch, other)}
    return {**inputs, "HypsLength": whole(rng, 0, width + 1, batch), "RefsLength": whole(rng, 1, other + 1, batch)}, {"normalized": bool(rng.integers(2))}


def divided_edits(rng):
    of = lengths(rng)
    to = lengths(rng, 1, 5, len(of))
    return {"Hyps": whole(rng, 0, 3, sum(of), 1), "Refs": whole(rng, 0, 3, sum(to), 1)}, {"normalized": bool(rng.integers(2))}, {"lod": {"hyps": offsets(*of), "refs": offsets(*to)}}


EDITS = {"Hyps": ints(3, 5, high=3), "Refs": ints(3, 4, high=3), "HypsLength": longs(5, 0, 2), "RefsLength": longs(4, 3, 1)}
case("edit_distance.plain", EDITS)
case("edit_distance.normalized", EDITS, {"normalized": True})
case("edit_distance.empty", {**EDITS, "RefsLength": longs(0, 0, 3)})
unknown("edit_distance.unknown", EDITS, {}, {"hyps": (0, 1), "refs": (0, 1), "hypslength": (0,), "refslength": (0,)})
unknown("edit_distance.divided", {"Hyps": ints(5, 1, high=3), "Refs": ints(4, 1, high=3)}, {}, {"hyps": (0,), "refs": (0,)}, lod={"hyps": offsets(5, 0), "refs": offsets(1, 3)})
drawn("edit_distance", lambda rng: divided_edits(rng) if rng.integers(2) else edits(rng))

TAGS = {"IOB": 2, "IOE": 2, "IOBES": 4, "plain": 1}


def chunks(rng, scheme=None):
    scheme = scheme or list(TAGS)[rng.integers(4)]
    batch, steps, types = (int(n) for n in rng.integers(1, (4, 9, 4)))
    label = whole(rng, 0, types * TAGS[scheme] + 1, batch, steps)
    guess = np.where(rng.uniform(size=label.shape) < 0.3, whole(rng, 0, types * TAGS[scheme] + 1, batch, steps), label)
    inputs = {"Inference": guess, "Label": label, "SeqLength": whole(rng, 0, steps + 1, batch)}
    excluded = [int(t) for t in range(types) if rng.uniform() < 0.3]
    return inputs, {"num_chunk_types": types, "chunk_scheme": scheme, "excluded_chunk_types": excluded}


def divided_chunks(rng):
    inputs, attributes = chunks(rng)
    n = inputs["SeqLength"]
    if not n.sum():
        return inputs, attributes
    rows = {slot: np.concatenate([row[:k] for row, k in zip(inputs[slot], n)])[:, None] for slot in ("Inference", "Label")}
    return rows, attributes, {"lod": {"inference": offsets(*n), "label": offsets(*n)}}


LABELS = [[0, 1, 1, 6, 2, 3, 4, 0, 6, 1], [5, 5, 4, 2, 1, 0, 6, 6, 3, 2]]
GUESSES = [[0, 1, 1, 6, 2, 2, 4, 0, 1, 1], [5, 5, 4, 2, 1, 0, 6, 0, 3, 2]]
CHUNKS = {"Inference": values(GUESSES, "int64"), "Label": values(LABELS, "int64"), "SeqLength": longs(10, 9)}
for scheme, count in (("IOB", 3), ("IOE", 3), ("IOBES", 2), ("plain", 6)):
    case(f"chunk_eval.{scheme.lower()}", CHUNKS, {"num_chunk_types": count, "chunk_scheme": scheme})
case("chunk_eval.excluded", CHUNKS, {"num_chunk_types": 3, "chunk_scheme": "IOB", "excluded_chunk_types": [0, 2]})
case("chunk_eval.none", {**CHUNKS, "SeqLength": longs(0, 0)}, {"num_chunk_types": 3, "chunk_scheme": "IOB"})
unknown("chunk_eval.unknown", CHUNKS, {"num_chunk_types": 3, "chunk_scheme": "IOB"}, {"inference": (0, 1), "label": (0, 1), "seqlength": (0,)})
drawn("chunk_eval", lambda rng: divided_chunks(rng) if rng.integers(2) else chunks(rng))


def tree(rng):
    steps, batch, width, dtype = *(int(n) for n in rng.integers(1, 5, 3)), ("int32", "int64")[rng.integers(2)]
    return {"Ids": whole(rng, 0, 9, steps, batch, width, dtype=dtype), "Parents": whole(rng, 0, width, steps, batch, width, dtype=dtype)}, {}


case("gather_tree.plain", {"Ids": ints(4, 2, 3), "Parents": ints(4, 2, 3, high=3)})
unknown("gather_tree.unknown", {"Ids": ints(4, 2, 3), "Parents": ints(4, 2, 3, high=3)}, {}, {"ids": (0, 2), "parents": (0, 2)})
drawn("gather_tree", tree)

if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
