package io.seriatim.tensor.onednn;

import io.seriatim.device.Devices;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.network.Recurrence;
import io.seriatim.tensor.computation.network.RecurrenceGrad;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.FloatRecurrence;
import io.seriatim.tensor.kernel.portable.FloatRecurrenceGrad;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The products of the states of a recurrence with the transposed weights in the layout that the library prefers:
 * those that are given in it, [size, gates], or a copy that each run packs. All sequences take part in each step,
 * also those that have ended.
 */
final class RecurrentProducts implements FloatRecurrence.Products {
    private final Kernel product;
    /** Null for weights that are packed already. */
    private final @Nullable Kernel packing;
    private final TensorSpec states;
    private final TensorSpec transposed;
    private final TensorSpec packed;
    private final TensorSpec sums;

    private RecurrentProducts(Kernel product, @Nullable Kernel packing, TensorSpec states, TensorSpec transposed,
            TensorSpec packed, TensorSpec sums) {
        this.product = product;
        this.packing = packing;
        this.states = states;
        this.transposed = transposed;
        this.packed = packed;
        this.sums = sums;
    }

    /** Null if the library has none. */
    static @Nullable Kernel kernel(Dnnl dnnl, Recurrence recurrence, @Nullable TensorSpec[] arguments) {
        for (int i = 0; i < arguments.length; i++) {
            TensorSpec other = arguments[i];
            if (other != null && other.layout() instanceof Layout.Opaque layout
                    && (!recurrence.isWeights(i) || !layout.library().equals(OneDnnKernels.PROVIDER))) {
                return null;
            }
        }
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        return FloatRecurrence.of(recurrence, arguments, weights -> weights.layout() instanceof Layout.Opaque
                ? ofPacked(dnnl, x, weights)
                : of(dnnl, x, weights));
    }

    /** The gradient, whose products have the weights the other way round. Null if the library has none. */
    static @Nullable Kernel grad(Dnnl dnnl, RecurrenceGrad grad, @Nullable TensorSpec[] arguments) {
        TensorSpec y = Objects.requireNonNull(arguments[0]);
        return FloatRecurrenceGrad.of(grad, arguments, transposed -> of(dnnl, y, transposed));
    }

    private static @Nullable RecurrentProducts ofPacked(Dnnl dnnl, TensorSpec x, TensorSpec packed) {
        TensorSpec states = TensorSpec.of(DType.FLOAT32, x.shape().dim(1), packed.shape().dim(0));
        TensorSpec sums = TensorSpec.of(DType.FLOAT32, x.shape().dim(1), packed.shape().dim(1));
        Kernel product = MatMulRecipe.kernel(dnnl, MatMul.PLAIN, new TensorSpec[]{states, packed, sums});
        return product == null ? null : new RecurrentProducts(product, null, states, packed, packed, sums);
    }

    private static @Nullable RecurrentProducts of(Dnnl dnnl, TensorSpec x, TensorSpec weights) {
        long gates = weights.shape().dim(0);
        long size = weights.shape().dim(1);
        long batch = x.shape().dim(1);
        if (x.shape().size() == 0) {
            return null;
        }
        TensorSpec states = TensorSpec.of(DType.FLOAT32, batch, size);
        TensorSpec sums = TensorSpec.of(DType.FLOAT32, batch, gates);
        long[] strides = weights.strides();
        TensorSpec transposed = new TensorSpec(DType.FLOAT32, Shape.of(size, gates),
                Layout.strided(strides[1], strides[0]));
        TensorSpec rowMajor = TensorSpec.of(DType.FLOAT32, size, gates);
        TensorSpec packed;
        try (Kernel plain = MatMulRecipe.kernel(dnnl, MatMul.PLAIN, new TensorSpec[]{states, rowMajor, sums})) {
            if (plain == null) {
                return null;
            }
            packed = plain.preferred(1, rowMajor);
        }
        Kernel product = MatMulRecipe.kernel(dnnl, MatMul.PLAIN, new TensorSpec[]{states, packed, sums});
        Kernel packing = CopyRecipe.kernel(dnnl, Copy.PLAIN, new TensorSpec[]{transposed, packed});
        if (product == null || packing == null) {
            return null;
        }
        return new RecurrentProducts(product, packing, states, transposed, packed, sums);
    }

    @Override
    public String provider() {
        return OneDnnKernels.PROVIDER;
    }

    @Override
    public void load() {
        product.load();
        if (packing != null) {
            packing.load();
        }
    }

    @Override
    public @Nullable TensorSpec packed() {
        return packed.layout() instanceof Layout.Opaque ? packed : null;
    }

    @Override
    public long bytes() {
        long own = packing == null ? 0 : packing.bytes() + Float.BYTES * transposed.shape().size();
        return product.bytes() + own + Float.BYTES * (states.shape().size() + sums.shape().size());
    }

    @Override
    public void release() {
        product.release();
        if (packing != null) {
            packing.release();
        }
    }

    @Override
    public void close() {
        product.close();
        if (packing != null) {
            packing.close();
        }
    }

    @Override
    public FloatRecurrence.Workspace workspace(TensorSpec weights) {
        return new Packed(this);
    }

    private static final class Packed implements FloatRecurrence.Workspace {
        private final RecurrentProducts of;
        private final Tensor states;
        private final Tensor sums;
        /** The weights are missing until a run begins, if they are given packed. */
        private final @Nullable Tensor[] operands;
        private final int size;
        private final int gates;

        Packed(RecurrentProducts of) {
            this.of = of;
            size = Math.toIntExact(of.states.shape().dim(1));
            gates = Math.toIntExact(of.sums.shape().dim(1));
            states = allocate(of.states);
            sums = allocate(of.sums);
            operands = new @Nullable Tensor[]{states, of.packing == null ? null : allocate(of.packed), sums};
        }

        private static Tensor allocate(TensorSpec spec) {
            Tensor tensor = Tensor.allocate(Devices.system().host(), spec);
            tensor.buffer().label("working memory of recurrences");
            return tensor;
        }

        @Override
        public void begin(Tensor weights, KernelContext context) {
            if (of.packing == null) {
                operands[1] = weights;
                return;
            }
            Tensor view = new Tensor(weights.buffer(), weights.offset(), of.transposed);
            of.packing.run(new @Nullable Tensor[]{view, operands[1]}, context);
        }

        @Override
        public void multiply(float[] from, float[] bias, float[] to, int count, KernelContext context) {
            Floats.store(states.memory(), DType.FLOAT32, 0, 1, from, 0, count * size);
            of.product.run(operands, context);
            Floats.load(sums.memory(), DType.FLOAT32, 0, 1, to, 0, count * gates);
            for (int i = 0; i < bias.length; i++) {
                to[i] += bias[i];
            }
        }
    }
}
