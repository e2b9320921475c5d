package io.seriatim.graph.dialect;

import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Rewrites operations that PaddlePaddle has, but not as they are, into those that it computes the same with. What has
 * no such form stays as it is.
 */
public final class PaddleForms {
    private static final Map<String, Rule> RULES = rules();

    /** Replaces operations of some types. */
    @FunctionalInterface
    interface Rule {
        /** Appends the operations that take the place of one; false, and none, if there are no others. */
        boolean rewrite(OpDesc op, Steps steps, Uses uses);
    }

    /** Which variables are read. */
    static final class Uses {
        private final Map<String, Integer> reads = new HashMap<>();
        private final Set<String> wanted;

        private Uses(Collection<Block> blocks, Collection<String> wanted) {
            this.wanted = new HashSet<>(wanted);
            blocks.forEach(block -> block.ops()
                    .forEach(op -> op.inputNames().forEach(name -> reads.merge(name, 1, Integer::sum))));
        }

        boolean isRead(String variable) {
            return wanted.contains(variable) || reads.containsKey(variable);
        }
    }

    private PaddleForms() {
    }

    private static Map<String, Rule> rules() {
        Map<String, Rule> rules = new HashMap<>();
        PaddingForm.register(rules);
        EinsumForm.register(rules);
        InPlaceForm.register(rules);
        return Map.copyOf(rules);
    }

    /**
     * Rewrites a program.
     *
     * @param program
     *            any program for inference; it is not changed
     * @param fetches
     *            the variables that are wanted
     * @return a program with the same results
     */
    public static Program of(Program program, List<String> fetches) {
        Program rewritten = program.copy();
        Steps.Names names = new Steps.Names(rewritten.blocks());
        Uses uses = new Uses(rewritten.blocks(), fetches);
        for (Block block : rewritten.blocks()) {
            Steps steps = new Steps(block, names);
            List<OpDesc> before = new ArrayList<>(block.ops());
            for (OpDesc op : before) {
                @Nullable
                Rule rule = RULES.get(op.type());
                if (rule == null || !rule.rewrite(op, steps, uses)) {
                    steps.keep(op);
                }
            }
            if (!steps.ops().equals(before)) {
                block.setOps(steps.ops());
            }
        }
        return rewritten;
    }
}
