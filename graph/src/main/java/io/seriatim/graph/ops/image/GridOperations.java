package io.seriatim.graph.ops.image;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.Step;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.MatMul;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Images seen through a grid: each element of the result says where in the image it lies, from −1 to 1 along each axis,
 * the last axis first; and grids of affine transformations.
 */
public final class GridOperations {
    private static final List<String> MODES = List.of("bilinear", "nearest");
    private static final List<String> PADDINGS = List.of("zeros", "border", "reflection");

    private GridOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("grid_sampler").in("X", "Grid").out("Output").attr("mode", "bilinear")
                .attr("padding_mode", "zeros")
                .attr("align_corners", true).attr("half_to_even", false)
                .refuse((_, attrs) -> unlisted(attrs, "mode", MODES))
                .refuse((_, attrs) -> unlisted(attrs, "padding_mode", PADDINGS)).infer(GridOperations::inferSample)
                .lower(GridOperations::sample).differentiateAs(GridOperations::sampleSteps)
                .grad("grid_sampler_grad(X, Grid, Output@GRAD) -> X@GRAD, Grid@GRAD", GridOperations::sampleGradient)
                .register(registry);
        String gradient = "affine_grid_grad(Output@GRAD, OutputShape, Theta) -> Theta@GRAD";
        Operation.Builder affine = Operation.define("affine_grid").in("Theta", "OutputShape?").out("Output")
                .attr("align_corners", true)
                .attr("output_shape", new int[0]).values("OutputShape").infer(GridOperations::inferAffine)
                .lower(GridOperations::affine).grad(gradient);
        affine.gradOperation(gradient, null).shapesOnly("Theta", "OutputShape").lower(GridOperations::affineGradient)
                .register(registry);
        affine.register(registry);
    }

    private static @Nullable String unlisted(Attrs attrs, String attribute, Collection<String> known) {
        String given = attrs.getText(attribute);
        return known.contains(given)
                ? null
                : "the attribute '" + attribute + "' must be one of " + known + ", but is '" + given + "'";
    }

    private static void inferSample(Inference inference) {
        long[] x = inference.dims("X");
        long[] grid = inference.dims("Grid");
        inference.require(inference.dtype("X").isFloating() && inference.dtype("X") == inference.dtype("Grid"),
                "X and Grid must have one floating-point type, but are %s and %s", inference.dtype("X"),
                inference.dtype("Grid"));
        inference.require((x.length == 4 || x.length == 5) && grid.length == x.length,
                "X and Grid must both have 4 dimensions, or 5, but are %s and %s", Numbers.text(x),
                Numbers.text(grid));
        int spatial = x.length - 2;
        inference.require(grid[spatial + 1] < 0 || grid[spatial + 1] == spatial,
                "the last dimension of Grid must be %d, a number for each spatial axis of X, but is %d", spatial,
                grid[spatial + 1]);
        inference.require(x[0] < 0 || grid[0] < 0 || x[0] == grid[0],
                "X and Grid must have one batch, but have %d and %d", x[0], grid[0]);
        inference.require(Arrays.stream(x, 2, x.length).allMatch(length -> length != 0),
                "the images of X must not be empty, but X is %s",
                Numbers.text(x));
        long[] out = x.clone();
        System.arraycopy(grid, 1, out, 2, spatial);
        inference.set("Output", inference.dtype("X"), out);
    }

    /** The elements that a place of the grid is made of: one, or the corners of the cell around it. */
    private static final class Cell {
        private final GridAxis[] axes;
        private final boolean nearest;
        private final boolean even;
        private final double[] sources;
        private final double[] slopes;
        /** The number of elements. */
        final int corners;

        Cell(Attrs attrs, TensorSpec x) {
            nearest = attrs.getText("mode").equals("nearest");
            // In the middle between two elements, PaddlePaddle 2 takes the outer, PaddlePaddle 3 and ONNX the even one.
            even = attrs.getBool("half_to_even");
            axes = GridAxis.of(attrs, x);
            sources = new double[axes.length];
            slopes = new double[axes.length];
            corners = nearest ? 1 : 1 << axes.length;
        }

        int axes() {
            return axes.length;
        }

        /** Moves to a place, whose numbers begin at an index. */
        void move(double[] grid, int at) {
            for (int i = 0; i < axes.length; i++) {
                double place = grid[at + axes.length - 1 - i];
                double source = axes[i].source(place);
                sources[i] = !nearest ? source : outside(axes[i], source) ? -1 : whole(source);
                slopes[i] = nearest ? 0 : axes[i].slope(place);
            }
        }

        /** PaddlePaddle 2 finds no element of a volume for a place behind the ends, where the nearest is the last. */
        private boolean outside(GridAxis axis, double source) {
            return !even && axes.length == 3 && (source < 0 || source > axis.length() - 1);
        }

        private double whole(double source) {
            return even ? Math.rint(source) : Math.copySign(Math.floor(Math.abs(source) + 0.5), source);
        }

        private int side(int corner, int axis) {
            return corner >> axis & 1;
        }

        /** The number of an element in the image, or −1 outside of it. */
        int element(int corner) {
            long element = 0;
            for (int i = 0; i < axes.length; i++) {
                long at = (long) Math.floor(sources[i]) + side(corner, i);
                if (at < 0 || at >= axes[i].length()) {
                    return -1;
                }
                element = element * axes[i].length() + at;
            }
            return (int) element;
        }

        private double share(int corner, int axis) {
            double fraction = sources[axis] - Math.floor(sources[axis]);
            return side(corner, axis) == 0 ? 1 - fraction : fraction;
        }

        double weight(int corner) {
            double weight = 1;
            for (int i = 0; i < axes.length; i++) {
                weight *= share(corner, i);
            }
            return weight;
        }

        /** How the weight changes with the place's number for an axis. */
        double slope(int corner, int axis) {
            double slope = side(corner, axis) == 0 ? -slopes[axis] : slopes[axis];
            for (int i = 0; i < axes.length; i++) {
                slope *= i == axis ? 1 : share(corner, i);
            }
            return slope;
        }
    }

    /** Images, and grids of places in them: [batch, channels, elements] and [batch, places, axes]. */
    private record Sizes(int batch, int channels, int elements, int places) {
        static Sizes of(Shape x, Shape grid) {
            return new Sizes(Math.toIntExact(x.dim(0)), Math.toIntExact(x.dim(1)),
                    Math.toIntExact(x.slice(2, x.rank()).size()),
                    Math.toIntExact(grid.slice(1, grid.rank() - 1).size()));
        }
    }

    private static void sample(Lowering l) {
        if (!l.wants("Output")) {
            return;
        }
        Operand x = l.in("X");
        Operand grid = l.in("Grid");
        Sizes sizes = Sizes.of(x.shape(), grid.shape());
        Operand y = l.temporary(l.outType("Output", 0).spec());
        if (x.rank() == 4 && x.dtype() == DType.FLOAT32 && l.attrs().getText("mode").equals("bilinear")) {
            BilinearSamples samples = new BilinearSamples(GridAxis.of(l.attrs(), x.spec()), sizes.batch(),
                    sizes.channels(), sizes.places());
            l.call("grid_sampler", (in, out) -> samples.write(Objects.requireNonNull(in.get(0)),
                    Objects.requireNonNull(in.get(1)), Objects.requireNonNull(out.getFirst())), List.of(x, grid),
                    List.of(y));
            l.out("Output", y);
            return;
        }
        l.call("grid_sampler", (in, out) -> {
            double[] images = numbers(in, 0);
            double[] results = new double[WorkingMemory.length(y.shape().size())];
            each(sizes, new Cell(l.attrs(), x.spec()), numbers(in, 1), (n, p, cell) -> {
                for (int corner = 0; corner < cell.corners; corner++) {
                    int element = cell.element(corner);
                    double weight = cell.weight(corner);
                    for (int c = n * sizes.channels(); element >= 0 && c < (n + 1) * sizes.channels(); c++) {
                        results[c * sizes.places() + p] += weight * images[c * sizes.elements() + element];
                    }
                }
            });
            Elements.write(results, Objects.requireNonNull(out.getFirst()));
        }, List.of(x, grid), List.of(y));
        l.out("Output", y);
    }

    /** A function of a place of an image's grid. */
    @FunctionalInterface
    private interface PlaceWork {
        void at(int image, int place, Cell cell);
    }

    private static void each(Sizes sizes, Cell cell, double[] grid, PlaceWork work) {
        for (int n = 0; n < sizes.batch(); n++) {
            for (int p = 0; p < sizes.places(); p++) {
                cell.move(grid, (n * sizes.places() + p) * cell.axes());
                work.at(n, p, cell);
            }
        }
    }

    private static double[] numbers(List<@Nullable Tensor> tensors, int at) {
        return Objects.requireNonNull(tensors.get(at)).toDoubleArray();
    }

    /** The same as products of weights and elements, of which there are gradients of every order. */
    private static void sampleSteps(Lowering l) {
        Operand x = l.in("X");
        Sizes sizes = Sizes.of(x.shape(), l.in("Grid").shape());
        Cells cells = cells(l, sizes);
        int axes = x.rank() - 2;
        long places = cells.fractions().dim(0);
        int corners = Math.toIntExact(cells.rows().dim(1));
        Term after = new Term(l, cells.fractions());
        Term before = after.linear(-1, 1);
        Operand weights = l.temporary(TensorSpec.of(x.dtype(), places, corners));
        for (int corner = 0; corner < corners; corner++) {
            Term weight = null;
            for (int i = 0; i < axes; i++) {
                Term both = (corner >> i & 1) == 0 ? before : after;
                Term share = new Term(l, both.operand().select(1, axes - 1 - i));
                weight = weight == null ? share : weight.times(share);
            }
            l.into(Copy.PLAIN, List.of(Objects.requireNonNull(weight).operand()), List.of(weights.select(1, corner)));
        }
        Operand shown = new Term(l, cells.inside()).orZero(new Term(l, weights)).operand();
        Operand images = l.reshape(x, sizes.batch(), sizes.channels(), sizes.elements()).transpose(0, 2, 1);
        Operand elements = l.run(Gather.of(0), l.reshape(images, (long) sizes.batch() * sizes.elements(),
                sizes.channels()), cells.rows());
        Operand y = l.run(MatMul.PLAIN, shown.unsqueeze(1), elements);
        l.out("Output", l.reshape(l.reshape(y, sizes.batch(), sizes.places(), sizes.channels()).transpose(0, 2, 1),
                l.outType("Output", 0).dims()));
    }

    /**
     * The cells in which places lie.
     *
     * @param fractions
     *            where in it, [places, axes], in the order of the grid's numbers
     * @param rows
     *            the elements at its corners, [places, corners]; 0 outside of the image
     * @param inside
     *            whether they are in the image
     */
    private record Cells(Operand fractions, Operand rows, Operand inside) {
    }

    /** Of the cells, the fractions change with the grid, by slopes that a cell's places have in common. */
    private static Cells cells(Lowering l, Sizes sizes) {
        Operand grid = l.in("Grid");
        TensorSpec x = l.in("X").spec();
        int axes = grid.rank() - 2;
        int corners = new Cell(l.attrs(), x).corners;
        long places = (long) sizes.batch() * sizes.places();
        Operand numbers = l.reshape(grid, places, axes);
        Operand fractions = l.temporary(numbers.spec());
        Operand slopes = l.temporary(numbers.spec());
        Operand rows = l.temporary(TensorSpec.of(DType.INT64, places, corners));
        Operand inside = l.temporary(TensorSpec.of(DType.BOOL, places, corners));
        Step.HostFunction function = (in, out) -> {
            double[] parts = new double[WorkingMemory.length(places, axes)];
            double[] changes = new double[parts.length];
            long[] elements = new long[WorkingMemory.length(places, corners)];
            long[] found = new long[elements.length];
            each(sizes, new Cell(l.attrs(), x), numbers(in, 0), (n, p, cell) -> {
                int place = n * sizes.places() + p;
                for (int i = 0; i < axes; i++) {
                    parts[place * axes + axes - 1 - i] = cell.share(1 << i, i);
                    changes[place * axes + axes - 1 - i] = cell.slopes[i];
                }
                for (int corner = 0; corner < corners; corner++) {
                    int element = cell.element(corner);
                    elements[place * corners + corner] = element < 0 ? 0 : (long) n * sizes.elements() + element;
                    found[place * corners + corner] = element < 0 ? 0 : 1;
                }
            });
            Elements.write(parts, Objects.requireNonNull(out.get(0)));
            Elements.write(changes, Objects.requireNonNull(out.get(1)));
            Elements.write(elements, Objects.requireNonNull(out.get(2)));
            Elements.write(found, Objects.requireNonNull(out.get(3)));
        };
        Step.Gradients gradient = (steps, _, out, gradients) -> {
            Operand dy = gradients.get(0);
            return Collections.singletonList(
                    dy == null ? null : steps.binary(Binary.Function.MULTIPLY, out.get(1), dy));
        };
        l.call("grid_sampler cells", new Step.Differentiable(function, gradient), List.of(numbers),
                List.of(fractions, slopes, rows, inside));
        return new Cells(fractions, rows, inside);
    }

    private static void sampleGradient(Lowering l) {
        Operand x = l.in("X");
        Operand grid = l.in("Grid");
        Sizes sizes = Sizes.of(x.shape(), grid.shape());
        if (l.wants("X@GRAD")) {
            Operand dx = l.temporary(x.spec());
            l.call("grid_sampler_grad of X", (in, out) -> {
                double[] dy = numbers(in, 1);
                double[] sums = new double[WorkingMemory.length(x.shape().size())];
                each(sizes, new Cell(l.attrs(), x.spec()), numbers(in, 0),
                        (n, p, cell) -> spread(sizes, n, p, cell, dy, sums));
                Elements.write(sums, Objects.requireNonNull(out.getFirst()));
            }, List.of(grid, l.in("Output@GRAD")), List.of(dx));
            l.out("X@GRAD", dx);
        }
        if (l.wants("Grid@GRAD")) {
            Operand dgrid = l.temporary(grid.spec());
            l.call("grid_sampler_grad of Grid", (in, out) -> {
                double[] images = numbers(in, 0);
                double[] dy = numbers(in, 2);
                double[] slopes = new double[WorkingMemory.length(grid.shape().size())];
                each(sizes, new Cell(l.attrs(), x.spec()), numbers(in, 1),
                        (n, p, cell) -> steepness(sizes, n, p, cell, images, dy, slopes));
                Elements.write(slopes, Objects.requireNonNull(out.getFirst()));
            }, List.of(x, grid, l.in("Output@GRAD")), List.of(dgrid));
            l.out("Grid@GRAD", dgrid);
        }
    }

    /** Adds the gradients of a place to those of the elements that it is made of. */
    private static void spread(Sizes sizes, int n, int p, Cell cell, double[] dy, double[] sums) {
        for (int corner = 0; corner < cell.corners; corner++) {
            int element = cell.element(corner);
            double weight = cell.weight(corner);
            for (int c = n * sizes.channels(); element >= 0 && c < (n + 1) * sizes.channels(); c++) {
                sums[c * sizes.elements() + element] += weight * dy[c * sizes.places() + p];
            }
        }
    }

    /** The gradients of a place's numbers. */
    private static void steepness(Sizes sizes, int n, int p, Cell cell, double[] images, double[] dy, double[] slopes) {
        for (int corner = 0; corner < cell.corners; corner++) {
            int element = cell.element(corner);
            double product = 0;
            for (int c = n * sizes.channels(); element >= 0 && c < (n + 1) * sizes.channels(); c++) {
                product += images[c * sizes.elements() + element] * dy[c * sizes.places() + p];
            }
            for (int axis = 0; axis < cell.axes(); axis++) {
                slopes[(n * sizes.places() + p) * cell.axes() + cell.axes() - 1 - axis] += product
                        * cell.slope(corner, axis);
            }
        }
    }

    private static void inferAffine(Inference inference) {
        long[] theta = inference.dims("Theta");
        inference.require(inference.dtype("Theta").isFloating(), "Theta must be of a floating-point type, but is %s",
                inference.dtype("Theta"));
        inference.require(theta.length == 3 && (theta[1] == 2 || theta[1] == 3) && theta[2] == theta[1] + 1,
                "Theta must be [batch, 2, 3] or [batch, 3, 4], but is %s", Numbers.text(theta));
        int spatial = (int) theta[1];
        long[] given = inference.has("OutputShape")
                ? inference.values("OutputShape")
                : inference.attrs().getLongs("output_shape");
        long[] out = Dims.unknown(spatial + 2);
        out[0] = theta[0];
        out[spatial + 1] = spatial;
        if (given != null) {
            inference.require(given.length == spatial + 2 && Arrays.stream(given).allMatch(length -> length > 0),
                    "output_shape must have %d numbers from 1 on, batch and channels included, but is %s", spatial + 2,
                    Numbers.text(given));
            inference.require(theta[0] < 0 || theta[0] == given[0],
                    "Theta must have the batch of output_shape, %d, but has %d", given[0],
                    theta[0]);
        }
        if (given != null && inference.isForRun()) { // While a program is built, Paddle leaves it open.
            System.arraycopy(given, 2, out, 1, spatial);
        }
        inference.set("Output", inference.dtype("Theta"), out);
    }

    /** The places of a grid that nothing has moved: [places, axes + 1], the last number being 1. */
    private static Operand still(Lowering l, TensorSpec grid) {
        boolean corners = l.attrs().getBool("align_corners");
        int axes = grid.shape().rank() - 2;
        int places = Math.toIntExact(grid.shape().slice(1, axes + 1).size());
        double[] numbers = new double[WorkingMemory.length(places, axes + 1)];
        for (int p = 0; p < places; p++) {
            int rest = p;
            for (int i = 0; i < axes; i++) {
                int length = Math.toIntExact(grid.shape().dim(axes - i));
                int at = rest % length;
                rest /= length;
                double first = corners ? -1 : 1.0 / length - 1;
                double step = corners ? length == 1 ? 0 : 2.0 / (length - 1) : 2.0 / length;
                numbers[p * (axes + 1) + i] = first + at * step;
            }
            numbers[p * (axes + 1) + axes] = 1;
        }
        return l.constant(Tensor.of(grid.dtype(), numbers, places, axes + 1));
    }

    private static void affine(Lowering l) {
        if (l.wants("Output")) {
            TensorSpec grid = l.outType("Output", 0).spec();
            Operand moved = l.run(new MatMul(false, true, false, List.of()), still(l, grid), l.in("Theta"));
            l.out("Output", moved.reshape(grid.shape().dims()));
        }
    }

    private static void affineGradient(Lowering l) {
        if (l.wants("Theta@GRAD")) {
            Operand dout = l.in("Output@GRAD");
            Operand still = still(l, dout.spec());
            Operand rows = l.reshape(dout, dout.dim(0), still.dim(0), dout.dim(-1));
            l.out("Theta@GRAD", l.run(new MatMul(true, false, false, List.of()), rows, still));
        }
    }
}
