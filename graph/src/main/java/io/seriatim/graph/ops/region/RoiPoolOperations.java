package io.seriatim.graph.ops.region;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.Step;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Regions of images pooled to one size: the largest element of each bin, or the mean of the bin in a channel of its
 * own.
 */
public final class RoiPoolOperations {
    private RoiPoolOperations() {
    }

    public static void register(Operations registry) {
        maximum(registry);
        mean(registry);
    }

    /** Whole elements from the first on, before the last one. */
    private record Bin(int top, int left, int bottom, int right) {
        boolean isEmpty() {
            return bottom <= top || right <= left;
        }
    }

    /** Images, and the size that their regions are pooled to. */
    private record Sizes(int channels, int height, int width, int rows, int columns, float scale, boolean single) {
        static Sizes of(Attrs attrs, Shape x, DType dtype) {
            return new Sizes(Math.toIntExact(x.dim(1)), Math.toIntExact(x.dim(2)), Math.toIntExact(x.dim(3)),
                    attrs.getInt("pooled_height"), attrs.getInt("pooled_width"), attrs.getFloat("spatial_scale"),
                    dtype != DType.FLOAT64);
        }

        int plane() {
            return height * width;
        }

        int bins() {
            return rows * columns;
        }

        double rounded(double number) {
            return single ? (float) number : number;
        }

        /** The bins of a region of whole elements; at least one element is divided among them. */
        Bin[] wholeBins(double[] regions, int region) {
            int left = nearest(rounded(regions[4 * region] * scale));
            int top = nearest(rounded(regions[4 * region + 1] * scale));
            int right = nearest(rounded(regions[4 * region + 2] * scale));
            int bottom = nearest(rounded(regions[4 * region + 3] * scale));
            float rowSize = (float) Math.max(bottom - (long) top + 1, 1) / rows;
            float columnSize = (float) Math.max(right - (long) left + 1, 1) / columns;
            Bin[] bins = new Bin[bins()];
            for (int i = 0; i < bins.length; i++) {
                int row = i / columns;
                int column = i % columns;
                bins[i] = new Bin(inside(Math.floor(row * rowSize) + top, height),
                        inside(Math.floor(column * columnSize) + left, width),
                        inside(Math.ceil((row + 1) * rowSize) + top, height),
                        inside(Math.ceil((column + 1) * columnSize) + left, width));
            }
            return bins;
        }

        /** The bins of a region whose sides are whole before they are scaled, and 0.1 long or more. */
        Bin[] scaledBins(double[] regions, int region) {
            double left = rounded(nearest(regions[4 * region]) * (double) scale);
            double top = rounded(nearest(regions[4 * region + 1]) * (double) scale);
            double right = rounded((nearest(regions[4 * region + 2]) + 1.0) * scale);
            double bottom = rounded((nearest(regions[4 * region + 3]) + 1.0) * scale);
            double rowSize = rounded(Math.max(rounded(bottom - top), rounded(0.1)) / rows);
            double columnSize = rounded(Math.max(rounded(right - left), rounded(0.1)) / columns);
            Bin[] bins = new Bin[bins()];
            for (int i = 0; i < bins.length; i++) {
                int row = i / columns;
                int column = i % columns;
                bins[i] = new Bin(inside(Math.floor(edge(row, rowSize, top)), height),
                        inside(Math.floor(edge(column, columnSize, left)), width),
                        inside(Math.ceil(edge(row + 1, rowSize, top)), height),
                        inside(Math.ceil(edge(column + 1, columnSize, left)), width));
            }
            return bins;
        }

        private double edge(int number, double size, double from) {
            return rounded(rounded(number * size) + from);
        }

        private static int inside(double at, int length) {
            return (int) Math.clamp(at, 0, length);
        }

        /** Half numbers are rounded away from 0. */
        private static int nearest(double number) {
            return (int) Math.copySign(Math.floor(Math.abs(number) + 0.5), number);
        }
    }

    private static void maximum(Operations registry) {
        Operation.Builder forward = Operation.define("roi_pool").in("X", "ROIs", "RoisNum?").readsLod("ROIs")
                .out("Out", "Argmax~").sharesNoLod()
                .attr("pooled_height", 1).attr("pooled_width", 1).attr("spatial_scale", 1f)
                .infer(inference -> Regions.infer(inference,
                        inference.dims("X").length > 1 ? inference.dims("X")[1] : -1, "Out", "Argmax"))
                .lower(RoiPoolOperations::maximum);
        String gradient = "roi_pool_grad(Argmax, Out@GRAD, ROIs, RoisNum, X) -> X@GRAD";
        forward.gradOperation(gradient, null).shapesOnly("X").lower(RoiPoolOperations::maximumGradient)
                .register(registry);
        forward.grad(gradient).register(registry);
    }

