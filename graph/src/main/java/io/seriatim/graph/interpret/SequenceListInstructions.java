package io.seriatim.graph.interpret;

import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.LodSlot;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.SequenceOffsets;
import io.seriatim.graph.ops.sequence.RankTable;
import io.seriatim.graph.ops.sequence.SubSequences;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Splits sequences into a list of their steps, in the order of a rank table, and joins the steps to sequences. */
final class SequenceListInstructions {
    private SequenceListInstructions() {
    }

    static void split(OpDesc op, Environment environment) {
        Tensor x = environment.tensor(op.input("X").getFirst());
        RankTable table = RankTable.of(op.type(), environment.tensor(op.input("RankTable").getFirst()));
        Lod given = offsets(op, "RankTable", environment).isEmpty() && offsets(op, "X", environment).isEmpty()
                ? ofTable(table)
                : offsets(op, "X", environment);
        int level = offsets(op, "RankTable", environment).depth();
        if (x.shape().rank() == 0) {
            throw new IllegalArgumentException("X must have at least one dimension");
        }
        Lod lod = SequenceOffsets.of(op.type(), "X", given, x.shape().dim(0));
        if (level >= lod.depth() || lod.level(level).length - 1 != table.indexes().length) {
            throw new IllegalArgumentException("RankTable must have a row for each sequence of level " + level
                    + " of X, but has " + table.indexes().length + ", and the LoD of X is " + lod);
        }
        long[] begins = lod.level(level);
        TensorList parts = new TensorList();
        TensorList partOffsets = new TensorList();
        int steps = WorkingMemory.tensors(table.lengths().length == 0 ? 0 : table.lengths()[0]);
        for (int step = 0; step < steps; step++) {
            long[] chosen = new long[table.longerThan(step)];
            for (int i = 0; i < chosen.length; i++) {
                int index = (int) table.indexes()[i];
                chosen[i] = begins[index] + step;
                if (chosen[i] >= begins[index + 1]) {
                    throw new IllegalArgumentException("Sequence " + index + " of X must be as long as RankTable says, "
                            + table.lengths()[i] + ", but the LoD of X is " + lod);
                }
            }
            SubSequences part = SubSequences.of(lod, level + 1, chosen);
            parts.tensors().add(rows(x, part.rows()));
            partOffsets.tensors().add(part.lod().toTensor());
        }
        environment.set(op.output("Out").getFirst(), parts);
        if (isWanted(op)) {
            environment.set(op.output(LodSlot.of("Out")).getFirst(), partOffsets);
        }
    }

    static void join(OpDesc op, Environment environment) {
        RankTable table = RankTable.of(op.type(), environment.tensor(op.input("RankTable").getFirst()));
        List<Tensor> parts = list(op.input("X").getFirst(), environment);
        List<Lod> partOffsets = partOffsets(op, parts.size(), environment);
        long[] lengths = new long[table.indexes().length];
        int[] places = new int[lengths.length];
        for (int i = 0; i < lengths.length; i++) {
            lengths[(int) table.indexes()[i]] = table.lengths()[i];
            places[(int) table.indexes()[i]] = i;
        }
        if (parts.isEmpty() || Arrays.stream(lengths).max().orElse(0) > parts.size()) {
            throw new IllegalArgumentException("X must have a part for each step of the longest sequence, "
                    + Arrays.stream(lengths).max().orElse(0) + ", but has " + parts.size());
        }
        List<Tensor> pieces = new ArrayList<>();
        List<Lod> finer = new ArrayList<>();
        for (int index = 0; index < lengths.length; index++) {
            for (int step = 0; step < lengths[index]; step++) {
                Tensor part = parts.get(step);
                Lod lod = partOffsets.get(step);
                long count = lod.isEmpty() ? part.shape().dim(0) : lod.level(0).length - 1;
                if (places[index] >= count || (!lod.isEmpty() && lod.rows() != part.shape().dim(0))) {
                    throw new IllegalArgumentException("Part " + step + " of X must have a row or sequence for each of "
                            + "the " + table.longerThan(step) + " sequences that are as long, but is " + part.spec());
                }
                SubSequences one = SubSequences.of(lod, 0, new long[]{places[index]});
                pieces.add(rows(part, one.rows()));
                finer.add(one.lod());
            }
        }
        environment.set(op.output("Out").getFirst(), pieces.isEmpty()
                ? rows(parts.getFirst(), new long[0])
                : VariableValues.concatenated(0, pieces));
        if (isWanted(op)) {
            List<long[]> levels = new ArrayList<>(offsets(op, "RankTable", environment).levels());
            levels.addAll(Lod.ofLengths(lengths).levels());
            levels.addAll(SubSequences.joined(finer).levels());
            environment.set(op.output(LodSlot.of("Out")).getFirst(), Lod.of(levels).toTensor());
        }
    }

    private static boolean isWanted(OpDesc op) {
        List<String> names = op.output(LodSlot.of("Out"));
        return !names.isEmpty() && !names.getFirst().equals(GradientRule.EMPTY);
    }

    private static Lod ofTable(RankTable table) {
        long[] lengths = new long[table.indexes().length];
        for (int i = 0; i < lengths.length; i++) {
            lengths[(int) table.indexes()[i]] = table.lengths()[i];
        }
        return Lod.ofLengths(lengths);
    }

    private static Lod offsets(OpDesc op, String slot, Environment environment) {
        List<String> names = op.input(LodSlot.of(slot));
        return names.isEmpty() ? Lod.NONE : Lod.of(environment.tensor(names.getFirst()));
    }

    private static List<Lod> partOffsets(OpDesc op, int count, Environment environment) {
        List<String> names = op.input(LodSlot.of("X"));
        List<@Nullable Tensor> given = !names.isEmpty()
                && environment.find(names.getFirst()) instanceof TensorList list
                        ? list.tensors()
                        : List.of();
        List<Lod> offsets = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Tensor tensor = i < given.size() ? given.get(i) : null;
            offsets.add(tensor == null ? Lod.NONE : Lod.of(tensor));
        }
        return offsets;
    }

    private static List<Tensor> list(String name, Environment environment) {
        if (!(environment.get(name) instanceof TensorList list)) {
            throw new IllegalArgumentException("Variable '" + name + "' must be a list of tensors (an array)");
        }
        List<Tensor> tensors = new ArrayList<>();
        for (Tensor tensor : list.tensors()) {
            if (tensor == null || tensor.shape().rank() == 0) {
                throw new IllegalArgumentException("List '" + name + "' must have rows at " + tensors.size()
                        + "; write all its elements before they are joined");
            }
            tensors.add(tensor);
        }
        return tensors;
    }

    private static Tensor rows(Tensor x, long[] rows) {
        Tensor result = Tensor.allocate(x.dtype(), x.shape().with(0, rows.length).dims());
        long bytes = x.shape().dim(0) == 0 ? 0 : x.spec().bytes() / x.shape().dim(0);
        Tensor from = x.spec().isRowMajor() ? x : VariableValues.copy(x);
        for (int i = 0; i < rows.length; i++) {
            MemorySegment.copy(from.memory(), from.offset() + rows[i] * bytes, result.memory(), i * bytes, bytes);
        }
        return result;
    }
}
