package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.AdaptivePooling;
import io.seriatim.tensor.computation.network.Pooling;
import io.seriatim.tensor.computation.network.PoolingGrad;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.portable.view.Image;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Poolings and their gradients: one channel after the other, in double. The places of every dimension are prepared as
 * ranges of the input.
 */
final class PortablePooling {
    private PortablePooling() {
    }

    /**
     * The windows along one dimension.
     *
     * @param from
     *            the first element of x in each
     * @param to
     *            after the last
     * @param counted
     *            the elements that a mean over padding divides by
     */
    @SuppressWarnings("ArrayRecordComponent")
    private record Ranges(int[] from, int[] to, int[] counted) {
        static Ranges whole() {
            return new Ranges(new int[]{0}, new int[]{1}, new int[]{1});
        }

        static Ranges moving(int length, int places, int kernel, int stride, int begin, int end) {
            Ranges ranges = new Ranges(new int[places], new int[places], new int[places]);
            for (int i = 0; i < places; i++) {
                int first = i * stride - begin;
                ranges.from[i] = Math.max(0, first);
                ranges.to[i] = Math.min(length, first + kernel);
                ranges.counted[i] = Math.min(length + end, first + kernel) - first;
            }
            return ranges;
        }

        static Ranges adaptive(int length, int places) {
            Ranges ranges = new Ranges(new int[places], new int[places], new int[places]);
            for (int i = 0; i < places; i++) {
                ranges.from[i] = (int) ((long) i * length / places);
                ranges.to[i] = (int) (((i + 1L) * length + places - 1) / places);
                ranges.counted[i] = ranges.to[i] - ranges.from[i];
            }
            return ranges;
        }
    }

    /** The windows of all three dimensions. */
    @SuppressWarnings("ArrayRecordComponent")
    private record Windows(Pooling.Kind kind, Ranges[] ranges) {
        static Windows of(Computation computation, Image x, Image y) {
            int[] lengths = {x.depth(), x.height(), x.width()};
            int[] places = {y.depth(), y.height(), y.width()};
            Ranges[] ranges = new Ranges[3];
            Arrays.fill(ranges, Ranges.whole());
            if (computation instanceof Pooling pooling) {
                int added = 3 - pooling.window().rank();
                for (int i = 0; i < pooling.window().rank(); i++) {
                    ranges[added + i] = Ranges.moving(lengths[added + i], places[added + i],
                            Math.toIntExact(pooling.kernel().get(i)),
                            pooling.window().stride(i),
                            pooling.window().padBegin(i), pooling.window().padEnd(i));
                }
                return new Windows(pooling.kind(), ranges);
            }
            AdaptivePooling pooling = (AdaptivePooling) computation;
            int added = 3 - pooling.output().size();
            for (int i = 0; i < pooling.output().size(); i++) {
                ranges[added + i] = Ranges.adaptive(lengths[added + i], places[added + i]);
            }
            return new Windows(pooling.kind(), ranges);
        }

        double divisor(int z, int y, int x) {
            if (kind == Pooling.Kind.AVERAGE_WITH_PADDING) {
                return (double) ranges[0].counted[z] * ranges[1].counted[y] * ranges[2].counted[x];
            }
            return (double) (ranges[0].to[z] - ranges[0].from[z]) * (ranges[1].to[y] - ranges[1].from[y])
                    * (ranges[2].to[x] - ranges[2].from[x]);
        }

        /** The first of the largest elements of a window; a NaN is larger than all. */
        int largest(double[] plane, Image image, int z, int y, int x) {
            int best = -1;
            for (int i = ranges[0].from[z]; i < ranges[0].to[z]; i++) {
                for (int j = ranges[1].from[y]; j < ranges[1].to[y]; j++) {
                    for (int k = ranges[2].from[x]; k < ranges[2].to[x]; k++) {
                        int at = (i * image.height() + j) * image.width() + k;
                        if (best < 0 || plane[at] > plane[best]
                                || (Double.isNaN(plane[at]) && !Double.isNaN(plane[best]))) {
                            best = at;
                        }
                    }
                }
            }
            return best;
        }

