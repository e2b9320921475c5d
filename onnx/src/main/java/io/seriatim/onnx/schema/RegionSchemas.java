package io.seriatim.onnx.schema;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.tensor.Shape;
import java.util.List;

/** The largest samples of regions of images. roi_align of Paddle takes their means only. */
final class RegionSchemas {
    /** Along an axis of a cell; more would compute for hours. */
    private static final int MOST_SAMPLES = 1024;

    private RegionSchemas() {
    }

    static void register(Operations registry) {
        Operation.define("onnx_roi_align_max").in("X", "Regions", "Images").out("Out").attr("height", 1)
                .attr("width", 1).attr("samples", 0).attr("scale", 1.0f).attr("half_pixel", true)
                .infer(RegionSchemas::infer).lower(l -> {
                    Operand x = l.in("X");
                    Operand regions = l.in("Regions");
                    Largest largest = new Largest(l.attrs(), x.shape(), Math.toIntExact(regions.dim(0)));
                    l.call("onnx_roi_align_max",
                            (in, out) -> Tensors.write(largest.of(Tensors.doubles(in, 0), Tensors.doubles(in, 1),
                                    Tensors.longs(in, 2)), out, 0),
                            List.of(x, regions, l.in("Images")), List.of(l.output("Out")));
                }).register(registry);
    }

    private static void infer(Inference inference) {
        long[] x = inference.dims("X");
        long[] regions = inference.dims("Regions");
        long[] images = inference.dims("Images");
        int height = inference.attrs().getInt("height");
        int width = inference.attrs().getInt("width");
        inference.require(x.length == 4 && regions.length == 2 && (regions[1] < 0 || regions[1] == 4)
                && images.length == 1 && (images[0] < 0 || regions[0] < 0 || images[0] == regions[0]),
                "X has 4 dimensions, Regions 4 numbers for each region and Images one, but they are %s, %s and %s",
                Numbers.text(x), Numbers.text(regions), Numbers.text(images));
        int samples = inference.attrs().getInt("samples");
        inference.require(height >= 1 && width >= 1 && samples >= 0 && samples <= MOST_SAMPLES,
                "height and width are at least 1 and samples from 0 to %d, but they are %d, %d and %d", MOST_SAMPLES,
                height, width, samples);
        inference.require(inference.dtype("X").isFloating() && inference.dtype("Regions").isFloating(),
                "X and Regions have floating-point numbers, but are %s and %s", inference.dtype("X"),
                inference.dtype("Regions"));
        inference.set("Out", inference.dtype("X"), regions[0] < 0 ? images[0] : regions[0], x[1], height, width);
    }

    /**
     * The largest of what samples of the cells of regions give: of each sample the largest of the four elements around
     * it times its weight, as ONNX Runtime computes it, not their sum.
     */
    private static final class Largest {
        private final int height;
        private final int width;
        private final int samples;
        private final float scale;
        private final boolean half;
        private final long images;
        private final int channels;
        private final int rows;
        private final int columns;
        private final int count;

        /** The elements beside a place of an axis, and the weight of the second. Both are 0 outside of the image. */
        private int first;
        private int second;
        private double fraction;

        Largest(Attrs attrs, Shape x, int count) {
            height = attrs.getInt("height");
            width = attrs.getInt("width");
            samples = attrs.getInt("samples");
            scale = attrs.getFloat("scale");
            half = attrs.getBool("half_pixel");
            images = x.dim(0);
            channels = Math.toIntExact(x.dim(1));
            rows = Math.toIntExact(x.dim(2));
            columns = Math.toIntExact(x.dim(3));
            this.count = count;
        }

