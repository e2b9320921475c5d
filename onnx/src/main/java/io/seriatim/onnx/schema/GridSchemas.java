package io.seriatim.onnx.schema;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import java.util.Arrays;
import java.util.List;

/** Images of any number of axes seen through a grid, in the forms that grid_sampler has not. */
final class GridSchemas {
    private GridSchemas() {
    }

    static void register(Operations registry) {
        Operation.define("onnx_grid_sample").in("X", "Grid").out("Out").attr("mode", "linear")
                .attr("padding_mode", "zeros").attr("align_corners", false).infer(GridSchemas::infer).lower(l -> {
                    Operand x = l.in("X");
                    Operand grid = l.in("Grid");
                    Sampler sampler = new Sampler(l.attrs(), x.shape(), grid.dtype() != DType.FLOAT64);
                    int places = Math.toIntExact(grid.shape().slice(1, grid.rank() - 1).size());
                    l.call("onnx_grid_sample",
                            (in, out) -> Tensors.write(sampler.sample(Tensors.doubles(in, 0), Tensors.doubles(in, 1),
                                    places), out, 0),
                            List.of(x, grid), List.of(l.output("Out")));
                }).register(registry);
    }

    private static void infer(Inference inference) {
        long[] x = inference.dims("X");
        long[] grid = inference.dims("Grid");
        inference.require(x.length >= 3 && x.length <= 8 && grid.length == x.length,
                "X and Grid have the same number of dimensions, from 3 to 8, but are %s and %s", Numbers.text(x),
                Numbers.text(grid));
        inference.require(inference.dtype("Grid").isFloating() && !inference.dtype("X").isComplex(),
                "X has real and Grid floating-point numbers, but they are %s and %s", inference.dtype("X"),
                inference.dtype("Grid"));
        int spatial = x.length - 2;
        inference.require(grid[spatial + 1] < 0 || grid[spatial + 1] == spatial,
                "the last dimension of Grid is %d, a number for each spatial axis of X, but is %d", spatial,
                grid[spatial + 1]);
        inference.require(x[0] < 0 || grid[0] < 0 || x[0] == grid[0],
                "X and Grid have one batch, but have %d and %d", x[0], grid[0]);
        inference.require(Arrays.stream(x, 2, x.length).allMatch(length -> length != 0),
                "the images of X are not empty, but X is %s", Numbers.text(x));
        long[] out = x.clone();
        System.arraycopy(grid, 1, out, 2, spatial);
        inference.set("Out", inference.dtype("X"), out);
    }

    /** A weighted sum of elements around each place of a grid. */
    private static final class Sampler {
        private static final double CUBIC = -0.75;

        private final String mode;
        private final String padding;
        private final boolean corners;
        private final boolean single;
        private final int batch;
        private final int channels;
        private final int elements;
        private final int[] lengths;
        private final int taps;

        /** The elements of each axis, −1 outside, and their weights: those of the place that is computed. */
        private final int[][] places;
        private final double[][] weights;

        Sampler(Attrs attrs, Shape x, boolean single) {
            mode = attrs.getText("mode");
            padding = attrs.getText("padding_mode");
            corners = attrs.getBool("align_corners");
            this.single = single;
            batch = Math.toIntExact(x.dim(0));
            channels = Math.toIntExact(x.dim(1));
            elements = Math.toIntExact(x.slice(2, x.rank()).size());
            lengths = Arrays.stream(x.dims()).skip(2).mapToInt(Math::toIntExact).toArray();
            taps = mode.equals("nearest") ? 1 : mode.equals("linear") ? 2 : 4;
            places = new int[lengths.length][taps];
            weights = new double[lengths.length][taps];
        }

        double[] sample(double[] x, double[] grid, int count) {
            double[] y = new double[WorkingMemory.length((long) batch * channels, count)];
            int combinations = Math.powExact(taps, lengths.length);
            for (int i = 0; i < batch * count; i++) {
                int image = i / count;
                for (int axis = 0; axis < lengths.length; axis++) {
                    move(axis, grid[(i + 1) * lengths.length - 1 - axis]);
                }
                for (int combination = 0; combination < combinations; combination++) {
                    add(combination, x, image, y, i % count, count);
                }
            }
            return y;
        }

        private void add(int combination, double[] x, int image, double[] y, int place, int count) {
            long element = 0;
            double weight = 1;
            int rest = combination;
            for (int axis = 0; axis < lengths.length; axis++) {
                int at = places[axis][rest % taps];
                if (at < 0) {
                    return;
                }
                element = element * lengths[axis] + at;
                weight *= weights[axis][rest % taps];
                rest /= taps;
            }
            for (int c = image * channels; c < (image + 1) * channels; c++) {
                y[c * count + place] += weight * x[c * elements + (int) element];
            }
        }

        /** Each step is rounded to the type of the grid, since it decides which element is the nearest. */
        private double rounded(double value) {
            return single ? (float) value : value;
        }

        private void move(int axis, double place) {
            int length = lengths[axis];
            double from = rounded(place + 1);
            double at = corners
                    ? rounded(rounded(from / 2) * (length - 1))
                    : rounded(rounded(rounded(from * length) - 1) / 2);
            double first = mode.equals("nearest") ? Math.rint(at) : Math.floor(at) - (taps == 4 ? 1 : 0);
            double fraction = at - Math.floor(at);
            for (int tap = 0; tap < taps; tap++) {
                places[axis][tap] = inside(first + tap, length);
                weights[axis][tap] = switch (taps) {
                    case 1 -> 1;
                    case 2 -> tap == 0 ? 1 - fraction : fraction;
                    default -> cubic(Math.abs(fraction + 1 - tap));
                };
            }
        }

        private static double cubic(double distance) {
            return distance <= 1
                    ? ((CUBIC + 2) * distance - (CUBIC + 3)) * distance * distance + 1
                    : ((CUBIC * distance - 5 * CUBIC) * distance + 8 * CUBIC) * distance - 4 * CUBIC;
        }

        /** The element at a place; −1 if there is none. */
        private int inside(double place, int length) {
            if (place >= 0 && place <= length - 1) {
                return (int) place;
            }
            if (padding.equals("zeros") || Double.isNaN(place)) {
                return -1;
            }
            if (padding.equals("border")) {
                return (int) Math.clamp(place, 0, length - 1);
            }
            double edge = corners ? 0 : -0.5;
            double span = corners ? length - 1 : length;
            double extra = span == 0 ? 0 : Math.abs(place - edge) % (2 * span);
            return (int) Math.clamp(Math.min(extra, 2 * span - extra) + edge, 0, length - 1);
        }
    }
}
