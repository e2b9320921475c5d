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
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.FloatRecurrence;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The products of the states of a recurrence with the transposed weights, which are packed once a run into the layout
 * that the library prefers. All sequences take part in each step, also those that have ended.
 */
final class RecurrentProducts implements FloatRecurrence.Products {
    private final Kernel product;
    private final Kernel packing;
    private final TensorSpec states;
    private final TensorSpec transposed;
    private final TensorSpec packed;
    private final TensorSpec sums;

    private RecurrentProducts(Kernel product, Kernel packing, TensorSpec states, TensorSpec transposed,
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
        if (Arrays.stream(arguments).anyMatch(each -> each != null && each.layout() instanceof Layout.Opaque)) {
            return null;
        }
        RecurrentProducts products = of(dnnl, Objects.requireNonNull(arguments[0]),
                Objects.requireNonNull(arguments[1]));
        return products == null ? null : FloatRecurrence.of(recurrence, arguments, products);
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
        packing.load();
    }

    @Override
    public long bytes() {
        return product.bytes() + packing.bytes()
                + Float.BYTES * (states.shape().size() + transposed.shape().size() + sums.shape().size());
    }

    @Override
    public void release() {
        product.release();
        packing.release();
    }

    @Override
    public void close() {
        product.close();
        packing.close();
    }

    @Override
    public FloatRecurrence.Workspace workspace(TensorSpec weights) {
        return new Packed(this);
    }

    private static final class Packed implements FloatRecurrence.Workspace {
        private final RecurrentProducts of;
        private final Tensor states;
        private final Tensor packed;
        private final Tensor sums;
        private final Tensor[] operands;
        private final int size;
        private final int gates;

        Packed(RecurrentProducts of) {
            this.of = of;
            size = Math.toIntExact(of.states.shape().dim(1));
            gates = Math.toIntExact(of.sums.shape().dim(1));
            states = allocate(of.states);
            packed = allocate(of.packed);
            sums = allocate(of.sums);
            operands = new Tensor[]{states, packed, sums};
        }

        private static Tensor allocate(TensorSpec spec) {
            Tensor tensor = Tensor.allocate(Devices.system().host(), spec);
            tensor.buffer().label("working memory of recurrences");
            return tensor;
        }

        @Override
        public void begin(Tensor weights, KernelContext context) {
            Tensor view = new Tensor(weights.buffer(), weights.offset(), of.transposed);
            of.packing.run(new Tensor[]{view, packed}, context);
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
