"""Makes graph/src/test/resources/golden/operations-random.npz: distributions drawn by parameters, tensors filled in place, noise in activations,
steps of rarer optimizers and of several parameters, diagonals in Einstein's notation, and different slices, in the entry format of operations.py,
which see. Run from the root of the repository:
`python tools/golden/operations/more_random.py`. Made with PaddlePaddle 2.6.2 (CPU) and NumPy 1.26.
"""
import sys
from pathlib import Path

import cases
from cases import case, drawn, int32s, ints, rand, unknown, values

OUTPUT = Path("graph/src/test/resources/golden/operations-random.npz")
TYPES = ("float32", "float64")


def shape(rng, least=1, most=3):
    return tuple(int(d) for d in rng.integers(1, 6, rng.integers(least, most + 1)))


def dtype(rng):
    return TYPES[rng.integers(len(TYPES))]


def number(rng, low, high):
    return round(float(rng.uniform(low, high)), 3)


case("poisson.small", {"X": values([0, 0.01, 1, 3.5, 11.99])})
case("poisson.large", {"X": values([12, 12.5, 40, 1000, 123456.5, 1e9], "float64")})
case("poisson.all", {"X": rand(4, 25, low=0, high=60)})
case("poisson.special", {"X": values([-3, float("nan"), 0])})
case("poisson.empty", {"X": values([[]])}, grad=False)
unknown("poisson.unknown", {"X": rand(2, 3, low=0, high=5)}, {}, {"x": (0,)})
drawn("poisson", lambda rng: ({"X": rand(*shape(rng), low=0, high=number(rng, 1, 90), dtype=dtype(rng))}, {}))

case("exponential.plain", {"X": rand(3, 4)})
case("exponential.rate", {"X": rand(7, dtype="float64")}, {"lambda": 2.5})
case("exponential.empty", {"X": values([[]])}, grad=False)
unknown("exponential.unknown", {"X": rand(2, 3)}, {}, {"x": (1,)})
drawn("exponential", lambda rng: ({"X": rand(*shape(rng), dtype=dtype(rng))}, {"lambda": number(rng, 0.01, 10)}))

case("dirichlet.plain", {"Alpha": values([[0.5, 1, 2], [3, 4, 0.1]])}, grad=False)
case("dirichlet.double", {"Alpha": rand(2, 2, 4, low=0.02, high=5, dtype="float64")}, grad=False)
case("dirichlet.zeros", {"Alpha": values([0, 0, 1])}, grad=False)
case("dirichlet.one", {"Alpha": values([[2.5], [0.3]])}, grad=False)
unknown("dirichlet.unknown", {"Alpha": rand(2, 3, low=0.1, high=3)}, {}, {"alpha": (0,)}, grad=False)
drawn("dirichlet", lambda rng: ({"Alpha": rand(*shape(rng), low=0.01, high=number(rng, 0.5, 30), dtype=dtype(rng))}, {}, {"grad": False}))

case("rrelu.plain", {"X": rand(3, 4)})
case("rrelu.double", {"X": rand(9, dtype="float64")}, {"lower": 0.0, "upper": 1.0})
case("rrelu.test", {"X": rand(3, 4)}, {"is_test": True, "lower": 0.1, "upper": 0.4})
case("rrelu.same", {"X": rand(5)}, {"lower": 0.25, "upper": 0.25})
case("rrelu.special", {"X": values([0, -0.0, float("inf"), float("-inf"), float("nan")])}, grad=False)
unknown("rrelu.unknown", {"X": rand(2, 3)}, {}, {"x": (0,)})


def sloped(rng):
    lower = number(rng, 0, 0.6)
    attributes = {"is_test": bool(rng.integers(3) == 0), "lower": lower, "upper": number(rng, lower, 1)}
    return {"X": rand(*shape(rng), dtype=dtype(rng))}, attributes


drawn("rrelu", sloped)

