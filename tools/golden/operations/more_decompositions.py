"""Makes graph/src/test/resources/golden/operations-decompositions.npz: matrices as products of others, their inverses and determinants, and systems of linear equations, in the entry format of
operations.py, which see. Run from the root of the repository: `python tools/golden/operations/more_decompositions.py`. Made with PaddlePaddle 2.6.2 (CPU)
and NumPy 1.26.
"""
import sys
from pathlib import Path

import numpy as np
import paddle

import cases
from cases import case, gradients, rand, unknown, values

OUTPUT = Path("graph/src/test/resources/golden/operations-decompositions.npz")

case("qr.tall", {"X": rand(5, 3)})
case("qr.square_double", {"X": rand(4, 4, dtype="float64")})
case("qr.wide", {"X": rand(3, 5)}, grad=False)
case("qr.batch", {"X": rand(2, 4, 2)})
case("qr.complete", {"X": rand(4, 2)}, {"mode": "complete"}, grad=False)
case("qr.triangle_only", {"X": rand(4, 3)}, {"mode": "r"}, hidden=("q",), grad=False)

def regular(*shape, dtype="float32"):
    """Square matrices that are far from singular ones."""
    return lambda rng: (rand(*shape, low=-1, high=1, dtype=dtype)(rng) + 2 * np.eye(shape[-1])).astype(dtype)


def positive(*shape, dtype="float32"):
    """Symmetric, positive definite matrices."""

    def draw(rng):
        drawn = rand(*shape, low=-1, high=1, dtype="float64")(rng)
        return (drawn @ drawn.swapaxes(-1, -2) + np.eye(shape[-1])).astype(dtype)

    return draw


def triangle(*shape, upper=False, dtype="float32"):
    """Triangular matrices. Paddle's cholesky_solve reads half of a matrix, its gradient all of it."""
    return lambda rng: (np.triu if upper else np.tril)(regular(*shape, dtype=dtype)(rng))


case("inverse.plain", {"Input": regular(4, 4)})
case("inverse.exchanged_double", {"Input": values([[0, 2, 1], [1, 0, 3], [2, 1, 0]], "float64")})
case("inverse.batch", {"Input": regular(2, 3, 2, 2)})

case("determinant.plain", {"Input": regular(4, 4)})
case("determinant.batch_double", {"Input": regular(2, 3, 3, 3, dtype="float64")})
case("determinant.exchanged", {"Input": values([[[0, 2], [1, 0]], [[3, 1], [1, -2]]])})
case("determinant.singular", {"Input": values([[1, 2], [2, 4]])})

case("slogdeterminant.plain", {"Input": regular(4, 4)})
case("slogdeterminant.batch_double", {"Input": rand(2, 3, 3, 3, dtype="float64")})
case("slogdeterminant.negative", {"Input": values([[0, 2], [1, 0]])})
case("slogdeterminant.singular", {"Input": values([[1, 2], [2, 4]])}, grad=False)

case("cholesky.plain", {"X": positive(4, 4)})
case("cholesky.upper", {"X": positive(3, 3)}, {"upper": True})
case("cholesky.batch_double", {"X": positive(2, 3, 3, 3, dtype="float64")})
case("cholesky.upper_half", {"X": values([[4, 2], [9, 5]])}, {"upper": True}, grad=False)
case("cholesky.lower_half", {"X": values([[4, 9], [2, 5]])}, grad=False)

case("solve.plain", {"X": regular(3, 3), "Y": rand(3, 2)})
case("solve.vector", {"X": regular(3, 3), "Y": rand(3)})
case("solve.vector_each", {"X": regular(2, 3, 3), "Y": rand(3)})
case("solve.batch_double", {"X": regular(2, 3, 3, dtype="float64"), "Y": rand(2, 3, 1, dtype="float64")})
case("solve.broadcast", {"X": regular(3, 1, 2, 2), "Y": rand(4, 2, 1)})
unknown("solve.unknown", {"X": regular(4, 3, 3), "Y": rand(4, 3, 2)}, {}, {"x": (0,), "y": (0,)})

case("triangular_solve.plain", {"X": regular(3, 3), "Y": rand(3, 2)})
case("triangular_solve.lower", {"X": regular(3, 3), "Y": rand(3, 2)}, {"upper": False})
case("triangular_solve.transpose", {"X": regular(3, 3), "Y": rand(3, 2)}, {"transpose": True})
case("triangular_solve.lower_transpose_double", {"X": regular(2, 3, 3, dtype="float64"), "Y": rand(2, 3, 1, dtype="float64")}, {"upper": False, "transpose": True})
case("triangular_solve.unit", {"X": rand(3, 3), "Y": rand(3, 2)}, {"unitriangular": True})
case("triangular_solve.unit_lower_transpose", {"X": rand(3, 3), "Y": rand(3, 2)}, {"upper": False, "transpose": True, "unitriangular": True})
case("triangular_solve.broadcast", {"X": regular(3, 1, 2, 2), "Y": rand(4, 2, 1)})
unknown("triangular_solve.unknown", {"X": regular(4, 3, 3), "Y": rand(4, 3, 2)}, {}, {"x": (0,), "y": (0,)})

