"""Makes graph/src/test/resources/golden/operations-elementwise.npz: second and third gradients of element-wise operations, unknown dimensions, odd parameters.

Run from the root of the repository: `python tools/golden/operations/more_elementwise.py [part of a case's name ...]`; with arguments the cases are
run but nothing is written. Made with PaddlePaddle 2.6.2 (CPU) and NumPy 1.26. Entries as in operations.npz.
"""
import sys
from pathlib import Path

import numpy as np

import cases
from cases import bools, case, dtype_number, gradients, ints, rand, values

OUTPUT = Path("graph/src/test/resources/golden/operations-elementwise.npz")


def higher(name, inputs, attributes=None, order=2, wrt=("x",), dtype="float32", **options):
    """Differentiates with regard to `wrt`, then the results with regard to `wrt` and to the gradients that came in, and so on."""
    shapes = {n: inputs[n.upper()](np.random.default_rng(0)).shape for n in wrt}
    more = {f"d2_{n}": rand(*shape, dtype=dtype) for n, shape in shapes.items()}
    if order == 3:
        # One for each of the second gradients; names follow from the order in which they are made.
        out = np.broadcast_shapes(*[given(np.random.default_rng(0)).shape for given in inputs.values()])
        more |= {f"d3_{n}": rand(*shape, dtype=dtype) for n, shape in shapes.items()} | {"d3_d_out": rand(*out, dtype=dtype)}

    def then(block):
        second = gradients(block, [f"{n}@GRAD" for n in wrt], [f"d2_{n}" for n in wrt], [*wrt, "d_out"])
        made = list(second.values())
        if order == 3:
            made += gradients(block, made, [f"d3_{n}" for n in second], [*wrt, "d_out", *[f"d2_{n}" for n in wrt]]).values()
        return made

    case(name, inputs, attributes, more=more, then=then, constant=tuple(n.lower() for n in inputs if n.lower() not in wrt), **options)


away = values([-2.5, -1.2, -0.4, 0.3, 1.1, 2.6])
for op in ("relu", "leaky_relu", "abs", "square"):
    higher(f"{op}.second", {"X": away})
higher("leaky_relu.second_kink", {"X": values([-1, 0, 2])}, {"alpha": 0.3})
higher("elu.second", {"X": away}, {"alpha": 0.7})
higher("softplus.second", {"X": away}, {"beta": 1.5, "threshold": 3.0})
for op in ("log", "sqrt", "rsqrt"):
    higher(f"{op}.second", {"X": rand(2, 3, low=0.3, high=4)})
    higher(f"{op}.second_double", {"X": rand(4, low=0.3, high=4, dtype="float64")}, dtype="float64")
for op in ("sin", "cos", "tanh", "sigmoid"):
    higher(f"{op}.third", {"X": rand(2, 3)}, order=3)
    higher(f"{op}.second_scalar", {"X": rand()})
higher("tanh.second_double", {"X": rand(5, dtype="float64")}, dtype="float64")
for kind, factor in (("cube", 3.0), ("root", 0.5), ("one", 1.0), ("square", 2.0)):
    higher(f"pow.third_{kind}", {"X": rand(2, 3, low=0.4, high=3)}, {"factor": factor}, order=3)
higher("pow.second_tensor", {"X": rand(4, low=0.4, high=3), "FactorTensor": values([2.5])}, {"factor": 7.0})
higher("clip.second", {"X": away}, {"min": -1.0, "max": 2.0})
higher("clip.second_tensors", {"X": away, "Min": values([-1.0]), "Max": values([2.0])}, {"min": -9.0, "max": 9.0})

both = ("x", "y")
positive = {"low": 0.5, "high": 2.5}
for op in ("add", "sub", "mul", "div"):
    order = 3 if op in ("add", "mul") else 2
    higher(f"elementwise_{op}.higher_same", {"X": rand(2, 3), "Y": rand(2, 3, **positive)}, order=order, wrt=both)
    # Paddle's third gradient of a product breaks its heap when shapes broadcast.
    higher(f"elementwise_{op}.higher_right", {"X": rand(2, 3, 2), "Y": rand(3, 1, **positive)}, order=3 if op == "add" else 2, wrt=both)
    higher(f"elementwise_{op}.second_axis", {"X": rand(2, 3, 2, dtype="float64"), "Y": rand(3, dtype="float64", **positive)}, {"axis": 1}, wrt=both, dtype="float64")
    higher(f"elementwise_{op}.second_of_x", {"X": rand(2, 3), "Y": rand(3, **positive)}, wrt=("x",))
    if op != "div":
        # Paddle's second gradient of a quotient reads the gradient of X.
        higher(f"elementwise_{op}.second_of_y", {"X": rand(2, 3), "Y": rand(3, **positive)}, wrt=("y",))

