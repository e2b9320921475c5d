package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.Longs;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Dropout;
import io.seriatim.tensor.computation.DropoutGrad;
import io.seriatim.tensor.computation.Permutation;
import io.seriatim.tensor.computation.RandomNumbers;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.Kernels;
import io.seriatim.tensor.kernel.portable.function.Philox;
import io.seriatim.tensor.numerics.NormalQuantile;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

/**
 * Random numbers. Each element takes 64 bits, half of a Philox block: its number in row-major order alone decides
 * which. A normal pair (Box and Muller, 1958) takes one block.
 */
final class RandomKernels {
    private static final List<DType> FLOATS = List.of(DType.FLOAT32, DType.FLOAT64, DType.FLOAT16, DType.BFLOAT16);
    private static final List<DType> WHOLE = List.of(DType.INT32, DType.INT64);
    private static final double UNIT = 0x1p-53;
    private static final int BLOCKS = KernelContext.TILE / 4;
    private static final int ELEMENTS = 2 * BLOCKS;

    private RandomKernels() {
    }

    static void register(Kernels kernels) {
        kernels.register(PortableKernels.PROVIDER, PortableKernels.CPU, "random", RandomNumbers.class,
                ArrayKernels.REAL,
                (random, _) -> random(random));
        kernels.register(PortableKernels.PROVIDER, PortableKernels.CPU, "permutation", Permutation.class, WHOLE,
                (permutation, _) -> permutation(permutation));
        kernels.register(PortableKernels.PROVIDER, PortableKernels.CPU, "dropout", Dropout.class, FLOATS,
                (dropout, _) -> dropout(dropout));
        kernels.register(PortableKernels.PROVIDER, PortableKernels.CPU, "dropout_grad", DropoutGrad.class, FLOATS,
                (grad, arguments) -> Elementwise
                        .of(DType.FLOAT64, Objects.requireNonNull(arguments[2]), arguments[0], arguments[1])
                        .kernel(new Elementwise.Tile() {
                            @Override
                            public void doubles(KernelContext context, int count) {
                                for (int i = 0; i < count; i++) {
                                    context.doubles(2)[i] = context.doubles(0)[i] * context.doubles(1)[i]
                                            * grad.forward().scale();
                                }
                            }
                        }));
    }

    /** Fills a tile with numbers evenly between 0, included, and 1, excluded, of 53 bits. */
    private static void uniform(long key, long stream, long first, double[] into, int count, int[] bits) {
        Philox.fill(key, stream, first / 2, bits, (count + 1) / 2);
        for (int i = 0; i < count; i++) {
            long pair = ((long) bits[2 * i] << 32) | (bits[2 * i + 1] & 0xFFFFFFFFL);
            into[i] = (pair >>> 11) * UNIT;
        }
    }

    /** Read as kernels read: in an accelerator's memory too. */
    private static long part(Tensor key, int index) {
        return Longs.get(key.memory(), DType.INT64, key.offset() + index * (long) Long.BYTES);
    }

    private static Kernel random(RandomNumbers random) {
        return PortableKernel.of((all, context) -> {
            Tensor key = all.get(0);
            long seed = part(key, 0);
            long stream = part(key, 1);
            Tensor out = all.get(1);
            double[] values = context.doubles(0);
            long count = out.shape().size();
            for (long i = 0; i < count; i += ELEMENTS) {
                int length = (int) Math.min(ELEMENTS, count - i);
                // Numbers are drawn in pairs: with an odd count, the last one's partner is not stored.
                uniform(seed, stream, i, values, length + 1 & -2, context.ints(0));
                distribute(random, values, length + 1 & -2);
                if (out.dtype() == DType.FLOAT32) {
                    // Copied in bulk: in a new process, which initialises parameters, storing elements one by one would
                    // take most of the time.
                    narrow(values, context.floats(0), length);
                    Floats.store(out, i, context.floats(0), 0, length);
                } else if (out.dtype().isFloating()) {
                    Doubles.store(out, i, values, 0, length);
                } else {
                    whole(values, context.longs(0), length);
                    Longs.store(out, i, context.longs(0), 0, length);
                }
            }
        });
    }

    private static void narrow(double[] values, float[] into, int count) {
        for (int i = 0; i < count; i++) {
            into[i] = (float) values[i];
        }
    }

    private static void whole(double[] values, long[] into, int count) {
        for (int i = 0; i < count; i++) {
            into[i] = (long) values[i];
        }
    }

    private static void distribute(RandomNumbers random, double[] values, int count) {
        double a = random.a();
        double b = random.b();
        switch (random.distribution()) {
            case UNIFORM -> {
                double end = random.dtype() == DType.FLOAT64 ? Math.nextDown(b) : Math.nextDown((float) b);
                for (int i = 0; i < count; i++) {
                    // Rounding must not reach the end, which is excluded.
                    double value = a + values[i] * (b - a);
                    values[i] = a == b
                            ? a
                            : random.dtype() == DType.FLOAT64 ? Math.min(value, end) : Math.min((float) value, end);
                }
            }
            case WHOLE -> {
                for (int i = 0; i < count; i++) {
                    values[i] = Math.floor(a + values[i] * (b - a));
                }
            }
            case BERNOULLI -> {
                for (int i = 0; i < count; i++) {
                    values[i] = values[i] < a ? 1 : 0;
                }
            }
            case NORMAL -> {
                for (int i = 0; i < count; i += 2) {
                    double radius = Math.sqrt(-2 * Math.log(1 - values[i]));
                    double angle = 2 * Math.PI * values[i + 1];
                    values[i] = a + b * radius * Math.cos(angle);
                    values[i + 1] = a + b * radius * Math.sin(angle);
                }
            }
            case TRUNCATED_NORMAL -> {
                for (int i = 0; i < count; i++) {
                    values[i] = a + b * NormalQuantile.truncated(values[i]);
                }
            }
        }
    }

    private static Kernel permutation(Permutation permutation) {
        return PortableKernel.of((all, context) -> {
            double[] keys = new double[permutation.n() + 2];
            double[] tile = context.doubles(0);
            for (int i = 0; i < permutation.n(); i += ELEMENTS) {
                int length = Math.min(ELEMENTS, permutation.n() - i);
                uniform(part(all.get(0), 0), part(all.get(0), 1), i, tile, length, context.ints(0));
                System.arraycopy(tile, 0, keys, i, length);
            }
            Integer[] order = new Integer[permutation.n()];
            Arrays.setAll(order, i -> i);
            Arrays.sort(order, Comparator.comparingDouble(i -> keys[i]));
            long[] values = Arrays.stream(order).mapToLong(Integer::longValue).toArray();
            Longs.store(all.get(1), 0, values, 0, values.length);
        });
    }

    private static Kernel dropout(Dropout dropout) {
        return PortableKernel.of((all, context) -> {
            Tensor key = all.get(1);
            double[] values = context.doubles(0);
            double[] x = context.doubles(1);
            long[] mask = context.longs(0);
            long count = all.get(0).shape().size();
            for (long i = 0; i < count; i += ELEMENTS) {
                int length = (int) Math.min(ELEMENTS, count - i);
                uniform(part(key, 0), part(key, 1), i, values, length, context.ints(0));
                Doubles.load(all.get(0), i, x, 0, length);
                for (int j = 0; j < length; j++) {
                    mask[j] = values[j] >= dropout.probability() ? 1 : 0;
                    x[j] = mask[j] == 0 ? 0 : x[j] * dropout.scale();
                }
                Doubles.store(all.get(2), i, x, 0, length);
                Longs.store(all.get(3), i, mask, 0, length);
            }
        });
    }
}
