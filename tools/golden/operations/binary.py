"""Element-wise operations with two inputs: broadcasting to the right and, with `axis`, from an axis of X."""
from cases import bools, case, ints, rand, values

DIFFERENTIABLE = ("elementwise_add", "elementwise_sub", "elementwise_mul", "elementwise_div", "elementwise_max", "elementwise_min")
# Paddle's gradients of these ignore `axis` and refuse the shapes.
AXIS_FORWARD_ONLY = ("elementwise_max", "elementwise_min", "elementwise_pow")
for op in DIFFERENTIABLE:
    y = {"low": 0.5, "high": 2.5}
    if op in ("elementwise_add", "elementwise_div", "elementwise_max"):
        case(f"{op}.same", {"X": rand(2, 3), "Y": rand(2, 3, **y)})
    case(f"{op}.right", {"X": rand(2, 3, 4), "Y": rand(4, **y)})
    grad = op not in AXIS_FORWARD_ONLY
    case(f"{op}.axis", {"X": rand(2, 3, 4), "Y": rand(3, **y)}, {"axis": 1}, grad=grad)
    if op in ("elementwise_add", "elementwise_mul", "elementwise_max"):
        case(f"{op}.axis_pair", {"X": rand(2, 3, 4, 2), "Y": rand(3, 4, **y)}, {"axis": 1}, grad=grad)
    case(f"{op}.both", {"X": rand(3, 1, 2, dtype="float64"), "Y": rand(4, 1, dtype="float64", **y)})
    if op in ("elementwise_sub", "elementwise_div", "elementwise_min"):
        case(f"{op}.larger_y", {"X": rand(3), "Y": rand(2, 3, **y)})
    case(f"{op}.scalar", {"X": rand(2, 2), "Y": rand(**y)})
    case(f"{op}.long", {"X": ints(2, 3, low=-20, high=20), "Y": ints(3, low=1, high=7)})
case("elementwise_add.axis_first", {"X": rand(2, 3), "Y": rand(2)}, {"axis": 0})
case("elementwise_add.axis_ones", {"X": rand(2, 3, 2), "Y": rand(3, 1)}, {"axis": 1})
case("elementwise_add.scalars", {"X": rand(), "Y": rand()})
case("elementwise_max.ties", {"X": values([1, 2, 3]), "Y": values([1, 5, 3])})
case("elementwise_min.ties", {"X": values([1, 2, 3]), "Y": values([1, 5, 3])})
case("elementwise_div.by_zero", {"X": values([1, -1, 0]), "Y": values([0, 0, 0])}, grad=False)

positive = {"low": 0.4, "high": 2.5}
case("elementwise_pow.same", {"X": rand(2, 3, **positive), "Y": rand(2, 3)})
case("elementwise_pow.right", {"X": rand(2, 3, 2, **positive), "Y": rand(2)})
case("elementwise_pow.axis", {"X": rand(2, 3, 2, dtype="float64", **positive), "Y": rand(3, dtype="float64")}, {"axis": 1}, grad=False)
case("elementwise_pow.scalar", {"X": rand(4, **positive), "Y": rand()})
case("elementwise_pow.long", {"X": ints(4, low=-4, high=5), "Y": ints(4, high=4)})
for op in ("elementwise_floordiv", "elementwise_mod"):
    case(f"{op}.long", {"X": ints(2, 4, low=-20, high=20), "Y": values([3, -3, 7, -2], "int64")})
    case(f"{op}.int_axis", {"X": ints(2, 3, 2, low=-20, high=20, dtype="int32"), "Y": values([3, -4, 5], "int32")}, {"axis": 1})
    case(f"{op}.float", {"X": rand(2, 4, low=-9, high=9), "Y": values([3, -3, 1.5, -2])})
    case(f"{op}.double", {"X": rand(5, low=-9, high=9, dtype="float64"), "Y": values(2.25, "float64")})

for op in ("equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal"):
    case(f"{op}.float", {"X": values([[1, 2, float("nan")], [4, -0.0, 6]]), "Y": values([[1, 3, float("nan")], [3, 0, 6]])})
    case(f"{op}.right", {"X": ints(2, 3, high=3), "Y": ints(3, high=3)})
    # Paddle reads no `axis` here: the shapes align at the right whatever it says.
    case(f"{op}.axis_ignored", {"X": ints(2, 3, 3, high=3, dtype="int32"), "Y": ints(3, high=3, dtype="int32")}, {"axis": 1})
for op in ("equal", "greater_than"):
    case(f"{op}.scalar", {"X": values(2, "float64"), "Y": values([1, 2, 3], "float64")})
for op in ("not_equal", "less_than"):
    case(f"{op}.bool", {"X": bools(6), "Y": bools(6)})
for op in ("logical_and", "logical_or", "logical_xor"):
    case(f"{op}.bool", {"X": values([0, 0, 1, 1], "bool"), "Y": values([0, 1, 0, 1], "bool")})
    case(f"{op}.broadcast", {"X": bools(2, 1, 3), "Y": bools(4, 1)})
    case(f"{op}.int", {"X": ints(5, high=3, dtype="int32"), "Y": ints(5, high=3, dtype="int32")})
    case(f"{op}.float", {"X": values([0, 0.5, -0.0, 2]), "Y": values([1, 1, 0, 0])})
case("logical_and.scalar", {"X": bools(2, 2), "Y": values(True, "bool")})
