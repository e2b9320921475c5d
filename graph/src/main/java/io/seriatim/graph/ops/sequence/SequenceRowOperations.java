package io.seriatim.graph.ops.sequence;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.LodSlot;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Indexes;
import io.seriatim.graph.ops.common.SequenceOffsets;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Operations that repeat, reverse and cut sequences: each row of a result is a row of the input. */
public final class SequenceRowOperations {
    private SequenceRowOperations() {
    }

    public static void register(Operations registry) {
        expand(registry);
        expandAs(registry);
        reverse(registry);
        slice(registry);
    }

    private static void expand(Operations registry) {
        Operation.define("sequence_expand").in("X", "Y").out("Out").attr("ref_level", -1).readsLod("X", "Y")
                .makesLod("Out").shapesOnly("Y").values(LodSlot.of("X"), LodSlot.of("Y")).infer(inference -> {
                    long[] dims = inference.dims("X");
                    inference.require(dims.length > 1, "X must have at least two dimensions, but has %s",
                            Numbers.text(dims));
                    dims[0] = -1;
                    Lod x = inference.lod("X");
                    Lod y = inference.lod("Y");
                    if (x != null && y != null) {
                        Repetition repetition = Repetition.of(x, y, inference.attrs().getInt("ref_level"),
                                inference.dims("X")[0]);
                        dims[0] = repetition.rows();
                        inference.setLod("Out", repetition.lod());
                    }
                    inference.set("Out", inference.dtype("X"), dims);
                }).lower(l -> {
                    Operand x = l.in("X");
                    l.out("Out", SequenceRows.take(l, x, repeated(l, l.outType("Out", 0).dims()[0])));
                    if (l.wantsLod("Out")) {
                        l.outLod("Out", Repetition
                                .of(l.lodValue("X"), l.lodValue("Y"), l.attrs().getInt("ref_level"), x.dim(0)).lod());
                    }
                }).grad("sequence_expand_grad(X, Y, Out@GRAD) -> X@GRAD", l -> {
                    Operand gradient = l.in("Out@GRAD");
                    l.out("X@GRAD", SequenceRows.add(l, gradient, repeated(l, gradient.dim(0)),
                            l.in("X").shape().dims()));
                }).register(registry);
    }

    private static Operand repeated(Lowering l, long count) {
        int level = l.attrs().getInt("ref_level");
        long rows = l.in("X").dim(0);
        return SequenceRows.indexes(l, count, List.of(l.lod("X"), l.lod("Y")),
                (in, indexes) -> Repetition.of(lod(in, 0), lod(in, 1), level, rows).write(l.type(), indexes));
    }

    private static Lod lod(List<@Nullable Tensor> in, int index) {
        return Lod.of(Objects.requireNonNull(in.get(index)));
    }

    /**
     * How often each sequence of X, or each row where X is not divided, is repeated.
     *
     * @param offsets
     *            the sequences of X
     * @param times
     *            for each, how often
     * @param divided
     *            whether X is divided
     */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Repetition(long[] offsets, long[] times, boolean divided) {
        static Repetition of(Lod x, Lod y, int refLevel, long rows) {
            if (y.isEmpty() || refLevel < -1 || refLevel >= y.depth()) {
                throw new IllegalArgumentException("Operation 'sequence_expand': Y must have a LoD with the level that "
                        + "the attribute ref_level names, " + refLevel + ", but has " + y.depth() + " levels");
            }
            if (x.depth() > 1) {
                throw new IllegalArgumentException("Operation 'sequence_expand': X must have no more than one level "
                        + "of LoD, but has " + x.depth());
            }
            long[] reference = y.level(refLevel < 0 ? y.depth() - 1 : refLevel);
            long[] offsets = x.isEmpty()
                    ? Lod.ofLengths(ones(Math.toIntExact(rows))).levels().stream().findFirst().orElse(new long[1])
                    : SequenceOffsets.of("sequence_expand", "X", x, rows).last();
            if (offsets.length != reference.length) {
                throw new IllegalArgumentException("Operation 'sequence_expand': X must have as many "
                        + (x.isEmpty() ? "rows" : "sequences") + " as level " + refLevel + " of Y's LoD, "
                        + (reference.length - 1) + ", but has " + (offsets.length - 1));
            }
            long[] times = new long[reference.length - 1];
            for (int i = 0; i < times.length; i++) {
                times[i] = reference[i + 1] - reference[i];
            }
            return new Repetition(offsets, times, !x.isEmpty());
        }

        private static long[] ones(int count) {
            long[] ones = new long[count];
            Arrays.fill(ones, 1);
            return ones;
        }

        long rows() {
            long rows = 0;
            for (int i = 0; i < times.length; i++) {
                rows = Math.addExact(rows, Math.multiplyExact(times[i], offsets[i + 1] - offsets[i]));
            }
            return rows;
        }

        Lod lod() {
            if (!divided) {
                return Lod.NONE;
            }
            long[] lengths = new long[WorkingMemory.length(Arrays.stream(times).sum())];
            int at = 0;
            for (int i = 0; i < times.length; i++) {
                for (long k = 0; k < times[i]; k++) {
                    lengths[at++] = offsets[i + 1] - offsets[i];
                }
            }
            return Lod.ofLengths(lengths);
        }

        void write(String type, long[] indexes) {
            if (rows() != indexes.length) {
                throw new IllegalArgumentException("Operation '" + type + "': the result must have " + rows()
                        + " rows by the LoD of X and Y, but its gradient has " + indexes.length);
            }
            int at = 0;
            for (int i = 0; i < times.length; i++) {
                for (long k = 0; k < times[i]; k++) {
                    for (long row = offsets[i]; row < offsets[i + 1]; row++) {
                        indexes[at++] = row;
                    }
                }
            }
        }
    }

