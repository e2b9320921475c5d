package io.seriatim.tensor.onednn;

import io.seriatim.device.Devices;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.network.ConvolutionGradInput;
import io.seriatim.tensor.computation.network.Window;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.view.Image;
import io.seriatim.tensor.kernel.portable.view.Steps;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Transposed convolutions to few channels as products of the weights, [channels · window, inputs], with the pixels
 * of some rows of an image, [inputs, pixels]. A channel of the result is the sum of rows of the product, shifted, one
 * sum for each remainder of the place by the stride. The library's own transposed convolutions pad channels to blocks
 * of 16.
 */
final class TransposedProducts implements Kernel {
    /** Channels of a block of the library. */
    private static final long BLOCK = 16;
    /** Times in ns: of a multiplication and an addition, of a sum in Java, and of writing a number. */
    private static final double OPERATION = 0.02;
    private static final double SUM = 0.5;
    private static final double STORE = 1.2;
    /** The time that the library takes for each pixel of the result. */
    private static final double PIXEL = 4;
    /** The model errs by up to so much. */
    private static final double MOST = 0.7;
    /** The numbers of a product that stay in the second-level cache. */
    private static final long MOST_NUMBERS = 1 << 18;

    private final Kernel product;
    private final Steps steps;
    private final Image x;
    private final Image w;
    private final Image y;
    private final TensorSpec pixels;
    private final TensorSpec columns;
    private final TensorSpec weights;
    /** 0 if depth is cut into slices, 1 if height is. */
    private final int cut;
    private final int slices;
    private final int count;
    private final AtomicReference<@Nullable Tensor> idle = new AtomicReference<>();

    private TransposedProducts(Kernel product, Steps steps, Image[] images, TensorSpec[] operands, int cut,
            int count) {
        this.product = product;
        this.steps = steps;
        x = images[0];
        w = images[1];
        y = images[2];
        weights = operands[0];
        pixels = operands[1];
        columns = operands[2];
        this.cut = cut;
        slices = cut == 0 ? x.depth() : x.height();
        this.count = count;
    }

    /** Strides of files have no bound; each combination of their places has a plane of sums. */
    private static final double MOST_STRIDES = 64;

    /**
     * Whether products are faster than the library's own, by a model of the time for each pixel of x that is fitted to
     * 290 shapes: of the best of both for each, the choice takes 1.02 times as long.
     */
    private static boolean pays(Window window, Shape weights) {
        double inputs = OPERATION * weights.dim(0);
        double taps = weights.slice(2, weights.rank()).size();
        double strides = 1;
        for (int i = 0; i < window.rank(); i++) {
            strides *= window.stride(i);
        }
        double channels = weights.dim(1);
        double padded = Math.ceilDiv(weights.dim(1), BLOCK) * BLOCK;
        return strides <= MOST_STRIDES && channels * (taps * (inputs + SUM) + strides * STORE) < MOST
                * (taps * padded * inputs + strides * PIXEL);
    }

    /** Null where the library's own are as fast. */
    static @Nullable Kernel of(Dnnl dnnl, ConvolutionGradInput transposed, TensorSpec x, TensorSpec w, TensorSpec y) {
        boolean plain = transposed.groups() == 1 && NormalisationRecipes.areFloat32(x, w, y) && w.isRowMajor()
                && Specs.areForward(x, y) && x.shape().size() > 0 && w.shape().size() > 0 && x.shape().rank() <= 5;
        if (!plain || !pays(transposed.window(), w.shape())) {
            return null;
        }
        Image image = Image.of(x);
        long step = image.strides()[4];
        if ((image.height() > 1 && image.strides()[3] != step * image.width())
                || (image.depth() > 1 && image.strides()[2] != step * image.width() * image.height())) {
            return null;
        }
        int cut = image.depth() > 1 || Image.of(y).depth() > 1 ? 0 : 1;
        long slice = (long) image.width() * (cut == 0 ? image.height() : 1);
        int slices = cut == 0 ? image.depth() : image.height();
        long rows = w.shape().size() / w.shape().dim(0);
        Steps steps = Steps.of(transposed.window());
        long extent = (Image.of(w).dims()[2 + cut] - 1) * steps.dilations()[cut] + 1;
        long overlap = Math.ceilDiv(extent, steps.strides()[cut]);
        int count = (int) Math.min(slices, Math.max(2 * overlap, MOST_NUMBERS / (rows * slice)));
        TensorSpec weights = TensorSpec.of(DType.FLOAT32, w.shape().dim(0), rows);
        TensorSpec pixels = new TensorSpec(DType.FLOAT32, Shape.of(w.shape().dim(0), count * slice),
                Layout.strided(image.strides()[1], step));
        TensorSpec columns = TensorSpec.of(DType.FLOAT32, rows, count * slice);
        if (columns.shape().size() > Integer.MAX_VALUE / 8) {
            return null;
        }
        Kernel product = MatMulRecipe.kernel(dnnl, new MatMul(true, false, false, List.of()),
                new TensorSpec[]{weights, pixels, columns});
        return product == null
                ? null
                : new TransposedProducts(product, steps, new Image[]{image, Image.of(w), Image.of(y)},
                        new TensorSpec[]{weights, pixels, columns}, cut, count);
    }

