package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.AllFinite;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.ComplexNumber;
import io.seriatim.tensor.computation.ComplexPart;
import io.seriatim.tensor.computation.Conjugate;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Fill;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.GatherGrad;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Pad;
import io.seriatim.tensor.computation.PutAlongAxis;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.ReductionGrad;
import io.seriatim.tensor.computation.Scan;
import io.seriatim.tensor.computation.TakeAlongAxis;
import io.seriatim.tensor.computation.Triangle;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.Where;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Complex numbers in tensors, files and kernels. */
class ComplexKernelsTest {
    private static final Kernels KERNELS = Kernels.system();

    private static Tensor random(DType dtype, long seed, long... dims) {
        Tensor tensor = Tensor.allocate(dtype, dims);
        double[] parts = new SplittableRandom(seed).doubles(2 * tensor.shape().size(), -2, 2).toArray();
        return dtype == DType.COMPLEX128 ? Tensor.ofComplex(parts, dims) : Tensor.ofComplex(floats(parts), dims);
    }

    private static float[] floats(double... values) {
        float[] floats = new float[values.length];
        for (int i = 0; i < floats.length; i++) {
            floats[i] = (float) values[i];
        }
        return floats;
    }

    private static Tensor run(Computation computation, Tensor... inputs) {
        return KernelRun.run(KERNELS, computation, inputs)[0];
    }

    private static double[] parts(Tensor tensor) {
        return tensor.asReal().toDoubleArray();
    }

    private static void same(double[] expected, Tensor actual) {
        double tolerance = actual.dtype().real() == DType.FLOAT64 ? 1e-13 : 1e-5;
        assertArrayEquals(expected, actual.dtype().isComplex() ? parts(actual) : actual.toDoubleArray(), tolerance);
    }

