package io.seriatim.mxnet.translate;

import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Operators of {@code mx.np} and {@code mx.npx} that reshape, reorder, join, split or select. */
final class NumpyShapeTranslators {
    private NumpyShapeTranslators() {
    }

    static void register(Translators table) {
        table.one(NumpyShapeTranslators::reshape, "_np_reshape", "_npi_reshape");
        table.one(NumpyReshape::apply, "_npx_reshape");
        table.one(ShapeTranslators::transpose, "_np_transpose");
        table.one(NumpyShapeTranslators::squeeze, "_np_squeeze");
        table.one(NumpyShapeTranslators::moveAxis, "_np_moveaxis");
        table.one(NumpyShapeTranslators::roll, "_np_roll");
        table.one(NumpyShapeTranslators::flip, "_npi_flip");
        table.one(NumpyShapeTranslators::turned, "_npi_rot90");
        table.one(NumpyShapeTranslators::broadcast, "_npi_broadcast_to");
        table.one(NumpyShapeTranslators::concatenate, "_npi_concatenate");
        table.one(node -> node.op("stack").in("X", node.all()).attr("axis", node.attributes().integer("axis", 0))
                .one("Y"), "_npi_stack");
        table.one(node -> joined(node, 2, 0), "_npi_vstack");
        table.one(node -> node.rank(node.in(0)) < 2 ? joined(node, 1, 0) : joined(node, 1, 1), "_npi_hstack");
        table.one(NumpyShapeTranslators::columns, "_npi_column_stack");
        table.one(NumpyShapeTranslators::depth, "_npi_dstack");
        // Vectors have no second axis.
        table.many(node -> node.rank(node.in(0)) == 1
                ? ShapeTranslators.splitAt(node, 0)
                : ShapeTranslators.splitAt(node), "_npi_hsplit");
        table.many(ShapeTranslators::splitAt, "_npi_dsplit", "_npi_split");
        table.one(node -> node.op("tril_triu").in("X", node.in(0)).attr("diagonal", node.attributes().integer("k", 0))
                .attr("lower", true).one("Out"), "_npi_tril");
        for (int rank = 1; rank <= 3; rank++) {
            int least = rank;
            table.many(node -> node.all().stream().map(each -> atLeast(node, each, least)).toList(),
                    "_np_atleast_" + rank + "d");
        }
        table.one(NumpyShapeTranslators::difference, "_npi_diff");
        table.one(NumpyShapeTranslators::padded, "_npi_pad");
        table.one(node -> node.op("where_index").in("Condition", BinaryTranslators.isTrue(node, node.in(0)))
                .one("Out"), "_npx_nonzero");
        table.one(node -> chosen(node, node.in(1), node.in(2)), "_npi_where");
        table.one(node -> chosen(node, number(node, node.in(1), "scalar"), node.in(1)), "_npi_where_lscalar");
        table.one(node -> chosen(node, node.in(1), number(node, node.in(1), "scalar")), "_npi_where_rscalar");
        table.one(NumpyShapeTranslators::diagonal, "_np_diagonal");
        table.one(node -> node.op("diag_v2").in("X", node.in(0)).attr("offset", node.attributes().integer("k", 0))
                .one("Out"), "_np_diag");
        table.one(NumpyShapeTranslators::trace, "_np_trace");
    }

    private static String reshape(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        if (!attributes.text("order", "C").equals("C")) {
            throw attributes.wrong("order", "C");
        }
        int[] shape = attributes.integers("newshape");
        if (Arrays.stream(shape).anyMatch(dim -> dim < -1 || dim == 0)) {
            throw attributes.wrong("newshape", "numbers from 1 on and perhaps -1");
        }
        return shape.length == 0
                ? node.ops().squeeze(node.ops().reshape(node.in(0), 1), 0)
                : node.ops().reshape(node.in(0), Arrays.stream(shape).asLongStream().toArray());
    }