case("cholesky_solve.plain", {"X": rand(3, 2), "Y": triangle(3, 3)})
case("cholesky_solve.upper", {"X": rand(3, 2), "Y": triangle(3, 3, upper=True)}, {"upper": True})
case("cholesky_solve.broadcast", {"X": rand(3, 1, 2, 2), "Y": triangle(4, 2, 2)})
unknown("cholesky_solve.unknown", {"X": rand(4, 3, 2), "Y": triangle(4, 3, 3)}, {}, {"x": (0,), "y": (0,)})

case("matrix_power.five", {"X": rand(3, 3, low=-1, high=1)}, {"n": 5})
case("matrix_power.zero", {"X": rand(2, 2)}, {"n": 0})
case("matrix_power.inverse_double", {"X": regular(2, 3, 3, dtype="float64")}, {"n": -1})
case("matrix_power.negative", {"X": regular(3, 3)}, {"n": -3})
case("matrix_power.batch", {"X": rand(2, 2, 3, 3)}, {"n": 2})

case("multi_dot.two", {"X": [rand(2, 3), rand(3, 4)]})
case("multi_dot.three", {"X": [rand(2, 3), rand(3, 5), rand(5, 4)]})
case("multi_dot.four_double", {"X": [rand(4, 2, dtype="float64"), rand(2, 5, dtype="float64"), rand(5, 1, dtype="float64"), rand(1, 3, dtype="float64")]})
case("multi_dot.first_vector", {"X": [rand(3), rand(3, 4), rand(4, 2)]})
case("multi_dot.last_vector", {"X": [rand(2, 3), rand(3, 4), rand(4)]})
case("multi_dot.vectors", {"X": [rand(3), rand(3, 4), rand(4)]})
unknown("multi_dot.unknown", {"X": [rand(5, 3), rand(3, 4)]}, {}, {"x0": (0,)})


def of_squares(*vectors):
    """The gradient of the squares of vectors: unlike the vectors, they do not depend on signs that libraries are free to choose."""

    def then(block):
        squares = [paddle.square(block.var(name)) for name in vectors]
        return [s.name for s in squares] + list(gradients(block, [s.name for s in squares], ["weights"] * len(squares), ["x"]).values())

    return then


def vectors(name, x, attributes, of, weights, values, hidden):
    case(name, {"X": x}, attributes, targets=(values,), hidden=hidden, more={"weights": weights}, then=of_squares(*of))


# Of several matrices, Paddle's gradients of eigenvalues are wrong: the trace is not their sum.
EIGEN = ("eigenvectors",)
vectors("eigh.lower", rand(4, 4), {}, EIGEN, rand(4, 4), "eigenvalues", EIGEN)
vectors("eigh.upper_double", rand(3, 3, dtype="float64"), {"UPLO": "U"}, EIGEN, rand(3, 3, dtype="float64"), "eigenvalues", EIGEN)
case("eigh.batch", {"X": rand(2, 3, 3)}, hidden=EIGEN, grad=False)
case("eigvalsh.lower", {"X": rand(4, 4)}, hidden=EIGEN)
case("eigvalsh.upper_double", {"X": rand(3, 3, dtype="float64")}, {"UPLO": "U"}, hidden=EIGEN)

SIDES = ("u", "vh")
vectors("svd.left", rand(5, 3), {}, ("u",), rand(5, 3), "s", SIDES)
vectors("svd.right_wide_double", rand(2, 3, 4, dtype="float64"), {}, ("vh",), rand(2, 3, 4, dtype="float64"), "s", SIDES)
vectors("svd.both", rand(3, 3), {}, SIDES, rand(3, 3), "s", SIDES)
case("svd.full", {"X": rand(4, 2)}, {"full_matrices": True}, grad=False, hidden=SIDES)

LOW_RANK = values([[[1, 2, 3], [2, 4, 6]], [[1, 0, 0], [0, 1e-9, 0]], [[1, 2, 3], [0, 4, 5]]])
case("matrix_rank.plain", {"X": LOW_RANK})
case("matrix_rank.tolerance", {"X": LOW_RANK}, {"tol": 0.5, "use_default_tol": False})
case("matrix_rank.symmetric", {"X": values([[1, 0], [2, 1]], "float64")}, {"hermitian": True})
case("matrix_rank.tensor", {"X": rand(3, 2), "TolTensor": values([0.1, 1.9, 50])}, {"use_default_tol": False})


if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