case("gaussian_inplace.plain", {"x": rand(3, 3)})
case("gaussian_inplace.seed", {"x": rand(5, dtype="float64")}, {"mean": 2.0, "std": 0.5, "seed": 9})
unknown("gaussian_inplace.unknown", {"x": rand(2, 3)}, {}, {"x": (0,)})
case("uniform_random_inplace.plain", {"X": rand(3, 3)})
case("uniform_random_inplace.seed", {"X": rand(5, dtype="float64")}, {"min": 2.0, "max": 2.5, "seed": 9})
case("uniform_random_inplace.diagonal", {"X": rand(3, 3)}, {"diag_num": 3, "diag_step": 3, "diag_val": 7.0})
unknown("uniform_random_inplace.unknown", {"X": rand(2, 3)}, {}, {"x": (0,)})


def seed(rng):
    return int(rng.integers(2) * rng.integers(1, 1000))


def normal(rng):
    attributes = {"mean": number(rng, -3, 3), "std": number(rng, 0, 4), "seed": seed(rng)}
    return {"x": rand(*shape(rng), dtype=dtype(rng))}, attributes


def uniform(rng):
    low = number(rng, -5, 5)
    return {"X": rand(*shape(rng), dtype=dtype(rng))}, {"min": low, "max": number(rng, low, 9), "seed": seed(rng)}


drawn("gaussian_inplace", normal)
drawn("uniform_random_inplace", uniform)

UP, DOWN = "upscale_in_train", "downgrade_in_infer"
case("dropout_nd.last", {"X": rand(2, 5)}, {"axis": [1], "dropout_implementation": UP})
case("dropout_nd.all", {"X": rand(2, 5, dtype="float64")}, {"axis": [0, 1], "dropout_prob": 0.3, "dropout_implementation": UP})
# Paddle's gradient repeats the mask as it lies in memory, which is right along the first axes only.
case("dropout_nd.first", {"X": rand(4, 3)}, {"axis": [0], "dropout_implementation": DOWN}, grad=False)
case("dropout_nd.images", {"X": rand(2, 3, 2, 2)}, {"axis": [0, 1], "dropout_prob": 0.4, "dropout_implementation": UP}, grad=False)
case("dropout_nd.middle", {"X": rand(2, 3, 4)}, {"axis": [1], "seed": 5, "fix_seed": True}, grad=False)
case("dropout_nd.none", {"X": rand(2, 3)}, {"axis": [], "dropout_implementation": UP}, grad=False)
case("dropout_nd.test_up", {"X": rand(2, 3)}, {"axis": [0], "is_test": True, "dropout_implementation": UP}, hidden=("mask",), grad=False)
case("dropout_nd.test_down", {"X": rand(2, 3)}, {"axis": [0], "is_test": True, "dropout_prob": 0.3}, hidden=("mask",), grad=False)
case("dropout_nd.certain", {"X": rand(2, 3)}, {"axis": [0, 1], "dropout_prob": 1.0, "dropout_implementation": UP})
case("dropout_nd.seed", {"X": rand(3, 4), "Seed": int32s(77)}, {"axis": [1], "dropout_implementation": UP})
unknown("dropout_nd.unknown", {"X": rand(2, 3)}, {"axis": [0]}, {"x": (0,)}, grad=False)


def dropped(rng):
    dims = shape(rng)
    axes = sorted(int(a) for a in rng.permutation(len(dims))[: rng.integers(1, len(dims) + 1)])
    attributes = {"axis": axes, "dropout_prob": number(rng, 0, 1), "dropout_implementation": UP if rng.integers(2) else DOWN}
    return {"X": rand(*dims, dtype=dtype(rng))}, attributes, {"grad": axes == list(range(len(dims)))}


drawn("dropout_nd", dropped)


def step(name, states=(), attributes=None, dims=(2, 3), of="float32", inputs=None, **options):
    """A step whose outputs are the variables of its inputs, as in the programs that Paddle builds."""
    given = {"Param": rand(*dims, dtype=of), "Grad": rand(*dims, dtype=of), "LearningRate": values([0.1], of)}
    given.update({slot: rand(*dims, low=0.05, high=0.9, dtype=of) for slot in states})
    given.update(inputs or {})
    outputs = {"ParamOut": "param"}
    for slot in states:
        outputs[slot.replace("Accumulator", "Accum") + "Out"] = slot.lower()
    return name, given, attributes or {}, {"outputs": outputs, "grad": False, **options}


def steps(*given, **options):
    name, inputs, attributes, more = step(*given, **options)
    case(name, inputs, attributes, **more)


