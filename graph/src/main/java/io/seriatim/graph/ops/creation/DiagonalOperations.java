package io.seriatim.graph.ops.creation;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.GatherGrad;
import io.seriatim.tensor.computation.Reduction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** Diagonals of matrices, matrices of diagonals, and the indices of triangles. */
public final class DiagonalOperations {
    private DiagonalOperations() {
    }

    /**
     * A diagonal of matrices.
     *
     * @param rows
     *            of a matrix
     * @param columns
     *            of a matrix
     * @param offset
     *            above the main diagonal if positive
     */
    private record Diagonal(long rows, long columns, long offset) {
        long length() {
            return Math.max(0, Math.min(rows + Math.min(offset, 0), columns - Math.max(offset, 0)));
        }

        /** Of [..., rows, columns]: [..., length]. */
        Operand of(Lowering l, Operand matrices) {
            return l.run(gather(matrices.rank() - 2), l.reshape(matrices, flat(matrices.shape().dims(), 2)), places(l));
        }

        /** From [..., length]: [..., rows, columns] with 0 elsewhere. */
        Operand put(Lowering l, Operand values) {
            long[] dims = flat(values.shape().dims(), 1);
            List<Long> shape = Arrays.stream(dims).boxed().toList();
            Operand whole = l.run(new GatherGrad(gather(dims.length - 1), shape), values, places(l));
            long[] matrices = Arrays.copyOf(dims, dims.length + 1);
            matrices[dims.length - 1] = rows;
            matrices[dims.length] = columns;
            return whole.reshape(matrices);
        }

        private static Gather gather(int axis) {
            return new Gather(axis, Gather.NO_PADDING);
        }

        private long[] flat(long[] dims, int last) {
            long[] flat = Arrays.copyOf(dims, dims.length - last + 1);
            flat[flat.length - 1] = rows * columns;
            return flat;
        }

        private Operand places(Lowering l) {
            long first = offset >= 0 ? offset : -offset * columns;
            l.arrayLength("its indexes", length());
            return l.constant(
                    Tensor.of(LongStream.range(0, length()).map(i -> first + i * (columns + 1)).toArray(), length()));
        }
    }

    public static void register(Operations registry) {
        Operation.Builder diagonal = views(registry, "diagonal", false);
        diagonal.register(registry);
        views(registry, "trace", true).register(registry);
        embed(registry);
        vector(registry);
        triangle(registry, "tril_indices", "rows", "cols", true);
        triangle(registry, "triu_indices", "row", "col", false);
    }

    private static Operation.Builder views(Operations registry, String type, boolean sum) {
        Operation.Builder forward = Operation.define(type).in("Input").out("Out").attr("offset", 0).attr("axis1", 0)
                .attr("axis2", 1);
        String gradient = type + "_grad(Input, Out@GRAD) -> Input@GRAD";
        forward.gradOperation(gradient, null).shapesOnly("Input").lower(l -> {
            long[] dims = l.outType("Input@GRAD", 0).dims();
            int[] order = order(dims.length, l.attrs());
            Diagonal diagonal = diagonal(dims, order, l.attrs());
            Operand dout = l.in("Out@GRAD");
            if (sum) {
                Operand each = dout.rank() == dims.length - 2 ? dout.unsqueeze(dout.rank()) : dout;
                long[] values = each.shape().dims();
                values[values.length - 1] = diagonal.length();
                dout = l.copy(each.expand(Shape.of(values)));
            }
            l.out("Input@GRAD", diagonal.put(l, dout).transpose(inverse(order)));
        }).register(registry);
        return forward.infer(inference -> {
            long[] dims = inference.dims("Input");
            inference.require(dims.length >= 2, "Input needs two dimensions or more, but has %d", dims.length);
            int first = inference.axis("Input", inference.attrs().getInt("axis1"));
            int second = inference.axis("Input", inference.attrs().getInt("axis2"));
            inference.require(first != second, "axis1 and axis2 must differ, but both are %d", first);
            List<Long> rest = new ArrayList<>();
            IntStream.range(0, dims.length).filter(i -> i != first && i != second).forEach(i -> rest.add(dims[i]));
            if (!sum) {
                boolean known = dims[first] >= 0 && dims[second] >= 0;
                rest.add(known
                        ? new Diagonal(dims[first], dims[second], inference.attrs().getInt("offset")).length()
                        : -1);
            }
            inference.set("Out", inference.dtype("Input"), rest.stream().mapToLong(Long::longValue).toArray());
        }).lower(l -> {
            Operand input = l.in("Input");
            int[] order = order(input.rank(), l.attrs());
            Operand values = diagonal(input.shape().dims(), order, l.attrs()).of(l, l.copy(input.transpose(order)));
            l.out("Out",
                    sum
                            ? l.run(new Reduction(Reduction.Function.SUM, List.of(values.rank() - 1), false), values)
                            : values);
        }).grad(gradient);
    }

