package io.seriatim.graph.ops.linalg;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Step;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.graph.ops.linalg.MatrixSteps.Size;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Pad;
import io.seriatim.tensor.computation.Triangle;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.linalg.LuDecomposition;
import io.seriatim.tensor.linalg.Matrix;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The gradients of functions of matrices as steps, of which there are gradients, too. They are products and inverses;
 * the functions themselves compute the same faster.
 */
final class MatrixGradients {
    private static final Triangle STRICTLY_LOWER = new Triangle(false, -1);

    private MatrixGradients() {
    }

    static Operand times(Lowering l, Operand a, Operand b) {
        return l.run(MatMul.PLAIN, a, b);
    }

    static Operand transposed(Operand matrices) {
        int rank = matrices.rank();
        return matrices.transpose(IntStream.range(0, rank)
                .map(axis -> axis == rank - 1 ? rank - 2 : axis == rank - 2 ? rank - 1 : axis).toArray());
    }

    private static Operand negative(Lowering l, Operand x) {
        return l.unary(Unary.Function.NEGATE, x);
    }

    private static Operand plus(Lowering l, Operand a, Operand b) {
        return l.binary(Binary.Function.ADD, a, b);
    }

    private static Operand minus(Lowering l, Operand a, Operand b) {
        return l.binary(Binary.Function.SUBTRACT, a, b);
    }

    private static Operand half(Lowering l, Operand x) {
        return new Term(l, x).linear(0.5, 0).operand();
    }

    /** Truth values [n, n] of the diagonal. */
    private static Term diagonal(Lowering l, long side) {
        int n = Math.toIntExact(side);
        long[] values = new long[WorkingMemory.length(n, n)];
        IntStream.range(0, n).forEach(i -> values[i * n + i] = 1);
        return new Term(l, l.constant(Tensor.of(DType.BOOL, values, n, n)));
    }

    static Operand triangle(Lowering l, Operand matrices, boolean upper) {
        return l.run(new Triangle(upper, 0), matrices);
    }

    static Operand inverse(Lowering l, Operand matrices) {
        return MatrixSteps.run(l, Size.of(matrices), in -> LuDecomposition.of(in.getFirst()).inverse(),
                MatrixGradients::ofInverse, matrices);
    }

    /** −a⁻ᵀ · gradient · a⁻ᵀ. */
    static List<Operand> ofInverse(Lowering l, List<Operand> in, Operand gradient) {
        return List.of(ofGiven(l, inverse(l, in.getFirst()), gradient));
    }

    /** The gradient of a matrix whose inverse is given. */
    static Operand ofGiven(Lowering l, Operand inverse, Operand gradient) {
        Operand turned = transposed(inverse);
        return negative(l, times(l, times(l, turned, gradient), turned));
    }

    private static Operand determinant(Lowering l, Operand matrices) {
        return MatrixSteps.run(l, new Size(1, 1),
                in -> new Matrix(1, 1, new double[]{LuDecomposition.of(in.getFirst()).determinant()}),
                (steps, in, gradient) -> List.of(ofDeterminant(steps, in.getFirst(), gradient, true)), matrices);
    }

    /** Transposed inverses times numbers [..., 1, 1], and the determinants if asked for. */
    static Operand ofDeterminant(Lowering l, Operand matrices, Operand numbers, boolean timesDeterminant) {
        Term factor = new Term(l, numbers);
        Term all = timesDeterminant ? factor.times(new Term(l, determinant(l, matrices))) : factor;
        return all.times(new Term(l, transposed(inverse(l, matrices)))).operand();
    }

    /** By the squares of which the power is made: r² and then, for a digit of 1, times the base. */
    static Operand ofPower(Lowering l, Operand x, Operand gradient, int exponent) {
        if (exponent == 0) {
            return l.fill(0, x.spec().rowMajor());
        }
        Operand base = exponent < 0 ? inverse(l, x) : x;
        Operand result = ofSquares(l, base, gradient, Math.abs((long) exponent));
        return exponent < 0 ? ofGiven(l, base, result) : result;
    }