    private static void maximum(Lowering l) {
        Operand x = l.in("X");
        Sizes sizes = Sizes.of(l.attrs(), x.shape(), x.dtype());
        Operand out = l.temporary(l.outType("Out", 0).spec());
        Operand argmax = l.temporary(out.spec().with(DType.INT64));
        l.call("roi_pool", (in, results) -> {
            double[] elements = Objects.requireNonNull(in.get(0)).toDoubleArray();
            double[] regions = Objects.requireNonNull(in.get(1)).toDoubleArray();
            long[] images = Objects.requireNonNull(in.get(2)).toLongArray();
            double[] largest = new double[WorkingMemory.length(out.shape().size())];
            long[] places = new long[largest.length];
            Arrays.fill(places, -1);
            for (int region = 0; region < images.length; region++) {
                Bin[] bins = sizes.wholeBins(regions, region);
                for (int c = 0; c < sizes.channels(); c++) {
                    int from = ((int) images[region] * sizes.channels() + c) * sizes.plane();
                    int to = (region * sizes.channels() + c) * bins.length;
                    for (int i = 0; i < bins.length; i++) {
                        if (!bins[i].isEmpty()) {
                            largest[to + i] = sizes.single() ? -Float.MAX_VALUE : -Double.MAX_VALUE;
                            largest(elements, from, bins[i], sizes.width(), largest, places, to + i);
                        }
                    }
                }
            }
            Elements.write(largest, Objects.requireNonNull(results.get(0)));
            Elements.write(places, Objects.requireNonNull(results.get(1)));
        }, List.of(x, l.in("ROIs"), Regions.images(l)), List.of(out, argmax));
        l.out("Out", out);
        l.out("Argmax", argmax);
    }

    /** If no element of a bin is larger than the least number, the place stays −1. */
    private static void largest(double[] elements, int from, Bin bin, int width, double[] largest, long[] places,
            int to) {
        double best = largest[to];
        for (int y = bin.top(); y < bin.bottom(); y++) {
            for (int x = bin.left(); x < bin.right(); x++) {
                int place = y * width + x;
                if (elements[from + place] > best) {
                    best = elements[from + place];
                    places[to] = place;
                }
            }
        }
        largest[to] = best;
    }

    private static void maximumGradient(Lowering l) {
        Operand dx = l.temporary(l.outType("X@GRAD", 0).spec());
        l.call("roi_pool_grad", new Step.Differentiable(places(dx.shape(), dx.dim(2) * dx.dim(3), false),
                (next, in, _, gradients) -> {
                    Operand taken = next.temporary(in.getFirst().spec());
                    next.call("roi_pool at Argmax", places(dx.shape(), dx.dim(2) * dx.dim(3), true),
                            List.of(Objects.requireNonNull(gradients.getFirst()), in.get(1), in.get(2)),
                            List.of(taken));
                    return Arrays.asList(taken, null, null);
                }), List.of(l.in("Out@GRAD"), l.in("Argmax"), Regions.images(l)), List.of(dx));
        l.out("X@GRAD", dx);
    }

    /**
     * Takes the elements of images at the places of Argmax, or adds values to them.
     *
     * @param taken
     *            whether elements are taken
     */
    private static Step.HostFunction places(Shape images, long plane, boolean taken) {
        long channels = images.dim(1);
        return (in, out) -> {
            double[] from = Objects.requireNonNull(in.get(0)).toDoubleArray();
            Tensor argmax = Objects.requireNonNull(in.get(1));
            long[] places = argmax.toLongArray();
            long[] image = Objects.requireNonNull(in.get(2)).toLongArray();
            Tensor to = Objects.requireNonNull(out.getFirst());
            double[] written = new double[WorkingMemory.length(to.shape().size())];
            long bins = argmax.shape().slice(2, 4).size();
            for (int i = 0; i < places.length; i++) {
                if (places[i] >= plane) {
                    throw new IllegalArgumentException("Operation 'roi_pool_grad': Argmax must be from -1 to "
                            + (plane - 1) + ", but is " + places[i]);
                }
                if (places[i] >= 0) {
                    long channel = i / bins % channels;
                    int at = (int) ((image[(int) (i / bins / channels)] * channels + channel) * plane + places[i]);
                    written[taken ? i : at] += from[taken ? at : i];
                }
            }
            Elements.write(written, to);
        };
    }

