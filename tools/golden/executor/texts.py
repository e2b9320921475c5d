"""Makes executor/src/test/resources/golden/texts.npz: a tagger of words, whose tags form a chain, and a reader of lines of text in images.

Run from the root of the repository: PYTHONHASHSEED=0 python tools/golden/executor/texts.py. Made with PaddlePaddle 2.6.2 and NumPy 1.26 on CPU.
The entries of each network are

  <name>/train, <name>/loss     ProgramDesc bytes of the training program, and the loss's name, UTF-8
  <name>/before/<variable>      the persistable variables before the first step
  <name>/losses                 float32[30]: the loss of each step
  <name>/decode                 ProgramDesc bytes of the program that decodes, with the same variables
  <name>/decoded/<variable>     its results on the first batch after training

and <name>/feed/<variable>/<step> are the batches, which are used in turn.
"""
import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import static
from paddle.base.layer_helper import LayerHelper

import formula
import recording

STEPS = 30
BATCHES = 2
WORDS, TAGS, LENGTH = 30, 5, 7
CHARACTERS = 6


def appended(kind, inputs, outputs, attributes=None):
    helper = LayerHelper(kind)
    made = {slot: helper.create_variable_for_type_inference(dtype) for slot, dtype in outputs.items()}
    helper.append_op(type=kind, inputs=inputs, outputs=made, attrs=attributes or {})
    return made


def tagger():
    word, tag = static.data("word", [-1, LENGTH], "int64"), static.data("tag", [-1, LENGTH], "int64")
    length = static.data("length", [-1], "int64")
    states, _ = paddle.nn.LSTM(6, 4, direction="bidirect")(paddle.nn.Embedding(WORDS, 6)(word))
    emission = paddle.nn.Linear(8, TAGS)(states)
    transition = static.create_parameter([TAGS + 2, TAGS], "float32", name="transition")
    chain = {"Emission": emission, "Transition": transition, "Length": length}
    made = appended("linear_chain_crf", {**chain, "Label": tag}, {"Alpha": "float32", "EmissionExps": "float32", "TransitionExps": "float32", "LogLikelihood": "float32"})
    loss = paddle.mean(made["LogLikelihood"])

    def decode():
        path = appended("crf_decoding", chain, {"ViterbiPath": "int64"})["ViterbiPath"]
        inner = paddle.slice(transition, [0], [2], [TAGS + 2])
        scores, best = paddle.text.viterbi_decode(emission, inner, length, include_bos_eos_tag=False)
        right = appended(
            "chunk_eval",
            {"Inference": path, "Label": tag, "SeqLength": length},
            {"Precision": "float32", "Recall": "float32", "F1-Score": "float32", "NumInferChunks": "int64", "NumLabelChunks": "int64", "NumCorrectChunks": "int64"},
            {"num_chunk_types": 2, "chunk_scheme": "IOB"},
        )
        return {"path": path, "scores": scores, "best": best, "right": right["NumCorrectChunks"], "found": right["NumInferChunks"]}

    return loss, decode


def tagger_batch(step):
    lengths = np.array([7, 3, 5, 1], "int64") if step % 2 == 0 else np.array([2, 7, 6], "int64")
    rows = len(lengths)
    return {"word": formula.batch(f"word/{step}", [rows, LENGTH], WORDS), "tag": formula.batch(f"tag/{step}", [rows, LENGTH], TAGS), "length": lengths}


