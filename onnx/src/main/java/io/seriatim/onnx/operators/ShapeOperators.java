package io.seriatim.onnx.operators;

import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;
import io.seriatim.onnx.node.Size;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Shapes, and values with another shape. */
public final class ShapeOperators {
    /** The most open dimensions of which each is removed or not. */
    private static final int MOST_OPEN = 5;
    /** So many nodes are repeated for each number of dimensions. */
    private static final int FEW_DEPENDENTS = 32;

    private ShapeOperators() {
    }

    /** Adds the operators. */
    public static void register(Registry operators) {
        operators.one("Shape", ShapeOperators::shape);
        operators.one("Size", ShapeOperators::size);
        operators.one("Reshape", ShapeOperators::reshape);
        operators.one("Flatten", ShapeOperators::flatten);
        operators.all("Squeeze", node -> List.of(squeeze(node)));
        operators.one("Unsqueeze", ShapeOperators::unsqueeze);
        operators.one("Transpose", ShapeOperators::transpose);
        operators.one("Concat", ShapeOperators::concat);
        operators.all("Split", ShapeOperators::split);
        operators.one("Expand", ShapeOperators::expand);
        operators.one("Tile", ShapeOperators::tile);
        operators.one("DepthToSpace", ShapeOperators::depthToSpace);
        operators.one("SpaceToDepth", ShapeOperators::spaceToDepth);
    }

    private static Ref shape(Node node) {
        Ref x = node.input(0);
        BlockBuilder block = node.block();
        int start = place(node.integer("start", 0), x.rank());
        int end = Math.max(start, place(node.integer("end", x.rank()), x.rank()));
        long[] dims = Arrays.copyOfRange(x.dims(), start, end);
        if (Arrays.stream(dims).allMatch(dim -> dim >= 0)) {
            return block.integers(DType.INT64, dims);
        }
        Ref all = block.cast(block.shape(x), DType.INT64);
        return dims.length == x.rank()
                ? all
                : block.slice(all, 0, start, end);
    }

    private static int place(long at, int rank) {
        return Math.clamp(at < 0 ? at + rank : at, 0, rank);
    }

    private static Ref size(Node node) {
        Ref x = node.input(0);
        BlockBuilder block = node.block();
        if (Arrays.stream(x.dims()).allMatch(dim -> dim >= 0)) {
            long size = Arrays.stream(x.dims()).reduce(1, Math::multiplyExact);
            return block.reshape(block.integers(DType.INT64, size));
        }
        return block.op("size").in("Input", x).out("Out");
    }

    private static Ref reshape(Node node) {
        Ref x = node.input(0);
        BlockBuilder block = node.block();
        long[] shape = node.version() < 5 ? node.integers("shape") : node.integers(1);
        boolean zeros = node.flag("allowzero", false);
        if (shape == null) {
            return block.op("onnx_reshape").in("X", x).in("Shape", node.input(1)).attr("allowzero", zeros)
                    .attr("announced", node.announced(1)).out("Out");
        }
        return zeros && Arrays.stream(shape).anyMatch(dim -> dim == 0)
                ? block.op("onnx_reshape").in("X", x).in("Shape", node.input(1)).attr("allowzero", true).out("Out")
                : block.reshape(x, shape);
    }

    private static Ref flatten(Node node) {
        Ref x = node.input(0);
        long axis = node.integer("axis", 1);
        if (axis < -x.rank() || axis > x.rank()) {
            throw node.error("the attribute 'axis' lies between %d and %d, but is %d", -x.rank(), x.rank(), axis);
        }
        return node.op("flatten2").in("X", x).attr("axis", axis < 0 ? axis + x.rank() : axis).outs("Out", "XShape")
                .getFirst();
    }

    /** The axes of an attribute, before version 13, or of an operand. */
    private static long[] axes(Node node) {
        if (node.version() < 13) {
            long[] axes = node.integers("axes");
            return axes == null ? new long[0] : axes;
        }
        return node.has(1) ? node.knownIntegers(1, "axes") : new long[0];
    }

    /** How many dimensions fewer the result is declared with than the operand; −1 if that is not known. */
    private static int fewer(Node node, int rank, int sign) {
        return node.declaredRank() < 0 ? -1 : Math.max(-1, sign * (rank - node.declaredRank()));
    }

