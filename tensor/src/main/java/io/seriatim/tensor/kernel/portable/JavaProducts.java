package io.seriatim.tensor.kernel.portable;

import io.seriatim.device.Buffer;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.Recurrence;
import io.seriatim.tensor.computation.network.RecurrenceGrad;
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
    private static final int WEIGHTS = 1;

    private final TensorSpec packed;

    private JavaProducts(TensorSpec packed) {
        this.packed = packed;
    }

    static @Nullable Kernel of(Recurrence recurrence, @Nullable TensorSpec[] arguments) {
        for (int i = 0; i < arguments.length; i++) {
            TensorSpec each = arguments[i];
            if (each != null && each.layout() instanceof Layout.Opaque
                    && !(recurrence.isWeights(i) && isPacked(each))) {
                return null;
            }
        }
        TensorSpec more = recurrence.cell() == Recurrence.Cell.RESET_GRU ? arguments[recurrence.more()] : null;
        return isFaster(Objects.requireNonNull(arguments[0]), Objects.requireNonNull(arguments[WEIGHTS]), more)
                ? FloatRecurrence.of(recurrence, arguments, each -> new JavaProducts(packed(each)))
                : null;
    }

    static @Nullable Kernel grad(RecurrenceGrad grad, @Nullable TensorSpec[] arguments) {
        Recurrence recurrence = grad.forward();
        TensorSpec more = recurrence.cell() == Recurrence.Cell.RESET_GRU
                ? arguments[grad.weights() + 1 + recurrence.cell().states()]
                : null;
        return isFaster(Objects.requireNonNull(arguments[0]), Objects.requireNonNull(arguments[grad.weights()]), more)
                ? FloatRecurrenceGrad.of(grad, arguments, each -> new JavaProducts(packed(each)))
                : null;
    }

    /** Whether this is faster for [steps, batch, …] and these weights, with those of a candidate if it has its own. */
    private static boolean isFaster(TensorSpec steps, TensorSpec weights, @Nullable TensorSpec more) {
        long size = weights.shape().size() + (more == null ? 0 : more.shape().size());
        return steps.shape().dim(1) == 1
                && (size <= FEW_WEIGHTS || (size <= MOST_WEIGHTS && steps.shape().dim(0) >= FEWEST_STEPS));
    }

    private static boolean isPacked(TensorSpec weights) {
        return weights.layout() instanceof Layout.Opaque layout && layout.library().equals(JavaKernels.PROVIDER);
    }

    /** The transposed weights, row after row, in a layout that no other kernel reads. */
    private static TensorSpec packed(TensorSpec weights) {
        return isPacked(weights)
                ? weights
                : new TensorSpec(DType.FLOAT32, Shape.of(weights.shape().dim(1), weights.shape().dim(0)),
                        new Layout.Opaque(JavaKernels.PROVIDER, new byte[0], weights.shape().size() * Float.BYTES));
    }

    /** Packs transposed weights; null for other copies. */
    static @Nullable Kernel packing(@Nullable TensorSpec[] arguments) {
        TensorSpec from = Objects.requireNonNull(arguments[0]);
        TensorSpec to = Objects.requireNonNull(arguments[1]);
        if (!isPacked(to) || from.layout() instanceof Layout.Opaque || from.dtype() != DType.FLOAT32
                || !from.shape().equals(to.shape())) {
            return null;
        }
        return PortableKernel.of((all, _) -> {
            int gates = Math.toIntExact(from.shape().dim(1));
            float[] row = new float[gates];
            Tensor source = all.get(0);
            Tensor target = all.get(1);
            for (int k = 0; k < from.shape().dim(0); k++) {
                Floats.load(source.memory(), DType.FLOAT32, PortableRecurrence.at(source, 0, k),
                        PortableRecurrence.last(source), row, 0, gates);
                Floats.store(target.memory(), DType.FLOAT32, packedRow(target, k, gates), 1, row, 0, gates);
            }
        });
    }

    private static long packedRow(Tensor packed, int row, int gates) {
        return packed.offset() + (long) row * gates * Float.BYTES;
    }

    @Override
    public TensorSpec packed() {
        return packed;
    }

    @Override
    public String provider() {
        return JavaKernels.PROVIDER;
    }

    @Override
    public FloatRecurrence.Workspace workspace(TensorSpec weights) {
        return new Rows(Math.toIntExact(packed.shape().dim(1)), Math.toIntExact(packed.shape().dim(0)));
    }

    /** The transposed weights for one sequence, with rows of zeros up to a multiple of four. */
    private static final class Rows implements FloatRecurrence.Workspace {
        private final int gates;
        private final int size;
        private final int stride;
        private final float[][] rows;
        private final float[] dense;
        /** The packed weights in the rows, whose content never changes; null if none are. */
        private @Nullable Buffer held;

        Rows(int gates, int size) {
            this.gates = gates;
            this.size = size;
            stride = FloatRecurrence.padded(gates);
            rows = new float[Math.ceilDiv(size, ROWS) * ROWS][stride];
            dense = new float[gates * size];
        }

        @Override
        public void begin(Tensor weights, KernelContext context) {
            if (isPacked(weights.spec())) {
                load(weights);
                return;
            }
            MemorySegment memory = weights.memory();
            long[] strides = weights.spec().strides();
            if (strides[0] == 1) {
                // Given transposed already, as gradients read weights.
                for (int k = 0; k < size; k++) {
                    Floats.load(memory, DType.FLOAT32, weights.offset() + k * strides[1] * Float.BYTES, 1, rows[k], 0,
                            gates);
                }
                return;
            }
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

        private void load(Tensor packed) {
            if (held == packed.buffer()) {
                return;
            }
            for (int k = 0; k < size; k++) {
                Floats.load(packed.memory(), DType.FLOAT32, packedRow(packed, k, gates), 1, rows[k], 0, gates);
            }
            held = packed.buffer();
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
