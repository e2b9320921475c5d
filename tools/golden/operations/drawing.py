"""Random operations, with a seed of their own so that each run gives the same.

Bernoulli has none and randperm does not read its own: both draw from the global generator, which every run starts anew (cases.GENERATOR_SEED).
"""
from cases import case, dtype_number, int32s, rand, values

double = dtype_number("float64")
case("uniform_random.plain", {}, {"shape": [3, 4], "seed": 7})
case("uniform_random.double", {}, {"shape": [5], "seed": 8, "dtype": double, "min": 2.0, "max": 5.0})
case("uniform_random.diagonal", {}, {"shape": [3, 3], "seed": 9, "diag_num": 3, "diag_step": 3, "diag_val": 2.5})
case("uniform_random.tensor", {"ShapeTensor": values([2, 3], "int64")}, {"seed": 10})
case("uniform_random.tensors", {"ShapeTensorList": [int32s(2), int32s(2)]}, {"shape": [-1, -1], "seed": 11})
case("gaussian_random.plain", {}, {"shape": [3, 4], "seed": 7})
case("gaussian_random.odd", {}, {"shape": [5], "seed": 8, "dtype": double, "mean": -1.0, "std": 2.5})
case("gaussian_random.tensor", {"ShapeTensor": values([2, 3], "int64")}, {"seed": 10})
case("gaussian_random.tensors", {"ShapeTensorList": [int32s(3), int32s(1)]}, {"shape": [-1, -1], "seed": 11})
case("truncated_gaussian_random.plain", {}, {"shape": [3, 5], "seed": 7})
case("truncated_gaussian_random.scaled", {}, {"shape": [6], "seed": 8, "mean": 3.0, "std": 0.5})
case("truncated_gaussian_random.double", {}, {"shape": [6], "seed": 9, "dtype": double})
# When a program is built, Paddle takes the seed for the number of the type: these seeds are right as both.
case("randint.plain", {}, {"shape": [3, 5], "low": -4, "high": 9, "seed": 3})
case("randint.int", {}, {"shape": [8], "low": 0, "high": 2, "seed": 2, "dtype": dtype_number("int32")})
case("randint.tensor", {"ShapeTensor": values([2, 3], "int64")}, {"low": 0, "high": 1000, "seed": 3})
case("randint.tensors", {"ShapeTensorList": [int32s(2), int32s(2)]}, {"shape": [-1, -1], "low": 0, "high": 1000, "seed": 3})
case("bernoulli.certain", {"X": values([[0, 1, 1], [0, 0, 1]])}, grad=False)
case("bernoulli.plain", {"X": rand(3, 4, low=0, high=1)}, grad=False)
case("bernoulli.double", {"X": rand(6, low=0, high=1, dtype="float64")}, grad=False)
case("randperm.long", {}, {"n": 9, "seed": 7})
case("randperm.int", {}, {"n": 12, "seed": 8, "dtype": dtype_number("int32")})
case("randperm.float", {}, {"n": 5, "seed": 9, "dtype": dtype_number("float32")})
case("seed.fixed", {}, {"seed": 42})

for implementation in ("downgrade_in_infer", "upscale_in_train"):
    attributes = {"dropout_implementation": implementation, "fix_seed": True, "seed": 5}
    case(f"dropout.{implementation}", {"X": rand(3, 4)}, {**attributes, "dropout_prob": 0.3})
    case(f"dropout.{implementation}_double", {"X": rand(7, dtype="float64")}, {**attributes, "dropout_prob": 0.6})
    case(f"dropout.{implementation}_test", {"X": rand(3, 2)}, {**attributes, "dropout_prob": 0.3, "is_test": True}, hidden=("mask",), grad=False)
    case(f"dropout.{implementation}_all", {"X": rand(3, 2)}, {**attributes, "dropout_prob": 1.0})
case("dropout.seed_tensor", {"X": rand(3, 4), "Seed": int32s(77)}, {"dropout_prob": 0.5, "dropout_implementation": "upscale_in_train"})
