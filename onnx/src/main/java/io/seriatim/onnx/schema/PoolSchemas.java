package io.seriatim.onnx.schema;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.IndexRangeException;
import io.seriatim.tensor.Shape;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Pooling in the forms that pool2d and pool3d have not. */
final class PoolSchemas {
    private PoolSchemas() {
    }

    static void register(Operations registry) {
        Operation.define("onnx_pool").in("X").out("Out", "Indices").required("kind", Attribute.Text.class)
                .required("ksize", Attribute.Ints.class).required("strides", Attribute.Ints.class)
                .required("dilations", Attribute.Ints.class).required("paddings", Attribute.Ints.class)
                .attr("padding_algorithm", "EXPLICIT").attr("ceil_mode", false).attr("column_major", false)
                .attr("p", 2L).infer(PoolSchemas::infer).lower(l -> {
                    Attrs attrs = l.attrs();
                    Shape x = l.in("X").shape();
                    boolean indexed = l.wants("Indices");
                    l.call("onnx_pool", (in, out) -> {
                        double[] elements = Tensors.doubles(in, 0);
                        Pool pool = new Pool(attrs, x.dims());
                        double[] results = new double[WorkingMemory.length(pool.count())];
                        long[] places = new long[indexed ? results.length : 0];
                        pool.run(elements, results, places);
                        Tensors.write(results, out, 0);
                        if (indexed) {
                            Tensors.write(places, out, 1);
                        }
                    }, List.of(l.in("X")), indexed
                            ? List.of(l.output("Out"), l.output("Indices"))
                            : List.of(l.output("Out")));
                }).grad("onnx_pool_grad(X, Out@GRAD) -> X@GRAD", l -> {
                    Attrs attrs = l.attrs();
                    Shape x = l.in("X").shape();
                    l.call("onnx_pool_grad", (in, out) -> {
                        double[] gradient = new double[WorkingMemory.length(x.size())];
                        new Pool(attrs, x.dims()).spread(Tensors.doubles(in, 0), Tensors.doubles(in, 1), gradient);
                        Tensors.write(gradient, out, 0);
                    }, List.of(l.in("X"), l.in("Out@GRAD")), List.of(l.output("X@GRAD")));
                }).register(registry);
        Operation.define("onnx_max_unpool").in("X", "Indices", "Shape?").out("Out").values("Shape")
                .required("ksize", Attribute.Ints.class).required("strides", Attribute.Ints.class)
                .required("paddings", Attribute.Ints.class).infer(PoolSchemas::inferUnpool).lower(l -> {
                    long[] inner = unpooled(l.attrs(), l.in("X").shape().dims());
                    Shape result = l.outType("Out", 0).spec().shape();
                    l.call("onnx_max_unpool", (in, out) -> Tensors.write(unpool(Tensors.doubles(in, 0),
                            places(Tensors.longs(in, 1), inner, result), result), out, 0),
                            List.of(l.in("X"), l.in("Indices")), List.of(l.output("Out")));
                }).grad("onnx_max_unpool_grad(X, Indices, Out@GRAD) -> X@GRAD", l -> {
                    long[] inner = unpooled(l.attrs(), l.in("X").shape().dims());
                    Shape result = l.in("Out@GRAD").shape();
                    l.call("onnx_max_unpool_grad", (in, out) -> Tensors.write(unpooled(Tensors.doubles(in, 1),
                            places(Tensors.longs(in, 0), inner, result)), out, 0),
                            List.of(l.in("Indices"), l.in("Out@GRAD")), List.of(l.output("X@GRAD")));
                }).register(registry);
    }

