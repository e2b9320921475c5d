package io.seriatim.mxnet.translate;

import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Ranges of axes. */
final class SlicingTranslators {
    private SlicingTranslators() {
    }

    static void register(Translators table) {
        table.one(SlicingTranslators::slice, "slice", "crop");
        table.one(SlicingTranslators::sliceAxis, "slice_axis");
        table.one(SlicingTranslators::sliceLike, "slice_like");
        table.one(SlicingTranslators::crop, "Crop");
        table.one(node -> node.op("flip").in("X", node.in(0)).attr("axis", node.attributes().integers("axis"))
                .one("Out"), "reverse", "flip");
    }

    private static String slice(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        List<@Nullable Long> begin = attributes.optionalIntegers("begin");
        List<@Nullable Long> end = attributes.optionalIntegers("end");
        List<@Nullable Long> step = attributes.optionalIntegers("step");
        if (begin.size() != end.size() || (!step.isEmpty() && step.size() != begin.size())) {
            throw attributes.wrong("end", begin.size() + " numbers, as many as the attribute 'begin' has");
        }
        List<Integer> axes = new ArrayList<>();
        List<Long> starts = new ArrayList<>();
        List<Long> ends = new ArrayList<>();
        List<Long> steps = new ArrayList<>();
        for (int axis = 0; axis < begin.size(); axis++) {
            Long by = step.isEmpty() ? null : step.get(axis);
            long stride = by == null || by == 0 ? 1 : by;
            Long from = begin.get(axis);
            Long to = end.get(axis);
            if (from == null && to == null && stride == 1) {
                continue;
            }
            if (stride < 0 && to != null && to == -1) {
                throw attributes.wrong("end", "other than -1 where the step is negative, for nothing would be left");
            }
            axes.add(axis);
            // Going back, Paddle's end -1 is that before the first element.
            starts.add(from != null ? from : stride > 0 ? 0 : -1L);
            ends.add(to != null ? to : stride > 0 ? Integer.MAX_VALUE : -1L);
            steps.add(stride);
        }
        if (axes.isEmpty()) {
            return node.in(0);
        }
        boolean plain = steps.stream().allMatch(each -> each == 1);
        OpWriter op = node.op(plain ? "slice" : "strided_slice").in("Input", node.in(0))
                .attr("axes", axes.stream().mapToInt(Integer::intValue).toArray()).attr("starts", ints(starts))
                .attr("ends", ints(ends));
        return (plain ? op : op.attr("strides", ints(steps))).one("Out");
    }

    private static int[] ints(List<Long> values) {
        return Ops.ints(values.stream().mapToLong(Long::longValue).toArray());
    }

    private static String sliceAxis(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        int axis = node.axis(node.in(0), attributes.integer("axis"));
        long end = attributes.has("end") ? attributes.integer("end") : Integer.MAX_VALUE;
        return node.ops().slice(node.in(0), axis, attributes.integer("begin"), end);
    }

    private static String sliceLike(NodeInputs node) {
        Ops ops = node.ops();
        int[] named = node.attributes().integers("axes");
        int[] axes = named.length == 0
                ? Ops.range(0, node.rank(node.in(0)))
                : Arrays.stream(named).map(axis -> node.axis(node.in(0), axis)).toArray();
        String shape = ops.shape(node.in(1));
        String ends = named.length == 0
                ? shape
                : ops.concat(0, Arrays.stream(axes).mapToObj(axis -> ops.slice(shape, 0, axis, axis + 1L)).toList());
        return ops.op("slice").in("Input", node.in(0)).in("EndsTensor", ends).attr("axes", axes)
                .attr("starts", new int[axes.length]).attr("ends", new int[axes.length]).one("Out");
    }

    /** Cuts rows and columns out of images: a size that is given, or that of other images. */
    private static String crop(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        Ops ops = node.ops();
        String x = node.in(0);
        int[] size = attributes.integers("h_w", 0, 0);
        int[] offset = attributes.integers("offset", 0, 0);
        if (size.length != 2 || offset.length != 2) {
            throw attributes.wrong("h_w", "two numbers, as the attribute 'offset'");
        }
        String wanted = node.count() > 1
                ? ops.slice(ops.shape(node.in(1)), 0, 2, 4)
                : ops.constant(DType.INT32, new long[]{size[0], size[1]}, 2);
        String from = ops.constant(DType.INT32, new long[]{offset[0], offset[1]}, 2);
        if (attributes.flag("center_crop", false)) {
            String surplus = ops.binary("elementwise_sub", ops.slice(ops.shape(x), 0, 2, 4), wanted);
            from = ops.binary("elementwise_floordiv", surplus, ops.constant(DType.INT32, 2, 1));
        }
        return ops.op("slice").in("Input", x).in("StartsTensor", from)
                .in("EndsTensor", ops.binary("elementwise_add", from, wanted)).attr("axes", new int[]{2, 3})
                .attr("starts", new int[2]).attr("ends", new int[2]).one("Out");
    }
}
