package io.seriatim.executor.ir;

import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.Roles;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;

/** Whether functions of which a fused kernel turns NaN into a number are fused all the same. */
public enum NanPolicy {
    /** Only in plans of programs that do not train. */
    KEPT_IN_TRAINING,
    /** In no plan. */
    KEPT,
    /** In every plan. */
    RELAXED;

    /** Returns the policy for two options of which at most one may be set. */
    public static NanPolicy of(boolean strict, boolean relaxed) {
        if (strict && relaxed) {
            throw new IllegalStateException("strictNan() keeps NaN and relaxedNan() does not: set one of them");
        }
        return strict ? KEPT : relaxed ? RELAXED : KEPT_IN_TRAINING;
    }

    /** Returns whether a program trains: whether any operation belongs to backward or to an optimizer. */
    public static boolean trains(Program program) {
        Trains known = Trains.KNOWN.get(program);
        if (known == null || known.modifications != program.modifications()) {
            known = Trains.of(program);
            Trains.KNOWN.put(program, known);
        }
        return known.trains;
    }

    /**
     * Whether a program trains. Looked for once, since each plan asks several times.
     *
     * @param modifications
     *            the program's modification count
     */
    private record Trains(long modifications, boolean trains) {
        private static final Map<Program, Trains> KNOWN = Collections.synchronizedMap(new WeakHashMap<>());

        static Trains of(Program program) {
            long modifications = program.modifications();
            return new Trains(modifications, program.blocks().stream().flatMap(block -> block.ops().stream())
                    .anyMatch(op -> Roles.isTraining(op) || op.type().endsWith("_grad")));
        }
    }

    /** Returns whether the plans of a program may lose NaN. */
    public boolean mayLoseNaN(Program program) {
        return switch (this) {
            case KEPT -> false;
            case RELAXED -> true;
            case KEPT_IN_TRAINING -> !trains(program);
        };
    }
}