    /** The axes of rows and columns last. */
    private static int[] order(int rank, Attrs attrs) {
        int first = Math.floorMod(attrs.getInt("axis1"), rank);
        int second = Math.floorMod(attrs.getInt("axis2"), rank);
        return order(rank, first, second);
    }

    /** The two axes last. */
    static int[] order(int rank, int first, int second) {
        return IntStream
                .concat(IntStream.range(0, rank).filter(i -> i != first && i != second), IntStream.of(first, second))
                .toArray();
    }

    static int[] inverse(int[] order) {
        int[] inverse = new int[order.length];
        for (int i = 0; i < order.length; i++) {
            inverse[order[i]] = i;
        }
        return inverse;
    }

    private static Diagonal diagonal(long[] dims, int[] order, Attrs attrs) {
        return new Diagonal(dims[order[order.length - 2]], dims[order[order.length - 1]], attrs.getInt("offset"));
    }

    private static void embed(Operations registry) {
        Operation.define("diag_embed").in("Input").out("Out").attr("offset", 0).attr("dim1", -2).attr("dim2", -1)
                .infer(inference -> {
                    long[] dims = inference.dims("Input");
                    Attrs attrs = inference.attrs();
                    int rank = dims.length + 1;
                    long first = Math.floorMod(attrs.getInt("dim1"), rank);
                    long second = Math.floorMod(attrs.getInt("dim2"), rank);
                    inference.require(dims.length > 0 && first != second && Math.abs(attrs.getInt("dim1")) <= rank
                            && Math.abs(attrs.getInt("dim2")) <= rank,
                            "dim1 and dim2 must be two axes of %d dimensions, but are %d and %d", rank,
                            attrs.getInt("dim1"), attrs.getInt("dim2"));
                    long side = dims[dims.length - 1] < 0 ? -1 : side(dims, attrs);
                    inference.require(side <= 1 << 24, "the matrices would have %d rows", side);
                    long[] out = Arrays.copyOf(dims, rank);
                    out[rank - 2] = side;
                    out[rank - 1] = side;
                    int[] order = order(rank, (int) first, (int) second);
                    long[] placed = new long[rank];
                    for (int i = 0; i < rank; i++) {
                        placed[order[i]] = out[i];
                    }
                    inference.set("Out", inference.dtype("Input"), placed);
                }).lower(l -> {
                    Operand input = l.in("Input");
                    int rank = input.rank() + 1;
                    long side = side(input.shape().dims(), l.attrs());
                    int[] order = order(rank, Math.floorMod(l.attrs().getInt("dim1"), rank),
                            Math.floorMod(l.attrs().getInt("dim2"), rank));
                    l.out("Out", new Diagonal(side, side, l.attrs().getInt("offset")).put(l, input)
                            .transpose(inverse(order)));
                }).register(registry);
    }

    private static long side(long[] dims, Attrs attrs) {
        return dims[dims.length - 1] + Math.abs((long) attrs.getInt("offset"));
    }

