package io.seriatim.mxnet.translate;

import io.seriatim.graph.program.DataTypes;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;

/** Tensors that are computed from nothing, or from the dimensions of another. */
final class CreationTranslators {
    private static final long MOST_ELEMENTS = 1L << 40;
    private static final int MOST_SPACED = 1 << 20;

    private CreationTranslators() {
    }

    static void register(Translators table) {
        table.one(node -> filled(node, 0), "_zeros", "_zeros_without_dtype", "_npi_zeros");
        table.one(node -> filled(node, 1), "_ones", "_npi_ones");
        table.one(node -> filled(node, node.attributes().real("value", 0)), "_full", "_npi_full");
        table.one(node -> like(node, 0), "zeros_like");
        table.one(node -> like(node, 1), "ones_like");
        table.one(node -> like(node, node.attributes().real("fill_value", 0)), "_full_like", "_npi_full_like");
        table.one(CreationTranslators::range, "_arange", "_npi_arange");
        table.one(CreationTranslators::rangeLike, "_contrib_arange_like");
        table.one(CreationTranslators::identity, "_eye", "_npi_eye");
        table.one(CreationTranslators::square, "_npi_identity");
        table.one(CreationTranslators::spaced, "_linspace", "_npi_linspace");
        table.one(CreationTranslators::powers, "_npi_logspace");
        table.one(node -> node.ops().cast(node.ops().shape(node.in(0)), DType.INT64), "shape_array");
        table.one(node -> node.ops().cast(node.ops().reshape(node.op("size").in("Input", node.in(0)).one("Out"), 1),
                DType.INT64), "size_array");
    }

    /** Dimensions that are 0 are not known yet: they are 1 until a consumer broadcasts them. */
    private static String filled(NodeInputs node, double value) {
        long[] dims = Arrays.stream(node.attributes().integers("shape")).asLongStream().toArray();
        if (dims.length == 0) {
            throw node.attributes().wrong("shape", "one or more numbers");
        }
        long bound = MOST_ELEMENTS;
        for (long dim : dims) {
            bound /= Math.max(1, dim);
        }
        if (bound == 0 || Arrays.stream(dims).anyMatch(dim -> dim < -1)) {
            throw node.attributes().wrong("shape", "of less than 2^40 elements");
        }
        long[] known = Arrays.stream(dims).map(dim -> dim <= 0 ? 1 : dim).toArray();
        String filled = node.ops().constant(node.attributes().dtype("dtype", DType.FLOAT32), value, known);
        if (!Arrays.equals(known, dims)) {
            node.open(filled, value, dims);
        }
        return filled;
    }

    private static String like(NodeInputs node, double value) {
        Ops ops = node.ops();
        return ops.filledLike(ops.cast(node.in(0), node.attributes().dtype("dtype", node.dtype(node.in(0)))), value);
    }

    private static String range(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        Ops ops = node.ops();
        DType dtype = attributes.dtype("dtype", DType.FLOAT32);
        if (!attributes.has("stop") && attributes.flag("infer_range", false)) {
            throw attributes.wrong("stop", "given, for the range does not follow from its use here");
        }
        double start = attributes.real("start", 0);
        double from = attributes.has("stop") ? start : 0;
        double to = attributes.has("stop") ? attributes.real("stop") : start;
        double step = attributes.real("step", 1);
        if (step == 0 || Math.abs((to - from) / step) > MOST_ELEMENTS) {
            throw attributes.wrong("step", "such that there are less than 2^40 elements");
        }
        String range = ops.op("range").in("Start", ops.constant(DType.FLOAT64, from, 1))
                .in("End", ops.constant(DType.FLOAT64, to, 1)).in("Step", ops.constant(DType.FLOAT64, step, 1))
                .one("Out");
        return repeated(node, ops.cast(range, dtype));
    }

    private static String repeated(NodeInputs node, String range) {
        int times = node.attributes().integer("repeat", 1);
        return times == 1
                ? range
                : node.op("repeat_interleave").in("X", range).attr("Repeats", times).attr("dim", 0).one("Out");
    }

    private static String rangeLike(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        Ops ops = node.ops();
        if (attributes.integer("repeat", 1) != 1) {
            throw attributes.wrong("repeat", "1");
        }
        boolean flat = !attributes.has("axis");
        String x = flat ? ops.reshape(node.in(0), -1) : node.in(0);
        int axis = flat ? 0 : node.axis(x, attributes.integer("axis", 0));
        String places = ops.cast(ops.indexes(x, axis, DType.INT64), node.dtype(x));
        String range = ops.scale(places, attributes.real("step", 1), attributes.real("start", 0));
        return flat ? ops.reshape(range, ops.shape(node.in(0))) : range;
    }

    /** So many numbers from one to another. */
    private static double[] numbers(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        double start = attributes.real("start");
        double stop = attributes.real("stop");
        int count = attributes.integer("num");
        if (count < 0 || count > MOST_SPACED) {
            throw attributes.wrong("num", "from 0 to " + MOST_SPACED);
        }
        double step = (stop - start) / Math.max(1, attributes.flag("endpoint", true) ? count - 1 : count);
        double[] numbers = new double[count];
        Arrays.setAll(numbers, i -> start + i * step);
        return numbers;
    }

    private static String spaced(NodeInputs node) {
        return constant(node, numbers(node));
    }

    private static String powers(NodeInputs node) {
        double base = node.attributes().real("base", 10);
        return constant(node, Arrays.stream(numbers(node)).map(each -> Math.pow(base, each)).toArray());
    }

    private static String constant(NodeInputs node, double... numbers) {
        return node.constant("numbers", Tensor.of(node.attributes().dtype("dtype", DType.FLOAT32), numbers,
                numbers.length));
    }

    private static String square(NodeInputs node) {
        int[] shape = node.attributes().integers("shape");
        if (shape.length != 2 || shape[0] != shape[1]) {
            throw node.attributes().wrong("shape", "two equal numbers");
        }
        return eye(node, shape[0], shape[1]);
    }

    private static String eye(NodeInputs node, long rows, long columns) {
        return node.op("eye").attr("num_rows", rows).attr("num_columns", columns)
                .attr("dtype", DataTypes.number(node.attributes().dtype("dtype", DType.FLOAT32))).one("Out");
    }

    private static String identity(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        int rows = attributes.integer("N");
        int columns = attributes.integer("M", 0);
        int offset = attributes.integer("k", 0);
        if (offset != 0) {
            throw attributes.wrong("k", "0");
        }
        return eye(node, rows, columns == 0 ? rows : columns);
    }
}