    @Override
    public void run(@Nullable Tensor[] arguments, KernelContext context) {
        Tensor images = Objects.requireNonNull(arguments[0]);
        Tensor given = Objects.requireNonNull(arguments[1]);
        Tensor result = Objects.requireNonNull(arguments[2]);
        Tensor matrix = idle.getAndSet(null);
        if (matrix == null) {
            matrix = Tensor.allocate(Devices.system().host(), columns);
            matrix.buffer().label("columns of transposed convolutions");
        }
        Tensor left = new Tensor(given.buffer(), given.offset(), weights);
        int all = cut == 0 ? y.depth() : y.height();
        Sums sums = new Sums(this);
        for (long n = 0; n < x.images(); n++) {
            int done = 0;
            while (done < all) {
                int from = Math.clamp(first(done), 0, slices - count);
                int to = done + 1;
                while (to < all && Math.min(slices, end(to)) <= from + count) {
                    to++;
                }
                long offset = images.offset()
                        + (n * x.strides()[0] + from * x.strides()[2 + cut]) * Float.BYTES;
                product.run(new Tensor[]{left, new Tensor(images.buffer(), offset, pixels), matrix}, context);
                for (int c = 0; c < y.channels(); c++) {
                    sums.add(matrix, c);
                    for (int slice = done; slice < to; slice++) {
                        sums.store(from, slice, result, n, c);
                    }
                }
                done = to;
            }
        }
        idle.set(matrix);
    }

    /** The first slice that is spread to a place of the result; negative where there is none. */
    private int first(int place) {
        int extent = (Math.toIntExact(w.dims()[2 + cut]) - 1) * steps.dilations()[cut] + 1;
        return Math.min(Math.ceilDiv(place + steps.begin()[cut] - extent + 1, steps.strides()[cut]), end(place) - 1);
    }

    /** The end of the slices that are spread to a place of the result. */
    private int end(int place) {
        return Math.floorDiv(place + steps.begin()[cut], steps.strides()[cut]) + 1;
    }

    /**
     * The sums of the pixels of x that some slices of a channel of the result depend on: an array for each remainder of
     * the three places by the strides. Elements of the kernel with the same remainders differ by a shift. Rows of the
     * arrays are as long as the shifts reach, so that one loop adds a shifted array.
     */
    private static final class Sums {
        private final TransposedProducts of;
        private final int[] lengths;
        private final int[] least = new int[3];
        private final int[] padded = new int[3];
        private final int size;
        private final float[] plane;
        private final float[] sums;
        private final float[] given;
        private final float[] line;

        Sums(TransposedProducts of) {
            this.of = of;
            lengths = new int[]{of.x.depth(), of.x.height(), of.x.width()};
            lengths[of.cut] = of.count;
            int phases = 1;
            for (int i = 0; i < 3; i++) {
                int taps = Math.toIntExact(of.w.dims()[2 + i]);
                least[i] = Math.floorDiv(-of.steps.begin()[i], of.steps.strides()[i]);
                padded[i] = lengths[i] + shift(i, taps - 1) - least[i];
                phases *= of.steps.strides()[i];
            }
            size = Math.multiplyExact(Math.multiplyExact(padded[0], padded[1]), padded[2]);
            plane = new float[((lengths[0] - 1) * padded[1] + lengths[1]) * padded[2]];
            sums = new float[Math.multiplyExact(size, phases)];
            given = new float[lengths[0] * lengths[1] * lengths[2]];
            line = new float[of.y.width()];
        }

        /** By how many places an element of the kernel moves, a dimension's stride being one. */
        private int shift(int dimension, int tap) {
            return Math.floorDiv(tap * of.steps.dilations()[dimension] - of.steps.begin()[dimension],
                    of.steps.strides()[dimension]);
        }