    private static void vector(Operations registry) {
        Operation.define("diag_v2").in("X").out("Out").attr("offset", 0).attr("padding_value", 0f).infer(inference -> {
            long[] x = inference.dims("X");
            long offset = inference.attrs().getInt("offset");
            inference.require(x.length <= 2, "X must be a vector or a matrix, but has %d dimensions", x.length);
            if (x.length < 2) {
                long side = x.length == 0 ? 1 + Math.abs(offset) : x[0] < 0 ? -1 : x[0] + Math.abs(offset);
                inference.require(side <= 1 << 24, "the matrix would have %d rows", side);
                inference.set("Out", inference.dtype("X"), side, side);
            } else {
                inference.set("Out", inference.dtype("X"),
                        x[0] < 0 || x[1] < 0 ? -1 : new Diagonal(x[0], x[1], offset).length());
            }
        }).lower(l -> {
            Operand x = l.in("X");
            long offset = l.attrs().getInt("offset");
            if (x.rank() == 2) {
                l.out("Out", new Diagonal(x.dim(0), x.dim(1), offset).of(l, x));
                return;
            }
            long side = l.outType("Out", 0).dims()[0];
            Diagonal diagonal = new Diagonal(side, side, offset);
            Term values = new Term(l, diagonal.put(l, l.reshape(x, x.shape().size())));
            double padding = l.attrs().getFloat("padding_value");
            if (padding == 0) {
                values.to("Out");
            } else {
                Term ones = new Term(l,
                        diagonal.put(l, l.fill(1, x.spec().with(DType.FLOAT32)).reshape(x.shape().size())));
                ones.isAbove(0).choose(values, values.number(padding)).to("Out");
            }
        }).grad("diag_v2_grad(X, Out@GRAD) -> X@GRAD", l -> {
            Operand x = l.in("X");
            Operand dout = l.in("Out@GRAD");
            long offset = l.attrs().getInt("offset");
            l.out("X@GRAD", x.rank() == 2
                    ? new Diagonal(x.dim(0), x.dim(1), offset).put(l, dout)
                    : new Diagonal(dout.dim(0), dout.dim(1), offset).of(l, dout).reshape(x.shape().dims()));
        }).register(registry);
    }

    private static void triangle(Operations registry, String type, String rows, String columns, boolean lower) {
        Operation.define(type).in().out("out").required(rows, Attribute.Int.class)
                .required(columns, Attribute.Int.class).attr("offset", 0)
                .attr("dtype", 3).infer(inference -> {
                    Attrs attrs = inference.attrs();
                    long size = (long) attrs.getInt(rows) * attrs.getInt(columns);
                    inference.require(attrs.getInt(rows) >= 0 && attrs.getInt(columns) >= 0 && size <= 1 << 26,
                            "a triangle of %d rows and %d columns has no or too many indices", attrs.getInt(rows),
                            attrs.getInt(columns));
                    inference.set("out", attrs.getDType("dtype"), 2, indices(attrs, rows, columns, lower).length / 2);
                }).lower(l -> {
                    long[] indices = indices(l.attrs(), rows, columns, lower);
                    l.out("out", l.constant(Tensor.of(l.outType("out", 0).dtype(), indices, 2, indices.length / 2)));
                }).register(registry);
    }

    /** The rows of all elements, then their columns. */
    private static long[] indices(Attrs attrs, String rows, String columns, boolean lower) {
        long width = attrs.getInt(columns);
        long offset = attrs.getInt("offset");
        WorkingMemory.length("its indexes", attrs.getInt(rows) * width);
        long[] inside = LongStream.range(0, attrs.getInt(rows) * width).filter(i -> {
            long above = i % width - i / width;
            return lower ? above <= offset : above >= offset;
        }).toArray();
        return LongStream.concat(Arrays.stream(inside).map(i -> i / width), Arrays.stream(inside).map(i -> i % width))
                .toArray();
    }
}