case("elementwise_add.trailing_ones", {"X": rand(2, 4, 3), "Y": rand(3, 1)}, {"axis": 2})
case("elementwise_add.shorter_x", {"X": rand(4), "Y": rand(2, 4, 3)}, {"axis": 1})
case("elementwise_mul.shorter_x", {"X": rand(2, 1), "Y": rand(2, 1, 3)}, {"axis": 0})
case("elementwise_sub.longer_ones", {"X": rand(2, 4, 3), "Y": rand(2, 1, 1, 1)}, {"axis": 0})
case("elementwise_div.whole", {"X": values([7, -7, -7, 7], "int64"), "Y": values([2, 2, -2, -2], "int64")})
case("elementwise_floordiv.whole", {"X": values([7, -7, -7, 7], "int32"), "Y": values([2, 2, -2, -2], "int32")})
case("elementwise_mod.signs", {"X": values([5.5, -5.5, -6, 6]), "Y": values([2, 2, -3, -3])})
case("grad_add.plain", {"X": rand(2, 3), "Y": rand(2, 3)}, declared={"out": {"shape": [2, 3], "dtype": "float32"}})
case("grad_add.row", {"X": rand(2, 3), "Y": rand(3)}, declared={"out": {"shape": [2, 3], "dtype": "float32"}})

case("relu6.beyond", {"X": values([-1, 0, 3, 6, 7], "float64")})
case("mish.low_threshold", {"X": rand(7, low=-3, high=3)}, {"threshold": 0.5})
case("hard_sigmoid.falling", {"X": rand(9, low=-4.1, high=4)}, {"slope": -0.3, "offset": 0.1})
case("hard_swish.parameters_ignored", {"X": rand(7, low=-5.1, high=5)}, {"threshold": 5.0, "scale": 4.0, "offset": 2.0})
case("leaky_relu.negative", {"X": rand(6)}, {"alpha": -0.5})
case("softplus.falling", {"X": rand(5)}, {"beta": -2.0, "threshold": 5.0})
case("pow.tenth", {"X": rand(5, low=0.2, high=3, dtype="float64")}, {"factor": 0.1})
case("pow.zero", {"X": rand(4)}, {"factor": 0.0})
case("pow.fraction_of_long", {"X": ints(4, low=1, high=6)}, {"factor": 2.7})
case("clip.fraction_of_long", {"X": ints(6, low=-9, high=9)}, {"min": -1.5, "max": 2.5})
case("clip.one_tensor", {"X": rand(7), "Max": values([0.3])}, {"min": -1.0, "max": 5.0}, constant=("max",))
case("scale.fraction_of_long", {"X": ints(5, low=-9)}, {"scale": 2.5, "bias": 0.7})
case("scale.bool", {"X": values([True, False], "bool")}, {"scale": 2.0})
case("scale.number", {"X": rand(3, dtype="float64"), "ScaleTensor": values(-1.5)}, {"bias": 0.3, "bias_after_scale": False}, constant=("scaletensor",))
case("increment.fraction_of_long", {"X": values([7], "int64")}, {"step": 1.5})
case("prelu.matrix", {"X": rand(3, 4), "Alpha": rand(4)}, {"mode": "channel"})
case("prelu.number", {"X": rand(3), "Alpha": rand()}, {"mode": "all"})
case("prelu.four", {"X": rand(2, 3, 2, 2, dtype="float64"), "Alpha": rand(1, 3, 1, 1, dtype="float64")}, {"mode": "channel"})
case("round.signs", {"X": values([-0.5, -0.0, 0.49999997, 0.5, 8388609.0, -2.5])}, grad=False)
case("less_than.axis_first", {"X": ints(2, 2, 2, high=3), "Y": ints(2, 2, high=3)}, {"axis": 0})
case("where.bool_condition", {"Condition": bools(3, 2), "X": ints(3, 2, dtype="int32"), "Y": ints(3, 2, dtype="int32")})
case("cast.twice", {"X": rand(4)}, {"in_dtype": dtype_number("float32"), "out_dtype": dtype_number("float64")})


class Unknown(cases.Build):
    """The first dimension of data variables is not known when the program is built."""

    def _data(self, slot, drawn):
        names = super()._data(slot, drawn)
        for name in names if self.case.name in UNKNOWN else ():
            var = self.block.var(name)
            var.desc.set_shape([-1, *var.shape[1:]])
        return names


UNKNOWN = set()
cases.Build = Unknown


def unknown(name, inputs, attributes=None, **options):
    UNKNOWN.add(name)
    case(name, inputs, attributes, **options)


unknown("elementwise_add.unknown_first", {"X": rand(2, 3), "Y": rand(3)})
unknown("elementwise_mul.unknown_axis", {"X": rand(2, 3, 2), "Y": rand(2)}, {"axis": 0})
unknown("elementwise_max.unknown_both", {"X": rand(2, 3), "Y": rand(2, 1)})
unknown("equal.unknown_both", {"X": ints(3), "Y": ints(3)})
unknown("logical_or.unknown_right", {"X": bools(3, 2), "Y": bools(2)})
unknown("where.unknown_all", {"Condition": bools(3, 2), "X": rand(3, 2), "Y": rand(3, 2)})
unknown("sum.unknown_all", {"X": [rand(3, 2), rand(3, 2)]})
unknown("clip.unknown_first", {"X": rand(3, 2)}, {"min": -1.0, "max": 1.0})


if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
