package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.IndexRangeException;
import io.seriatim.tensor.Longs;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.RoiAlign;
import io.seriatim.tensor.computation.network.RoiAlignGrad;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.portable.view.Image;
import io.seriatim.tensor.kernel.portable.view.RoiBins;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Regions of images, one channel after the other, in double. */
final class PortableRoiAlign {
    private PortableRoiAlign() {
    }

    /** A region and where its result is. */
    private record Region(int number, RoiBins rows, RoiBins columns) {
        boolean isEmpty() {
            return rows.isEmpty() || columns.isEmpty();
        }

        /** Writes the weighted sums of the elements of a plane to the result, which begins at an index. */
        void gather(double[] array, int width, int result, int line) {
            int least = columns.least();
            int length = columns.end() - least;
            for (int row = 0; row < rows.bins(); row++) {
                int first = rows.first(row) * width + least;
                int count = rows.count(row);
                if (count == 0) {
                    Arrays.fill(array, line, line + length, 0);
                }
                for (int i = 0; i < count; i++) {
                    add(array, first + i * width, line, length, rows.weight(row, i), i == 0);
                }
                for (int bin = 0; bin < columns.bins(); bin++) {
                    array[result + row * columns.bins() + bin] = columns.sum(bin, array, line - least);
                }
            }
        }

        /** Adds a row of a plane to a line, or begins the line with it. */
        private static void add(double[] array, int from, int line, int length, double weight, boolean begins) {
            if (begins) {
                for (int i = 0; i < length; i++) {
                    array[line + i] = weight * array[from + i];
                }
            } else {
                for (int i = 0; i < length; i++) {
                    array[line + i] += weight * array[from + i];
                }
            }
        }

        /** Adds the gradients of the result, which begin at an index, to those of the elements of a plane. */
        void scatter(double[] array, int width, int result, int line) {
            int least = columns.least();
            int end = columns.end();
            for (int row = 0; row < rows.bins(); row++) {
                Arrays.fill(array, line + least, line + end, 0);
                for (int bin = 0; bin < columns.bins(); bin++) {
                    double gradient = array[result + row * columns.bins() + bin];
                    for (int i = 0; i < columns.count(bin); i++) {
                        array[line + columns.first(bin) + i] += columns.weight(bin, i) * gradient;
                    }
                }
                for (int i = 0; i < rows.count(row); i++) {
                    double weight = rows.weight(row, i);
                    int to = (rows.first(row) + i) * width;
                    for (int column = least; column < end; column++) {
                        array[to + column] += weight * array[line + column];
                    }
                }
            }
        }
    }

    /** The regions of each image. */
    private static List<List<Region>> regions(RoiAlign align, Tensor regions, Tensor images, Image x) {
        int count = Math.toIntExact(images.shape().size());
        double[] coordinates = new double[4 * count];
        Doubles.load(regions, 0, coordinates, 0, coordinates.length);
        long[] numbers = new long[count];
        Longs.load(images, 0, numbers, 0, count);
        boolean single = regions.dtype() != DType.FLOAT64;
        List<List<Region>> all = new ArrayList<>();
        for (long n = 0; n < x.images(); n++) {
            all.add(new ArrayList<>());
        }
        for (int i = 0; i < count; i++) {
            if (numbers[i] < 0 || numbers[i] >= x.images()) {
                throw new IndexRangeException("roi_align: the image of region " + i + " must be from 0 to "
                        + (x.images() - 1) + ", but is " + numbers[i]);
            }
            RoiBins columns = RoiBins.of(align, align.width(), coordinates[4 * i], coordinates[4 * i + 2], x.width(),
                    single);
            RoiBins rows = RoiBins.of(align, align.height(), coordinates[4 * i + 1], coordinates[4 * i + 3],
                    x.height(), single);
            all.get((int) numbers[i]).add(new Region(i, rows, columns));
        }
        return all;
    }

    static Kernel forward(RoiAlign align, @Nullable TensorSpec[] arguments) {
        Image x = Image.of(Objects.requireNonNull(arguments[0]));
        Image y = Image.of(Objects.requireNonNull(arguments[3]));
        int result = x.plane();
        int line = Math.addExact(result, y.plane());
        return PortableKernel.of((all, context) -> {
            List<List<Region>> regions = regions(align, all.get(1), all.get(2), x);
            double[] array = context.doubleArray(Math.addExact(line, x.width()));
            for (int n = 0; n < x.images(); n++) {
                for (long c = 0; c < x.channels() && !regions.get(n).isEmpty(); c++) {
                    x.loadPlane(all.get(0), n, c, array, 0);
                    for (Region region : regions.get(n)) {
                        if (region.isEmpty()) {
                            Arrays.fill(array, result, line, Double.NaN);
                        } else {
                            region.gather(array, x.width(), result, line);
                        }
                        y.storePlane(all.get(3), region.number(), c, array, result);
                    }
                }
            }
        });
    }

    static Kernel grad(RoiAlignGrad grad, @Nullable TensorSpec[] arguments) {
        Image dy = Image.of(Objects.requireNonNull(arguments[2]));
        Image dx = Image.of(Objects.requireNonNull(arguments[3]));
        int result = dx.plane();
        int line = Math.addExact(result, dy.plane());
        return PortableKernel.of((all, context) -> {
            List<List<Region>> regions = regions(grad.forward(), all.get(0), all.get(1), dx);
            double[] array = context.doubleArray(Math.addExact(line, dx.width()));
            for (int n = 0; n < dx.images(); n++) {
                for (long c = 0; c < dx.channels(); c++) {
                    Arrays.fill(array, 0, result, 0);
                    for (Region region : regions.get(n)) {
                        if (!region.isEmpty()) {
                            dy.loadPlane(all.get(2), region.number(), c, array, result);
                            region.scatter(array, dx.width(), result, line);
                        }
                    }
                    dx.storePlane(all.get(3), n, c, array, 0);
                }
            }
        });
    }
}
