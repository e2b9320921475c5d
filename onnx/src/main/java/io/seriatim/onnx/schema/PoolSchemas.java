package io.seriatim.onnx.schema;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
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
                        double[] results = new double[pool.count()];
                        long[] places = new long[indexed ? results.length : 0];
                        pool.run(elements, results, places);
                        Tensors.write(results, out, 0);
                        if (indexed) {
                            Tensors.write(places, out, 1);
                        }
                    }, List.of(l.in("X")), indexed
                            ? List.of(l.output("Out"), l.output("Indices"))
                            : List.of(l.output("Out")));
                }).register(registry);
        Operation.define("onnx_max_unpool").in("X", "Indices", "Shape?").out("Out").values("Shape")
                .required("ksize", Attribute.Ints.class).required("strides", Attribute.Ints.class)
                .required("paddings", Attribute.Ints.class).infer(PoolSchemas::inferUnpool).lower(l -> {
                    long[] inner = unpooled(l.attrs(), l.in("X").shape().dims());
                    Shape result = l.outType("Out", 0).spec().shape();
                    l.call("onnx_max_unpool", (in, out) -> Tensors.write(unpool(Tensors.doubles(in, 0),
                            Tensors.longs(in, 1), inner, result), out, 0), List.of(l.in("X"), l.in("Indices")),
                            List.of(l.output("Out")));
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
                            "Shape (%s) is at least the shape that the window gives, %s", Arrays.toString(wanted),
                            Arrays.toString(dims));
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

    /** Writes elements to their places in a tensor of one shape, at the front of one of another shape. */
    private static double[] unpool(double[] x, long[] indices, long[] inner, Shape result) {
        double[] y = new double[Math.toIntExact(result.size())];
        long size = Inference.size(inner);
        for (int i = 0; i < x.length; i++) {
            if (indices[i] < 0 || indices[i] >= size) {
                throw new IllegalArgumentException("Operation 'onnx_max_unpool': an index lies between 0 and "
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
            y[Math.toIntExact(at)] = x[i];
        }
        return y;
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
                    Arrays.toString(numbers));
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
            int at = 0;
            for (int plane = 0; plane < planes; plane++) {
                for (int i = 0; i < places[0]; i++) {
                    for (int j = 0; j < places[1]; j++) {
                        for (int k = 0; k < places[2]; k++) {
                            window(x, plane, new int[]{i * strides[0] - begin[0], j * strides[1] - begin[1],
                                    k * strides[2] - begin[2]}, y, indices, at++);
                        }
                    }
                }
            }
        }

        private void window(double[] x, int plane, int[] first, double[] y, long[] indices, int at) {
            int offset = plane * lengths[0] * lengths[1] * lengths[2];
            double sum = 0;
            double largest = Double.NEGATIVE_INFINITY;
            int place = -1;
            long counted = 0;
            long inside = 0;
            for (int i = 0; i < kernel[0]; i++) {
                int a = first[0] + i * dilations[0];
                for (int j = 0; j < kernel[1]; j++) {
                    int b = first[1] + j * dilations[1];
                    for (int k = 0; k < kernel[2]; k++) {
                        int c = first[2] + k * dilations[2];
                        if (a < lengths[0] + end[0] && b < lengths[1] + end[1] && c < lengths[2] + end[2]) {
                            counted++;
                        }
                        if (a < 0 || b < 0 || c < 0 || a >= lengths[0] || b >= lengths[1] || c >= lengths[2]) {
                            continue;
                        }
                        inside++;
                        int element = (a * lengths[1] + b) * lengths[2] + c;
                        double value = x[offset + element];
                        sum += kind.equals("lp") ? Math.pow(Math.abs(value), power) : value;
                        if (place < 0 || value > largest) {
                            largest = value;
                            place = columnMajor ? (c * lengths[1] + b) * lengths[0] + a : element;
                            if (columnMajor && lengths[0] == 1) {
                                place = c * lengths[1] + b;
                            }
                        }
                    }
                }
            }
            y[at] = switch (kind) {
                case "max" -> largest;
                case "lp" -> Math.pow(sum, 1 / power);
                case "avg" -> inside == 0 ? 0 : sum / inside;
                default -> sum / counted;
            };
            if (indices.length > 0) {
                indices[at] = (long) offset + place;
            }
        }
    }
}