        double sum(double[] plane, Image image, int z, int y, int x) {
            double sum = 0;
            for (int i = ranges[0].from[z]; i < ranges[0].to[z]; i++) {
                for (int j = ranges[1].from[y]; j < ranges[1].to[y]; j++) {
                    for (int k = ranges[2].from[x]; k < ranges[2].to[x]; k++) {
                        sum += plane[(i * image.height() + j) * image.width() + k];
                    }
                }
            }
            return sum;
        }

        void spread(double[] plane, int base, Image image, int z, int y, int x, double value) {
            for (int i = ranges[0].from[z]; i < ranges[0].to[z]; i++) {
                for (int j = ranges[1].from[y]; j < ranges[1].to[y]; j++) {
                    for (int k = ranges[2].from[x]; k < ranges[2].to[x]; k++) {
                        plane[base + (i * image.height() + j) * image.width() + k] += value;
                    }
                }
            }
        }
    }

    static Kernel forward(Computation pooling, @Nullable TensorSpec[] arguments) {
        Image x = Image.of(Objects.requireNonNull(arguments[0]));
        Image y = Image.of(Objects.requireNonNull(arguments[1]));
        Windows windows = Windows.of(pooling, x, y);
        return PortableKernel.of((all, context) -> {
            int inputs = x.plane();
            double[] array = context.doubleArray(Math.addExact(inputs, y.plane()));
            for (long n = 0; n < x.images(); n++) {
                for (long c = 0; c < x.channels(); c++) {
                    x.loadPlane(all.get(0), n, c, array, 0);
                    int at = inputs;
                    for (int i = 0; i < y.depth(); i++) {
                        for (int j = 0; j < y.height(); j++) {
                            for (int k = 0; k < y.width(); k++) {
                                array[at++] = windows.kind() == Pooling.Kind.MAX
                                        ? array[windows.largest(array, x, i, j, k)]
                                        : windows.sum(array, x, i, j, k) / windows.divisor(i, j, k);
                            }
                        }
                    }
                    y.storePlane(all.get(1), n, c, array, inputs);
                }
            }
        });
    }

    static Kernel grad(PoolingGrad grad, @Nullable TensorSpec[] arguments) {
        Image x = Image.of(Objects.requireNonNull(arguments[0]));
        Image dy = Image.of(Objects.requireNonNull(arguments[2]));
        Image dx = Image.of(Objects.requireNonNull(arguments[3]));
        Windows windows = Windows.of(grad.forward(), x, dy);
        return PortableKernel.of((all, context) -> {
            int inputs = x.plane();
            int gradients = Math.addExact(inputs, inputs);
            double[] array = context.doubleArray(Math.addExact(gradients, dy.plane()));
            for (long n = 0; n < x.images(); n++) {
                for (long c = 0; c < x.channels(); c++) {
                    x.loadPlane(all.get(0), n, c, array, 0);
                    Arrays.fill(array, inputs, gradients, 0);
                    dy.loadPlane(all.get(2), n, c, array, gradients);
                    int at = gradients;
                    for (int i = 0; i < dy.depth(); i++) {
                        for (int j = 0; j < dy.height(); j++) {
                            for (int k = 0; k < dy.width(); k++) {
                                double gradient = array[at++];
                                if (windows.kind() == Pooling.Kind.MAX) {
                                    array[inputs + windows.largest(array, x, i, j, k)] += gradient;
                                } else {
                                    windows.spread(array, inputs, x, i, j, k, gradient / windows.divisor(i, j, k));
                                }
                            }
                        }
                    }
                    dx.storePlane(all.get(3), n, c, array, inputs);
                }
            }
        });
    }
}
