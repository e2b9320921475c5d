package io.seriatim.graph.parallel;

import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/** What operations read and write, with the blocks that they run. */
final class BlockAccesses {
    private BlockAccesses() {
    }

    /** The blocks that an operation runs, and those that these run; none for most. */
    static List<Block> blocks(OpDesc op, Program program) {
        if (!op.runsBlocks()) {
            return List.of();
        }
        Set<Integer> met = new LinkedHashSet<>();
        collect(op, program, met);
        return met.stream().map(program::block).toList();
    }

    private static void collect(OpDesc op, Program program, Set<Integer> met) {
        for (Attribute.Named each : op.attributes()) {
            for (int index : each.value().blocks()) {
                if (met.add(index)) {
                    program.block(index).ops().forEach(inner -> collect(inner, program, met));
                }
            }
        }
    }

    /** The variables that an operation or its blocks read, those that only its blocks have among them. */
    static List<String> read(OpDesc op, Program program) {
        return names(op, program, OpDesc::inputNames);
    }

    /** The variables that an operation or its blocks write, those that only its blocks have among them. */
    static List<String> written(OpDesc op, Program program) {
        return names(op, program, OpDesc::outputNames);
    }

    private static List<String> names(OpDesc op, Program program, Function<OpDesc, List<String>> of) {
        if (!op.runsBlocks()) {
            return of.apply(op);
        }
        Set<String> names = new LinkedHashSet<>(of.apply(op));
        blocks(op, program).forEach(block -> block.ops().forEach(inner -> names.addAll(of.apply(inner))));
        return new ArrayList<>(names);
    }
}
