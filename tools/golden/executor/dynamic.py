"""Makes executor/src/test/resources/golden/dynamic.npz: programs whose shapes only the data determine, and what they compute.

Run from the root of the repository: PYTHONHASHSEED=0 python tools/golden/executor/dynamic.py. The hash seed counts because Paddle orders
the arguments of control flow by sets of strings. Made with PaddlePaddle 2.6.2 and NumPy 1.26 on CPU, where two runs write the same file.
The programs are in shapes.py and, those that are trained, in learning.py; the entries of each are

  <name>/main, <name>/startup   ProgramDesc bytes, with op_callstack removed from each operation
  <name>/fetches                names, UTF-8, separated by line ends
  <name>/<k>/in/<feed>          what is fed at the k-th run
  <name>/<k>/out/<i>            the i-th fetch at the k-th run

What main declares as parameters is set by formula.py after startup. The runs follow each other in one scope.
"""
import zlib  # noqa: F401  Before paddle, whose own copy of the library would break Python's.

import paddle
from paddle import static

import learning
import program
import recording
import shapes


def record(name, build):
    recording.first_program()
    program.seed(name)
    main, startup = static.Program(), static.Program()
    with paddle.utils.unique_name.guard(), static.program_guard(main, startup):
        built = build()
    fetches = [each.name for each in built.fetches]
    names = recording.parameters(main)
    (main_bytes, main), (startup_bytes, startup) = recording.stored(main), recording.stored(startup)
    entries = {
        "main": recording.as_array(main_bytes),
        "startup": recording.as_array(startup_bytes),
        "fetches": recording.as_array("\n".join(fetches).encode()),
    }
    scope = static.Scope()
    static.Executor(paddle.CPUPlace()).run(startup, scope=scope)
    recording.set_parameters(scope, main, names)
    for k, feed in enumerate(built.feeds):
        # A new executor for each run: Paddle's keep the lengths of lists, and then fail where a loop runs less often than before.
        executor = static.Executor(paddle.CPUPlace())
        outputs = executor.run(main, feed=feed, fetch_list=fetches, scope=scope)
        entries |= {f"{k}/in/{name}": value for name, value in feed.items()}
        entries |= {f"{k}/out/{i}": output for i, output in enumerate(outputs)}
    return entries


def main():
    recording.begin()
    entries = {}
    for name, build in {**shapes.PROGRAMS, **learning.PROGRAMS}.items():
        recorded = record(name, build)
        print(f"{name:14}", len(recorded["main"]))
        for key, value in recorded.items():
            if "/out/" in key:
                print("   ", key, value.dtype, value.shape, value.reshape(-1)[:6])
        entries |= {f"{name}/{key}": value for key, value in recorded.items()}
    recording.write("dynamic.npz", entries, 400_000)


if __name__ == "__main__":
    main()