    /** One row for each sequence of Y is repeated as often as that has rows. */
    private static void expandAs(Operations registry) {
        Operation.define("sequence_expand_as").in("X", "Y").out("Out").readsLod("Y").sharesLod("Y", "Out")
                .shapesOnly("Y").infer(inference -> {
                    long[] dims = inference.dims("X");
                    inference.require(dims.length > 1, "X must have at least two dimensions, but has %s",
                            Numbers.text(dims));
                    long sequences = inference.sequences("Y");
                    inference.require(sequences < 0 || dims[0] < 0 || dims[0] == sequences,
                            "X must have a row for each of the %d sequences of Y, but has %d", sequences, dims[0]);
                    dims[0] = inference.isForRun() ? inference.dims("Y")[0] : -1;
                    inference.set("Out", inference.dtype("X"), dims);
                }).lower(l -> l.out("Out", SequenceRows.take(l, l.in("X"), numbersOfY(l))))
                .grad("sequence_expand_as_grad(X, Y, Out@GRAD) -> X@GRAD", l -> l.out("X@GRAD",
                        SequenceRows.add(l, l.in("Out@GRAD"), numbersOfY(l), l.in("X").shape().dims())))
                .register(registry);
    }

    private static Operand numbersOfY(Lowering l) {
        return SequenceRows.indexes(l, "Y", l.in("Y").dim(0), SequenceRows::numbers);
    }

    private static void reverse(Operations registry) {
        Operation.define("sequence_reverse").in("X").out("Y").readsLod("X").sharesLod("X", "Y").infer(inference -> {
            inference.require(inference.dims("X").length > 0, "X must have at least one dimension");
            if (inference.isForRun()) {
                inference.sequences("X");
            }
            inference.same("X", "Y");
        }).lower(l -> {
            Operand x = l.in("X");
            l.out("Y", SequenceRows.take(l, x, SequenceRows.indexes(l, "X", x.dim(0), (offsets, indexes) -> {
                for (int i = 0; i + 1 < offsets.length; i++) {
                    for (long row = offsets[i]; row < offsets[i + 1]; row++) {
                        indexes[(int) row] = offsets[i] + offsets[i + 1] - 1 - row;
                    }
                }
            })));
        }).grad("sequence_reverse(X=Y@GRAD) -> Y=X@GRAD").register(registry);
    }

    private static void slice(Operations registry) {
        Operation.define("sequence_slice").in("X", "Offset", "Length").out("Out").readsLod("X").makesLod("Out")
                .values("Length").infer(inference -> {
                    long[] dims = inference.dims("X");
                    inference.require(dims.length > 1, "X must have at least two dimensions, but has %s",
                            Numbers.text(dims));
                    Indexes.requireVector(inference, "Offset");
                    Indexes.requireVector(inference, "Length");
                    long sequences = inference.sequences("X");
                    long[] length = inference.values("Length");
                    if (inference.isForRun() && length != null) {
                        long offsets = Inference.size(inference.dims("Offset"));
                        inference.require(length.length == sequences && offsets == sequences,
                                "there must be an offset and a length for each of the %d sequences, but are %d and %d",
                                sequences, offsets, length.length);
                        for (long each : length) {
                            inference.require(each >= 0 && each <= dims[0],
                                    "a length must be from 0 to the number of rows %d, but is %d", dims[0], each);
                        }
                        Lod lod = Lod.ofLengths(length);
                        dims[0] = Math.max(lod.rows(), 0);
                        inference.setLod("Out", lod);
                    }
                    inference.set("Out", inference.dtype("X"), dims);
                }).lower(l -> {
                    l.out("Out", SequenceRows.take(l, l.in("X"), cut(l, l.outType("Out", 0).dims()[0])));
                    l.outLod("Out", Lod.ofLengths(Objects.requireNonNull(l.values("Length"))));
                }).grad("sequence_slice_grad(X, Offset, Length, Out@GRAD) -> X@GRAD", l -> {
                    Operand gradient = l.in("Out@GRAD");
                    l.out("X@GRAD", SequenceRows.add(l, gradient, cut(l, gradient.dim(0)), l.in("X").shape().dims()));
                }).register(registry);
    }

    private static Operand cut(Lowering l, long count) {
        long rows = l.in("X").dim(0);
        return SequenceRows.indexes(l, count, List.of(l.lod("X"), l.in("Offset"), l.in("Length")), (in, indexes) -> {
            long[] offsets = SequenceOffsets.of(l.type(), "X", in.get(0), rows);
            long[] from = Objects.requireNonNull(in.get(1)).toLongArray();
            long[] length = Objects.requireNonNull(in.get(2)).toLongArray();
            int at = 0;
            for (int i = 0; i + 1 < offsets.length; i++) {
                long size = offsets[i + 1] - offsets[i];
                if (from[i] < 0 || length[i] < 0 || from[i] > size || length[i] > size - from[i]
                        || length[i] > indexes.length - at) {
                    throw new IllegalArgumentException("Operation '" + l.type() + "': Offset " + from[i]
                            + " and Length " + length[i] + " must be within sequence " + i + ", which has " + size
                            + " rows");
                }
                for (long k = 0; k < length[i]; k++) {
                    indexes[at++] = offsets[i] + from[i] + k;
                }
            }
        });
    }
}
