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
import io.seriatim.tensor.kernel.portable.function.FloatGates;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The products of the states of a recurrence with the transposed weights in the layout that the library prefers:
 * those that are given in it, [size, gates], or a copy that each run packs. If sequences have lengths of their own,
 * there are products of quarters of many sequences; a step takes the least one that has all sequences with that step,
 * and so perhaps some that have ended.
 */
final class RecurrentProducts implements FloatRecurrence.Products {
    private static final long FEWEST_DIVIDED = 16;
    private static final int PARTS = 4;

    /** From the one of all sequences to that of the fewest. */
    private final List<Product> products;
    /** Null for weights that are packed already. */
    private final @Nullable Kernel packing;
    private final TensorSpec transposed;
    private final TensorSpec packed;

    private RecurrentProducts(List<Product> products, @Nullable Kernel packing, TensorSpec transposed,
            TensorSpec packed) {
        this.products = products;
        this.packing = packing;
        this.transposed = transposed;
        this.packed = packed;
    }

    /** A product for so many sequences. */
    private record Product(Kernel kernel, TensorSpec states, TensorSpec sums) {
        /** Null if the library has none. */
        static @Nullable Product of(Dnnl dnnl, long batch, TensorSpec packed) {
            TensorSpec states = TensorSpec.of(DType.FLOAT32, batch, packed.shape().dim(0));
            TensorSpec sums = TensorSpec.of(DType.FLOAT32, batch, packed.shape().dim(1));
            Kernel kernel = MatMulRecipe.kernel(dnnl, MatMul.PLAIN, new TensorSpec[]{states, packed, sums});
            return kernel == null ? null : new Product(kernel, states, sums);
        }

        long batch() {
            return states.shape().dim(0);
        }
    }

    /** That of all sequences, and those of some that prefer the same layout; empty if the library has none. */
    private static List<Product> products(Dnnl dnnl, long batch, TensorSpec packed, boolean lengths) {
        Product all = Product.of(dnnl, batch, packed);
        if (all == null || !lengths || batch < FEWEST_DIVIDED) {
            return all == null ? List.of() : List.of(all);
        }
        List<Product> products = new ArrayList<>(List.of(all));
        for (int i = PARTS - 1; i > 0; i--) {
            long some = Math.ceilDiv(batch * i, PARTS);
            Product product = packed.equals(preferred(dnnl, some, packed)) ? Product.of(dnnl, some, packed) : null;
            if (product != null) {
                products.add(product);
            }
        }
        return products;
    }

    /** The layout of weights [size, gates] for so many sequences; null if the library has no product. */
    private static @Nullable TensorSpec preferred(Dnnl dnnl, long batch, TensorSpec weights) {
        TensorSpec rowMajor = TensorSpec.of(DType.FLOAT32, weights.shape().dims());
        TensorSpec states = TensorSpec.of(DType.FLOAT32, batch, weights.shape().dim(0));
        TensorSpec sums = TensorSpec.of(DType.FLOAT32, batch, weights.shape().dim(1));
        try (Kernel plain = MatMulRecipe.kernel(dnnl, MatMul.PLAIN, new TensorSpec[]{states, rowMajor, sums})) {
            return plain == null ? null : plain.preferred(1, rowMajor);
        }
    }

    /** Null if the library has none. */
    static @Nullable Kernel kernel(Dnnl dnnl, Recurrence recurrence, @Nullable TensorSpec[] arguments) {
        for (int i = 0; i < arguments.length; i++) {
            TensorSpec other = arguments[i];
            if (other != null && other.layout() instanceof Layout.Opaque layout
                    && (!recurrence.isWeights(i)
                            || !(layout.library().equals(OneDnnKernels.PROVIDER) || GemmProducts.areRows(other)))) {
                return null;
            }
        }
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        return FloatRecurrence.of(recurrence, arguments, weights -> weights.layout() instanceof Layout.Opaque
                ? ofPacked(dnnl, x, weights, recurrence.lengths())
                : of(dnnl, x, weights, recurrence.lengths()));
    }

    /** The gradient, whose products have the weights the other way round. Null if the library has none. */
    static @Nullable Kernel grad(Dnnl dnnl, RecurrenceGrad grad, @Nullable TensorSpec[] arguments) {
        TensorSpec y = Objects.requireNonNull(arguments[0]);
        return FloatRecurrenceGrad.of(grad, arguments, transposed -> of(dnnl, y, transposed, grad.forward().lengths()));
    }

