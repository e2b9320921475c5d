"""paddle_programs.py PEERS OUT [WORK...]: the training programs that PEERS/python/paddle_bench.py makes, as files for `seriatim run`.

For each of mlp, lenet, gpt, gru_ops and resnet18 a folder OUT/WORK gets main.pdmodel, startup.pdmodel, a .npy for each feed, and the file
loss, which holds the name of the loss. With them, `seriatim run --program main.pdmodel --startup startup.pdmodel --feed x=x.npy --feed y=y.npy
--fetch $(cat loss) --steps 100` makes the steps that `seriatim bench train` measures. Run with PaddlePaddle 2.6.2, numpy 1.26.
"""
import os
import subprocess
import sys

import numpy as np

WORKS = ["mlp", "lenet", "gpt", "gru_ops", "resnet18"]


def save(peers, out, work):
    """Runs the script up to where it begins to train: what it has built by then are its programs and its feeds."""
    script = os.path.join(peers, "python", "paddle_bench.py")
    with open(script) as file:
        built = file.read().split("\nexe.run(su)")[0]
    sys.argv = [script, "1", work]
    sys.path.insert(0, os.path.dirname(script))
    names = {}
    exec(compile(built, script, "exec"), names)
    folder = os.path.join(out, work)
    os.makedirs(folder, exist_ok=True)
    for name, program in (("main", names["main"]), ("startup", names["su"])):
        with open(os.path.join(folder, name + ".pdmodel"), "wb") as file:
            file.write(program.desc.serialize_to_string())
    for name, value in names["feed"].items():
        np.save(os.path.join(folder, name + ".npy"), value)
    with open(os.path.join(folder, "loss"), "w") as file:
        file.write(names["l"].name)


if __name__ == "__main__":
    peers, out, works = sys.argv[1], sys.argv[2], sys.argv[3:]
    if len(works) == 1:
        save(peers, out, works[0])
    else:
        # Each in a process of its own: the names of variables count on.
        for work in works or WORKS:
            subprocess.run([sys.executable, __file__, peers, out, work], check=True)
