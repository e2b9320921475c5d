package io.seriatim.graph.ops.sequence;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.LodSlot;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.ops.common.SequenceOffsets;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Loops over the steps of sequences of different lengths: the longest sequences come first, and end last. */
public final class RankTableOperations {
    private RankTableOperations() {
    }

    public static void register(Operations registry) {
        table(registry);
        reorder(registry);
        shrink(registry);
        lists(registry);
    }

    private static void table(Operations registry) {
        Operation.define("lod_rank_table").in("X").out("Out").attr("level", 0).readsLod("X").makesLod("Out")
                .shapesOnly("X").infer(inference -> {
                    int level = inference.attrs().getInt("level");
                    if (!inference.isForRun()) {
                        inference.asDeclared("Out");
                        return;
                    }
                    long sequences = inference.sequences("X");
                    Lod lod = inference.lod("X");
                    int depth = lod == null ? 1 : lod.depth();
                    inference.require(level >= 0 && level < depth,
                            "the attribute level must be one of the %d levels of X's LoD, but is %d", depth, level);
                    inference.set("Out", DType.INT64, lod == null ? sequences : lod.level(level).length - 1, 2);
                    inference.setLod("Out", lod == null ? Lod.NONE : coarser(lod, level));
                }).lower(l -> {
                    int level = l.attrs().getInt("level");
                    long rows = l.in("X").dim(0);
                    l.call("lod_rank_table", (in, out) -> {
                        Lod lod = SequenceOffsets.of("lod_rank_table", "X",
                                Lod.of(Objects.requireNonNull(in.getFirst())), rows);
                        Elements.write(RankTable.of(lod, level).elements(), Objects.requireNonNull(out.getFirst()));
                    }, List.of(l.lod("X")), List.of(l.output("Out")));
                    if (l.wantsLod("Out")) {
                        l.outLod("Out", l.lod("X").rank() == 1 ? Lod.NONE : coarser(l.lodValue("X"), level));
                    }
                }).register(registry);
        Operation.define("max_sequence_len").in("RankTable").out("Out").infer(inference -> {
            if (inference.isForRun()) {
                requireTable(inference);
            }
            inference.set("Out", DType.INT64, 1);
        }).lower(l -> l.out("Out", l.in("RankTable").slice(0, 0, 1).slice(1, 1, 2).reshape(1))).register(registry);
    }

    /** The levels before one, which count sequences of that one: the rank table has a row for each. */
    private static Lod coarser(Lod lod, int level) {
        return Lod.of(lod.levels().subList(0, level));
    }

    private static void requireTable(Inference inference) {
        long[] dims = inference.dims("RankTable");
        inference.require(inference.dtype("RankTable") == DType.INT64 && dims.length == 2 && dims[1] == 2
                && dims[0] > 0, "RankTable must be made by lod_rank_table, but is %s", inference.in("RankTable"));
    }

    private static void reorder(Operations registry) {
        String gradient = "reorder_lod_tensor_by_rank_grad(X=Out@GRAD, RankTable) -> Out=X@GRAD";
        reordering("reorder_lod_tensor_by_rank", false).grad(gradient).register(registry);
        reordering("reorder_lod_tensor_by_rank_grad", true).register(registry);
    }

    /** The sequences of X in the order of the table, or back. */
    private static Operation.Builder reordering(String type, boolean back) {
        return Operation.define(type).in("X", "RankTable").out("Out").readsLod("X").makesLod("Out")
                .values("RankTable").infer(inference -> {
                    inference.require(inference.dims("X").length > 0, "X must have at least one dimension");
                    inference.same("X", "Out");
                    if (inference.isForRun()) {
                        requireTable(inference);
                        long[] companion = inference.hasLod("X")
                                ? inference.dims(LodSlot.of("X"))
                                : new long[]{0};
                        inference.set(LodSlot.of("Out"), DType.INT64, companion);
                    }
                }).lower(l -> {
                    Operand x = l.in("X");
                    long[] order = order(l, back);
                    Operand rows = SequenceRows.indexes(l, x.dim(0), List.of(l.lod("X")), (in, indexes) -> {
                        long[] chosen = reordered(l, Lod.of(Objects.requireNonNull(in.getFirst())), x.dim(0), order)
                                .rows();
                        if (chosen.length != indexes.length) {
                            throw new IllegalArgumentException("Operation '" + type + "': RankTable must have a row "
                                    + "for each row of X, " + indexes.length + ", but has " + chosen.length);
                        }
                        System.arraycopy(chosen, 0, indexes, 0, chosen.length);
                    });
                    l.out("Out", SequenceRows.take(l, x, rows));
                    if (l.wantsLod("Out")) {
                        l.call(type + " offsets", (in, out) -> Elements.write(
                                reordered(l, Lod.of(Objects.requireNonNull(in.getFirst())), x.dim(0), order).lod()
                                        .toTensor().toLongArray(),
                                Objects.requireNonNull(out.getFirst())), List.of(l.lod("X")),
                                List.of(l.output(LodSlot.of("Out"))));
                    }
                });
    }

