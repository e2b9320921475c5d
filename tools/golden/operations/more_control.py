"""Makes graph/src/test/resources/golden/operations-control.npz: steps of optimizers on gradients that hold some rows, and control flow, in the
entry format of operations.py, which see. Run from the root of the repository: `PYTHONHASHSEED=0 python tools/golden/operations/more_control.py`
(Paddle orders the arguments of control flow by sets of strings). Made with PaddlePaddle 2.6.2 (CPU) and NumPy 1.26.
"""
import sys
from pathlib import Path

import cases
import control_flow
from cases import case, rand, values

OUTPUT = Path("graph/src/test/resources/golden/operations-control.npz")
HEIGHT, WIDTH = 5, 3


def sparse_step(name, op, slots, attributes=None, powers=(), dtype="float32"):
    """The gradient of an embedding whose rows 3 and 0 are each looked up twice, and rows 2 and 4 never; two steps with it."""
    states = {slot.lower(): rand(HEIGHT, WIDTH, low=0.05, high=0.9, dtype=dtype) for slot in slots}
    states |= {slot.lower(): values([0.9**2 if "1" in slot else 0.99**2], dtype) for slot in powers}

    def then(block):
        inputs = {slot: [slot.lower()] for slot in (*slots, *powers)}
        outputs = {f"{slot}Out": [slot.lower()] for slot in (*slots, *powers)}
        for _ in range(2):
            block.append_op(
                type=op,
                inputs={"Param": ["w"], "Grad": ["w@GRAD"], "LearningRate": ["rate"], **inputs},
                outputs={"ParamOut": ["w"], **outputs},
                attrs=attributes or {},
            )
        return ["w", *states]

    case(
        f"lookup_table_v2.{name}",
        {"Ids": values([[3, 0], [1, 3], [0, 3]], "int64"), "W": rand(HEIGHT, WIDTH, dtype=dtype)},
        {"is_sparse": True},
        then=then,
        more={"rate": values([0.1], dtype), **states},
    )


MOMENTS, POWERS = ("Moment1", "Moment2"), ("Beta1Pow", "Beta2Pow")
sparse_step("sgd", "sgd", ())
sparse_step("momentum", "momentum", ("Velocity",), {"mu": 0.9})
sparse_step("momentum_nesterov", "momentum", ("Velocity",), {"mu": 0.8, "use_nesterov": True})
decay = {"regularization_method": "l2_decay", "regularization_coeff": 0.2}
sparse_step("momentum_decay", "momentum", ("Velocity",), {"mu": 0.9, **decay})
sparse_step("adagrad", "adagrad", ("Moment",), {"epsilon": 1e-2})
# For rows without a gradient Paddle does not scale epsilon as it does for the others; a tiny one does not show.
tiny = {"beta2": 0.99, "epsilon": 1e-15}
sparse_step("adam", "adam", MOMENTS, tiny, POWERS)
sparse_step("adam_double", "adam", MOMENTS, tiny, POWERS, "float64")
sparse_step("adam_lazy", "adam", MOMENTS, {"beta2": 0.99, "epsilon": 1e-3, "lazy_mode": True}, POWERS)
sparse_step("adam_global_powers", "adam", MOMENTS, {"use_global_beta_pow": True}, POWERS)
sparse_step("lamb", "lamb", MOMENTS, {"beta2": 0.99, "weight_decay": 0.1}, POWERS)
sparse_step("rmsprop", "rmsprop", ("MeanSquare", "Moment", "MeanGrad"), {"decay": 0.9, "epsilon": 1e-3, "momentum": 0.5})
centered = {"decay": 0.9, "epsilon": 1.0, "centered": True}
sparse_step("rmsprop_centered", "rmsprop", ("MeanSquare", "Moment", "MeanGrad"), centered, dtype="float64")


if __name__ == "__main__":
    control = {key: value for name in control_flow.CASES for key, value in control_flow.compute(name).items()}
    sys.exit(cases.write(OUTPUT, sys.argv[1:], control))
