package io.seriatim.graph.ops.sequence;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.GradientSignature;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.SequenceOffsets;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Reduction;
import java.util.Arrays;
import java.util.List;

/** Convolutions along the rows of each sequence, beyond whose ends there are zeros or trained rows. */
public final class SequenceConvolutionOperations {
    private static final MatMul LEFT_TRANSPOSED = new MatMul(true, false, false, List.of());
    private static final MatMul RIGHT_TRANSPOSED = new MatMul(false, true, false, List.of());

    private static final String GRADIENT = "sequence_conv_grad(X, PaddingData, Filter, Out@GRAD)"
            + " -> X@GRAD, PaddingData@GRAD, Filter@GRAD";

    private SequenceConvolutionOperations() {
    }

    public static void register(Operations registry) {
        convolution(registry);
        lookAhead(registry);
    }

    /** The rows around each row, from start on, and the trained rows before and after a sequence. */
    private record Context(int start, int length, boolean trained) {
        static Context of(Lowering l) {
            return new Context(l.attrs().getInt("contextStart"), l.attrs().getInt("contextLength"),
                    l.attrs().getBool("paddingTrainable"));
        }

        static Context of(Inference inference) {
            return new Context(inference.attrs().getInt("contextStart"), inference.attrs().getInt("contextLength"),
                    inference.attrs().getBool("paddingTrainable"));
        }

        long before() {
            return Math.max(0, -(long) start);
        }

        long after() {
            return Math.max(0, (long) start + length - 1);
        }

        /** For each row the rows of its context, those of the padding behind those of X. */
        void write(long[] offsets, long[] indexes) {
            long rows = offsets[offsets.length - 1];
            for (int i = 0; i + 1 < offsets.length; i++) {
                for (long row = offsets[i]; row < offsets[i + 1]; row++) {
                    for (int k = 0; k < length; k++) {
                        indexes[(int) row * length + k] = at(row + start + k, offsets[i], offsets[i + 1], rows);
                    }
                }
            }
        }

        private long at(long row, long first, long end, long rows) {
            if (row >= first && row < end) {
                return row;
            }
            if (!trained) {
                return SequenceRows.NONE;
            }
            return rows + before() + (row < first ? row - first : row - end);
        }
    }

    private static void convolution(Operations registry) {
        GradientSignature padded = GradientSignature.parse(GRADIENT);
        GradientSignature plain = GradientSignature
                .parse("sequence_conv_grad(X, Filter, Out@GRAD) -> X@GRAD, Filter@GRAD");
        Operation.define("sequence_conv").in("X", "PaddingData?", "Filter").out("Out").attr("paddingTrainable", false)
                .required("contextLength", Attribute.Int.class).attr("contextStart", 0).attr("contextStride", 1)
                .readsLod("X").sharesLod("X", "Out")
                .refuse((_, attrs) -> attrs.getInt("contextLength") < 1 || attrs.getInt("contextLength") > 1 << 20
                        || Math.abs((long) attrs.getInt("contextStart")) > 1 << 20
                                ? "contextLength must be from 1 to 1048576 and contextStart no further away, but are "
                                        + attrs.getInt("contextLength") + " and " + attrs.getInt("contextStart")
                                : attrs.getInt("contextStride") == 1
                                        ? null
                                        : "contextStride must be 1, but is " + attrs.getInt("contextStride"))
                .infer(SequenceConvolutionOperations::inferred)
                .lower(l -> l.out("Out", l.run(MatMul.PLAIN, contexts(l), l.in("Filter"))))
                .grad(GRADIENT, SequenceConvolutionOperations::gradient)
                // As in Paddle, the gradient names the padding only where it is trained.
                .grad((op, wanted) -> (new Attrs(op, registry.get(op.type())).getBool("paddingTrainable")
                        ? padded
                        : plain).make(op, wanted))
                .register(registry);
    }

    private static void inferred(Inference inference) {
        long[] x = inference.dims("X");
        long[] filter = inference.dims("Filter");
        Context context = Context.of(inference);
        inference.require(x.length == 2 && filter.length == 2,
                "X and Filter must have two dimensions, but have %s and %s", Numbers.text(x),
                Numbers.text(filter));
        inference.require(x[1] < 0 || filter[0] < 0 || filter[0] == context.length() * x[1],
                "Filter must have contextLength %d times the width of X %d rows, but has %d", context.length(), x[1],
                filter[0]);
        if (context.trained()) {
            inference.require(inference.has("PaddingData"),
                    "PaddingData must be given where the attribute paddingTrainable is true");
            long[] padding = inference.dims("PaddingData");
            inference.require(padding.length == 2 && padding[0] == context.before() + context.after()
                    && (padding[1] == x[1] || x[1] < 0), "PaddingData must have the shape [%d, %d], but has %s",
                    context.before() + context.after(), x[1], Numbers.text(padding));
        }
        if (inference.isForRun()) {
            inference.sequences("X");
            inference.require(x[0] * context.length() <= Integer.MAX_VALUE / 2,
                    "%d rows with contexts of %d rows are too many", x[0], context.length());
        }
        inference.set("Out", inference.dtype("X"), x[0], filter[1]);
    }

    /** A row for each row of X, with the rows of its context side by side. */
    private static Operand contexts(Lowering l) {
        Operand x = l.in("X");
        Context context = Context.of(l);
        return SequenceRows.take(l, rows(l, x, context), indexes(l, x, context))
                .reshape(x.dim(0), context.length() * x.dim(1));
    }