    private static void inferUnpool(Inference inference) {
        long[] x = inference.dims("X");
        inference.require(x.length >= 3 && inference.attrs().getInts("ksize").length == x.length - 2
                && inference.attrs().getInts("strides").length == x.length - 2
                && inference.attrs().getInts("paddings").length == 2 * (x.length - 2),
                "the attributes have numbers for each spatial axis of X, which has %d dimensions", x.length);
        long[] dims = unpooled(inference.attrs(), x);
        if (inference.has("Shape")) {
            long[] wanted = inference.values("Shape");
            if (wanted == null) {
                Arrays.fill(dims, -1);
            } else {
                for (int i = 0; i < dims.length; i++) {
                    inference.require(wanted.length == dims.length && wanted[i] >= dims[i],
                            "Shape (%s) is at least the shape that the window gives, %s", Numbers.text(wanted),
                            Numbers.text(dims));
                }
                dims = wanted;
            }
        }
        inference.set("Out", inference.dtype("X"), dims);
    }

    /** The shape that a window gives; −1 where it is not known. */
    private static long[] unpooled(Attrs attrs, long[] x) {
        long[] dims = x.clone();
        for (int i = 0; i < dims.length - 2; i++) {
            if (x[2 + i] >= 0) {
                dims[2 + i] = (x[2 + i] - 1) * attrs.getInts("strides")[i] + attrs.getInts("ksize")[i]
                        - attrs.getInts("paddings")[2 * i] - attrs.getInts("paddings")[2 * i + 1];
            }
        }
        return dims;
    }

    /** Where elements go: places in a tensor of one shape, as places at the front of one of another shape. */
    private static int[] places(long[] indices, long[] inner, Shape result) {
        int[] places = new int[indices.length];
        long size = Inference.size(inner);
        for (int i = 0; i < places.length; i++) {
            if (indices[i] < 0 || indices[i] >= size) {
                throw new IndexRangeException("Operation 'onnx_max_unpool': an index lies between 0 and "
                        + (size - 1) + ", but index " + i + " is " + indices[i]);
            }
            long rest = indices[i];
            long at = 0;
            long step = 1;
            for (int axis = inner.length - 1; axis >= 0; axis--) {
                at += rest % inner[axis] * step;
                rest /= inner[axis];
                step *= result.dim(axis);
            }
            places[i] = Math.toIntExact(at);
        }
        return places;
    }

    private static double[] unpool(double[] x, int[] places, Shape result) {
        double[] y = new double[WorkingMemory.length(result.size())];
        for (int i = 0; i < x.length; i++) {
            y[places[i]] = x[i];
        }
        return y;
    }

    /** The gradient of elements; of those that went to one place, only the last has a gradient. */
    private static double[] unpooled(double[] gradient, int[] places) {
        double[] left = gradient.clone();
        double[] x = new double[places.length];
        for (int i = places.length - 1; i >= 0; i--) {
            x[i] = left[places[i]];
            left[places[i]] = 0;
        }
        return x;
    }

    private static void infer(Inference inference) {
        long[] x = inference.dims("X");
        inference.require(x.length >= 3 && x.length <= 5, "X has three to five dimensions, but has %d", x.length);
        int rank = x.length - 2;
        for (String name : List.of("ksize", "strides", "dilations", "paddings")) {
            int[] numbers = inference.attrs().getInts(name);
            int wanted = name.equals("paddings") ? 2 * rank : rank;
            int least = name.equals("paddings") ? 0 : 1;
            inference.require(numbers.length == wanted && Arrays.stream(numbers).allMatch(each -> each >= least),
                    "attribute '%s' has %d numbers from %d on, but is %s", name, wanted, least,
                    Numbers.text(numbers));
        }
        String kind = inference.attrs().getText("kind");
        inference.require(List.of("max", "avg", "avg_padded", "lp").contains(kind),
                "attribute 'kind' is max, avg, avg_padded or lp, but is '%s'", kind);
        long[] dims = x.clone();
        for (int i = 0; i < rank; i++) {
            dims[2 + i] = x[2 + i] < 0 ? -1 : Pool.places(inference.attrs(), i, x[2 + i]);
            inference.require(dims[2 + i] != 0, "a window does not fit into the spatial dimension %d", x[2 + i]);
        }
        inference.set("Out", inference.dtype("X"), dims);
        if (inference.outputs("Indices") > 0) {
            inference.set("Indices", DType.INT64, dims);
        }
    }

