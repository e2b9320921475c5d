#!/usr/bin/env python3
"""Writes models that PyTorch exports to ONNX, with ONNX Runtime's results: exports.py FOLDER [REGEX].

The models have random weights and small configurations, so no network is needed. Each is exported by both of PyTorch's
exporters (torchscript, dynamo), with fixed and with dynamic sizes, for old and new operator sets, and as it is before
the exporter simplifies it; one with dynamic sizes is run with others than those that it was exported with. FOLDER gets the form that node_tests.py writes, a case as soon as it is made: a folder with
model.onnx, its data, input_N.pb and output_N.pb, and a line in cases.txt. REGEX chooses cases by their names, such as
gpt2_dynamo_dynamic. Run the cases with -Dseriatim.onnx=FOLDER. Tested with torch 2.15, torchvision 0.29,
transformers 5.23, onnx 1.23.2 and onnxruntime 1.31.1.
"""
import logging
import pathlib
import re
import shutil
import sys
import traceback
import warnings

import numpy
import onnxruntime
import torch
import torchvision
import transformers
from onnx import numpy_helper
from torch import nn

BATCH = {0: "batch"}
BATCH_LENGTH = {0: "batch", 1: "length"}

# Name: whether the exporter is dynamo's, whether sizes are dynamic, and more options.
EXPORTS = {
    "torchscript_fixed": (False, False, {}),
    "torchscript_dynamic": (False, True, {}),
    "torchscript_opset11": (False, True, {"opset_version": 11}),
    "torchscript_plain": (False, True, {"opset_version": 17, "do_constant_folding": False}),
    "dynamo_fixed": (True, False, {}),
    "dynamo_dynamic": (True, True, {}),
    "dynamo_opset23": (True, True, {"opset_version": 23}),
    "dynamo_plain": (True, True, {"optimize": False}),
}


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 6, 5, padding=2), nn.Sigmoid(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),
            nn.MaxPool2d(2))
        self.classifier = nn.Sequential(
            nn.Flatten(), nn.Linear(400, 120), nn.Tanh(), nn.Dropout(), nn.Linear(120, 10), nn.LogSoftmax(1))

    def forward(self, x):
        return self.classifier(self.features(x))


class Tagger(nn.Module):
    """Tags each word; two layers in both directions."""

    def __init__(self, recurrence):
        super().__init__()
        self.words = nn.Embedding(50, 12)
        self.recurrence = recurrence(12, 16, num_layers=2, bidirectional=True, batch_first=True)
        self.tags = nn.Linear(32, 5)

    def forward(self, words):
        states, _ = self.recurrence(self.words(words))
        return self.tags(states).log_softmax(-1)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, activation="gelu", norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, x, padded):
        return self.encoder(x, src_key_padding_mask=padded)


class Segmenter(nn.Module):
    """The dictionary of torchvision's segmenters as a tensor."""

    def __init__(self):
        super().__init__()
        self.model = torchvision.models.segmentation.deeplabv3_mobilenet_v3_large(
            weights=None, weights_backbone=None, num_classes=5)

    def forward(self, x):
        return self.model(x)["out"]


class First(nn.Module):
    """The first output of a model of transformers, of inputs by these names."""

    def __init__(self, model, *names, **options):
        super().__init__()
        self.model = model
        self.names = names
        self.options = options

    def forward(self, first, second=None):
        values = dict(zip(self.names, (first, second)))
        return self.model(**values, **self.options, return_dict=False)[0]


def image(size, channels=3):
    return lambda batch, length: (torch.randn(batch, channels, size, size),)


def words(batch, length):
    return (torch.randint(3, 50, (batch, length)),)


def masked(batch, length):
    mask = torch.ones(batch, length, dtype=torch.int64)
    mask[0, length - 2:] = 0
    return words(batch, length)[0], mask


def padded(batch, length):
    mask = torch.zeros(batch, length, dtype=torch.bool)
    mask[0, length - 2:] = True
    return torch.randn(batch, length, 16), mask


def vision(name, **options):
    return lambda: getattr(torchvision.models, name)(weights=None, num_classes=10, **options)


def bert():
    config = transformers.BertConfig(vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                                     intermediate_size=64, max_position_embeddings=32)
    return First(transformers.BertForSequenceClassification(config), "input_ids", "attention_mask")


def distilbert():
    config = transformers.DistilBertConfig(vocab_size=50, dim=32, n_layers=2, n_heads=4, hidden_dim=64,
                                           max_position_embeddings=32)
    return First(transformers.DistilBertModel(config), "input_ids", "attention_mask")


def gpt2():
    config = transformers.GPT2Config(vocab_size=50, n_embd=32, n_layer=2, n_head=4, n_positions=32)
    return First(transformers.GPT2LMHeadModel(config), "input_ids", "attention_mask", use_cache=False)


def roberta():
    config = transformers.RobertaConfig(vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                                        intermediate_size=64, max_position_embeddings=40)
    return First(transformers.RobertaForMaskedLM(config), "input_ids", "attention_mask")


def modernbert():
    config = transformers.ModernBertConfig(vocab_size=50, hidden_size=32, num_hidden_layers=3, num_attention_heads=4,
                                           intermediate_size=48, max_position_embeddings=64, pad_token_id=0,
                                           local_attention=4, attn_implementation="sdpa")
    return First(transformers.ModernBertModel(config), "input_ids", "attention_mask")


