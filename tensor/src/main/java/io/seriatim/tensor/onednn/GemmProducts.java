package io.seriatim.tensor.onednn;

import io.seriatim.device.Devices;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.FloatRecurrence;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The products of a recurrence of up to {@link #MOST_SEQUENCES} sequences by the library's product of plain matrices,
 * which starts in 0.15 µs and reads states and adds to sums on the heap. The transposed weights lie in panels of
 * columns, each of which is row-major. Steps read the panels in alternating directions, beginning with those that are
 * still in the cache.
 */
final class GemmProducts implements FloatRecurrence.Products {
    /** With more sequences, the start of a primitive does not matter. */
    private static final long MOST_SEQUENCES = 32;
    /** The columns of a panel of many weights. Rows of whole pages would share a few sets of the caches. */
    private static final int PANEL = 256;
    /** So many weights are one panel. */
    private static final long MOST_IN_ONE = 1 << 17;

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
        if (!OneDnn.hasAvx512(dnnl) || sequences > MOST_SEQUENCES) {
            return null;
        }
        long size = transposed.shape().size();
        long gates = transposed.shape().dim(1);
        int width = Math.toIntExact(size < MOST_IN_ONE ? gates : Math.min(PANEL, gates));
        byte[] descriptor = ByteBuffer.allocate(Integer.BYTES).putInt(width).array();
        TensorSpec packed = new TensorSpec(DType.FLOAT32, transposed.shape(),
                new Layout.Opaque(OneDnnKernels.PANELS, descriptor, size * Float.BYTES));
        Packing packing = Packing.of(dnnl, transposed, packed);
        return new GemmProducts(dnnl, packed, packing);
    }

    /** For weights that are packed already. */
    static GemmProducts ofPacked(Dnnl dnnl, TensorSpec packed) {
        return new GemmProducts(dnnl, packed, null);
    }

    static boolean arePanels(TensorSpec spec) {
        return spec.layout() instanceof Layout.Opaque layout && layout.library().equals(OneDnnKernels.PANELS);
    }

    /** Packs transposed weights into panels; null for other copies. */
    static @Nullable Kernel packing(Dnnl dnnl, TensorSpec from, TensorSpec to) {
        return from.layout() instanceof Layout.Opaque || from.dtype() != DType.FLOAT32
                || !from.shape().equals(to.shape()) ? null : Packing.of(dnnl, from, to);
    }

    private static int width(TensorSpec panels) {
        return ByteBuffer.wrap(((Layout.Opaque) panels.layout()).descriptor()).getInt();
    }

    /** A copy for each panel. */
    private record Packing(List<Kernel> panels, TensorSpec from, TensorSpec to) implements Kernel {
        static Packing of(Dnnl dnnl, TensorSpec from, TensorSpec to) {
            List<Kernel> panels = new ArrayList<>();
            for (long at = 0; at < to.shape().dim(1); at += width(to)) {
                TensorSpec source = source(from, to, at);
                TensorSpec target = TensorSpec.of(DType.FLOAT32, source.shape().dims());
                panels.add(CopyRecipe.panel(dnnl, source, target));
            }
            return new Packing(List.copyOf(panels), from, to);
        }

        private static TensorSpec source(TensorSpec from, TensorSpec to, long at) {
            long width = Math.min(width(to), to.shape().dim(1) - at);
            return new TensorSpec(DType.FLOAT32, Shape.of(to.shape().dim(0), width),
                    Layout.strided(from.strides()));
        }

        @Override
        public void run(@Nullable Tensor[] arguments, KernelContext context) {
            Tensor source = Objects.requireNonNull(arguments[0]);
            Tensor target = Objects.requireNonNull(arguments[1]);
            for (int i = 0; i < panels.size(); i++) {
                long at = (long) i * width(to);
                TensorSpec part = source(from, to, at);
                Tensor of = new Tensor(source.buffer(), source.offset() + at * from.strides()[1] * Float.BYTES, part);
                Tensor into = new Tensor(target.buffer(), target.offset() + at * part.shape().dim(0) * Float.BYTES,
                        TensorSpec.of(DType.FLOAT32, part.shape().dims()));
                panels.get(i).run(new @Nullable Tensor[]{of, into}, context);
            }
        }

        @Override
        public String provider() {
            return OneDnnKernels.PROVIDER;
        }

        @Override
        public void load() {
            panels.forEach(Kernel::load);
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
            return panels.stream().mapToLong(of).sum();
        }

        @Override
        public void release() {
            panels.forEach(Kernel::release);
        }

        @Override
        public void close() {
            panels.forEach(Kernel::close);
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
        return new Panels(this);
    }

    private static final class Panels implements FloatRecurrence.Workspace {
        private final GemmProducts of;
        private final int size;
        private final int gates;
        private final int width;
        private final @Nullable Tensor own;
        private @Nullable Tensor held;
        private long address;
        private boolean back;

        Panels(GemmProducts of) {
            this.of = of;
            size = Math.toIntExact(of.packed.shape().dim(0));
            gates = Math.toIntExact(of.packed.shape().dim(1));
            width = width(of.packed);
            own = of.packing == null ? null : allocate(of.packed);
        }

        private static Tensor allocate(TensorSpec spec) {
            Tensor tensor = Tensor.allocate(Devices.system().host(), spec);
            tensor.buffer().label("working memory of recurrences");
            return tensor;
        }

        @Override
        public void begin(Tensor weights, KernelContext context) {
            Tensor panels = weights;
            if (of.packing != null) {
                Tensor view = new Tensor(weights.buffer(), weights.offset(), of.packing.from());
                panels = Objects.requireNonNull(own);
                of.packing.run(new @Nullable Tensor[]{view, panels}, context);
            }
            held = panels;
            address = panels.address();
        }

        @Override
        public void multiply(float[] states, float[] bias, float[] sums, int count, KernelContext context) {
            System.arraycopy(bias, 0, sums, 0, count * gates);
            MemorySegment from = MemorySegment.ofArray(states);
            MemorySegment to = MemorySegment.ofArray(sums);
            // Training depends on no number of threads, and threads gain little from one step.
            boolean each = ThreadCount.isSetEachTime(of.dnnl, 1);
            int panels = Math.ceilDiv(gates, width);
            try {
                for (int i = 0; i < panels; i++) {
                    int at = (back ? panels - 1 - i : i) * width;
                    if (each) {
                        of.dnnl.setThreads(1);
                    }
                    of.dnnl.addProduct(count, Math.min(width, gates - at), size, from,
                            address + (long) at * size * Float.BYTES, to.asSlice((long) at * Float.BYTES), gates);
                }
            } finally {
                // The library has only the address.
                Reference.reachabilityFence(held);
            }
            back = !back;
        }
    }
}
