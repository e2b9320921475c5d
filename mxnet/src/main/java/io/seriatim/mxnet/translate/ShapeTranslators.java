package io.seriatim.mxnet.translate;

import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Other shapes and orders of the same elements, and tensors side by side. */
final class ShapeTranslators {
    private static final int MOST_PARTS = 1 << 16;

    private ShapeTranslators() {
    }

    static void register(Translators table) {
        table.one(ShapeTranslators::reshape, "Reshape", "reshape");
        table.one(ShapeTranslators::reshapeLike, "reshape_like");
        table.one(ShapeTranslators::flatten, "Flatten", "flatten");
        table.one(ShapeTranslators::transpose, "transpose");
        table.one(ShapeTranslators::swap, "SwapAxis", "swapaxes");
        table.one(ShapeTranslators::expand, "expand_dims");
        table.one(ShapeTranslators::squeeze, "squeeze");
        table.one(node -> concat(node, node.attributes().integer("dim", 1)), "Concat", "concat");
        table.one(node -> concat(node, node.attributes().integer("dim", 0)), "_rnn_param_concat");
        table.one(node -> node.op("stack").in("X", node.all()).attr("axis", node.attributes().integer("axis", 0))
                .one("Y"), "stack");
        table.many(ShapeTranslators::split, "SliceChannel", "split");
        table.many(ShapeTranslators::splitAt, "_split_v2");
        table.one(ShapeTranslators::toDepth, "space_to_depth");
        table.one(ShapeTranslators::toSpace, "depth_to_space");
    }

    private static String reshape(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        int[] codes = attributes.integers("shape");
        if (codes.length > 0) {
            return ReshapeRule.apply(node, node.in(0), codes, attributes.flag("reverse", false));
        }
        // The form of version 0.8: 0 takes what is left.
        int[] target = attributes.integers("target_shape");
        if (target.length == 0) {
            throw attributes.wrong("shape", "one or more numbers");
        }
        int[] old = Arrays.stream(target).map(dim -> dim == 0 ? -1 : dim).toArray();
        if (attributes.flag("keep_highest", false)) {
            old[0] = 0;
        }
        return ReshapeRule.apply(node, node.in(0), old, false);
    }

    /** Some dimensions, all by default, become some of another tensor. */
    private static String reshapeLike(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        Ops ops = node.ops();
        String x = node.in(0);
        String other = node.in(1);
        if (!attributes.has("lhs_begin") && !attributes.has("lhs_end") && !attributes.has("rhs_begin")
                && !attributes.has("rhs_end")) {
            return ops.reshape(x, ops.shape(other));
        }
        int from = node.axis(x, attributes.integer("lhs_begin", 0));
        int to = attributes.has("lhs_end") ? node.axis(x, attributes.integer("lhs_end")) : node.rank(x);
        int first = node.axis(other, attributes.integer("rhs_begin", 0));
        int end = attributes.has("rhs_end") ? node.axis(other, attributes.integer("rhs_end")) : node.rank(other);
        List<String> parts = new ArrayList<>();
        addDims(ops, parts, x, 0, from);
        addDims(ops, parts, other, first, end);
        addDims(ops, parts, x, to, node.rank(x));
        return parts.isEmpty() ? ops.reshape(x, 1) : ops.reshape(x, ops.concat(0, parts));
    }

    private static void addDims(Ops ops, List<String> parts, String x, int from, int to) {
        if (from < to) {
            parts.add(ops.slice(ops.shape(x), 0, from, to));
        }
    }

    private static String flatten(NodeInputs node) {
        if (node.isGuessing()) {
            return node.ops().reshape(node.in(0), 0, -1);
        }
        int rank = node.rank(node.in(0));
        return rank == 2
                ? node.in(0)
                : rank == 1
                        ? node.ops().unsqueeze(node.in(0), 1)
                        : node.ops().flatten(node.in(0), 1, -1);
    }

    static String transpose(NodeInputs node) {
        int[] axes = node.attributes().integers("axes");
        int rank = axes.length > 0 ? axes.length : node.rank(node.in(0));
        int[] order = axes.length > 0
                ? Arrays.stream(axes).map(axis -> axis < 0 ? axis + rank : axis).toArray()
                : Arrays.stream(Ops.range(0, rank)).map(axis -> rank - 1 - axis).toArray();
        return node.ops().transpose(node.in(0), order);
    }

    private static String swap(NodeInputs node) {
        int a = node.axis(node.in(0), node.attributes().integer("dim1", 0));
        int b = node.axis(node.in(0), node.attributes().integer("dim2", 0));
        int[] order = Ops.range(0, node.rank(node.in(0)));
        order[a] = b;
        order[b] = a;
        return node.ops().transpose(node.in(0), order);
    }

    private static String expand(NodeInputs node) {
        return node.ops().unsqueeze(node.in(0), node.attributes().integer("axis"));
    }