def whisper():
    config = transformers.WhisperConfig(d_model=32, encoder_layers=2, encoder_attention_heads=4, encoder_ffn_dim=64,
                                        num_mel_bins=8, max_source_positions=20, decoder_layers=1,
                                        decoder_attention_heads=4, decoder_ffn_dim=64, vocab_size=50,
                                        pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1)
    return First(transformers.WhisperModel(config).get_encoder(), "input_features")


def llama():
    config = transformers.LlamaConfig(vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                                      num_key_value_heads=2, intermediate_size=48, max_position_embeddings=64)
    return First(transformers.LlamaForCausalLM(config), "input_ids", "attention_mask", use_cache=False)


# Name: the module, its inputs for a batch and a length, the axes of each input that may be dynamic.
MODELS = {
    "lenet": (LeNet, image(28, 1), [BATCH]),
    "lstm": (lambda: Tagger(nn.LSTM), words, [BATCH_LENGTH]),
    "gru": (lambda: Tagger(nn.GRU), words, [BATCH_LENGTH]),
    "encoder": (Encoder, padded, [BATCH_LENGTH, BATCH_LENGTH]),
    "bert": (bert, masked, [BATCH_LENGTH, BATCH_LENGTH]),
    "gpt2": (gpt2, masked, [BATCH_LENGTH, BATCH_LENGTH]),
    "resnet18": (vision("resnet18"), image(64), [BATCH]),
    "mobilenet": (vision("mobilenet_v3_small"), image(64), [BATCH]),
    "shufflenet": (vision("shufflenet_v2_x0_5"), image(64), [BATCH]),
    "squeezenet": (vision("squeezenet1_1"), image(64), [BATCH]),
    "densenet": (vision("densenet121"), image(64), [BATCH]),
    "efficientnet": (vision("efficientnet_b0"), image(64), [BATCH]),
    "convnext": (vision("convnext_tiny"), image(64), [BATCH]),
    "vit": (lambda: torchvision.models.VisionTransformer(32, 8, 2, 4, 32, 64, num_classes=10), image(32), [BATCH]),
    "deeplab": (Segmenter, image(64), [BATCH]),
    "distilbert": (distilbert, masked, [BATCH_LENGTH, BATCH_LENGTH]),
    "roberta": (roberta, masked, [BATCH_LENGTH, BATCH_LENGTH]),
    "modernbert": (modernbert, masked, [BATCH_LENGTH, BATCH_LENGTH]),
    "whisper": (whisper, lambda batch, length: (torch.randn(batch, 8, 40),), [BATCH]),
    "llama": (llama, masked, [BATCH_LENGTH, BATCH_LENGTH]),
}


def normalised(module, example):
    """The module with the statistics of an example, as random weights else lead to values near zero."""
    normalisations = [each for each in module.modules() if isinstance(each, nn.BatchNorm2d)]
    for each in normalisations:
        each.momentum = 1.0
    if normalisations:
        with torch.no_grad():
            module.train()(*example)
    return module.eval()


def write(folder, name, export):
    """Writes a case; its line of cases.txt."""
    make, inputs, axes = MODELS[name]
    dynamo, dynamic, options = EXPORTS[export]
    recurrent = name in ("lstm", "gru")
    torch.manual_seed(24)
    module = normalised(make(), inputs(8, 6))
    example = inputs(2, 6)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    names = [f"input_{i}" for i in range(len(example))]
    options = {"input_names": names, **options}
    if dynamic and dynamo:
        axes = [BATCH] if recurrent else axes  # Dynamo fixes the length of recurrences.
        parameters = ("first", "second") if isinstance(module, First) else None
        shapes = tuple({axis: torch.export.Dim.DYNAMIC for axis in each} for each in axes)
        options["dynamic_shapes"] = dict(zip(parameters, shapes)) if parameters else shapes
    elif dynamic:
        options["dynamic_axes"] = dict(zip(names, axes))
    with torch.no_grad():
        torch.onnx.export(module, example, str(folder / "model.onnx"), dynamo=dynamo, verbose=False, **options)
    values = [each.numpy() for each in (inputs(3, 6 if dynamo and recurrent else 9) if dynamic else example)]
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    feeds = {each.name: values[names.index(each.name)] for each in session.get_inputs()}
    results = session.run(None, feeds)
    for kind, arrays in (("input", feeds.values()), ("output", results)):
        for i, array in enumerate(arrays):
            (folder / f"{kind}_{i}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())
    return f"{folder.name} 1e-4 {1e-4 * max(float(numpy.abs(each).max()) for each in results):.3e}"


def main():
    root = pathlib.Path(sys.argv[1])
    chosen = re.compile(sys.argv[2] if len(sys.argv) > 2 else "")
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    torch.backends.mha.set_fastpath_enabled(False)  # The exporters know no fused encoder layer.
    root.mkdir(parents=True, exist_ok=True)
    cases = root / "cases.txt"
    cases.touch()
    for model in MODELS:
        for export in EXPORTS:
            name = f"{model}_{export}"
            if not chosen.search(name):
                continue
            try:
                line = write(root / name, model, export)
            except Exception as e:  # What PyTorch cannot export is no case; the report says it.
                print(name, "is not exported:", "".join(traceback.format_exception_only(e))[:400])
                shutil.rmtree(root / name, ignore_errors=True)
                continue
            lines = [each for each in cases.read_text().splitlines() if each.split(" ")[0] != name]
            cases.write_text("\n".join(lines + [line]) + "\n")
            print(line, flush=True)


main()