def reader():
    image = static.data("image", [-1, 1, 8, 24])
    label, length = static.data("label", [-1, 4], "int32"), static.data("length", [-1], "int64")
    steps = static.data("steps", [-1], "int64")
    hidden = F.max_pool2d(F.relu(paddle.nn.BatchNorm2D(4)(paddle.nn.Conv2D(1, 4, 3, padding=1)(image))), 2)
    hidden = F.max_pool2d(F.relu(paddle.nn.Conv2D(4, 6, 3, padding=1)(hidden)), (4, 1))
    rows = paddle.transpose(paddle.squeeze(hidden, [2]), [0, 2, 1])
    states, _ = paddle.nn.LSTM(6, 12, direction="bidirect")(rows)
    logits = paddle.transpose(paddle.nn.Linear(24, CHARACTERS)(states), [1, 0, 2])
    loss = F.ctc_loss(logits, label, steps, length, blank=0, reduction="mean")

    def decode():
        # After so few steps, blanks are preferred everywhere: they are held back.
        blanks = paddle.nn.functional.one_hot(paddle.zeros([1], "int64"), CHARACTERS)
        held = paddle.subtract(logits, paddle.scale(blanks, 2.5))
        best = paddle.cast(paddle.transpose(paddle.argmax(held, axis=-1), [1, 0]), "int32")
        made = appended(
            "ctc_align",
            {"Input": best, "InputLength": paddle.cast(paddle.unsqueeze(steps, [1]), "int32")},
            {"Output": "int32", "OutputLength": "int32"},
            {"blank": 0, "padding_value": 0},
        )
        distance = appended(
            "edit_distance",
            {
                "Hyps": paddle.cast(made["Output"], "int64"),
                "Refs": paddle.cast(label, "int64"),
                "HypsLength": paddle.cast(paddle.reshape(made["OutputLength"], [-1]), "int64"),
                "RefsLength": length,
            },
            {"SequenceNum": "int64", "Out": "float32"},
            {"normalized": True},
        )
        return {"text": made["Output"], "length": made["OutputLength"], "distance": distance["Out"]}

    return loss, decode


def reader_batch(step):
    lengths = np.array([4, 2, 3], "int64") if step % 2 == 0 else np.array([1, 4], "int64")
    rows = len(lengths)
    label = formula.batch(f"label/{step}", [rows, 4], CHARACTERS - 1).astype("int32") + 1
    return {"image": formula.batch(f"image/{step}", [rows, 1, 8, 24], 0), "label": label, "length": lengths, "steps": np.full([rows], 12, "int64")}


def persistables(program, scope):
    found = {v.name: scope.find_var(v.name) for v in program.list_vars() if v.persistable}
    return {name: np.array(v.get_tensor()) for name, v in sorted(found.items()) if v is not None and v.get_tensor()._is_initialized()}


def record(network, batch):
    recording.first_program()
    main, startup = static.Program(), static.Program()
    with paddle.utils.unique_name.guard(), static.program_guard(main, startup):
        loss, decode = network()
        decoding = main.clone(for_test=True)
        paddle.optimizer.Adam(0.02).minimize(loss)
    with paddle.utils.unique_name.guard("decode_"), static.program_guard(decoding, static.Program()):
        results = decode()
    executor, scope = static.Executor(paddle.CPUPlace()), static.Scope()
    executor.run(startup, scope=scope)
    recording.set_parameters(scope, main, recording.parameters(main))
    decoding_bytes = recording.stored(decoding)[0]
    entries = {"train": recording.as_array(recording.stored(main)[0]), "loss": recording.as_array(loss.name.encode()), "decode": recording.as_array(decoding_bytes)}
    entries |= {f"before/{name}": value for name, value in persistables(main, scope).items()}
    batches = [batch(step) for step in range(BATCHES)]
    entries |= {f"feed/{name}/{step}": value for step, feed in enumerate(batches) for name, value in feed.items()}
    losses = [executor.run(main, feed=batches[step % BATCHES], fetch_list=[loss.name], scope=scope)[0] for step in range(STEPS)]
    entries["losses"] = np.array(losses, np.float32).reshape(STEPS)
    names = [v.name for v in results.values()]
    fetched = executor.run(decoding, feed=batches[0], fetch_list=names, scope=scope)
    entries |= {f"decoded/{name}": value for name, value in zip(names, fetched)}
    print(entries["losses"], dict(zip(results, (f.tolist() for f in fetched))))
    return entries


def main():
    recording.begin()
    entries = {}
    for name, network, batch in (("tagger", tagger, tagger_batch), ("reader", reader, reader_batch)):
        entries |= {f"{name}/{key}": value for key, value in record(network, batch).items()}
    recording.write("texts.npz", entries, 200_000)


if __name__ == "__main__":
    main()
