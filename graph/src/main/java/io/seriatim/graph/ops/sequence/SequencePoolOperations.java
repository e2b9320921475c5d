package io.seriatim.graph.ops.sequence;

import io.seriatim.graph.op.GradientSignature;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.ops.common.SequenceOffsets;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.LongToDoubleFunction;

/** Pooling over the rows of each sequence. */
public final class SequencePoolOperations {
    private static final Set<String> TYPES = Set.of("AVERAGE", "SUM", "SQRT", "MAX", "LAST", "FIRST");
    private static final GradientSignature GRADIENT = GradientSignature
            .parse("sequence_pool_grad(X, Out@GRAD) -> X@GRAD");
    private static final GradientSignature GRADIENT_OF_MAXIMUM = GradientSignature
            .parse("sequence_pool_grad(X, MaxIndex, Out@GRAD) -> X@GRAD");

    private SequencePoolOperations() {
    }

    public static void register(Operations registry) {
        Operation.Builder pool = Operation.define("sequence_pool").in("X").out("Out", "MaxIndex~?")
                .attr("is_test", false)
                .attr("pooltype", "AVERAGE").attr("pad_value", 0f).readsLod("X").makesLod("Out")
                .refuse((_, attrs) -> TYPES.contains(attrs.getText("pooltype"))
                        ? null
                        : "pooltype must be one of " + TYPES.stream().sorted().toList() + ", but is "
                                + attrs.getText("pooltype"))
                .infer(SequencePoolOperations::infer).lower(SequencePoolOperations::lower);
        pool.gradOperation("sequence_pool_grad(X, MaxIndex, Out@GRAD) -> X@GRAD", null)
                .lower(SequencePoolOperations::gradient).register(registry);
        pool.grad((forward, wanted) -> (isMaximum(String.valueOf(forward.attribute("pooltype")))
                ? GRADIENT_OF_MAXIMUM
                : GRADIENT).make(forward, wanted)).register(registry);
    }

    private static boolean isMaximum(String pooltype) {
        return pooltype.contains("MAX");
    }

    private static void infer(Inference inference) {
        long[] dims = inference.dims("X");
        DType dtype = inference.dtype("X");
        inference.require(dims.length > 0, "X must have at least one dimension");
        inference.require(dtype == DType.FLOAT32 || dtype == DType.FLOAT64, "X must be float32 or float64, but is %s",
                dtype);
        long sequences = inference.sequences("X");
        if (inference.isForRun()) {
            dims[0] = sequences;
        }
        inference.set("Out", dtype, dims);
        if (!inference.isForRun()) {
            inference.asDeclared("MaxIndex");
        } else if (isMaximum(inference.attrs().getText("pooltype"))) {
            inference.set("MaxIndex", DType.INT32, dims);
        } else {
            inference.set("MaxIndex", DType.INT32, 0);
        }
        Lod lod = inference.lod("X");
        if (lod != null) {
            inference.setLod("Out", lod.withoutLast());
        } else {
            inference.setLod("Out", 0);
        }
    }

    private static void lower(Lowering l) {
        Operand x = l.in("X");
        long[] dims = l.outType("Out", 0).dims();
        String type = l.attrs().getText("pooltype");
        float padding = l.attrs().getFloat("pad_value");
        if (l.wantsLod("Out")) {
            l.outLod("Out", l.lod("X").rank() == 1 ? Lod.NONE : l.lodValue("X").withoutLast());
        }
        if (isMaximum(type)) {
            maximum(l, x, padding);
            return;
        }
        Operand pooled = switch (type) {
            case "FIRST", "LAST" -> SequenceRows.take(l, x, SequenceRows.indexes(l, "X", dims[0],
                    (offsets, indexes) -> ends(offsets, indexes, type.equals("FIRST"))));
            default -> scaled(l, type, SequenceRows.add(l, x,
                    SequenceRows.indexes(l, "X", x.dim(0), SequenceRows::numbers), dims));
        };
        if (padding != 0) {
            pooled = l.binary(Binary.Function.ADD, pooled, SequenceRows.factors(l, "X", x.dtype(), dims[0], dims.length,
                    length -> length == 0 ? padding : 0));
        }
        l.out("Out", pooled);
    }