    /** A pooling of planes of three axes; those that images have not are of length 1. */
    private static final class Pool {
        private final String kind;
        private final double power;
        private final boolean columnMajor;
        private final int planes;
        private final int[] lengths = {1, 1, 1};
        private final int[] places = {1, 1, 1};
        private final int[] kernel = {1, 1, 1};
        private final int[] strides = {1, 1, 1};
        private final int[] dilations = {1, 1, 1};
        private final int[] begin = new int[3];
        private final int[] end = new int[3];

        Pool(Attrs attrs, long[] x) {
            kind = attrs.getText("kind").toLowerCase(Locale.ROOT);
            power = attrs.getLong("p");
            columnMajor = attrs.getBool("column_major");
            planes = Math.toIntExact(x[0] * x[1]);
            int rank = x.length - 2;
            for (int i = 0; i < rank; i++) {
                int at = 3 - rank + i;
                lengths[at] = Math.toIntExact(x[2 + i]);
                places[at] = Math.toIntExact(places(attrs, i, x[2 + i]));
                kernel[at] = attrs.getInts("ksize")[i];
                strides[at] = attrs.getInts("strides")[i];
                dilations[at] = attrs.getInts("dilations")[i];
                long[] pads = pads(attrs, i, x[2 + i]);
                begin[at] = Math.toIntExact(pads[0]);
                end[at] = Math.toIntExact(pads[1]);
            }
        }

        private static long extent(Attrs attrs, int i) {
            return (attrs.getInts("ksize")[i] - 1L) * attrs.getInts("dilations")[i] + 1;
        }

        private static long[] pads(Attrs attrs, int i, long length) {
            String algorithm = attrs.getText("padding_algorithm");
            if (algorithm.equals("EXPLICIT")) {
                int[] paddings = attrs.getInts("paddings");
                return new long[]{paddings[2 * i], paddings[2 * i + 1]};
            }
            int stride = attrs.getInts("strides")[i];
            long sum = Math.max(0, (Math.ceilDiv(length, stride) - 1) * stride + extent(attrs, i) - length);
            long first = algorithm.equals("SAME_UPPER") ? sum / 2 : sum - sum / 2;
            return new long[]{first, sum - first};
        }

        static long places(Attrs attrs, int i, long length) {
            int stride = attrs.getInts("strides")[i];
            long[] pads = pads(attrs, i, length);
            long free = length + pads[0] + pads[1] - extent(attrs, i);
            if (!attrs.getBool("ceil_mode")) {
                return free < 0 ? 0 : free / stride + 1;
            }
            long places = Math.ceilDiv(free, stride) + 1;
            // The last window begins before the padding at the end.
            return Math.max(0, (places - 1) * stride >= length + pads[0] ? places - 1 : places);
        }

        int count() {
            return Math.multiplyExact(planes, places[0] * places[1] * places[2]);
        }

        void run(double[] x, double[] y, long[] indices) {
            Window window = new Window();
            for (int at = 0; at < y.length; at++) {
                window.move(at);
                int largest = kind.equals("max") || indices.length > 0 ? largest(x, window) : -1;
                y[at] = switch (kind) {
                    case "max" -> largest < 0 ? Double.NEGATIVE_INFINITY : x[largest];
                    case "lp" -> Math.pow(sum(x, window), 1 / power);
                    default -> window.divisor() == 0 ? 0 : sum(x, window) / window.divisor();
                };
                if (indices.length > 0) {
                    indices[at] = largest < 0 ? window.offset - 1L : place(window, largest);
                }
            }
        }

        /** The number of an element of a window, counted along rows or columns. */
        private long place(Window window, int element) {
            if (!columnMajor) {
                return element;
            }
            int c = (element - window.offset) % lengths[2];
            int rows = (element - window.offset) / lengths[2];
            int b = rows % lengths[1];
            return window.offset + ((long) c * lengths[1] + b) * lengths[0] + rows / lengths[1];
        }