        private int phase(int dimension, int tap) {
            return Math.floorMod(tap * of.steps.dilations()[dimension] - of.steps.begin()[dimension],
                    of.steps.strides()[dimension]);
        }

        void add(Tensor matrix, int channel) {
            Arrays.fill(sums, 0);
            int row = channel * of.w.plane();
            for (int kz = 0; kz < of.w.depth(); kz++) {
                for (int ky = 0; ky < of.w.height(); ky++) {
                    for (int kx = 0; kx < of.w.width(); kx++) {
                        load(matrix, row++);
                        int phase = (phase(0, kz) * of.steps.strides()[1] + phase(1, ky)) * of.steps.strides()[2]
                                + phase(2, kx);
                        int to = ((shift(0, kz) - least[0]) * padded[1] + shift(1, ky) - least[1]) * padded[2]
                                + shift(2, kx) - least[2];
                        // After the last row there is only padding, which may lie outside of the array.
                        addTo(plane, sums, phase * size + to, plane.length - padded[2] + lengths[2]);
                    }
                }
            }
        }

        /** Reads a row of the product: the pixels with padding after each row, which stays 0. */
        private void load(Tensor matrix, int row) {
            long offset = matrix.offset() + (long) row * given.length * Float.BYTES;
            boolean dense = padded[2] == lengths[2] && (padded[1] == lengths[1] || lengths[0] == 1);
            MemorySegment.copy(matrix.memory(), ValueLayout.JAVA_FLOAT_UNALIGNED, offset, dense ? plane : given, 0,
                    given.length);
            int from = 0;
            for (int z = 0; z < lengths[0] && !dense; z++) {
                for (int line = 0; line < lengths[1]; line++) {
                    System.arraycopy(given, from, plane, (z * padded[1] + line) * padded[2], lengths[2]);
                    from += lengths[2];
                }
            }
        }

        /** Writes a slice of the result: a row, or all rows of a depth. */
        void store(int from, int slice, Tensor result, long n, int channel) {
            int rows = of.cut == 0 ? of.y.height() : 1;
            for (int i = 0; i < rows; i++) {
                int z = of.cut == 0 ? slice : 0;
                int row = of.cut == 0 ? i : slice;
                fill(place(0, z, of.cut == 0 ? from : 0), place(1, row, of.cut == 0 ? 0 : from),
                        Math.floorMod(z, of.steps.strides()[0]) * of.steps.strides()[1]
                                + Math.floorMod(row, of.steps.strides()[1]));
                long[] strides = of.y.strides();
                long offset = result.offset()
                        + (n * strides[0] + channel * strides[1] + z * strides[2] + row * strides[3]) * Float.BYTES;
                Floats.store(result.memory(), DType.FLOAT32, offset, strides[4], line, 0, line.length);
            }
        }

        /** The place in the sums; −1 if nothing is spread there. */
        private int place(int dimension, int place, int from) {
            int at = Math.floorDiv(place, of.steps.strides()[dimension]) - least[dimension] - from;
            return at >= 0 && at < padded[dimension] ? at : -1;
        }

        private void fill(int z, int row, int phases) {
            int stride = of.steps.strides()[2];
            for (int phase = 0; phase < stride; phase++) {
                int count = z < 0 || row < 0 ? 0 : padded[2] + least[2];
                int at = (phases * stride + phase) * size + (z * padded[1] + row) * padded[2] - least[2];
                interleave(sums, at, count, line, phase, stride);
            }
        }
    }

    private static void addTo(float[] from, float[] to, int at, int count) {
        for (int i = 0; i < count; i++) {
            to[at + i] += from[i];
        }
    }

    /** Writes so many numbers to every so many places, and zeros to the others. */
    private static void interleave(float[] from, int first, int count, float[] to, int phase, int stride) {
        int places = Math.min(Math.max(0, count), Math.ceilDiv(to.length - phase, stride));
        for (int i = 0; i < places; i++) {
            to[phase + i * stride] = from[first + i];
        }
        for (int place = phase + places * stride; place < to.length; place += stride) {
            to[place] = 0;
        }
    }

    @Override
    public String provider() {
        return OneDnnKernels.PROVIDER;
    }

    @Override
    public void load() {
        product.load();
    }

    @Override
    public long bytes() {
        return product.bytes() + columns.bytes();
    }

    @Override
    public long loadedBytes() {
        return product.loadedBytes() + columns.bytes();
    }

    @Override
    public void release() {
        idle.set(null);
        product.release();
    }

    @Override
    public void close() {
        idle.set(null);
        product.close();
    }
}