    /** The first or last row of each sequence that has rows. */
    private static void ends(long[] offsets, long[] indexes, boolean first) {
        for (int i = 0; i < indexes.length; i++) {
            if (offsets[i] < offsets[i + 1]) {
                indexes[i] = first ? offsets[i] : offsets[i + 1] - 1;
            }
        }
    }

    private static Operand scaled(Lowering l, String type, Operand rows) {
        return switch (type) {
            case "AVERAGE" -> times(l, rows, length -> length == 0 ? 0 : 1 / (double) length);
            case "SQRT" -> times(l, rows, length -> length == 0 ? 0 : 1 / Math.sqrt((double) length));
            default -> rows;
        };
    }

    private static Operand times(Lowering l, Operand rows, LongToDoubleFunction factor) {
        return l.binary(Binary.Function.MULTIPLY, rows,
                SequenceRows.factors(l, "X", rows.dtype(), rows.dim(0), rows.rank(), factor));
    }

    private static void maximum(Lowering l, Operand x, float padding) {
        boolean wantsIndex = l.wants("MaxIndex");
        l.call("sequence_pool maximum", (in, out) -> {
            Tensor values = Objects.requireNonNull(in.get(0));
            long[] offsets = SequenceOffsets.of(l.type(), "X", in.get(1), values.shape().dim(0));
            double[] from = values.toDoubleArray();
            Tensor to = Objects.requireNonNull(out.get(0));
            double[] most = new double[WorkingMemory.length(to.shape().size())];
            long[] places = new long[most.length];
            Arrays.fill(most, padding);
            Arrays.fill(places, SequenceRows.NONE);
            int width = offsets.length == 1 ? 0 : most.length / (offsets.length - 1);
            for (int i = 0; i + 1 < offsets.length; i++) {
                for (long row = offsets[i]; row < offsets[i + 1]; row++) {
                    for (int k = 0; k < width; k++) {
                        double value = from[(int) row * width + k];
                        if (row == offsets[i] || value > most[i * width + k]) {
                            most[i * width + k] = value;
                            places[i * width + k] = row;
                        }
                    }
                }
            }
            Elements.write(most, to);
            Tensor index = out.get(1);
            if (index != null) {
                Elements.write(places, index);
            }
        }, List.of(x, l.lod("X")), Arrays.asList(l.output("Out"), wantsIndex ? l.output("MaxIndex") : null));
    }

    private static void gradient(Lowering l) {
        if (!l.wants("X@GRAD")) {
            return;
        }
        String type = l.attrs().getText("pooltype");
        Operand rows = l.in("Out@GRAD");
        long[] dims = l.in("X").shape().dims();
        if (isMaximum(type)) {
            l.call("sequence_pool_grad maximum", (in, out) -> {
                double[] gradient = Objects.requireNonNull(in.get(0)).toDoubleArray();
                long[] places = Objects.requireNonNull(in.get(1)).toLongArray();
                Tensor to = Objects.requireNonNull(out.get(0));
                double[] sums = new double[WorkingMemory.length(to.shape().size())];
                int width = Math.toIntExact(dims[0] == 0 ? 0 : sums.length / dims[0]);
                for (int i = 0; i < places.length; i++) {
                    if (places[i] >= dims[0]) {
                        throw new IllegalArgumentException("Operation 'sequence_pool_grad': MaxIndex must be less than "
                                + "the " + dims[0] + " rows of X, but is " + places[i]);
                    }
                    if (places[i] >= 0) {
                        sums[(int) places[i] * width + i % width] += gradient[i];
                    }
                }
                Elements.write(sums, to);
            }, List.of(rows, l.in("MaxIndex")), List.of(l.output("X@GRAD")));
            return;
        }
        l.out("X@GRAD", switch (type) {
            case "FIRST", "LAST" -> SequenceRows.add(l, rows, SequenceRows.indexes(l, "X", rows.dim(0),
                    (offsets, indexes) -> ends(offsets, indexes, type.equals("FIRST"))), dims);
            default -> SequenceRows.take(l, scaled(l, type, rows),
                    SequenceRows.indexes(l, "X", dims[0], SequenceRows::numbers));
        });
    }
}