        /** Adds the gradients of results to those of the elements in their windows. */
        void spread(double[] x, double[] gradient, double[] to) {
            Window window = new Window();
            for (int at = 0; at < gradient.length; at++) {
                window.move(at);
                double given = gradient[at];
                if (kind.equals("max")) {
                    int largest = largest(x, window);
                    if (largest >= 0) {
                        to[largest] += given;
                    }
                    continue;
                }
                boolean norm = kind.equals("lp");
                // The derivative of the norm y to x is sign(x) · (|x| / y)^(p − 1).
                double y = norm ? Math.pow(sum(x, window), 1 / power) : window.divisor();
                for (int a = window.from[0]; a < window.to[0] && y != 0; a++) {
                    for (int b = window.from[1]; b < window.to[1]; b++) {
                        for (int c = window.from[2]; c < window.to[2]; c++) {
                            int element = window.element(a, b, c);
                            to[element] += norm
                                    ? given * Math.signum(x[element]) * Math.pow(Math.abs(x[element]) / y, power - 1)
                                    : given / y;
                        }
                    }
                }
            }
        }

        /** The first of the largest elements; −1 if the whole window lies in the padding. */
        private int largest(double[] x, Window window) {
            int largest = -1;
            for (int a = window.from[0]; a < window.to[0]; a++) {
                for (int b = window.from[1]; b < window.to[1]; b++) {
                    for (int c = window.from[2]; c < window.to[2]; c++) {
                        int element = window.element(a, b, c);
                        if (largest < 0 || x[element] > x[largest]) {
                            largest = element;
                        }
                    }
                }
            }
            return largest;
        }

        /** The sum of the elements, or of the powers of their absolute values. */
        private double sum(double[] x, Window window) {
            boolean norm = kind.equals("lp");
            double sum = 0;
            for (int a = window.from[0]; a < window.to[0]; a++) {
                for (int b = window.from[1]; b < window.to[1]; b++) {
                    for (int c = window.from[2]; c < window.to[2]; c++) {
                        double value = x[window.element(a, b, c)];
                        sum += norm ? Math.pow(Math.abs(value), power) : value;
                    }
                }
            }
            return sum;
        }

        /** The elements under one place of the kernel, which may reach into the padding however far. */
        private final class Window {
            private final long[] first = new long[3];
            private final int[] from = new int[3];
            private final int[] to = new int[3];
            private int offset;
            private long inside;
            private long counted;

            void move(int result) {
                int rest = result;
                inside = 1;
                counted = 1;
                for (int axis = 2; axis >= 0; axis--) {
                    first[axis] = (long) (rest % places[axis]) * strides[axis] - begin[axis];
                    rest /= places[axis];
                    from[axis] = (int) Math.max(0, Math.ceilDiv(-first[axis], dilations[axis]));
                    to[axis] = (int) Math.min(kernel[axis], steps(axis, lengths[axis]));
                    inside *= Math.max(0, to[axis] - from[axis]);
                    counted *= Math.min(kernel[axis], steps(axis, (long) lengths[axis] + end[axis]));
                }
                offset = rest * lengths[0] * lengths[1] * lengths[2];
            }

            /** The number of steps of the kernel before an end of the axis. */
            private long steps(int axis, long length) {
                return Math.max(0, Math.ceilDiv(length - first[axis], dilations[axis]));
            }

            int element(int a, int b, int c) {
                long row = (first[0] + (long) a * dilations[0]) * lengths[1] + first[1] + (long) b * dilations[1];
                return (int) (offset + row * lengths[2] + first[2] + (long) c * dilations[2]);
            }

            /** The number of elements that an average counts. */
            long divisor() {
                return kind.equals("avg") ? inside : counted;
            }
        }
    }
}