def drawn_step(op, states, attributes, types=("float32",)):
    """Most have kernels of single precision only."""

    def draw(rng):
        dims, of = shape(rng), types[rng.integers(len(types))]
        rate = {"LearningRate": values([number(rng, 0.001, 0.5)], of)}
        return step(op, states, attributes(rng), dims, of, inputs=rate, repeat=int(rng.integers(1, 4)))[1:]

    drawn(op, draw)


steps("decayed_adagrad.plain", ("Moment",), repeat=2)
steps("decayed_adagrad.attributes", ("Moment",), {"decay": 0.8, "epsilon": 1e-2})
drawn_step("decayed_adagrad", ("Moment",), lambda rng: {"decay": number(rng, 0, 1), "epsilon": number(rng, 1e-3, 0.1)})

steps("proximal_gd.plain", repeat=2)
steps("proximal_gd.both", (), {"l1": 3.0, "l2": 0.5})
steps("proximal_gd.second", (), {"l2": 0.5})
steps("proximal_gd.negative", (), {"l1": -2.0, "l2": 0.1})
drawn_step("proximal_gd", (), lambda rng: {"l1": max(number(rng, -2, 5), 0.0), "l2": number(rng, 0, 1)})

FTRL = ("SquaredAccumulator", "LinearAccumulator")
steps("ftrl.plain", FTRL, repeat=2)
steps("ftrl.both", FTRL, {"l1": 0.5, "l2": 0.2}, inputs={"LinearAccumulator": rand(2, 3, low=-2, high=2)})
steps("ftrl.power", FTRL, {"l1": 0.1, "l2": 0.2, "lr_power": -0.7}, repeat=2)
drawn_step("ftrl", FTRL, lambda rng: {"l1": number(rng, 0, 1), "l2": number(rng, 0, 1), "lr_power": (-0.5, -0.3, -1.0)[rng.integers(3)]})

steps("dpsgd.plain", (), {"seed": 5}, repeat=2)
steps("dpsgd.clipped", (), {"seed": 9, "clip": 0.5, "batch_size": 4.0, "sigma": 0.3})
steps("dpsgd.double", (), {"seed": 2147483647, "clip": 2.0}, of="float64")
drawn_step("dpsgd", (), lambda rng: {"seed": int(rng.integers(1, 10**9)), "clip": number(rng, 0.2, 20), "batch_size": number(rng, 1, 64), "sigma": number(rng, 0, 3)}, TYPES)


def merged(name, states, attributes, dims, of="float32", rates=0, numbers=(), repeat=1):
    """A step of one parameter for each shape; `numbers` are slots with one number a parameter."""
    lists = {slot: [rand(*d, dtype=of) for d in dims] for slot in ("Param", "Grad")}
    lists.update({slot: [rand(*d, low=0.05, high=0.9, dtype=of) for d in dims] for slot in states})
    lists.update({slot: [values([0.9 - 0.1 * i], of) for i in range(len(dims))] for slot in numbers})
    outputs = {slot + "Out": [f"{slot.lower()}{i}" for i in range(len(dims))] for slot in lists if slot != "Grad"}
    lists["LearningRate"] = [values([0.1 + 0.05 * i], of) for i in range(rates or len(dims))]
    return lists, attributes, {"outputs": outputs, "grad": False, "repeat": repeat}


def merged_case(name, *given, **options):
    inputs, attributes, more = merged(name, *given, **options)
    case(name, inputs, attributes, **more)


SHAPES = [(2, 3), (4,), (1, 2, 2)]
MOMENTS, POWERS = ("Moment1", "Moment2"), ("Beta1Pow", "Beta2Pow")
merged_case("merged_adam.plain", MOMENTS, {}, SHAPES, numbers=POWERS, repeat=2)
merged_case("merged_adam.betas", MOMENTS, {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3}, SHAPES[:2], of="float64", numbers=POWERS)
merged_case("merged_adam.global_powers", MOMENTS, {"use_global_beta_pow": True}, SHAPES[:1], numbers=POWERS)
merged_case("merged_momentum.plain", ("Velocity",), {"mu": 0.9}, SHAPES, repeat=2)
merged_case("merged_momentum.one_rate", ("Velocity",), {"mu": 0.9, "rescale_grad": 0.5}, SHAPES[:2], rates=1)
merged_case("merged_momentum.nesterov", ("Velocity",), {"mu": 0.8, "use_nesterov": True, "rescale_grad": 0.5}, SHAPES[:2], of="float64", rates=1)
DECAYED = {"regularization_method": ["l2_decay", "", "l2_decay"], "regularization_coeff": [0.1, 0.7, 0.2]}
merged_case("merged_momentum.decayed", ("Velocity",), {"mu": 0.9, **DECAYED, "rescale_grad": 2.0}, SHAPES)


