package io.seriatim.tensor.kernel;

import static io.seriatim.tensor.kernel.FastKernels.FLOATS;
import static io.seriatim.tensor.kernel.FastKernels.compare;
import static io.seriatim.tensor.kernel.FastKernels.dims;
import static io.seriatim.tensor.kernel.FastKernels.ordinary;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.kernel.FastKernels.Case;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Products of matrices by the kernels that are used, against the portable ones. */
class FastProductsTest {
    @BeforeAll
    static void needsTheLibrary() {
        FastKernels.needsTheLibrary();
    }

    static Stream<Case> products() {
        List<Case> cases = new ArrayList<>();
        for (DType dtype : FLOATS) {
            for (long n : new long[]{1, 13, 64, 207}) {
                for (int t = 0; t < 4; t++) {
                    boolean tx = (t & 1) != 0;
                    boolean ty = (t & 2) != 0;
                    long k = n / 2 + 1;
                    cases.add(new Case("matmul " + n + (tx ? " x'" : "") + (ty ? " y'" : ""),
                            new MatMul(tx, ty, false, List.of()), dtype,
                            tx ? dims(k, n) : dims(n, k),
                            ty ? dims(n + 3, k) : dims(k, n + 3)));
                }
            }
            cases.add(new Case("empty rows", MatMul.PLAIN, dtype, dims(0, 5), dims(5, 4)));
            cases.add(new Case("empty sum", MatMul.PLAIN, dtype, dims(3, 0), dims(0, 4)));
            cases.add(new Case("vectors", MatMul.PLAIN, dtype, dims(13), dims(13)));
            cases.add(new Case("row by matrix", MatMul.PLAIN, dtype, dims(13), dims(2, 13, 5)));
            cases.add(new Case("matrix by column", MatMul.PLAIN, dtype, dims(2, 7, 13), dims(13)));
            cases.add(new Case("batches", MatMul.PLAIN, dtype, dims(3, 1, 7, 5), dims(2, 5, 4)));
            cases.add(new Case("batch by matrix", MatMul.PLAIN, dtype, dims(3, 2, 7, 5), dims(5, 4)));
            cases.add(new Case("with bias", new MatMul(false, false, true, List.of()), dtype, dims(3, 7, 5), dims(5, 4),
                    dims(4)));
            cases.add(new Case("with bias and relu",
                    new MatMul(false, false, true, List.of(new PostOp.Apply(Unary.Function.RELU, 0, 0))),
                    dtype, dims(7, 5), dims(5, 4), dims(4)));
            cases.add(new Case("with a mask", new MatMul(false, true, false,
                    List.of(new PostOp.Apply(Unary.Function.LINEAR, 0.25f, 0),
                            new PostOp.Combine(Binary.Function.ADD))),
                    dtype,
                    dims(2, 3, 16, 32), dims(2, 3, 16, 32), dims(16, 16)));
            cases.add(new Case("with a residual",
                    new MatMul(false, false, true,
                            List.of(new PostOp.Apply(Unary.Function.GELU_ERF, 0, 0),
                                    new PostOp.Combine(Binary.Function.ADD))),
                    dtype, dims(2, 7, 5), dims(5, 4), dims(4), dims(2, 7, 4)));
        }
        // Copied into panels by the library.
        for (long rows : new long[]{1, 7, 40}) {
            cases.add(new Case("wide " + rows, MatMul.PLAIN, DType.FLOAT32, dims(rows, 13), dims(13, 600)));
            cases.add(new Case("wide and deep " + rows,
                    new MatMul(false, false, true,
                            List.of(new PostOp.Combine(Binary.Function.MULTIPLY),
                                    new PostOp.Apply(Unary.Function.RELU, 0, 0))),
                    DType.FLOAT32, dims(rows, 300), dims(300, 513), dims(513), dims(rows, 513)));
        }
        return cases.stream();
    }

    @ParameterizedTest
    @MethodSource("products")
    void givesTheSame(Case one) {
        compare(one, ordinary(one));
    }

    /** Some columns of a product of several batches, as a part that a thread computes, and of what is added to it. */
    @ParameterizedTest
    @ValueSource(longs = {1, 3})
    void columnsAreAddedToThoseOfAllBatches(long rows) {
        Tensor x = FastKernels.random(DType.FLOAT32, 1, dims(4, rows, 96));
        Tensor y = FastKernels.random(DType.FLOAT32, 2, dims(96, 64));
        Tensor addend = FastKernels.random(DType.FLOAT32, 3, dims(4, rows, 64));
        Tensor out = Tensor.allocate(DType.FLOAT32, 4, rows, 64);
        Tensor expected = Tensor.allocate(DType.FLOAT32, 4, rows, 64);
        MatMul sum = new MatMul(false, false, false, List.of(new PostOp.Combine(Binary.Function.ADD)));
        for (long from : new long[]{0, 32}) {
            run(Kernels.system(), sum, x, y.slice(1, from, from + 32), addend.slice(2, from, from + 32),
                    out.slice(2, from, from + 32));
        }
        run(Kernels.portable(), sum, x, y, addend, expected);
        FastKernels.compare(rows + " rows", DType.FLOAT32, new Tensor[]{x}, expected.toDoubleArray(),
                out.toDoubleArray());
    }

    private static void run(Kernels kernels, MatMul product, Tensor... arguments) {
        TensorSpec[] specs = Arrays.stream(arguments).map(Tensor::spec).toArray(TensorSpec[]::new);
        kernels.prepare(product, Place.CPU, specs).run(arguments, KernelContext.current());
    }
}