    private static FloatRecurrence.@Nullable Products ofPacked(Dnnl dnnl, TensorSpec x, TensorSpec packed,
            boolean lengths) {
        if (GemmProducts.areRows(packed)) {
            return GemmProducts.ofPacked(dnnl, packed);
        }
        List<Product> products = products(dnnl, x.shape().dim(1), packed, lengths);
        return products.isEmpty() ? null : new RecurrentProducts(products, null, packed, packed);
    }

    private static FloatRecurrence.@Nullable Products of(Dnnl dnnl, TensorSpec x, TensorSpec weights,
            boolean lengths) {
        if (x.shape().size() == 0) {
            return null;
        }
        long batch = x.shape().dim(1);
        long[] strides = weights.strides();
        TensorSpec transposed = new TensorSpec(DType.FLOAT32,
                Shape.of(weights.shape().dim(1), weights.shape().dim(0)), Layout.strided(strides[1], strides[0]));
        GemmProducts gemm = GemmProducts.of(dnnl, batch, transposed);
        if (gemm != null) {
            return gemm;
        }
        TensorSpec packed = preferred(dnnl, batch, transposed);
        if (packed == null) {
            return null;
        }
        List<Product> products = products(dnnl, batch, packed, lengths);
        Kernel packing = CopyRecipe.kernel(dnnl, Copy.PLAIN, new TensorSpec[]{transposed, packed});
        if (products.isEmpty() || packing == null) {
            return null;
        }
        return new RecurrentProducts(products, packing, transposed, packed);
    }

    @Override
    public String provider() {
        return OneDnnKernels.PROVIDER;
    }

    @Override
    public void load() {
        products.forEach(each -> each.kernel().load());
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
        return bytes(Kernel::bytes);
    }

    @Override
    public long loadedBytes() {
        return bytes(Kernel::loadedBytes);
    }

    private long bytes(ToLongFunction<Kernel> of) {
        long own = packing == null ? 0 : of.applyAsLong(packing) + Float.BYTES * transposed.shape().size();
        Product all = products.getFirst();
        return products.stream().map(Product::kernel).mapToLong(of).sum() + own
                + Float.BYTES * (all.states().shape().size() + all.sums().shape().size());
    }

    @Override
    public void release() {
        products.forEach(each -> each.kernel().release());
        if (packing != null) {
            packing.release();
        }
    }

    @Override
    public void close() {
        products.forEach(each -> each.kernel().close());
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
        /** Those of each product. The weights are missing until a run begins, if they are given packed. */
        private final @Nullable Tensor[][] operands;
        private final int size;
        private final int gates;

        Packed(RecurrentProducts of) {
            this.of = of;
            Product all = of.products.getFirst();
            size = Math.toIntExact(all.states().shape().dim(1));
            gates = Math.toIntExact(all.sums().shape().dim(1));
            states = allocate(all.states());
            sums = allocate(all.sums());
            Tensor weights = of.packing == null ? null : allocate(of.packed);
            operands = new @Nullable Tensor[of.products.size()][];
            for (int i = 0; i < operands.length; i++) {
                Product product = of.products.get(i);
                operands[i] = new @Nullable Tensor[]{new Tensor(states.buffer(), 0, product.states()), weights,
                        new Tensor(sums.buffer(), 0, product.sums())};
            }
        }

        private static Tensor allocate(TensorSpec spec) {
            Tensor tensor = Tensor.allocate(Devices.system().host(), spec);
            tensor.buffer().label("working memory of recurrences");
            return tensor;
        }

        @Override
        public void begin(Tensor weights, KernelContext context) {
            if (of.packing == null) {
                for (@Nullable
                Tensor[] each : operands) {
                    each[1] = weights;
                }
                return;
            }
            Tensor view = new Tensor(weights.buffer(), weights.offset(), of.transposed);
            of.packing.run(new @Nullable Tensor[]{view, operands[0][1]}, context);
        }

        /**
         * A context with one thread: several threads would meet at a barrier in each step, where they wait for those
         * that other work keeps from a processor.
         */
        private static KernelContext single(KernelContext context) {
            return context.threads() == 1 ? context : KernelContext.current();
        }

        @Override
        public void multiply(float[] from, float[] bias, float[] to, int count, KernelContext context) {
            Floats.store(states.memory(), DType.FLOAT32, 0, 1, from, 0, count * size);
            int least = of.products.size() - 1;
            while (of.products.get(least).batch() < count) {
                least--;
            }
            of.products.get(least).kernel().run(operands[least], single(context));
            Floats.load(sums.memory(), DType.FLOAT32, 0, 1, to, 0, count * gates);
            int all = Math.min(bias.length, Math.max(count * gates, FloatGates.LEAST));
            for (int i = 0; i < all; i++) {
                to[i] += bias[i];
            }
        }
    }
}
