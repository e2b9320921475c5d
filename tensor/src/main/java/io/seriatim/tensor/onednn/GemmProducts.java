package io.seriatim.tensor.onednn;

import io.seriatim.device.Devices;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.FloatRecurrence;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The products of a recurrence of up to {@link #MOST_MULTIPLICATIONS} multiplications a step by the library's product
 * of plain matrices, which starts in 0.15 µs and reads states and adds to sums on the heap. It runs on one thread, as
 * all steps of recurrences do.
 */
final class GemmProducts implements FloatRecurrence.Products {
    /** About 3 µs. Of longer steps, the start of a primitive is a small part. */
    private static final long MOST_MULTIPLICATIONS = 1 << 17;

    private final Dnnl dnnl;
    private final TensorSpec packed;
    /** Null for weights that are packed already. */
    private final @Nullable Packing packing;

    private GemmProducts(Dnnl dnnl, TensorSpec packed, @Nullable Packing packing) {
        this.dnnl = dnnl;
        this.packed = packed;
        this.packing = packing;
    }

    /** Null if another way is faster. */
    static @Nullable GemmProducts of(Dnnl dnnl, long sequences, TensorSpec transposed) {
        long size = transposed.shape().size();
        if (!OneDnn.hasAvx512(dnnl) || sequences * size >= MOST_MULTIPLICATIONS) {
            return null;
        }
        TensorSpec packed = new TensorSpec(DType.FLOAT32, transposed.shape(),
                new Layout.Opaque(OneDnnKernels.ROWS, new byte[0], size * Float.BYTES));
        return new GemmProducts(dnnl, packed, Packing.of(dnnl, transposed));
    }

    /** For weights that are packed already. */
    static GemmProducts ofPacked(Dnnl dnnl, TensorSpec packed) {
        return new GemmProducts(dnnl, packed, null);
    }

    static boolean areRows(TensorSpec spec) {
        return spec.layout() instanceof Layout.Opaque layout && layout.library().equals(OneDnnKernels.ROWS);
    }

    /** Packs transposed weights row by row; null for other copies. */
    static @Nullable Kernel packing(Dnnl dnnl, TensorSpec from, TensorSpec to) {
        return from.layout() instanceof Layout.Opaque || from.dtype() != DType.FLOAT32
                || !from.shape().equals(to.shape()) ? null : Packing.of(dnnl, from);
    }

    /** A copy of weights to a dense matrix. */
    private record Packing(Kernel copy, TensorSpec from) implements Kernel {
        static Packing of(Dnnl dnnl, TensorSpec from) {
            return new Packing(CopyRecipe.dense(dnnl, from, from.rowMajor()), from);
        }

        @Override
        public void run(@Nullable Tensor[] arguments, KernelContext context) {
            Tensor target = Objects.requireNonNull(arguments[1]);
            copy.run(new @Nullable Tensor[]{arguments[0],
                    new Tensor(target.buffer(), target.offset(), from.rowMajor())}, context);
        }

        @Override
        public String provider() {
            return OneDnnKernels.PROVIDER;
        }

        @Override
        public void load() {
            copy.load();
        }

        @Override
        public long bytes() {
            return copy.bytes();
        }

        @Override
        public long loadedBytes() {
            return copy.loadedBytes();
        }

        @Override
        public void release() {
            copy.release();
        }

        @Override
        public void close() {
            copy.close();
        }
    }

    @Override
    public String provider() {
        return OneDnnKernels.PROVIDER;
    }

    @Override
    public TensorSpec packed() {
        return packed;
    }

    @Override
    public void load() {
        if (packing != null) {
            packing.load();
        }
    }

    @Override
    public long bytes() {
        return packing == null ? 0 : packing.bytes() + packed.bytes();
    }

    @Override
    public long loadedBytes() {
        return packing == null ? 0 : packing.loadedBytes() + packed.bytes();
    }

    @Override
    public void release() {
        if (packing != null) {
            packing.release();
        }
    }

    @Override
    public void close() {
        if (packing != null) {
            packing.close();
        }
    }

    @Override
    public FloatRecurrence.Workspace workspace(TensorSpec weights) {
        return new Rows(this);
    }

    private static final class Rows implements FloatRecurrence.Workspace {
        private final GemmProducts of;
        private final int size;
        private final int gates;
        private final @Nullable Tensor own;
        private @Nullable Tensor held;
        private long address;

        Rows(GemmProducts of) {
            this.of = of;
            size = Math.toIntExact(of.packed.shape().dim(0));
            gates = Math.toIntExact(of.packed.shape().dim(1));
            own = of.packing == null ? null : allocate(of.packed);
        }

        private static Tensor allocate(TensorSpec spec) {
            Tensor tensor = Tensor.allocate(Devices.system().host(), spec);
            tensor.buffer().label("working memory of recurrences");
            return tensor;
        }

        @Override
        public void begin(Tensor weights, KernelContext context) {
            Tensor rows = weights;
            if (of.packing != null) {
                Tensor view = new Tensor(weights.buffer(), weights.offset(), of.packing.from());
                rows = Objects.requireNonNull(own);
                of.packing.run(new @Nullable Tensor[]{view, rows}, context);
            }
            held = rows;
            address = rows.address();
        }

        @Override
        public void multiply(float[] states, float[] bias, float[] sums, int count, KernelContext context) {
            System.arraycopy(bias, 0, sums, 0, count * gates);
            if (ThreadCount.isSetEachTime(of.dnnl, 1)) {
                of.dnnl.setThreads(1);
            }
            try {
                of.dnnl.addProduct(count, gates, size, MemorySegment.ofArray(states), address,
                        MemorySegment.ofArray(sums), gates);
            } finally {
                // The library has only the address.
                Reference.reachabilityFence(held);
            }
        }
    }
}
