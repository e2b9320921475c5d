package io.seriatim.graph.ops.creation;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Pad;
import io.seriatim.tensor.computation.Where;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/** Diagonals that are overwritten: with a number, or with a tensor. */
public final class FillDiagonalOperations {
    private FillDiagonalOperations() {
    }

    public static void register(Operations registry) {
        fill(registry);
        put(registry);
    }

    private static void fill(Operations registry) {
        Operation.define("fill_diagonal").in("X").out("Out").attr("value", 0f).attr("offset", 0).attr("wrap", false)
                .infer(inference -> {
                    long[] dims = inference.dims("X");
                    inference.require(dims.length >= 2, "X needs two dimensions or more, but has %d", dims.length);
                    boolean cube = Arrays.stream(dims).filter(dim -> dim >= 0).distinct().count() <= 1;
                    inference.require(dims.length == 2 || cube,
                            "with more than two dimensions, X must be as long in all of them, but is %s",
                            Numbers.text(dims));
                    inference.same("X", "Out");
                }).lower(l -> {
                    double value = l.attrs().getFloat("value");
                    DType dtype = l.in("X").dtype();
                    fill(l, "X", "Out",
                            l.number(dtype, dtype.isDifferentiable() || dtype == DType.BOOL ? value : (long) value));
                })
                .grad("fill_diagonal_grad(Out@GRAD) -> X@GRAD",
                        l -> fill(l, "Out@GRAD", "X@GRAD", l.number(l.in("Out@GRAD").dtype(), 0)))
                .register(registry);
    }

    private static void fill(Lowering l, String from, String to, Operand value) {
        Operand x = l.in(from);
        Operand chosen = l.constant(Tensor.of(DType.BOOL, diagonal(x.shape().dims(), l.attrs()), x.shape().dims()));
        l.out(to, l.run(new Where(), chosen, value, x));
    }

    /**
     * 1 on the diagonal. As in Paddle, the diagonal continues after the first square part only if it wraps, also for
     * more than two dimensions, and the offset moves elements within their rows.
     */
    private static long[] diagonal(long[] dims, Attrs attrs) {
        long step = 0;
        long size = 1;
        for (int i = dims.length - 1; i >= 0; i--) {
            step += size;
            size *= dims[i];
        }
        long width = dims[1];
        long offset = attrs.getInt("offset");
        long[] chosen = new long[WorkingMemory.length(size)];
        long end = attrs.getBool("wrap") ? size : Math.min(size, width * width);
        for (long i = 0; i < end; i += step) {
            long column = i % width + offset;
            if (column >= 0 && column < width && i + offset < size) {
                chosen[Math.toIntExact(i + offset)] = 1;
            }
        }
        return chosen;
    }

    private static void put(Operations registry) {
        Operation.define("fill_diagonal_tensor").in("X", "Y").out("Out").attr("offset", 0L).attr("dim1", 0)
                .attr("dim2", 1)
                .infer(inference -> {
                    long[] dims = inference.dims("X");
                    inference.require(dims.length >= 2, "X needs two dimensions or more, but has %d", dims.length);
                    int first = inference.axis("X", inference.attrs().getInt("dim1"));
                    int second = inference.axis("X", inference.attrs().getInt("dim2"));
                    inference.require(first != second, "dim1 and dim2 must differ, but both are %d", first);
                    long[] expected = values(dims, first, second, inference.attrs().getLong("offset"));
                    long[] y = inference.dims("Y");
                    inference.require(fits(y, expected),
                            "Y must have the other dimensions of X, which may be one, then the diagonal, %s, but is %s",
                            Numbers.text(expected), Numbers.text(y));
                    inference.require(inference.dtype("Y") == inference.dtype("X"), "Y must have the type of X");
                    inference.same("X", "Out");
                }).lower(l -> {
                    Operand x = l.in("X");
                    long[] dims = values(x.shape().dims(), x.shape().axis(l.attrs().getInt("dim1")),
                            x.shape().axis(l.attrs().getInt("dim2")), l.attrs().getLong("offset"));
                    put(l, "X", "Out", l.reshape(l.in("Y"), dims));
                }).grad("fill_diagonal_tensor_grad(Out@GRAD) -> X@GRAD",
                        l -> put(l, "Out@GRAD", "X@GRAD", l.number(l.in("Out@GRAD").dtype(), 0)))
                .register(registry);
    }

    /** Whether the last dimensions agree, and the others have as many elements. */
    private static boolean fits(long[] y, long[] expected) {
        long others = Inference.size(Arrays.copyOf(expected, expected.length - 1));
        long given = y.length == 0 ? -1 : Inference.size(Arrays.copyOf(y, y.length - 1));
        long last = expected[expected.length - 1];
        return y.length > 0 && (others < 0 || given < 0 || others == given)
                && (last < 0 || y[y.length - 1] < 0 || last == y[y.length - 1]);
    }

    private static long[] values(long[] dims, int first, int second, long offset) {
        long[] rest = IntStream.range(0, dims.length).filter(i -> i != first && i != second).mapToLong(i -> dims[i])
                .toArray();
        boolean known = dims[first] >= 0 && dims[second] >= 0;
        return Dims.inserted(rest, rest.length, known ? length(dims[first], dims[second], offset) : -1);
    }

    private static long length(long rows, long columns, long offset) {
        return Math.max(0, Math.min(rows + Math.min(offset, 0), columns - Math.max(offset, 0)));
    }

    /** Chooses between X and the values. There is one value for each row, which is repeated along the row. */
    private static void put(Lowering l, String from, String to, Operand values) {
        Operand x = l.in(from);
        int rank = x.rank();
        int first = x.shape().axis(l.attrs().getInt("dim1"));
        int second = x.shape().axis(l.attrs().getInt("dim2"));
        long rows = x.dim(first);
        long columns = x.dim(second);
        long offset = l.attrs().getLong("offset");
        long count = length(rows, columns, offset);
        if (count == 0) {
            l.out(to, x);
            return;
        }
        long[] chosen = new long[WorkingMemory.length(rows, columns)];
        long above = Math.max(-offset, 0);
        for (long i = above; i < above + count; i++) {
            chosen[Math.toIntExact(i * columns + i + offset)] = 1;
        }
        int[] order = DiagonalOperations.order(rank, first, second);
        Operand diagonal = l.constant(Tensor.of(DType.BOOL, chosen, rows, columns));
        Operand value = values.rank() == 0 ? values : forRows(l, values, above, rows - count - above);
        l.out(to, l.run(new Where(), diagonal, value, x.transpose(order)).transpose(DiagonalOperations.inverse(order)));
    }

    private static Operand forRows(Lowering l, Operand values, long above, long below) {
        List<Long> before = new ArrayList<>(Collections.nCopies(values.rank(), 0L));
        List<Long> after = new ArrayList<>(before);
        before.set(values.rank() - 1, above);
        after.set(values.rank() - 1, below);
        Operand all = above + below == 0 ? values : l.run(new Pad(before, after, Pad.Mode.CONSTANT, 0), values);
        return all.unsqueeze(all.rank());
    }
}