def adams(rng):
    shapes = [shape(rng, most=2) for _ in range(rng.integers(1, 4))]
    attributes = {"beta1": number(rng, 0.5, 0.95), "beta2": number(rng, 0.8, 0.999), "epsilon": number(rng, 1e-3, 0.1)}
    return merged("merged_adam", MOMENTS, attributes, shapes, dtype(rng), numbers=POWERS, repeat=int(rng.integers(1, 3)))


def momenta(rng):
    shapes = [shape(rng, most=2) for _ in range(rng.integers(1, 4))]
    attributes = {"mu": number(rng, 0, 1), "use_nesterov": bool(rng.integers(2)), "rescale_grad": number(rng, 0.5, 2)}
    if rng.integers(2):
        attributes["regularization_method"] = [("", "l2_decay")[rng.integers(2)] for _ in shapes]
        attributes["regularization_coeff"] = [number(rng, 0, 0.5) for _ in shapes]
    return merged("merged_momentum", ("Velocity",), attributes, shapes, dtype(rng), int(rng.integers(2)), repeat=int(rng.integers(1, 3)))


drawn("merged_adam", adams)
drawn("merged_momentum", momenta)


def einsum(name, equation, *shapes, of="float32"):
    operands = [rand(*dims, dtype=of) for dims in shapes]
    outputs = {slot: [f"{slot.lower()}{i}" for i in range(len(shapes))] for slot in ("InnerCache", "XShape")}
    # Paddle infers no shapes of the caches.
    declared = {f"innercache{i}": {"shape": dims, "dtype": of} for i, dims in enumerate(shapes)}
    inputs = {"Operands": operands}
    case(f"einsum.{name}", inputs, {"equation": equation}, outputs=outputs, hidden=outputs["InnerCache"], declared=declared)


einsum("diagonal", "ii->i", (3, 3))
einsum("trace", "ii->", (4, 4), of="float64")
einsum("outer_diagonal", "iji->ij", (3, 2, 3))
einsum("twice", "iii->i", (3, 3, 3))
einsum("traces", "ii,jj->ij", (3, 3), (2, 2))
einsum("with_vector", "bii,i->b", (2, 3, 3), (3,))
einsum("matrix_of_diagonal", "i->ii", (3,))

INDEXES = {"Indices": "indices", "Index": "index", "Counts": "counts"}
SORTED = {"is_sorted": True, "return_index": True, "return_inverse": True, "return_counts": True}
case("unique.rows", {"X": ints(7, 2, high=2)}, {"axis": [0], **SORTED}, outputs=INDEXES)
case("unique.columns", {"X": ints(2, 8, high=2, dtype="int32")}, {"axis": [1], "dtype": 2, **SORTED}, outputs=INDEXES)
case("unique.middle", {"X": values([[[1, 0.5], [-1, 2], [1, 0.5]], [[3, 0], [0, 0], [3, 0]]], "float64")}, {"axis": [1], **SORTED}, outputs=INDEXES)
case("unique.last", {"X": values([3, 1, 2, 3, 1])}, {"axis": [-1], **SORTED}, outputs=INDEXES)
unknown("unique.slices_unknown", {"X": ints(5, 2, high=2)}, {"axis": [0], **SORTED}, {"x": (0,)}, outputs=INDEXES)


def slices(rng):
    dims = shape(rng)
    return {"X": ints(*dims, high=2, dtype=("int64", "float32", "int32")[rng.integers(3)])}, {"axis": [int(rng.integers(len(dims)))], **SORTED}, {"outputs": INDEXES}


drawn("unique", slices)


if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