    private static void mean(Operations registry) {
        Operation.Builder forward =
                Operation.define("psroi_pool").in("X", "ROIs", "RoisNum?").readsLod("ROIs").out("Out").sharesNoLod()
                        .attr("pooled_height", 1).attr("pooled_width", 1).attr("output_channels", 1)
                        .attr("spatial_scale", 1f).infer(inference -> {
                            long channels = Regions.positive(inference, "output_channels");
                            Regions.infer(inference, channels, "Out");
                            long[] x = inference.dims("X");
                            long rows = inference.attrs().getInt("pooled_height");
                            long columns = inference.attrs().getInt("pooled_width");
                            inference.require(
                                    x[1] < 0 || (x[1] % rows == 0 && x[1] / rows % columns == 0
                                            && x[1] / rows / columns == channels),
                                    "X must have %d · %d · %d channels, output_channels times the bins, but has %d",
                                    channels,
                                    rows, columns, x[1]);
                        }).lower(l -> {
                            Operand out = l.temporary(l.outType("Out", 0).spec());
                            bins(l, l.in("X"), out, false);
                            l.out("Out", out);
                        });
        String gradient = "psroi_pool_grad(Out@GRAD, ROIs, RoisNum, X) -> X@GRAD";
        forward.gradOperation(gradient, null).shapesOnly("X").lower(l -> {
            Operand dx = l.temporary(l.outType("X@GRAD", 0).spec());
            bins(l, l.in("Out@GRAD"), dx, true);
            l.out("X@GRAD", dx);
        }).register(registry);
        forward.grad(gradient).register(registry);
    }

    /** Takes the means of bins, or spreads their gradients over them: each is the gradient of the other. */
    private static void bins(Lowering l, Operand from, Operand to, boolean backward) {
        Sizes sizes = Sizes.of(l.attrs(), (backward ? to : from).shape(), to.dtype());
        bins(l, sizes, List.of(from, l.in("ROIs"), Regions.images(l)), to, backward);
    }

    private static void bins(Lowering l, Sizes sizes, List<Operand> from, Operand to, boolean backward) {
        l.call(backward ? "psroi_pool_grad" : "psroi_pool", new Step.Differentiable(
                (in, out) -> bins(sizes, in, Objects.requireNonNull(out.getFirst()), backward),
                (next, in, _, gradients) -> {
                    Operand result = next.temporary(in.getFirst().spec());
                    bins(next, sizes, List.of(Objects.requireNonNull(gradients.getFirst()), in.get(1), in.get(2)),
                            result, !backward);
                    return Arrays.asList(result, null, null);
                }), from, List.of(to));
    }

    private static void bins(Sizes sizes, List<@Nullable Tensor> in, Tensor to, boolean backward) {
        double[] read = Objects.requireNonNull(in.get(0)).toDoubleArray();
        double[] regions = Objects.requireNonNull(in.get(1)).toDoubleArray();
        long[] images = Objects.requireNonNull(in.get(2)).toLongArray();
        double[] written = new double[WorkingMemory.length(to.shape().size())];
        for (int region = 0; region < images.length; region++) {
            Bin[] bins = sizes.scaledBins(regions, region);
            // Each bin has channels of its own: channel c of the result takes bin i from channel c · bins + i.
            for (int c = 0; c < sizes.channels(); c++) {
                Bin bin = bins[c % bins.length];
                int plane = ((int) images[region] * sizes.channels() + c) * sizes.plane();
                int result = region * sizes.channels() + c;
                if (backward) {
                    spread(bin, sizes.width(), read[result], written, plane);
                } else {
                    written[result] = mean(bin, sizes.width(), read, plane);
                }
            }
        }
        Elements.write(written, to);
    }

    private static int area(Bin bin) {
        return (bin.bottom() - bin.top()) * (bin.right() - bin.left());
    }

    private static double mean(Bin bin, int width, double[] elements, int plane) {
        double sum = 0;
        for (int y = bin.top(); y < bin.bottom(); y++) {
            for (int x = bin.left(); x < bin.right(); x++) {
                sum += elements[plane + y * width + x];
            }
        }
        return bin.isEmpty() ? 0 : sum / area(bin);
    }

    private static void spread(Bin bin, int width, double gradient, double[] sums, int plane) {
        for (int y = bin.top(); y < bin.bottom(); y++) {
            for (int x = bin.left(); x < bin.right(); x++) {
                sums[plane + y * width + x] += gradient / area(bin);
            }
        }
    }
}
