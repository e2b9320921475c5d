package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.Interpolation;
import io.seriatim.tensor.computation.network.InterpolationGrad;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.portable.view.Image;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Resizing of images, one channel after the other, in double. */
final class PortableInterpolation {
    private PortableInterpolation() {
    }

    /**
     * The interpolation along one dimension.
     *
     * @param low
     *            the index of an element of x for each position
     * @param high
     *            the next one, or the same at the end
     * @param share
     *            the weight of the next one
     * @param rest
     *            the weight of the first one; both are float32
     */
    @SuppressWarnings("ArrayRecordComponent")
    private record Taps(int[] low, int[] high, double[] share, double[] rest) {
        static Taps one() {
            return new Taps(new int[1], new int[1], new double[1], new double[]{1});
        }

        static Taps of(Interpolation.Kind kind, float step, int length, int places) {
            Taps taps = new Taps(new int[places], new int[places], new double[places], new double[places]);
            for (int i = 0; i < places; i++) {
                float source = kind.source(i, step);
                taps.low[i] = Math.min((int) source, length - 1);
                taps.high[i] = kind.isNearest() ? taps.low[i] : Math.min(taps.low[i] + 1, length - 1);
                taps.share[i] = kind.isNearest() ? 0 : source - taps.low[i];
                taps.rest[i] = 1 - (float) taps.share[i];
            }
            return taps;
        }

        int element(int place, int side) {
            return side == 0 ? low[place] : high[place];
        }

        double weight(int place, int side) {
            return side == 0 ? rest[place] : share[place];
        }
    }

    private static Taps[] taps(Interpolation interpolation, Image x, Image y) {
        int[] lengths = {x.depth(), x.height(), x.width()};
        int[] places = {y.depth(), y.height(), y.width()};
        Taps[] taps = {Taps.one(), Taps.one(), Taps.one()};
        int added = 3 - interpolation.output().size();
        for (int i = added; i < 3; i++) {
            taps[i] = Taps.of(interpolation.kind(), interpolation.steps().get(i - added), lengths[i], places[i]);
        }
        return taps;
    }

    /** The action for each row of y and each row of x with a weight in it. */
    @FunctionalInterface
    private interface RowPair {
        void row(int xRow, int yRow, double weight);
    }

    private static void rows(Taps[] taps, Image x, Image y, RowPair pair) {
        for (int z = 0; z < y.depth(); z++) {
            for (int row = 0; row < y.height(); row++) {
                for (int sides = 0; sides < 4; sides++) {
                    double weight = taps[0].weight(z, sides >> 1) * taps[1].weight(row, sides & 1);
                    if (weight != 0) {
                        int from = (taps[0].element(z, sides >> 1) * x.height() + taps[1].element(row, sides & 1))
                                * x.width();
                        pair.row(from, (z * y.height() + row) * y.width(), weight);
                    }
                }
            }
        }
    }

    static Kernel forward(Interpolation interpolation, @Nullable TensorSpec[] arguments) {
        Image x = Image.of(Objects.requireNonNull(arguments[0]));
        Image y = Image.of(Objects.requireNonNull(arguments[1]));
        Taps[] taps = taps(interpolation, x, y);
        Taps columns = taps[2];
        return PortableKernel.of((all, context) -> {
            int inputs = x.plane();
            double[] array = context.doubleArray(Math.addExact(inputs, y.plane()));
            for (long n = 0; n < x.images(); n++) {
                for (long c = 0; c < x.channels(); c++) {
                    x.loadPlane(all.get(0), n, c, array, 0);
                    Arrays.fill(array, inputs, inputs + y.plane(), 0);
                    rows(taps, x, y, (from, to, weight) -> {
                        for (int i = 0; i < y.width(); i++) {
                            double low = array[from + columns.low[i]];
                            double high = array[from + columns.high[i]];
                            double share = columns.share[i];
                            array[inputs + to + i] +=
                                    weight * (share == 0 ? low : low * columns.rest[i] + high * share);
                        }
                    });
                    y.storePlane(all.get(1), n, c, array, inputs);
                }
            }
        });
    }

    static Kernel grad(InterpolationGrad grad, @Nullable TensorSpec[] arguments) {
        Image dy = Image.of(Objects.requireNonNull(arguments[0]));
        Image dx = Image.of(Objects.requireNonNull(arguments[1]));
        Taps[] taps = taps(grad.forward(), dx, dy);
        Taps columns = taps[2];
        return PortableKernel.of((all, context) -> {
            int inputs = dx.plane();
            double[] array = context.doubleArray(Math.addExact(inputs, dy.plane()));
            for (long n = 0; n < dx.images(); n++) {
                for (long c = 0; c < dx.channels(); c++) {
                    Arrays.fill(array, 0, inputs, 0);
                    dy.loadPlane(all.get(0), n, c, array, inputs);
                    rows(taps, dx, dy, (to, from, weight) -> {
                        for (int i = 0; i < dy.width(); i++) {
                            double gradient = weight * array[inputs + from + i];
                            array[to + columns.low[i]] += gradient * columns.rest[i];
                            if (columns.share[i] != 0) {
                                array[to + columns.high[i]] += gradient * columns.share[i];
                            }
                        }
                    });
                    dx.storePlane(all.get(1), n, c, array, 0);
                }
            }
        });
    }
}
