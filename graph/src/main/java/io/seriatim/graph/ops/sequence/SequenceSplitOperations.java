package io.seriatim.graph.ops.sequence;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.LodSlot;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.SequenceOffsets;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Operations that divide sequences into two groups by a mask, and merge such groups. */
public final class SequenceSplitOperations {
    private SequenceSplitOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("split_lod_tensor").in("X", "Mask").out("OutTrue", "OutFalse").attr("level", 0).readsLod("X")
                .makesLod("OutTrue", "OutFalse").values("Mask", LodSlot.of("X")).infer(SequenceSplitOperations::split)
                .lower(l -> {
                    for (boolean group : new boolean[]{true, false}) {
                        SubSequences chosen = chosen(l.type(), l.lodValue("X"), l.in("X").dim(0),
                                l.attrs().getInt("level"), Objects.requireNonNull(l.values("Mask")), group);
                        String slot = group ? "OutTrue" : "OutFalse";
                        if (l.wants(slot)) {
                            l.out(slot, SequenceRows.take(l, l.in("X"),
                                    l.constant(Tensor.of(chosen.rows(), chosen.rows().length))));
                        }
                        l.outLod(slot, chosen.lod());
                    }
                })
                .grad("merge_lod_tensor(X, Mask, InTrue=OutTrue@GRAD, InFalse=OutFalse@GRAD) -> Out=X@GRAD")
                .register(registry);
        merge("merge_lod_tensor")
                .grad("split_lod_tensor(X=Out@GRAD, Mask) -> OutTrue=InTrue@GRAD, OutFalse=InFalse@GRAD")
                .register(registry);
        merge("merge_lod_tensor_infer").register(registry);
    }

    private static void requireMask(Inference inference) {
        long[] dims = inference.dims("Mask");
        inference.require(inference.dtype("Mask") == DType.BOOL && dims.length == 2 && (dims[1] == 1 || dims[1] < 0),
                "Mask must be bool and have the shape [sequences, 1], but is %s %s", inference.dtype("Mask"),
                Numbers.text(dims));
        inference.require(inference.attrs().getInt("level") >= 0, "the attribute level must be 0 or more, but is %d",
                inference.attrs().getInt("level"));
    }

    private static void split(Inference inference) {
        long[] dims = inference.dims("X");
        requireMask(inference);
        inference.require(dims.length > 0, "X must have at least one dimension");
        long[] mask = inference.values("Mask");
        Lod lod = inference.lod("X");
        for (boolean group : new boolean[]{true, false}) {
            String slot = group ? "OutTrue" : "OutFalse";
            if (inference.isForRun() && mask != null && lod != null) {
                SubSequences chosen = chosen(inference.type(), lod, inference.dims("X")[0],
                        inference.attrs().getInt("level"), mask, group);
                dims[0] = chosen.rows().length;
                inference.setLod(slot, chosen.lod());
            }
            inference.set(slot, inference.dtype("X"), dims);
        }
    }

    private static SubSequences chosen(String type, Lod lod, long rows, int level, long[] mask, boolean group) {
        if (!lod.isEmpty()) {
            SequenceOffsets.of(type, "X", lod, rows);
        }
        if (!lod.isEmpty() && level >= lod.depth()) {
            throw new IllegalArgumentException("Operation '" + type + "': the attribute level must be one of the "
                    + lod.depth() + " levels of X's LoD, but is " + level);
        }
        long count = lod.isEmpty() ? rows : lod.level(level).length - 1;
        if (mask.length != count) {
            throw new IllegalArgumentException("Operation '" + type + "': Mask must have an element for each of the "
                    + count + " sequences of X, but has " + mask.length);
        }
        List<Long> chosen = new ArrayList<>();
        for (int i = 0; i < mask.length; i++) {
            if ((mask[i] != 0) == group) {
                chosen.add((long) i);
            }
        }
        return SubSequences.of(lod, level, chosen.stream().mapToLong(Long::longValue).toArray());
    }

    private static Operation.Builder merge(String type) {
        return Operation.define(type).in("X", "Mask", "InTrue", "InFalse").out("Out").attr("level", 0)
                .readsLod("X", "InTrue", "InFalse").makesLod("Out").shapesOnly("X")
                .values("Mask", LodSlot.of("X"), LodSlot.of("InTrue"), LodSlot.of("InFalse")).infer(inference -> {
                    requireMask(inference);
                    long[] dims = inference.dims("InTrue");
                    inference.require(dims.length > 0 && inference.dtype("InTrue") == inference.dtype("InFalse"),
                            "InTrue and InFalse must have rows of one type, but are %s and %s", inference.in("InTrue"),
                            inference.in("InFalse"));
                    long[] x = inference.dims("X");
                    long[] mask = inference.values("Mask");
                    if (!inference.isForRun() || mask == null) {
                        inference.set("Out", inference.dtype("InTrue"), inference.dims("InTrue"));
                        return;
                    }
                    Merged merged = Merged.of(type, mask, inference.lod("InTrue"), dims[0], inference.lod("InFalse"),
                            inference.dims("InFalse")[0]);
                    long[] rowDims = dims.length == x.length && dims[0] == 0 ? inference.dims("InFalse") : dims;
                    rowDims[0] = merged.rows().length;
                    inference.set("Out", inference.dtype("InTrue"), rowDims);
                    inference.setLod("Out", lod(merged, inference.lod("X"), inference.attrs().getInt("level")));
                }).lower(l -> {
                    Operand isTrue = l.in("InTrue");
                    Operand isFalse = l.in("InFalse");
                    Merged merged = Merged.of(type, Objects.requireNonNull(l.values("Mask")), l.lodValue("InTrue"),
                            isTrue.dim(0), l.lodValue("InFalse"), isFalse.dim(0));
                    long rows = isTrue.dim(0) + isFalse.dim(0);
                    Operand all = l.temporary(
                            TensorSpec.of(isTrue.dtype(), l.output("Out").shape().with(0, rows)));
                    if (isTrue.dim(0) > 0) {
                        l.into(Copy.PLAIN, List.of(isTrue), List.of(all.slice(0, 0, isTrue.dim(0))));
                    }
                    if (isFalse.dim(0) > 0) {
                        l.into(Copy.PLAIN, List.of(isFalse), List.of(all.slice(0, isTrue.dim(0), rows)));
                    }
                    l.out("Out", SequenceRows.take(l, all,
                            l.constant(Tensor.of(merged.rows(), merged.rows().length))));
                    l.outLod("Out", lod(merged, l.lodValue("X"), l.attrs().getInt("level")));
                });
    }

    /** The levels of X before the one that was split, and the merged ones. */
    private static Lod lod(Merged merged, @Nullable Lod x, int level) {
        if (merged.lod().isEmpty() || level == 0) {
            return merged.lod();
        }
        List<long[]> levels =
                new ArrayList<>(x == null ? List.of() : x.levels().subList(0, Math.min(level, x.depth())));
        levels.addAll(merged.lod().levels());
        return Lod.of(levels);
    }

    /**
     * Sequences of two groups in the order of a mask.
     *
     * @param rows
     *            the indexes of their rows, those of the second group behind those of the first
     * @param lod
     *            their offsets
     */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Merged(long[] rows, Lod lod) {
        static Merged of(String type, long[] mask, @Nullable Lod ifTrue, long rowsTrue, @Nullable Lod ifFalse,
                long rowsFalse) {
            Lod[] lods = {ifTrue == null ? Lod.NONE : ifTrue, ifFalse == null ? Lod.NONE : ifFalse};
            long[] rowCounts = {rowsTrue, rowsFalse};
            long[] sizes = new long[2];
            for (int i = 0; i < 2; i++) {
                sizes[i] = lods[i].isEmpty() ? rowCounts[i] : lods[i].level(0).length - 1;
            }
            long wanted = Arrays.stream(mask).filter(each -> each != 0).count();
            if (wanted != sizes[0] || mask.length - wanted != sizes[1]) {
                throw new IllegalArgumentException("Operation '" + type + "': InTrue and InFalse must have a sequence "
                        + "for each element of Mask, " + wanted + " and " + (mask.length - wanted) + ", but have "
                        + sizes[0] + " and " + sizes[1]);
            }
            List<Lod> parts = new ArrayList<>();
            List<Long> rows = new ArrayList<>();
            long[] next = new long[2];
            for (long each : mask) {
                int group = each != 0 ? 0 : 1;
                SubSequences one = SubSequences.of(lods[group], 0, new long[]{next[group]++});
                parts.add(one.lod());
                for (long row : one.rows()) {
                    rows.add(group == 0 ? row : rowsTrue + row);
                }
            }
            return new Merged(rows.stream().mapToLong(Long::longValue).toArray(), SubSequences.joined(parts));
        }
    }
}