    private static Operand ofSquares(Lowering l, Operand base, Operand gradient, long exponent) {
        if (exponent == 1) {
            return gradient;
        }
        Operand root = power(l, base, exponent / 2);
        Operand ofSquare = gradient;
        Operand ofBase = null;
        if (exponent % 2 == 1) {
            ofBase = times(l, transposed(times(l, root, root)), gradient);
            ofSquare = times(l, gradient, transposed(base));
        }
        Operand ofRoot = plus(l, times(l, ofSquare, transposed(root)), times(l, transposed(root), ofSquare));
        Operand rest = ofSquares(l, base, ofRoot, exponent / 2);
        return ofBase == null ? rest : plus(l, rest, ofBase);
    }

    private static Operand power(Lowering l, Operand base, long exponent) {
        if (exponent == 1) {
            return base;
        }
        Operand root = power(l, base, exponent / 2);
        Operand square = times(l, root, root);
        return exponent % 2 == 1 ? times(l, square, base) : square;
    }

    /** As {@code InverseOperations} computes it from the lower triangle. */
    static Operand ofCholesky(Lowering l, Operand lower, Operand gradient) {
        Operand product = times(l, transposed(lower), triangle(l, gradient, false));
        Operand p = half(l, plus(l, triangle(l, product, false), l.run(new Triangle(false, -1), product)));
        Operand both = half(l, plus(l, p, transposed(p)));
        Operand inverse = inverse(l, lower);
        return times(l, times(l, transposed(inverse), both), inverse);
    }

    /** The triangle that a system reads, with ones on its diagonal if they are not read. */
    static Operand system(Lowering l, Operand matrices, boolean upper, boolean unit) {
        Operand triangle = triangle(l, matrices, upper);
        Term values = new Term(l, triangle);
        return unit ? diagonal(l, matrices.dim(-1)).choose(values.number(1), values).operand() : triangle;
    }

    /** As {@code SpectrumOperations} computes it from vectors, their gradient, values and theirs: [..., 1, n]. */
    static Operand ofSymmetric(Lowering l, Operand vectors, Operand ofVectors, Operand values, Operand ofValues) {
        Operand turned = transposed(vectors);
        Term inner = new Term(l, times(l, turned, ofVectors));
        Term ratios = ratios(l, inner, minus(l, values, transposed(values)));
        Term middle = diagonal(l, vectors.dim(-1)).choose(new Term(l, ofValues), ratios);
        Operand result = times(l, times(l, vectors, middle.operand()), turned);
        return half(l, plus(l, result, transposed(result)));
    }

    /** Quotients, and 0 where the divisor is 0, as on the diagonal. */
    private static Term ratios(Lowering l, Term numerators, Operand differences) {
        Term divisors = new Term(l, differences);
        Term none = divisors.is(Binary.Function.EQUAL, divisors.number(0));
        return none.choose(numerators.number(0), numerators.over(none.choose(divisors.number(1), divisors)));
    }

    /** The vectors times values [..., 1, n] times the vectors transposed. */
    static Operand ofValues(Lowering l, Operand vectors, Operand ofValues) {
        return times(l, l.binary(Binary.Function.MULTIPLY, vectors, ofValues), transposed(vectors));
    }

    /** As {@code SpectrumOperations} computes it from s, ds, u, du, vᵀ and dvᵀ. */
    static Operand ofSingular(Lowering l, List<Operand> in) {
        Operand s = in.get(0);
        long count = s.dim(-1);
        Operand u = in.get(2).slice(-1, 0, count);
        Operand ofU = in.get(3).slice(-1, 0, count);
        Operand v = transposed(in.get(4)).slice(-1, 0, count);
        Operand ofV = transposed(in.get(5)).slice(-1, 0, count);
        Operand left = l.binary(Binary.Function.MULTIPLY, turned(l, u, ofU, s), s);
        Operand right = l.binary(Binary.Function.MULTIPLY, turned(l, v, ofV, s), transposed(s));
        Term values = new Term(l, in.get(1));
        Term diagonal = diagonal(l, count).choose(values, values.number(0));
        Operand inner = plus(l, plus(l, left, right), diagonal.operand());
        Operand result = times(l, times(l, u, inner), transposed(v));
        if (u.dim(-2) != count) {
            result = plus(l, result, times(l, outside(l, u, ofU, s), transposed(v)));
        }
        return v.dim(-2) == count ? result : plus(l, result, times(l, u, transposed(outside(l, v, ofV, s))));
    }