    private static String squeeze(NodeInputs node) {
        int[] axes = node.attributes().integers("axis");
        if (axes.length > 0) {
            int[] from = Arrays.stream(axes).map(axis -> node.axis(node.in(0), axis)).toArray();
            return from.length == node.rank(node.in(0))
                    ? node.ops().reshape(node.in(0), 1)
                    : node.ops().squeeze(node.in(0), from);
        }
        long[] dims = node.dims(node.in(0));
        int[] ones = Arrays.stream(Ops.range(0, dims.length)).filter(axis -> dims[axis] == 1).toArray();
        long open = Arrays.stream(dims).filter(dim -> dim < 0).count();
        // A vector stays, whatever its length is.
        if (open > 1 || (open == 1 && ones.length != dims.length - 1)) {
            throw node.unsupported("squeeze needs the attribute 'axis' where dimensions are not known before the run,"
                    + " or the shape of the inputs when the model is loaded");
        }
        return ones.length == dims.length && ones.length > 0
                ? node.ops().reshape(node.in(0), 1)
                : node.ops().squeeze(node.in(0), ones);
    }

    private static String concat(NodeInputs node, int axis) {
        return node.ops().concat(axis, node.all());
    }

    private static List<String> split(NodeInputs node) {
        int parts = node.attributes().integer("num_outputs");
        int axis = node.attributes().integer("axis", 1);
        if (parts < 1 || parts > MOST_PARTS) {
            throw node.attributes().wrong("num_outputs", "from 1 to " + MOST_PARTS);
        }
        List<String> all = parts == 1 ? List.of(node.in(0)) : node.ops().split(node.in(0), axis, parts);
        return node.attributes().flag("squeeze_axis", false)
                ? all.stream().map(part -> node.ops().squeeze(part, axis)).toList()
                : all;
    }

    static List<String> splitAt(NodeInputs node) {
        return splitAt(node, node.axis(node.in(0), node.attributes().integer("axis", 1)));
    }

    static List<String> splitAt(NodeInputs node, int axis) {
        AttributeMap attributes = node.attributes();
        int sections = attributes.integer("sections", 0);
        List<String> all = new ArrayList<>();
        if (sections > 0) {
            if (sections > MOST_PARTS) {
                throw attributes.wrong("sections", "at most " + MOST_PARTS);
            }
            long length = sections == 1 ? -1 : node.dims(node.in(0))[axis];
            if (length > 0 && length % sections != 0) {
                // The first parts have an element more.
                long more = length % sections;
                long from = 0;
                for (int i = 0; i < sections; i++) {
                    long to = from + length / sections + (i < more ? 1 : 0);
                    all.add(node.ops().slice(node.in(0), axis, from, to));
                    from = to;
                }
            } else {
                all.addAll(sections == 1 ? List.of(node.in(0)) : node.ops().split(node.in(0), axis, sections));
            }
        } else {
            int[] starts = attributes.integers("indices");
            for (int i = 0; i < starts.length; i++) {
                long end = i + 1 < starts.length ? starts[i + 1] : Integer.MAX_VALUE;
                all.add(node.ops().slice(node.in(0), axis, starts[i], end));
            }
        }
        return attributes.flag("squeeze_axis", false)
                ? all.stream().map(part -> node.ops().squeeze(part, axis)).toList()
                : all;
    }

    private static int block(NodeInputs node) {
        int size = node.attributes().integer("block_size");
        if (size < 1 || size > 1 << 12) {
            throw node.attributes().wrong("block_size", "from 1 to 4096");
        }
        return size;
    }

    /** The places of a block become channels: the place in the block counts before the channel. */
    private static String toDepth(NodeInputs node) {
        int block = block(node);
        Ops ops = node.ops();
        long[] dims = node.dims(node.in(0));
        String shape = ops.shape(node.in(0));
        String rows = divided(node, shape, 2, block);
        String columns = divided(node, shape, 3, block);
        String channels = ops.slice(shape, 0, 1, 2);
        String size = ops.constant(DType.INT32, block, 1);
        String batch = ops.slice(shape, 0, 0, 1);
        String six = ops.reshape(node.in(0), ops.concat(0, List.of(batch, channels, rows, size, columns, size)));
        String moved = ops.transpose(six, 0, 3, 5, 1, 2, 4);
        String depth = ops.binary("elementwise_mul", channels,
                ops.constant(DType.INT32, (double) block * block, 1));
        requireImages(node, dims);
        return ops.reshape(moved, ops.concat(0, List.of(batch, depth, rows, columns)));
    }

    private static void requireImages(NodeInputs node, long[] dims) {
        if (dims.length != 4) {
            throw node.unsupported("images have four dimensions, but there are " + dims.length);
        }
    }

    private static String divided(NodeInputs node, String shape, int axis, int divisor) {
        Ops ops = node.ops();
        return ops.binary("elementwise_floordiv", ops.slice(shape, 0, axis, axis + 1L),
                ops.constant(DType.INT32, divisor, 1));
    }

    private static String toSpace(NodeInputs node) {
        int block = block(node);
        Ops ops = node.ops();
        requireImages(node, node.dims(node.in(0)));
        String shape = ops.shape(node.in(0));
        String batch = ops.slice(shape, 0, 0, 1);
        String rows = ops.slice(shape, 0, 2, 3);
        String columns = ops.slice(shape, 0, 3, 4);
        String channels = divided(node, shape, 1, block * block);
        String size = ops.constant(DType.INT32, block, 1);
        String six = ops.reshape(node.in(0), ops.concat(0, List.of(batch, size, size, channels, rows, columns)));
        String moved = ops.transpose(six, 0, 3, 4, 1, 5, 2);
        return ops.reshape(moved, ops.concat(0, List.of(batch, channels, ops.binary("elementwise_mul", rows, size),
                ops.binary("elementwise_mul", columns, size))));
    }
}