    private static Operand indexes(Lowering l, Operand x, Context context) {
        return SequenceRows.indexes(l, "X", x.dim(0) * context.length(), context::write);
    }

    private static Operand rows(Lowering l, Operand x, Context context) {
        if (!context.trained()) {
            return x;
        }
        Operand padding = l.in("PaddingData");
        Operand all = l.temporary(TensorSpec.of(x.dtype(), x.dim(0) + padding.dim(0), x.dim(1)));
        l.into(Copy.PLAIN, List.of(x), List.of(all.slice(0, 0, x.dim(0))));
        l.into(Copy.PLAIN, List.of(padding), List.of(all.slice(0, x.dim(0), all.dim(0))));
        return all;
    }

    private static void gradient(Lowering l) {
        Operand x = l.in("X");
        Operand gradient = l.in("Out@GRAD");
        Context context = Context.of(l);
        if (l.wants("Filter@GRAD")) {
            l.out("Filter@GRAD", l.run(LEFT_TRANSPOSED, contexts(l), gradient));
        }
        if (l.wants("X@GRAD") || l.wants("PaddingData@GRAD")) {
            long rows = x.dim(0) + (context.trained() ? context.before() + context.after() : 0);
            Operand parts = l.run(RIGHT_TRANSPOSED, gradient, l.in("Filter"))
                    .reshape(x.dim(0) * context.length(), x.dim(1));
            Operand sums = SequenceRows.add(l, parts, indexes(l, x, context), rows, x.dim(1));
            l.out("X@GRAD", sums.slice(0, 0, x.dim(0)));
            if (l.wants("PaddingData@GRAD")) {
                l.out("PaddingData@GRAD", context.trained()
                        ? sums.slice(0, x.dim(0), rows)
                        : l.fill(0, l.in("PaddingData").spec()));
            }
        }
    }

    /** Each row is a sum of itself and the rows after it, weighted by the rows of the filter element by element. */
    private static void lookAhead(Operations registry) {
        Operation.define("row_conv").in("X", "Filter").out("Out").readsLod("X").sharesLod("X", "Out")
                .infer(inference -> {
                    long[] x = inference.dims("X");
                    long[] filter = inference.dims("Filter");
                    inference.require(filter.length == 2, "Filter must have two dimensions, but has %s",
                            Numbers.text(filter));
                    boolean divided = inference.isForRun() ? inference.hasLod("X") : x.length == 2;
                    inference.require(x.length == (divided ? 2 : 3) || (!inference.isForRun() && x.length == 3),
                            "X must have the shape [batch, rows, width], or [rows, width] and a LoD, but has %s",
                            Numbers.text(x));
                    long width = x[x.length - 1];
                    inference.require(width < 0 || filter[1] < 0 || filter[1] == width,
                            "Filter must have rows of the width of X, %d, but has %s", width, Numbers.text(filter));
                    inference.require(filter[0] != 0, "Filter must have at least one row");
                    inference.same("X", "Out");
                }).lower(l -> {
                    Operand x = flat(l, l.in("X"));
                    Operand products = l.binary(Binary.Function.MULTIPLY, following(l, x), l.in("Filter"));
                    l.out("Out", l.run(new Reduction(Reduction.Function.SUM, List.of(1), false), products)
                            .reshape(l.in("X").shape().dims()));
                }).grad("row_conv_grad(X, Filter, Out@GRAD) -> X@GRAD, Filter@GRAD", l -> {
                    Operand x = flat(l, l.in("X"));
                    Operand filter = l.in("Filter");
                    Operand gradient = flat(l, l.in("Out@GRAD")).unsqueeze(1);
                    if (l.wants("Filter@GRAD")) {
                        l.out("Filter@GRAD", l.run(new Reduction(Reduction.Function.SUM, List.of(0), false),
                                l.binary(Binary.Function.MULTIPLY, following(l, x), gradient)));
                    }
                    if (l.wants("X@GRAD")) {
                        Operand parts = l.binary(Binary.Function.MULTIPLY, gradient, filter)
                                .reshape(x.dim(0) * filter.dim(0), x.dim(1));
                        l.out("X@GRAD", SequenceRows.add(l, parts, next(l, x), x.shape().dims())
                                .reshape(l.in("X").shape().dims()));
                    }
                }).register(registry);
    }

    /** All rows of a batch. */
    private static Operand flat(Lowering l, Operand x) {
        return x.rank() == 2 ? x : l.reshape(x, x.dim(0) * x.dim(1), x.dim(2));
    }

    /** [rows, rows of the filter, width]: for each row itself and those after it in its sequence. */
    private static Operand following(Lowering l, Operand x) {
        return SequenceRows.take(l, x, next(l, x)).reshape(x.dim(0), l.in("Filter").dim(0), x.dim(1));
    }

    private static Operand next(Lowering l, Operand x) {
        int length = Math.toIntExact(l.in("Filter").dim(0));
        Shape shape = l.in("X").shape();
        return SequenceRows.indexes(l, x.dim(0) * length, List.of(l.lod("X")), (in, indexes) -> {
            long[] offsets = shape.rank() == 3
                    ? uniform(shape.dim(0), shape.dim(1))
                    : SequenceOffsets.of(l.type(), "X", in.getFirst(), shape.dim(0));
            new Context(0, length, false).write(offsets, indexes);
        });
    }

    private static long[] uniform(long count, long length) {
        long[] offsets = new long[WorkingMemory.length(count + 1)];
        Arrays.setAll(offsets, i -> i * length);
        return offsets;
    }
}