    private static long[] order(Lowering l, boolean back) {
        RankTable table = RankTable.of(l.type(), Objects.requireNonNull(l.values("RankTable")));
        if (!back) {
            return table.indexes();
        }
        long[] order = new long[table.indexes().length];
        for (int i = 0; i < order.length; i++) {
            order[(int) table.indexes()[i]] = i;
        }
        return order;
    }

    private static SubSequences reordered(Lowering l, Lod lod, long rows, long[] order) {
        if (!lod.isEmpty()) {
            SequenceOffsets.of(l.type(), "X", lod, rows);
        }
        long count = lod.isEmpty() ? rows : lod.level(0).length - 1;
        if (count != order.length) {
            throw new IllegalArgumentException(
                    "Operation '" + l.type() + "': RankTable must have a row for each of the "
                            + count + " sequences of X, but has " + order.length);
        }
        return SubSequences.of(lod, 0, order);
    }

    /** The first rows of X: those of sequences that have not ended. */
    private static void shrink(Operations registry) {
        Operation.define("shrink_rnn_memory").in("X", "RankTable", "I").out("Out").readsLod("X").makesLod("Out")
                .values("RankTable", "I", LodSlot.of("X")).infer(inference -> {
                    long[] dims = inference.dims("X");
                    inference.require(dims.length > 0, "X must have at least one dimension");
                    long[] table = inference.values("RankTable");
                    long[] step = inference.values("I");
                    if (inference.isForRun() && table != null && step != null) {
                        requireTable(inference);
                        inference.require(step.length == 1 && step[0] >= 0,
                                "I must be one number of 0 or more, but is %s", Numbers.text(step));
                        SubSequences left = left(inference.type(), inference.lod("X"), dims[0], table, step[0]);
                        dims[0] = left.rows().length;
                        inference.setLod("Out", left.lod());
                    }
                    inference.set("Out", inference.dtype("X"), dims);
                }).lower(l -> {
                    Operand x = l.in("X");
                    l.out("Out", l.run(Copy.PLAIN, x.slice(0, 0, l.outType("Out", 0).dims()[0])));
                    if (l.wantsLod("Out")) {
                        l.outLod("Out", left(l.type(), l.lodValue("X"), x.dim(0),
                                Objects.requireNonNull(l.values("RankTable")),
                                Objects.requireNonNull(l.values("I"))[0]).lod());
                    }
                }).grad("shrink_rnn_memory_grad(X, Out@GRAD) -> X@GRAD", l -> {
                    Operand x = l.in("X");
                    Operand gradient = l.in("Out@GRAD");
                    if (gradient.dim(0) > x.dim(0)) {
                        throw new IllegalArgumentException("Operation 'shrink_rnn_memory_grad': Out@GRAD must not have "
                                + "more rows than X, " + x.dim(0) + ", but has " + gradient.dim(0));
                    }
                    Operand all = l.fill(0, TensorSpec.of(x.dtype(), x.shape()));
                    l.into(Copy.PLAIN, List.of(gradient), List.of(all.slice(0, 0, gradient.dim(0))));
                    l.out("X@GRAD", all);
                }).register(registry);
    }

    private static SubSequences left(String type, @Nullable Lod lod, long rows, long[] table, long step) {
        int count = RankTable.of(type, table).longerThan(step);
        Lod divided = lod == null ? Lod.NONE : lod;
        long most = divided.isEmpty() ? rows : divided.level(0).length - 1;
        if (count > most) {
            throw new IllegalArgumentException(
                    "Operation '" + type + "': X must have a row or sequence for each of the "
                            + count + " sequences that are longer than " + step + ", but has " + most);
        }
        long[] first = new long[count];
        Arrays.setAll(first, i -> i);
        return SubSequences.of(divided, 0, first);
    }

    /** The steps of sequences as a list, which executors split and join. */
    private static void lists(Operations registry) {
        Operation.define("lod_tensor_to_array").in("X", "RankTable").out("Out").readsLod("X", "RankTable")
                .makesLod("Out")
                .infer(inference -> inference.set("Out", 0,
                        ArgType.array(inference.dtype("X"), inference.dims("X"))))
                .grad("array_to_lod_tensor(X=Out@GRAD, RankTable) -> Out=X@GRAD").register(registry);
        Operation.define("array_to_lod_tensor").in("X", "RankTable").out("Out").readsLod("X", "RankTable")
                .makesLod("Out").infer(inference -> inference.set("Out", inference.dtype("X"), inference.dims("X")))
                .grad("lod_tensor_to_array(X=Out@GRAD, RankTable) -> Out=X@GRAD").register(registry);
    }
}
