package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.Recurrence;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.function.FloatGates;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The products of a small recurrence of one sequence in plain Java, which spares the start of a library's primitive in
 * each step: the sum of the rows of the transposed weights, each times a number of the state, in loops that the JIT
 * vectorises.
 */
public final class JavaProducts implements FloatRecurrence.Products {
    /** With more weights, or several sequences that share them, the library's products are faster. */
    private static final long MOST_WEIGHTS = 1 << 16;
    /** With more of them, it takes {@link #FEWEST_STEPS} to gain what the transposition of the weights costs. */
    private static final long FEW_WEIGHTS = 1 << 13;
    private static final long FEWEST_STEPS = 8;
    private static final int ROWS = 4;

    private JavaProducts() {
    }

    static @Nullable Kernel of(Recurrence recurrence, @Nullable TensorSpec[] arguments) {
        TensorSpec weights = Objects.requireNonNull(arguments[1]);
        if (weights.layout() instanceof Layout.Opaque) {
            return null;
        }
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        long size = weights.shape().size();
        boolean faster = x.shape().dim(1) == 1
                && (size <= FEW_WEIGHTS || (size <= MOST_WEIGHTS && x.shape().dim(0) >= FEWEST_STEPS));
        return faster ? FloatRecurrence.of(recurrence, arguments, new JavaProducts()) : null;
    }

    @Override
    public String provider() {
        return JavaKernels.PROVIDER;
    }

    @Override
    public FloatRecurrence.Workspace workspace(TensorSpec weights) {
        return new Rows(Math.toIntExact(weights.shape().dim(0)), Math.toIntExact(weights.shape().dim(1)));
    }

    /** The transposed weights for one sequence, with rows of zeros up to a multiple of four. */
    private static final class Rows implements FloatRecurrence.Workspace {
        private final int gates;
        private final int size;
        private final int stride;
        private final float[][] rows;
        private final float[] dense;

        Rows(int gates, int size) {
            this.gates = gates;
            this.size = size;
            stride = FloatRecurrence.padded(gates);
            rows = new float[Math.ceilDiv(size, ROWS) * ROWS][stride];
            dense = new float[gates * size];
        }

        @Override
        public void begin(Tensor weights, KernelContext context) {
            MemorySegment memory = weights.memory();
            if (weights.spec().isRowMajor()) {
                Floats.load(memory, DType.FLOAT32, weights.offset(), 1, dense, 0, gates * size);
            } else {
                for (int gate = 0; gate < gates; gate++) {
                    Floats.load(memory, DType.FLOAT32, PortableRecurrence.at(weights, 0, gate),
                            PortableRecurrence.last(weights), dense, gate * size, size);
                }
            }
            int k = 0;
            for (; k + ROWS <= size; k += ROWS) {
                transpose(k, rows[k], rows[k + 1], rows[k + 2], rows[k + 3]);
            }
            for (; k < size; k++) {
                for (int gate = 0; gate < gates; gate++) {
                    rows[k][gate] = dense[gate * size + k];
                }
            }
        }

        /** Four columns become rows. */
        private void transpose(int k, float[] a, float[] b, float[] c, float[] d) {
            for (int gate = 0; gate < gates; gate++) {
                int at = gate * size + k;
                a[gate] = dense[at];
                b[gate] = dense[at + 1];
                c[gate] = dense[at + 2];
                d[gate] = dense[at + 3];
            }
        }

        @Override
        public void multiply(float[] states, float[] bias, float[] sums, int count, KernelContext context) {
            System.arraycopy(bias, 0, sums, 0, gates);
            for (int k = 0; k < rows.length; k += ROWS) {
                FloatGates.addRows(sums, rows[k], rows[k + 1], rows[k + 2], rows[k + 3], states, k, stride);
            }
        }
    }
}