    private static Ref squeeze(Node node) {
        Ref x = node.input(0);
        if (node.version() >= 13 && node.has(1) && node.value(1) == null) {
            return node.op("onnx_squeeze").in("X", x).in("Axes", node.counted(1, fewer(node, x.rank(), 1)))
                    .out("Out");
        }
        long[] axes = axes(node);
        if (axes.length == 0) {
            axes = IntStream.range(0, x.rank()).filter(i -> x.dim(i) == 1).mapToLong(i -> i).toArray();
            long open = Arrays.stream(x.dims()).filter(dim -> dim < 0).count();
            boolean choice = node.block().parent() == null
                    ? node.hasFewDependents(FEW_DEPENDENTS)
                    : node.declaredRank() < 0;
            if (open > 0 && open <= MOST_OPEN && choice) {
                int[] ones = Arrays.stream(axes).mapToInt(axis -> (int) axis).toArray();
                return squeezed(node, ones.length == 0 ? x : node.block().squeeze(x, ones), 0);
            }
            if (open > 0) {
                // Without a declaration, dimensions that are not known are none of length 1: a run checks it.
                int rank = node.declaredRank() < 0 ? x.rank() - axes.length : node.declaredRank();
                return node.op("onnx_squeeze").in("X", x).attr("rank", rank).out("Out");
            }
        }
        int[] counted = Arrays.stream(axes).mapToInt(axis -> node.axis(axis, x.rank())).toArray();
        for (int axis : counted) {
            if (x.dim(axis) != 1 && x.dim(axis) >= 0) {
                throw node.error("axis %d is removed, so its length must be 1, but is %d", axis, x.dim(axis));
            }
        }
        return counted.length == 0 ? x : node.block().squeeze(x, counted);
    }

    /**
     * Removes each open dimension from an axis on if it has the length 1. In the main block, this is done where few
     * nodes follow: networks that squeeze their last result are run with one example. Otherwise nearly all nodes would
     * be repeated in branches, although open dimensions in the middle of a network are hardly ever meant to be removed.
     */
    private static Ref squeezed(Node node, Ref x, int from) {
        int axis = from;
        while (axis < x.rank() && x.dim(axis) >= 0) {
            axis++;
        }
        if (axis == x.rank()) {
            return x;
        }
        int at = axis;
        BlockBuilder block = node.block();
        Ref longer = block.binary("not_equal", Size.of(block, x, at).tensor(block), block.integers(DType.INT64, 1));
        return Branches.of(node, longer,
                inner -> List.of(squeezed(node.in(inner), x, at + 1)),
                inner -> List.of(squeezed(node.in(inner), inner.squeeze(x, at), at))).getFirst();
    }

    private static Ref unsqueeze(Node node) {
        Ref x = node.input(0);
        if (node.version() >= 13 && node.value(1) == null) {
            return node.op("onnx_unsqueeze").in("X", x).in("Axes", node.counted(1, fewer(node, x.rank(), -1)))
                    .out("Out");
        }
        long[] axes = axes(node);
        int rank = x.rank() + axes.length;
        int[] counted = Arrays.stream(axes).mapToInt(axis -> node.axis(axis, rank)).sorted().toArray();
        if (Arrays.stream(counted).distinct().count() < counted.length) {
            throw node.error("axes are inserted once, but they are %s", Numbers.text(axes));
        }
        return counted.length == 0 ? x : node.block().unsqueeze(x, counted);
    }

    private static Ref transpose(Node node) {
        Ref x = node.input(0);
        long[] order = node.integers("perm");
        int rank = x.rank();
        if (order != null && order.length != rank) {
            throw node.error("the attribute 'perm' %s must name each of the %d axes once", Numbers.text(order),
                    rank);
        }
        int[] axes = order == null
                ? IntStream.range(0, rank).map(i -> rank - 1 - i).toArray()
                : Arrays.stream(order).mapToInt(axis -> node.axis(axis, rank)).toArray();
        return rank < 2 ? x : node.block().transpose(x, axes);
    }

    private static Ref concat(Node node) {
        List<Ref> parts = node.inputs(0);
        if (parts.isEmpty()) {
            throw node.error("needs at least one operand");
        }
        return node.block().concat(node.axis(node.integer("axis", 1), parts.getFirst().rank()), parts);
    }

    private static List<Ref> split(Node node) {
        Ref x = node.input(0);
        int axis = node.axis(node.integer("axis", 0), x.rank());
        long[] parts = node.version() < 13
                ? node.integers("split")
                : node.has(1) ? node.integers(1) : null;
        if (node.version() >= 13 && node.has(1) && parts == null) {
            return node.op("onnx_split").in("X", x).in("Split", node.input(1)).attr("axis", axis).list("Out",
                    node.results());
        }
        if (x.rank() == 0) {
            throw node.error("divides an axis, but its operand is a scalar");
        }
        int count = parts == null ? node.int32("num_outputs", node.results()) : parts.length;
        if (count != node.results() || count < 1) {
            throw node.error("has %d results, but %d parts", node.results(), count);
        }
        long length = x.dim(axis);
        if (parts == null && length >= 0 && length % count != 0) {
            long each = (length + count - 1) / count;
            parts = new long[count];
            Arrays.fill(parts, each);
            parts[count - 1] = length - each * (count - 1);
            if (node.version() < 18 || parts[count - 1] < 0) {
                throw node.error("axis %d of length %d cannot be divided into %d parts", axis, length, count);
            }
        }
        if (count == 1) {
            return List.of(x);
        }
        return parts == null
                ? node.op("onnx_split").in("X", x).attr("axis", axis).list("Out", count)
                : node.op("split").in("X", x).attr("axis", axis).attr("sections", parts).list("Out", count);
    }