    @Test
    void anOddNumberOfPartsIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> Tensor.ofComplex(new float[3]));
        assertThrows(IllegalArgumentException.class, () -> Tensor.ofComplex(new double[4], 3));
        assertThrows(IllegalStateException.class, () -> Tensor.of(new float[]{1}).asReal());
    }

    @ParameterizedTest
    @EnumSource(names = {"COMPLEX64", "COMPLEX128"})
    void filesHoldThem(DType dtype) throws IOException {
        Tensor tensor = random(dtype, 3, 2, 3);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Npy.write(out, tensor.transpose());
        byte[] bytes = out.toByteArray();
        Tensor read = Npy.read(new ByteArrayInputStream(bytes));
        assertEquals(TensorSpec.of(dtype, 3, 2), read.spec());
        assertArrayEquals(parts(tensor.transpose()), parts(read));
        // Of a big-endian file, the bytes of each part are reversed.
        int at = new String(bytes, StandardCharsets.ISO_8859_1).indexOf("'<c") + 1;
        bytes[at] = '>';
        Tensor swapped = Npy.read(new ByteArrayInputStream(bytes));
        int size = dtype.real().bytes();
        for (int i = 0; i < size; i++) {
            assertEquals(bytes[bytes.length - read.spec().asReal().dtype().bytes() + i],
                    swapped.memory().asByteBuffer().get(swapped.memory().asByteBuffer().capacity() - 1 - i));
        }
    }

    @ParameterizedTest
    @CsvSource({"COMPLEX64", "COMPLEX128"})
    void copiesCastsAndFills(DType dtype) {
        Tensor x = random(dtype, 5, 3, 4);
        assertArrayEquals(parts(x.transpose()), parts(run(Copy.PLAIN, x.transpose())));
        assertArrayEquals(parts(x.slice(1, 1, 3)), parts(run(Copy.PLAIN, x.slice(1, 1, 3))));
        same(parts(x), run(new Copy(DType.COMPLEX128), x));
        same(parts(x), run(new Copy(DType.COMPLEX64), x));
        same(x.toDoubleArray(), run(new Copy(DType.FLOAT32), x));
        assertArrayEquals(x.toLongArray(), run(new Copy(DType.INT32), x).toLongArray());
        for (DType from : List.of(DType.FLOAT32, DType.FLOAT16, DType.INT64, DType.BOOL, DType.UINT8)) {
            same(new double[]{0, 0, 1, 0}, run(new Copy(dtype), Tensor.of(from, new long[]{0, 1})));
        }
        Tensor filled = random(dtype, 6, 2);
        KernelRun.into(KERNELS, new Fill(2.5), new Tensor[]{filled});
        same(new double[]{2.5, 0, 2.5, 0}, filled);
    }

    @ParameterizedTest
    @CsvSource({"COMPLEX64", "COMPLEX128"})
    void partsMakeNumbers(DType dtype) {
        Tensor x = random(dtype, 7, 4, 3);
        Tensor real = run(new ComplexPart(ComplexPart.Function.REAL), x);
        Tensor imaginary = run(new ComplexPart(ComplexPart.Function.IMAGINARY), x);
        assertEquals(dtype.real(), real.dtype());
        assertArrayEquals(parts(x), parts(run(new ComplexNumber(), real, imaginary)));
        // Strides, broadcasting and no elements at all.
        Tensor row = real.slice(0, 1, 2);
        Tensor broadcast = run(new ComplexNumber(), real.transpose(), row.transpose());
        assertEquals(real.getDouble(2, 1), broadcast.asReal().getDouble(1, 2, 0));
        assertEquals(row.getDouble(0, 2), broadcast.asReal().getDouble(2, 3, 1));
        assertEquals(0, run(new ComplexPart(ComplexPart.Function.IMAGINARY), x.slice(0, 4, 4)).shape().size());
        Tensor conjugate = run(new Conjugate(), x);
        assertEquals(-x.asReal().getDouble(3, 1, 1), conjugate.asReal().getDouble(3, 1, 1));
        double[] all = parts(x);
        double[] sizes = run(new ComplexPart(ComplexPart.Function.MAGNITUDE), x).toDoubleArray();
        double[] angles = run(new ComplexPart(ComplexPart.Function.ANGLE), x).toDoubleArray();
        for (int i = 0; i < sizes.length; i++) {
            assertEquals(all[2 * i], sizes[i] * Math.cos(angles[i]), 1e-6);
            assertEquals(all[2 * i + 1], sizes[i] * Math.sin(angles[i]), 1e-6);
        }
    }

    @ParameterizedTest
    @CsvSource({"COMPLEX64", "COMPLEX128"})
    void arithmeticBroadcasts(DType dtype) {
        Tensor x = random(dtype, 8, 40, 31);
        Tensor y = random(dtype, 9, 31);
        Tensor product = run(Binary.of(Binary.Function.MULTIPLY), x, y);
        Tensor quotient = run(Binary.of(Binary.Function.DIVIDE), product, y);
        same(parts(x), quotient);
        Tensor sum = run(Binary.of(Binary.Function.ADD), x, y);
        same(parts(x), run(Binary.of(Binary.Function.SUBTRACT), sum, y));
        double a = x.asReal().getDouble(3, 4, 0);
        double b = x.asReal().getDouble(3, 4, 1);
        double c = y.asReal().getDouble(4, 0);
        double d = y.asReal().getDouble(4, 1);
        assertEquals(a * d + b * c, product.asReal().getDouble(3, 4, 1), 1e-5);
        Tensor equal = run(Binary.of(Binary.Function.EQUAL), x, run(Copy.PLAIN, x));
        assertEquals(equal.shape().size(), run(new Copy(DType.INT64), equal).toLongArray().length);
        assertEquals(0, run(Binary.of(Binary.Function.NOT_EQUAL), x, x).toLongArray()[5]);
        assertEquals(1, equal.toLongArray()[7]);
    }

    /** The identities between functions hold: sin² + cos² = 1 and the like. */
    @Test
    void functionsAgree() {
        Tensor x = random(DType.COMPLEX128, 10, 500);
        Tensor one = run(new Unary(Unary.Function.LINEAR, 0, 1), x);
        Tensor sin = run(Unary.of(Unary.Function.SQUARE), run(Unary.of(Unary.Function.SIN), x));
        Tensor cos = run(Unary.of(Unary.Function.SQUARE), run(Unary.of(Unary.Function.COS), x));
        assertArrayEquals(parts(one), parts(run(Binary.of(Binary.Function.ADD), sin, cos)), 1e-11);
        same(parts(x), run(Unary.of(Unary.Function.SQUARE), run(Unary.of(Unary.Function.SQRT), x)));
        same(parts(x), run(Unary.of(Unary.Function.EXP), run(Unary.of(Unary.Function.LOG), x)));
        same(parts(x), run(Unary.of(Unary.Function.RECIPROCAL), run(Unary.of(Unary.Function.RECIPROCAL), x)));
        Tensor exp = run(Unary.of(Unary.Function.EXP), x);
        Tensor plusOne = run(new Unary(Unary.Function.LINEAR, 1, 1), exp);
        assertArrayEquals(parts(run(Binary.of(Binary.Function.DIVIDE), exp, plusOne)),
                parts(run(Unary.of(Unary.Function.SIGMOID), x)), 1e-11);
        Tensor far = Tensor.ofComplex(new double[]{400, 1, -400, 1});
        assertArrayEquals(new double[]{1, 0, -1, 0}, parts(run(Unary.of(Unary.Function.TANH), far)), 1e-12);
    }

    @ParameterizedTest
    @CsvSource({"COMPLEX64,false,false", "COMPLEX64,true,false", "COMPLEX128,false,true", "COMPLEX128,true,true"})
    void productsAreSums(DType dtype, boolean transposeX, boolean transposeY) {
        Tensor x = transposeX ? random(dtype, 11, 2, 1, 7, 5) : random(dtype, 11, 2, 1, 5, 7);
        Tensor y = transposeY ? random(dtype, 12, 3, 4, 7) : random(dtype, 12, 3, 7, 4);
        Tensor z = run(new MatMul(transposeX, transposeY, false, List.of()), x, y);
        assertEquals(TensorSpec.of(dtype, 2, 3, 5, 4), z.spec());
        Tensor left = transposeX ? x.transpose(0, 1, 3, 2) : x;
        Tensor right = transposeY ? y.transpose(0, 2, 1) : y;
        double re = 0;
        double im = 0;
        for (int p = 0; p < 7; p++) {
            double a = left.asReal().getDouble(1, 0, 3, p, 0);
            double b = left.asReal().getDouble(1, 0, 3, p, 1);
            double c = right.asReal().getDouble(2, p, 1, 0);
            double d = right.asReal().getDouble(2, p, 1, 1);
            re += a * c - b * d;
            im += a * d + b * c;
        }
        assertEquals(re, z.asReal().getDouble(1, 2, 3, 1, 0), 1e-4);
        assertEquals(im, z.asReal().getDouble(1, 2, 3, 1, 1), 1e-4);
        Tensor vector = random(dtype, 13, 5);
        Tensor dot = run(MatMul.PLAIN, vector, run(new Conjugate(), vector));
        double[] sizes = run(new ComplexPart(ComplexPart.Function.MAGNITUDE), vector).toDoubleArray();
        double squares = 0;
        for (double size : sizes) {
            squares += size * size;
        }
        assertArrayEquals(new double[]{squares, 0}, parts(dot), 1e-4);
        Tensor wide = random(dtype, 14, 30, 5000);
        Tensor row = run(MatMul.PLAIN, vector, random(dtype, 15, 5, 70000));
        assertEquals(70000, row.shape().size());
        assertEquals(30, run(new MatMul(false, true, false, List.of()), wide, wide).shape().dim(0));
    }

    /** Real and imaginary parts are moved and added up like real numbers. */
    @ParameterizedTest
    @CsvSource({"COMPLEX64", "COMPLEX128"})
    void partsAreTreatedAlike(DType dtype) {
        Tensor x = random(dtype, 16, 3, 4, 5);
        Tensor indices = Tensor.of(new long[]{2, 0, 2});
        Tensor some = Tensor.of(new long[]{1, 0, 2, 2, 1, 0}, 1, 2, 3);
        Tensor condition = Tensor.of(DType.BOOL, new long[]{1, 0, 1, 1, 0}, 5);
        List<Computation> ofOne = List.of(new Reduction(Reduction.Function.SUM, List.of(-1, 0), false),
                new Reduction(Reduction.Function.MEAN, List.of(), true), new Scan(-2, false, true),
                new Pad(List.of(0L, 1L, 2L), List.of(3L, 0L, 1L), Pad.Mode.CONSTANT, 0), new Triangle(true, 1));
        for (Computation each : ofOne) {
            checkParts(each, x);
        }
        checkParts(new Where(), condition, x, run(new Conjugate(), x));
        checkParts(Gather.of(-1), x, indices);
        checkParts(new GatherGrad(Gather.of(0), List.of(4L, 4L, 5L)), x, indices);
        checkParts(new TakeAlongAxis(1), x, some);
        checkParts(new PutAlongAxis(1, true), x, some, run(Copy.PLAIN, x.slice(0, 0, 1).slice(1, 0, 2).slice(2, 0, 3)));
        Tensor sum = run(new Reduction(Reduction.Function.SUM, List.of(1), false), x);
        Tensor grad =
                KernelRun.run(KERNELS, new ReductionGrad(new Reduction(Reduction.Function.SUM, List.of(1), false)),
                        x, null, sum)[0];
        assertArrayEquals(parts(sum.slice(0, 2, 3)), parts(grad.slice(0, 2, 3).select(1, 3)));
        same(parts(x.select(0, 0).select(0, 0).select(0, 0)),
                run(new Reduction(Reduction.Function.SUM, List.of(), false), x.select(0, 0).select(0, 0).select(0, 0)));
        Tensor infinite = Tensor.ofComplex(new float[]{1, Float.NaN});
        assertEquals(0, run(new AllFinite(), infinite).toLongArray()[0]);
        assertEquals(1, run(new AllFinite(), x).toLongArray()[0]);
    }

    private static void checkParts(Computation computation, Tensor... inputs) {
        Tensor result = run(computation, inputs);
        for (ComplexPart.Function function : List.of(ComplexPart.Function.REAL, ComplexPart.Function.IMAGINARY)) {
            Tensor[] real = inputs.clone();
            for (int i = 0; i < real.length; i++) {
                real[i] = real[i].dtype().isComplex() ? run(new ComplexPart(function), real[i]) : real[i];
            }
            Tensor expected = run(computation, real);
            Tensor actual = run(new ComplexPart(function), result);
            assertEquals(expected.spec(), actual.spec());
            assertArrayEquals(expected.toDoubleArray(), actual.toDoubleArray(), 1e-5, computation.toString());
        }
    }

    @Test
    void whatHasNoComplexMeaningIsRefused() {
        Tensor x = random(DType.COMPLEX64, 17, 3);
        for (Computation each : List.of(Unary.of(Unary.Function.FLOOR), Binary.of(Binary.Function.MAXIMUM),
                new Reduction(Reduction.Function.MAX, List.of(), false))) {
            TensorSpec[] specs = each instanceof Binary
                    ? new TensorSpec[]{x.spec(), x.spec(), x.spec()}
                    : new TensorSpec[]{x.spec(), x.spec()};
            String message = String.valueOf(
                    assertThrows(NoKernelException.class, () -> KERNELS.prepare(each, Place.CPU, specs)).getMessage());
            assertTrue(message.contains(each.operation()) && message.contains("complex64"), message);
        }
    }
}