    private static String squeeze(NodeInputs node) {
        int[] axes = node.attributes().integers("axis");
        if (!node.attributes().has("axis")) {
            long[] dims = node.dims(node.in(0));
            if (Arrays.stream(dims).anyMatch(dim -> dim < 0)) {
                throw node.unsupported("squeeze needs the attribute 'axis' where dimensions are not known before the"
                        + " run, or the shape of the inputs when the model is loaded");
            }
            axes = Arrays.stream(Ops.range(0, dims.length)).filter(axis -> dims[axis] == 1).toArray();
        }
        return node.ops().squeeze(node.in(0), Arrays.stream(axes).map(axis -> node.axis(node.in(0), axis)).toArray());
    }

    private static String moveAxis(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        String x = node.in(0);
        int rank = node.rank(x);
        int[] from = Arrays.stream(attributes.integers("source")).map(axis -> node.axis(x, axis)).toArray();
        int[] to = Arrays.stream(attributes.integers("destination")).map(axis -> node.axis(x, axis)).toArray();
        if (from.length != to.length) {
            throw attributes.wrong("destination", from.length + " numbers, as many as the attribute 'source' has");
        }
        int[] order = new int[rank];
        Arrays.fill(order, -1);
        List<Integer> rest = new ArrayList<>(Arrays.stream(Ops.range(0, rank)).boxed().toList());
        for (int i = 0; i < from.length; i++) {
            order[to[i]] = from[i];
            rest.remove(Integer.valueOf(from[i]));
        }
        int next = 0;
        for (int i = 0; i < rank; i++) {
            if (order[i] < 0) {
                order[i] = rest.get(next++);
            }
        }
        return node.ops().transpose(x, order);
    }

    private static String roll(NodeInputs node) {
        long[] shifts = Arrays.stream(node.attributes().integers("shift")).asLongStream().toArray();
        int[] axes = node.attributes().integers("axis");
        Ops ops = node.ops();
        boolean flat = !node.attributes().has("axis");
        String x = flat ? ops.reshape(node.in(0), -1) : node.in(0);
        long[] along = flat ? new long[]{0} : Arrays.stream(axes).asLongStream().toArray();
        if (along.length != shifts.length) {
            throw node.attributes().wrong("shift", along.length + " numbers, one for each axis");
        }
        String y = ops.op("roll").in("X", x).attr("shifts", shifts).attr("axis", along).one("Out");
        return flat ? ops.reshape(y, ops.shape(node.in(0))) : y;
    }

    private static String flip(NodeInputs node) {
        int[] axes = node.attributes().has("axis")
                ? node.attributes().integers("axis")
                : Ops.range(0, node.rank(node.in(0)));
        return flipped(node, node.in(0), axes);
    }

    private static String flipped(NodeInputs node, String x, int... axes) {
        return node.op("flip").in("X", x).attr("axis", axes).one("Out");
    }

    private static String turned(NodeInputs node) {
        String x = node.in(0);
        int[] axes = Arrays.stream(node.attributes().integers("axes", 0, 1)).map(axis -> node.axis(x, axis)).toArray();
        if (axes.length != 2 || axes[0] == axes[1]) {
            throw node.attributes().wrong("axes", "two different numbers");
        }
        int[] swapped = Ops.range(0, node.rank(x));
        swapped[axes[0]] = axes[1];
        swapped[axes[1]] = axes[0];
        return switch (Math.floorMod(node.attributes().integer("k", 1), 4)) {
            case 0 -> x;
            case 1 -> node.ops().transpose(flipped(node, x, axes[1]), swapped);
            case 2 -> flipped(node, x, axes);
            default -> flipped(node, node.ops().transpose(x, swapped), axes[1]);
        };
    }

    private static String broadcast(NodeInputs node) {
        // -2 copies a dimension, which Paddle writes as -1.
        int[] wanted = Arrays.stream(node.attributes().integers("shape")).map(dim -> dim == -2 ? -1 : dim).toArray();
        return node.op("expand_v2").in("X", node.in(0)).attr("shape", wanted).one("Out");
    }

