package io.seriatim.tensor.kernel.portable;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.network.CrossEntropy;
import io.seriatim.tensor.computation.network.CrossEntropyGrad;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.Kernels;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Dense rows in float32 have a loop of their own, which gives the bits of the one in double. */
class CrossEntropyGradTest {
    private static final Kernels KERNELS = Kernels.portable();

    private static void run(Computation computation, Tensor... operands) {
        var specs = Arrays.stream(operands).map(Tensor::spec).toArray(TensorSpec[]::new);
        KERNELS.prepare(computation, Place.CPU, specs).run(operands, KernelContext.current());
    }

    @ParameterizedTest
    @CsvSource({"1,1", "37,65", "3,2000", "1100,2", "5,1024"})
    void denseRowsEqualStridedOnes(int rows, int classes) {
        Random random = new Random(rows);
        float[] values = new float[rows * classes];
        for (int i = 0; i < values.length; i++) {
            values[i] = random.nextInt(50) == 0 ? (float) random.nextGaussian() * 1e-39f : random.nextFloat();
        }
        Tensor softmax = Tensor.of(values, rows, classes);
        long[] classOf = random.longs(rows, 0, classes).map(label -> random.nextInt(4) == 0 ? -100 : label).toArray();
        Tensor labels = Tensor.of(classOf, rows, 1);
        Tensor gradients = Tensor.of(DType.FLOAT32, random.doubles(rows, -2, 2).toArray(), rows, 1);
        Tensor dense = Tensor.allocate(DType.FLOAT32, rows, classes);
        Tensor strided = Tensor.allocate(DType.FLOAT32, rows, classes);
        Tensor transposed = Tensor.allocate(DType.FLOAT32, classes, rows).transpose();
        run(Copy.PLAIN, softmax, transposed);
        CrossEntropyGrad grad = new CrossEntropyGrad(new CrossEntropy(-1, false, -100));
        run(grad, softmax, labels, gradients, dense);
        run(grad, transposed, labels, gradients, strided);
        assertArrayEquals(strided.toFloatArray(), dense.toFloatArray(), rows + " rows of " + classes);
        run(grad, softmax, labels, gradients, softmax);
        assertArrayEquals(strided.toFloatArray(), softmax.toFloatArray(), "in place");
    }
}
