package io.seriatim.graph.ops.region;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Means of samples of regions, whose bins have channels of their own and are moved by offsets (Dai et al.: Deformable
 * Convolutional Networks, 2017).
 */
public final class DeformablePoolingOperations {
    private static final int MOST_SAMPLES = 1 << 12;

    private DeformablePoolingOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("deformable_psroi_pooling").in("Input", "ROIs", "Trans").readsLod("ROIs")
                .out("TopCount", "Output").sharesNoLod().required("no_trans", Attribute.Bool.class)
                .required("spatial_scale", Attribute.Real.class).required("output_dim", Attribute.Int.class)
                .required("group_size", Attribute.Ints.class).required("pooled_height", Attribute.Int.class)
                .required("pooled_width", Attribute.Int.class).required("part_size", Attribute.Ints.class)
                .required("sample_per_part", Attribute.Int.class).required("trans_std", Attribute.Real.class)
                .infer(DeformablePoolingOperations::infer).lower(DeformablePoolingOperations::pool)
                .grad("deformable_psroi_pooling_grad(Input, Output@GRAD, ROIs, TopCount, Trans) -> Input@GRAD, "
                        + "Trans@GRAD", DeformablePoolingOperations::gradient)
                .register(registry);
    }

    private static int[] pair(Inference inference, String attribute) {
        int[] pair = inference.attrs().getInts(attribute);
        inference.require(pair.length == 2 && pair[0] > 0 && pair[1] > 0,
                "the attribute '%s' must be two numbers from 1 on, but is %s", attribute, Numbers.text(pair));
        return pair;
    }

    private static void infer(Inference inference) {
        long[] x = inference.dims("Input");
        long[] regions = inference.dims("ROIs");
        inference.require(x.length == 4 && x[2] != 0 && x[3] != 0,
                "Input must have four dimensions, and images that are not empty, but is %s", Numbers.text(x));
        inference.require(regions.length == 2 && (regions[1] == 4 || regions[1] < 0),
                "ROIs must be [regions, 4], but are %s", Numbers.text(regions));
        DType dtype = inference.dtype("Input");
        inference.require(dtype.isFloating() && dtype == inference.dtype("ROIs") && dtype == inference.dtype("Trans"),
                "Input, ROIs and Trans must have one floating-point type, but are %s, %s and %s", dtype,
                inference.dtype("ROIs"), inference.dtype("Trans"));
        Regions.count(inference, x[0]);
        int height = Regions.positive(inference, "pooled_height");
        int width = Regions.positive(inference, "pooled_width");
        int channels = Regions.positive(inference, "output_dim");
        int samples = Regions.positive(inference, "sample_per_part");
        inference.require(samples <= MOST_SAMPLES, "the attribute 'sample_per_part' must be at most %d, but is %d",
                MOST_SAMPLES, samples);
        double scale = inference.attrs().getFloat("spatial_scale");
        inference.require(scale > 0 && Double.isFinite(scale),
                "the attribute 'spatial_scale' must be greater than 0, but is %s", scale);
        int[] group = pair(inference, "group_size");
        inference.require(x[1] < 0 || x[1] / group[0] / group[1] >= channels,
                "Input must have %d · %d · %d channels, output_dim times the group_size, but has %d", channels,
                group[0], group[1], x[1]);
        int[] part = pair(inference, "part_size");
        if (!inference.attrs().getBool("no_trans")) {
            long[] trans = inference.dims("Trans");
            boolean fits = trans.length == 4
                    && (trans[1] < 0 || (trans[1] >= 2 && trans[1] % 2 == 0 && channels % (trans[1] / 2) == 0))
                    && (trans[0] < 0 || regions[0] < 0 || trans[0] == regions[0])
                    && (trans[2] < 0 || trans[2] == part[0]) && (trans[3] < 0 || trans[3] == part[1]);
            inference.require(fits,
                    "Trans must be [regions, 2 · classes, %d, %d], where the classes divide output_dim, %d, but is %s",
                    part[0], part[1], channels, Numbers.text(trans));
        }
        inference.set("Output", dtype, regions[0], channels, height, width);
        inference.set("TopCount", dtype, regions[0], channels, height, width);
    }

    /** The sizes of the operands and attributes. */
    private static final class Bins {
        private final boolean single;
        private final float scale;
        private final float deviation;
        private final int samples;
        private final int[] group;
        private final int[] part;
        private final int classes;
        private final boolean fixed;
        final int inputs;
        final int height;
        final int width;
        final int channels;
        final int rows;
        final int columns;

        Bins(Lowering l) {
            Operand x = l.in("Input");
            Attrs attrs = l.attrs();
            single = x.dtype() != DType.FLOAT64;
            scale = attrs.getFloat("spatial_scale");
            deviation = attrs.getFloat("trans_std");
            samples = attrs.getInt("sample_per_part");
            group = attrs.getInts("group_size");
            part = attrs.getInts("part_size");
            fixed = attrs.getBool("no_trans");
            classes = fixed ? 1 : Math.toIntExact(l.in("Trans").dim(1) / 2);
            inputs = Math.toIntExact(x.dim(1));
            height = Math.toIntExact(x.dim(2));
            width = Math.toIntExact(x.dim(3));
            channels = attrs.getInt("output_dim");
            rows = attrs.getInt("pooled_height");
            columns = attrs.getInt("pooled_width");
        }

        int results(int regions) {
            return Math.toIntExact((long) regions * channels * rows * columns);
        }

        private double rounded(double number) {
            return single ? (float) number : number;
        }

        private static double nearest(double number) {
            return Math.copySign(Math.floor(Math.abs(number) + 0.5), number);
        }

        /** The channel of Input that an element of the result is taken from. */
        private int channel(int result) {
            int column = result % columns;
            int row = result / columns % rows;
            int channel = result / columns / rows % channels;
            int groupRow = Math.min((int) ((long) row * group[0] / rows), group[0] - 1);
            int groupColumn = Math.min((int) ((long) column * group[1] / columns), group[1] - 1);
            return (channel * group[0] + groupRow) * group[1] + groupColumn;
        }

        /** The index of an element's column offset in Trans; that of its row offset is one part further. */
        private int offset(int result) {
            int column = result % columns;
            int row = result / columns % rows;
            int channel = result / columns / rows % channels;
            int region = result / columns / rows / channels;
            int partRow = (int) ((long) row * part[0] / rows);
            int partColumn = (int) ((long) column * part[1] / columns);
            int kind = channel / (channels / classes);
            return (((region * classes + kind) * 2) * part[0] + partRow) * part[1] + partColumn;
        }

        private int offsets() {
            return part[0] * part[1];
        }

        /** Calls for each sample of an element of the result that is in the image. */
        void each(int result, double[] regions, double[] trans, SampleWork work) {
            int region = result / columns / rows / channels;
            double left = rounded(rounded(nearest(regions[4 * region]) * scale) - 0.5);
            double top = rounded(rounded(nearest(regions[4 * region + 1]) * scale) - 0.5);
            double right = rounded(rounded((nearest(regions[4 * region + 2]) + 1) * scale) - 0.5);
            double bottom = rounded(rounded((nearest(regions[4 * region + 3]) + 1) * scale) - 0.5);
            double regionWidth = Math.max(rounded(right - left), rounded(0.1));
            double regionHeight = Math.max(rounded(bottom - top), rounded(0.1));
            double binWidth = rounded(regionWidth / columns);
            double binHeight = rounded(regionHeight / rows);
            double stepX = rounded(binWidth / samples);
            double stepY = rounded(binHeight / samples);
            int at = fixed ? 0 : offset(result);
            double moveX = fixed ? 0 : rounded(trans[at] * deviation);
            double moveY = fixed ? 0 : rounded(trans[at + offsets()] * deviation);
            double startX = rounded(rounded(rounded(result % columns * binWidth) + left) + moveX * regionWidth);
            double startY = rounded(rounded(rounded(result / columns % rows * binHeight) + top) + moveY * regionHeight);
            for (int i = 0; i < samples; i++) {
                for (int j = 0; j < samples; j++) {
                    double y = rounded(startY + rounded(i * stepY));
                    double x = rounded(startX + rounded(j * stepX));
                    if (x >= -0.5 && x <= width - 0.5 && y >= -0.5 && y <= height - 0.5) {
                        work.at(Math.clamp(y, 0, height - 1), Math.clamp(x, 0, width - 1), regionHeight, regionWidth);
                    }
                }
            }
        }
    }

    /** A function of a sample's place, and of the size of its region. */
    @FunctionalInterface
    private interface SampleWork {
        void at(double y, double x, double regionHeight, double regionWidth);
    }

    /** The four elements around a place in a plane, and their weights. */
    private record Cell(int first, int right, int below, double y, double x) {
        static Cell of(int plane, int width, double y, double x) {
            int row = (int) y;
            int column = (int) x;
            int first = plane + row * width + column;
            return new Cell(first, x > column ? 1 : 0, y > row ? width : 0, y - row, x - column);
        }

        double value(double[] elements) {
            return (1 - y) * ((1 - x) * elements[first] + x * elements[first + right])
                    + y * ((1 - x) * elements[first + below] + x * elements[first + below + right]);
        }

        void add(double[] sums, double gradient) {
            sums[first] += (1 - y) * (1 - x) * gradient;
            sums[first + right] += (1 - y) * x * gradient;
            sums[first + below] += y * (1 - x) * gradient;
            sums[first + below + right] += y * x * gradient;
        }

        double slopeOfX(double[] elements) {
            return (1 - y) * (elements[first + right] - elements[first])
                    + y * (elements[first + below + right] - elements[first + below]);
        }

        double slopeOfY(double[] elements) {
            return (1 - x) * (elements[first + below] - elements[first])
                    + x * (elements[first + below + right] - elements[first + right]);
        }
    }

    private static double[] numbers(@Nullable Tensor tensor) {
        return Objects.requireNonNull(tensor).toDoubleArray();
    }

    private static int plane(Bins bins, long[] images, int result) {
        int region = result / bins.columns / bins.rows / bins.channels;
        return ((int) images[region] * bins.inputs + bins.channel(result)) * bins.height * bins.width;
    }

    private static void pool(Lowering l) {
        Operand out = l.temporary(l.outType("Output", 0).spec());
        Operand counts = l.temporary(out.spec());
        Bins bins = new Bins(l);
        l.call(l.type(), (in, results) -> {
            double[] elements = numbers(in.get(0));
            double[] regions = numbers(in.get(1));
            double[] trans = numbers(in.get(2));
            long[] images = Objects.requireNonNull(in.get(3)).toLongArray();
            double[] means = new double[WorkingMemory.length(bins.results(images.length))];
            double[] found = new double[means.length];
            for (int i = 0; i < means.length; i++) {
                int result = i;
                int plane = plane(bins, images, result);
                bins.each(result, regions, trans, (y, x, _, _) -> {
                    means[result] += Cell.of(plane, bins.width, y, x).value(elements);
                    found[result]++;
                });
                means[i] = found[i] == 0 ? 0 : means[i] / found[i];
            }
            Elements.write(means, Objects.requireNonNull(results.get(0)));
            Elements.write(found, Objects.requireNonNull(results.get(1)));
        }, List.of(l.in("Input"), l.in("ROIs"), l.in("Trans"), Regions.images(l)), List.of(out, counts));
        l.out("Output", out);
        l.out("TopCount", counts);
    }

    private static void gradient(Lowering l) {
        Operand dx = l.temporary(l.in("Input").spec());
        Operand dtrans = l.temporary(l.in("Trans").spec());
        Bins bins = new Bins(l);
        l.call(l.type(), (in, results) -> {
            double[] elements = numbers(in.get(0));
            double[] regions = numbers(in.get(1));
            double[] trans = numbers(in.get(2));
            long[] images = Objects.requireNonNull(in.get(3)).toLongArray();
            double[] gradients = numbers(in.get(4));
            double[] found = numbers(in.get(5));
            double[] sums = new double[elements.length];
            double[] moves = new double[trans.length];
            for (int i = 0; i < gradients.length; i++) {
                int plane = plane(bins, images, i);
                double gradient = found[i] > 0 ? gradients[i] / found[i] : 0;
                int offset = bins.fixed ? -1 : bins.offset(i);
                bins.each(i, regions, trans, (y, x, regionHeight, regionWidth) -> {
                    Cell cell = Cell.of(plane, bins.width, y, x);
                    cell.add(sums, gradient);
                    if (offset >= 0) {
                        double scaled = gradient * bins.deviation;
                        moves[offset] += cell.slopeOfX(elements) * scaled * regionWidth;
                        moves[offset + bins.offsets()] += cell.slopeOfY(elements) * scaled * regionHeight;
                    }
                });
            }
            Elements.write(sums, Objects.requireNonNull(results.get(0)));
            Elements.write(moves, Objects.requireNonNull(results.get(1)));
        }, List.of(l.in("Input"), l.in("ROIs"), l.in("Trans"), Regions.images(l), l.in("Output@GRAD"),
                l.in("TopCount")), List.of(dx, dtrans));
        l.out("Input@GRAD", dx);
        l.out("Trans@GRAD", dtrans);
    }
}
