"""Makes graph/src/test/resources/golden/operations-signals.npz: whole programs of paddle.fft, paddle.signal and paddle.linalg with complex numbers, and
their gradients, in the entry format of operations.py, which see. Run from the root of the repository: `python tools/golden/operations/signals.py`.
Made with PaddlePaddle 2.6.2 (CPU) and NumPy 1.26.
"""
import json
import sys
import zlib
from pathlib import Path

import cases
import numpy as np
import paddle
from cases import complexes, rand
from paddle.base import unique_name
from paddle.base.proto import framework_pb2

OUTPUT = Path("graph/src/test/resources/golden/operations-signals.npz")
ENTRIES = {}


def program(name, build, *inputs):
    """A program of some inputs, and the gradients of its result with respect to them for drawn seeds."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    feeds = {f"x{i}": draw(rng) for i, draw in enumerate(inputs)}
    made = paddle.static.Program()
    with paddle.static.program_guard(made, paddle.static.Program()), unique_name.guard():
        variables = [paddle.static.data(n, a.shape, a.dtype.name) for n, a in feeds.items()]
        for v in variables:
            v.stop_gradient = False
        out = build(*variables)
        executor = paddle.static.Executor(paddle.CPUPlace())
        (value,) = executor.run(made, feed=feeds, fetch_list=[out], scope=paddle.static.Scope())
        seed = paddle.static.data("seed", value.shape, value.dtype.name)
        feeds["seed"] = cases._seed(rng, value.shape, value.dtype.name)
        gradients = paddle.static.gradients([out], variables, [seed])
        names = [out.name, *(g.name for g in gradients)]
        results = executor.run(made, feed=feeds, fetch_list=names, scope=paddle.static.Scope())
    for op in made.global_block().ops:
        op.desc.remove_attr("op_callstack")
    desc = framework_pb2.ProgramDesc.FromString(made.desc.serialize_to_string())
    desc.ClearField("op_version_map")
    meta = {"op": name.split(".")[0], "targets": [out.name], "target_gradients": ["seed"], "inputs": [v.name for v in variables]}
    meta.update(gradients=[g.name for g in gradients], no_grad=False)
    texts = {"program": desc.SerializeToString(), "meta": json.dumps(meta, sort_keys=True).encode()}
    ENTRIES.update({f"{name}/{k}": np.frombuffer(v, np.uint8) for k, v in texts.items()})
    ENTRIES.update({f"{name}/in/{n}": v for n, v in feeds.items()})
    ENTRIES.update({f"{name}/out/{n}": np.asarray(v) for n, v in zip(names, results)})


F = paddle.fft
program("signals.fft_real", lambda x: F.fft(x, n=7, norm="ortho"), rand(2, 5))
program("signals.ifft2", lambda x: F.ifft2(x, s=(3, 6)), complexes(2, 4, 4))
program("signals.rfft_power", lambda x: paddle.sum(paddle.abs(F.rfft(x)) ** 2, axis=-1), rand(3, 9))
program("signals.rfftn", lambda x: F.rfftn(x, norm="forward"), rand(2, 3, 4, dtype="float64"))
program("signals.irfft2", lambda x: F.irfft2(x, s=(4, 5)), complexes(4, 4, dtype="complex128"))
program("signals.hfft", lambda x: F.hfft(x, n=7), complexes(2, 5))
program("signals.ihfft", lambda x: F.ihfft(x), rand(2, 6))
program("signals.hfft2", lambda x: F.hfft2(x), complexes(3, 4))
program("signals.convolution", lambda x, y: F.irfft(F.rfft(x, n=11) * F.rfft(y, n=11), n=11), rand(2, 8), rand(4))
program("signals.shifted", lambda x: F.ifftshift(F.fftshift(F.fft(x)) * 0.5), complexes(3, 5))
program("signals.stft", lambda x: paddle.signal.stft(x, n_fft=8, hop_length=3), rand(2, 24))
program("signals.stft_magnitude", lambda x: paddle.abs(paddle.signal.stft(x, 8, 4, center=False, normalized=True)), rand(1, 20))
program("signals.stft_two_sided", lambda x: paddle.imag(paddle.signal.stft(x, n_fft=6, onesided=False)), rand(18, dtype="float64"))
program("signals.istft", lambda x: paddle.signal.istft(x, n_fft=8, hop_length=2), complexes(2, 5, 7))
program("signals.round_trip", lambda x: paddle.signal.istft(paddle.signal.stft(x, n_fft=8, hop_length=2), n_fft=8, hop_length=2, length=20), rand(2, 20))
program("signals.complex_product", lambda x, y: paddle.matmul(x, y) + paddle.conj(x)[:, :2], complexes(3, 3), complexes(3, 2))
program("signals.polar", lambda r, a: paddle.as_real(paddle.complex(r * paddle.cos(a), r * paddle.sin(a))), rand(2, 3, low=0.1), rand(2, 3))
program("signals.mixed", lambda x, y: paddle.real(x * y) / (1.5 + paddle.imag(x)), complexes(2, 3), rand(3, low=2.5, high=3))
program("signals.lu", lambda x: paddle.sum(paddle.linalg.lu_unpack(*paddle.linalg.lu(x))[2] ** 2), rand(4, 3, dtype="float64"))
program("signals.lu_wide", lambda x: paddle.sum(paddle.linalg.lu_unpack(*paddle.linalg.lu(x))[1] ** 2), rand(2, 4, dtype="float64"))
program("signals.spectral_radius", lambda x: paddle.max(paddle.abs(paddle.linalg.eig(x)[0])), rand(4, 4, dtype="float64"))


if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:], ENTRIES))