        double[] of(double[] x, double[] regions, long[] image) {
            int cells = WorkingMemory.length(height, width);
            double[] y = new double[WorkingMemory.length((long) count * channels, cells)];
            for (int region = 0; region < count; region++) {
                if (image[region] < 0 || image[region] >= images) {
                    throw new IllegalArgumentException("region " + region + " is of image " + image[region]
                            + ", but there are " + images);
                }
                for (int cell = 0; cell < cells; cell++) {
                    sample(x, regions, region, (int) image[region], cell, y);
                }
            }
            return y;
        }

        private void sample(double[] x, double[] regions, int region, int image, int cell, double[] y) {
            double top = edge(regions[4 * region + 1]);
            double left = edge(regions[4 * region]);
            double tall = extent(top, edge(regions[4 * region + 3])) / height;
            double wide = extent(left, edge(regions[4 * region + 2])) / width;
            int down = samples > 0 ? samples : count(region, tall);
            int across = samples > 0 ? samples : count(region, wide);
            double firstRow = top + Math.floorDiv(cell, width) * tall;
            double firstColumn = left + (cell % width) * wide;
            int row = from(firstRow, tall / down);
            int column = from(firstColumn, wide / across);
            int endOfRows = end(firstRow, tall / down, down, rows);
            int endOfColumns = end(firstColumn, wide / across, across, columns);
            // Those that are left out are outside, and are 0 as y is.
            boolean isFirst = row == 0 && column == 0 && endOfRows == down && endOfColumns == across;
            for (int i = row; i < endOfRows; i++) {
                for (int k = column; k < endOfColumns; k++) {
                    add(x, region, image, firstRow + (i + 0.5) * tall / down, firstColumn + (k + 0.5) * wide / across,
                            cell, isFirst, y);
                    isFirst = false;
                }
            }
        }

        /** A sample for each element of the image. */
        private static int count(int region, double size) {
            double count = Math.ceil(size);
            if (count > Integer.MAX_VALUE) {
                throw new IllegalArgumentException("region " + region + " has cells of " + size
                        + " elements along an axis, and as many samples, but may have " + Integer.MAX_VALUE
                        + ": give smaller regions or sampling_ratio");
            }
            return (int) Math.max(0, count);
        }

        /** No earlier sample is in the image: those of regions that extend far beyond it are not visited. */
        private int from(double place, double step) {
            return samples > 0 ? 0 : Math.max(0, (int) Math.floor((-1 - place) / step) - 2);
        }

        /** This sample and no later one is in the image. */
        private int end(double place, double step, int count, int length) {
            return samples > 0 ? count : (int) Math.clamp(Math.ceil((length - place) / step) + 3, 0, count);
        }

        private double edge(double place) {
            return place * scale - (half ? 0.5 : 0);
        }

        /** A region without an extent has no samples; in the older form it has that of one element. */
        private double extent(double from, double to) {
            return half ? to - from : Math.max(to - from, 1);
        }

        private void add(double[] x, int region, int image, double row, double column, int cell, boolean isFirst,
                double[] y) {
            boolean outside = row < -1 || row > rows || column < -1 || column > columns;
            move(row, rows);
            int above = first * columns;
            int below = second * columns;
            double down = outside ? 0 : fraction;
            double up = outside ? 0 : 1 - fraction;
            move(column, columns);
            for (int c = 0; c < channels; c++) {
                int plane = (image * channels + c) * rows * columns;
                double value = outside
                        ? 0
                        : Math.max(
                                Math.max(up * (1 - fraction) * x[plane + above + first],
                                        up * fraction * x[plane + above + second]),
                                Math.max(down * (1 - fraction) * x[plane + below + first],
                                        down * fraction * x[plane + below + second]));
                int at = (region * channels + c) * height * width + cell;
                y[at] = isFirst ? value : Math.max(y[at], value);
            }
        }

        private void move(double place, int length) {
            double inside = Math.max(place, 0);
            first = (int) inside;
            if (first >= length - 1) {
                first = length - 1;
                second = first;
                fraction = 0;
            } else {
                second = first + 1;
                fraction = inside - first;
            }
        }
    }
}