    /** Broadcasting in both directions: a 1 of the shape keeps the operand's dimension. */
    private static Ref expand(Node node) {
        Ref x = node.input(0);
        long[] shape = node.integers(1);
        if (shape == null) {
            return node.op("onnx_expand").in("X", x).in("Shape", node.input(1)).attr("announced", node.announced(1))
                    .out("Out");
        }
        int rank = Math.max(shape.length, x.rank());
        long[] wanted = new long[rank];
        boolean isSame = rank == x.rank();
        for (int i = 0; i < rank; i++) {
            int from = i - (rank - x.rank());
            int given = i - (rank - shape.length);
            boolean keeps = from >= 0 && (given < 0 || shape[given] == 1);
            wanted[i] = keeps ? x.dim(from) : shape[given];
            isSame &= keeps;
        }
        // Of new dimensions in front, expand_v2 announces the kept ones, −1, from the left, as Paddle does.
        boolean isShifted = rank > x.rank() && Arrays.stream(wanted).anyMatch(dim -> dim == -1);
        return isSame
                ? x
                : isShifted || Arrays.stream(wanted).anyMatch(dim -> dim == 0)
                        ? node.op("onnx_expand").in("X", x).in("Shape", node.input(1)).out("Out")
                        : node.op("expand_v2").in("X", x).attr("shape", wanted).out("Out");
    }

    private static Ref tile(Node node) {
        Ref x = node.input(0);
        if (node.version() < 6) {
            throw node.error(
                    "version %d has another meaning, which is not supported; since 6 it has an operand repeats",
                    node.version());
        }
        long[] repeats = node.integers(1);
        if (repeats == null) {
            // There is a number for each axis, also where their count is not declared.
            Ref counts = node.input(1).dim(0) < 0 ? node.block().reshape(node.input(1), x.rank()) : node.input(1);
            return node.op("tile").in("X", x).in("RepeatTimes", counts).out("Out");
        }
        if (repeats.length != x.rank()) {
            throw node.error("repeats has one number for each of %d axes, but is %s", x.rank(),
                    Numbers.text(repeats));
        }
        Ref part = x;
        for (int i = 0; i < repeats.length; i++) {
            if (repeats[i] == 0) {
                part = node.block().slice(part, i, 0, 0);
                repeats[i] = 1;
            }
        }
        return node.op("tile").in("X", part).attr("repeat_times", repeats).out("Out");
    }

    private static List<Size> images(Node node, Ref x) {
        if (x.rank() != 4) {
            throw node.error("needs images of four dimensions, but has %s", Numbers.text(x.dims()));
        }
        if (node.integer("blocksize", 0) < 1) {
            throw node.error("the attribute 'blocksize' is at least 1, but is %d", node.integer("blocksize", 0));
        }
        return Size.all(node.block(), x);
    }

    private static Ref depthToSpace(Node node) {
        Ref x = node.input(0);
        BlockBuilder block = node.block();
        List<Size> dims = images(node, x);
        long side = node.int32("blocksize", 0);
        Size known = new Size.Known(side);
        Size depth = dims.get(1).dividedBy(block, side * side);
        boolean rows = node.text("mode", "DCR").equals("DCR");
        List<Size> parts = new ArrayList<>(List.of(dims.get(0)));
        parts.addAll(rows ? List.of(known, known, depth) : List.of(depth, known, known));
        parts.addAll(dims.subList(2, 4));
        Ref split = Size.reshape(block, x, parts);
        Ref moved = rows ? block.transpose(split, 0, 3, 4, 1, 5, 2) : block.transpose(split, 0, 1, 4, 2, 5, 3);
        return Size.reshape(block, moved,
                List.of(dims.get(0), depth, dims.get(2).times(block, side), dims.get(3).times(block, side)));
    }

    private static Ref spaceToDepth(Node node) {
        Ref x = node.input(0);
        BlockBuilder block = node.block();
        List<Size> dims = images(node, x);
        long side = node.int32("blocksize", 0);
        Size known = new Size.Known(side);
        Size height = dims.get(2).dividedBy(block, side);
        Size width = dims.get(3).dividedBy(block, side);
        boolean rows = node.text("mode", "DCR").equals("DCR");
        Ref split = Size.reshape(block, x, List.of(dims.get(0), dims.get(1), height, known, width, known));
        Ref moved = rows ? block.transpose(split, 0, 3, 5, 1, 2, 4) : block.transpose(split, 0, 1, 3, 5, 2, 4);
        return Size.reshape(block, moved,
                List.of(dims.get(0), dims.get(1).times(block, side * side), height, width));
    }
}