    private static Operand turned(Lowering l, Operand vectors, Operand gradient, Operand s) {
        Operand product = times(l, transposed(vectors), gradient);
        Operand squares = l.unary(Unary.Function.SQUARE, s);
        return ratios(l, new Term(l, minus(l, product, transposed(product))),
                minus(l, squares, transposed(squares))).operand();
    }

    private static Operand outside(Lowering l, Operand vectors, Operand gradient, Operand s) {
        Operand rest = minus(l, gradient, times(l, vectors, times(l, transposed(vectors), gradient)));
        return l.binary(Binary.Function.DIVIDE, rest, s);
    }

    /** (dq + q · m) · r⁻ᵀ, m being the lower triangle of r · drᵀ − dqᵀ · q, mirrored. */
    static Operand ofQr(Lowering l, Operand q, Operand r, Operand ofQ, Operand ofR) {
        Operand s = minus(l, times(l, r, transposed(ofR)), times(l, transposed(ofQ), q));
        Operand below = l.run(new Triangle(false, -1), s);
        Operand mirrored = plus(l, triangle(l, s, false), transposed(below));
        return times(l, plus(l, ofQ, times(l, q, mirrored)), transposed(inverse(l, r)));
    }

    /**
     * The gradient of a matrix whose rows are in the order of its triangular factors, both in one matrix; as
     * {@code RectangularLu} computes it.
     */
    static Operand ofTriangles(Lowering l, Operand factors, Operand gradient) {
        long rows = factors.dim(-2);
        long columns = factors.dim(-1);
        long least = Math.min(rows, columns);
        int down = factors.rank() - 2;
        Operand square = factors.slice(down, 0, least).slice(down + 1, 0, least);
        Operand ofUpper = inverse(l, triangle(l, square, true));
        Operand ofLower = transposed(inverse(l, system(l, square, false, true)));
        Operand lower = lower(l, factors.slice(down + 1, 0, least));
        Operand upper = triangle(l, factors.slice(down, 0, least), true);
        Operand dlower = l.run(STRICTLY_LOWER, gradient.slice(down + 1, 0, least));
        Operand dupper = triangle(l, gradient.slice(down, 0, least), true);
        Operand inner = minus(l, times(l, transposed(lower), dlower), times(l, dupper, transposed(upper)));
        if (rows <= columns) {
            Operand right = times(l, l.run(STRICTLY_LOWER, inner), transposed(ofUpper));
            return times(l, ofLower, plus(l, widened(l, right, dupper), dupper));
        }
        Operand left = times(l, ofLower, negative(l, triangle(l, inner, true)));
        return times(l, plus(l, widened(l, left, dlower), dlower), transposed(ofUpper));
    }

    /** The lower factor of rows: what lies below the diagonal, and ones in it. */
    private static Operand lower(Lowering l, Operand factors) {
        Operand ones = l.fill(1, TensorSpec.of(factors.dtype(), factors.dim(-2), factors.dim(-1)));
        Operand diagonal = triangle(l, triangle(l, ones, true), false);
        return plus(l, l.run(STRICTLY_LOWER, factors), diagonal);
    }

    /** With zeros to the right and below, of the shape of others. */
    private static Operand widened(Lowering l, Operand matrices, Operand like) {
        Long[] after = new Long[like.rank()];
        Arrays.setAll(after, axis -> like.dim(axis) - matrices.dim(axis));
        return l.run(new Pad(Collections.nCopies(like.rank(), 0L), List.of(after), Pad.Mode.CONSTANT, 0), matrices);
    }

    /** The gradient of a function with one result. */
    @FunctionalInterface
    interface OfResult {
        /** Adds the steps; returns the gradients by input. */
        List<Operand> of(Lowering l, List<Operand> inputs, Operand gradient);

        default Step.Gradients gradients() {
            return (l, inputs, _, gradients) -> new ArrayList<@Nullable Operand>(
                    of(l, inputs, Objects.requireNonNull(gradients.getFirst())));
        }
    }
}
