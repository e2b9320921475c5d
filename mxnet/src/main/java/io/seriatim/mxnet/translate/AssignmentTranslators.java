package io.seriatim.mxnet.translate;

import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes elements at indexes, and converts between coordinates and flat indexes. */
final class AssignmentTranslators {
    private AssignmentTranslators() {
    }

    static void register(Translators table) {
        table.one(node -> assigned(node, node.in(1)), "_slice_assign", "_npi_slice_assign");
        table.one(node -> assigned(node, node.ops().constant(node.dtype(node.in(0)),
                node.attributes().real("scalar", 0), 1)), "_slice_assign_scalar", "_npi_slice_assign_scalar");
        table.one(AssignmentTranslators::copied, "_contrib_index_copy");
        table.one(AssignmentTranslators::scattered, "scatter_nd");
        table.one(AssignmentTranslators::places, "_contrib_index_array");
        table.one(AssignmentTranslators::flat, "_ravel_multi_index", "ravel_multi_index");
        table.one(AssignmentTranslators::coordinates, "_unravel_index", "unravel_index");
    }

    /** Replaces the elements of a range of each of the first axes. */
    private static String assigned(NodeInputs node, String value) {
        AttributeMap attributes = node.attributes();
        List<@Nullable Long> begin = attributes.optionalIntegers("begin");
        List<@Nullable Long> end = attributes.optionalIntegers("end");
        List<@Nullable Long> step = attributes.optionalIntegers("step");
        if (begin.size() != end.size() || (!step.isEmpty() && step.size() != begin.size())) {
            throw attributes.wrong("end", begin.size() + " numbers, as many as the attribute 'begin' has");
        }
        long[] axes = new long[begin.size()];
        long[] starts = new long[axes.length];
        long[] ends = new long[axes.length];
        long[] steps = new long[axes.length];
        for (int axis = 0; axis < axes.length; axis++) {
            Long by = step.isEmpty() ? null : step.get(axis);
            Long from = begin.get(axis);
            Long to = end.get(axis);
            axes[axis] = axis;
            starts[axis] = from == null ? 0 : from;
            ends[axis] = to == null ? Integer.MAX_VALUE : to;
            steps[axis] = by == null ? 1 : by;
            if (steps[axis] < 1) {
                throw attributes.wrong("step", "numbers from 1 on");
            }
        }
        return node.op("set_value").in("Input", node.in(0)).in("ValueTensor", value).attr("axes", axes)
                .attr("starts", starts).attr("ends", ends).attr("steps", steps).one("Out");
    }

    private static String whole(NodeInputs node, String x) {
        return node.ops().cast(x, DType.INT64);
    }

    private static String copied(NodeInputs node) {
        return node.op("scatter").in("X", node.in(0)).in("Ids", whole(node, node.in(1))).in("Updates", node.in(2))
                .attr("overwrite", true).one("Out");
    }

    /**
     * MXNet has the coordinates in the first dimension, Paddle in the last. MXNet leaves the result of equal
     * coordinates open; here their updates are added.
     */
    private static String scattered(NodeInputs node) {
        Ops ops = node.ops();
        int rank = node.rank(node.in(1));
        String index = ops.transpose(whole(node, node.in(1)), Ops.moved(rank, 0, rank - 1));
        long[] dims = Arrays.stream(node.attributes().integers("shape")).asLongStream().toArray();
        if (dims.length == 0 || Arrays.stream(dims).anyMatch(dim -> dim < 1)) {
            throw node.attributes().wrong("shape", "one or more numbers from 1 on");
        }
        // An index has one coordinate for each dimension that the slices, the last dimensions of the updates, lack.
        long[] sizes = new long[rank];
        sizes[rank - 1] = (long) dims.length - node.rank(node.in(0)) + rank - 1;
        if (sizes[rank - 1] < 1) {
            throw node.attributes().wrong("shape", "of as many dimensions as an index and a slice have together");
        }
        return ops.op("scatter_nd_add").in("X", ops.constant(node.dtype(node.in(0)), 0, dims))
                .in("Index", ops.reshape(index, sizes))
                .in("Updates", node.in(0)).one("Out");
    }

    /** The coordinates of each element, in a last dimension. */
    private static String places(NodeInputs node) {
        Ops ops = node.ops();
        String x = node.in(0);
        int rank = node.rank(x);
        int[] axes = node.attributes().has("axes")
                ? Arrays.stream(node.attributes().integers("axes")).map(axis -> node.axis(x, axis)).toArray()
                : Ops.range(0, rank);
        String zeros = ops.filledLike(whole(node, x), 0);
        List<String> parts = new ArrayList<>();
        for (int axis : axes) {
            long[] dims = new long[rank];
            Arrays.fill(dims, 1);
            dims[axis] = -1;
            parts.add(ops.binary("elementwise_add", zeros, ops.reshape(ops.indexes(x, axis, DType.INT64), dims)));
        }
        return ops.op("stack").in("X", parts).attr("axis", rank).one("Y");
    }

    /** How many elements an index of each axis stands for. */
    private static long[] strides(AttributeMap attributes, int[] shape) {
        if (shape.length == 0 || Arrays.stream(shape).skip(1).anyMatch(dim -> dim < 1)) {
            throw attributes.wrong("shape", "numbers from 1 on, of which the first may be -1");
        }
        long[] strides = new long[shape.length];
        long stride = 1;
        for (int axis = shape.length - 1; axis >= 0; axis--) {
            strides[axis] = stride;
            stride = Math.multiplyExact(stride, (long) Math.max(1, shape[axis]));
        }
        return strides;
    }

    private static String flat(NodeInputs node) {
        Ops ops = node.ops();
        long[] strides = strides(node.attributes(), node.attributes().integers("shape"));
        long[] dims = new long[node.rank(node.in(0))];
        Arrays.fill(dims, 1);
        dims[0] = strides.length;
        String products = ops.binary("elementwise_mul", whole(node, node.in(0)),
                ops.constant(DType.INT64, strides, dims));
        return ops.cast(ops.reduce("reduce_sum", products, false, 0), node.dtype(node.in(0)));
    }

    private static String coordinates(NodeInputs node) {
        Ops ops = node.ops();
        int[] shape = node.attributes().integers("shape");
        long[] strides = strides(node.attributes(), shape);
        String index = whole(node, node.in(0));
        List<String> parts = new ArrayList<>();
        for (int axis = 0; axis < shape.length; axis++) {
            String quotient =
                    ops.binary("elementwise_floordiv", index, ops.constant(DType.INT64, new long[]{strides[axis]}, 1));
            parts.add(axis == 0
                    ? quotient
                    : ops.binary("elementwise_mod", quotient, ops.constant(DType.INT64, shape[axis], 1)));
        }
        return ops.cast(ops.op("stack").in("X", parts).attr("axis", 0).one("Y"), node.dtype(node.in(0)));
    }
}