    private static String concatenate(NodeInputs node) {
        Ops ops = node.ops();
        boolean flat = node.node().attributes().containsKey("axis") && !node.attributes().has("axis");
        return flat
                ? ops.concat(0, node.all().stream().map(each -> ops.reshape(each, -1)).toList())
                : ops.concat(node.attributes().integer("axis", 0), node.all());
    }

    private static String atLeast(NodeInputs node, String x, int least) {
        int rank = node.rank(x);
        if (rank >= least) {
            return x;
        }
        // Vectors are rows, and matrices have a depth of 1.
        int[] axes = switch (least - rank) {
            case 1 -> least == 3 ? new int[]{2} : new int[]{0};
            case 2 -> least == 3 ? new int[]{0, 2} : new int[]{0, 1};
            default -> new int[]{0, 1, 2};
        };
        return node.ops().unsqueeze(x, axes);
    }

    private static String joined(NodeInputs node, int least, int axis) {
        return node.ops().concat(axis, node.all().stream().map(each -> atLeast(node, each, least)).toList());
    }

    /** Vectors are columns. */
    private static String columns(NodeInputs node) {
        Ops ops = node.ops();
        return ops.concat(1, node.all().stream().map(each -> switch (node.rank(each)) {
            case 0 -> ops.unsqueeze(each, 0, 1);
            case 1 -> ops.unsqueeze(each, 1);
            default -> each;
        }).toList());
    }

    private static String depth(NodeInputs node) {
        return joined(node, 3, 2);
    }

    private static String difference(NodeInputs node) {
        Ops ops = node.ops();
        int axis = node.axis(node.in(0), node.attributes().integer("axis", -1));
        String x = node.in(0);
        int times = node.attributes().integer("n", 1);
        if (times < 0 || times > 1 << 8) {
            throw node.attributes().wrong("n", "from 0 to 256");
        }
        for (int i = 0; i < times; i++) {
            x = ops.binary("elementwise_sub", ops.slice(x, axis, 1, Integer.MAX_VALUE), ops.slice(x, axis, 0, -1));
        }
        return x;
    }

    private static String padded(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        if (!attributes.text("mode", "constant").equals("constant")) {
            throw attributes.wrong("mode", "constant");
        }
        int[] widths = attributes.nestedIntegers("pad_width");
        if (widths.length != 2 * node.rank(node.in(0))) {
            throw attributes.wrong("pad_width", "two numbers for each of the " + node.rank(node.in(0))
                    + " dimensions");
        }
        return ExpansionTranslators.padded(node, widths, attributes.real("constant_value", 0));
    }

    private static String number(NodeInputs node, String like, String attribute) {
        return node.ops().filledLike(like, node.attributes().real(attribute, 0));
    }

    private static String chosen(NodeInputs node, String x, String y) {
        Ops ops = node.ops();
        DType dtype = NumpyElementTranslators.common(node.dtype(x), node.dtype(y));
        String condition = BinaryTranslators.isTrue(node, node.in(0));
        return ops.where(condition, ops.cast(x, dtype), ops.cast(y, dtype));
    }

    private static String diagonal(NodeInputs node) {
        return diagonal(node, node.attributes().integer("offset", 0));
    }

    private static String diagonal(NodeInputs node, int offset) {
        return node.op("diagonal").in("Input", node.in(0)).attr("offset", offset)
                .attr("axis1", node.attributes().integer("axis1", 0))
                .attr("axis2", node.attributes().integer("axis2", 1)).one("Out");
    }

    private static String trace(NodeInputs node) {
        String diagonal = diagonal(node, node.attributes().integer("offset", 0));
        int axis = node.rank(node.in(0)) - 2;
        return node.ops().squeeze(node.ops().reduce("reduce_sum", diagonal, true, axis), axis);
    }
}
