package io.seriatim.graph.interpret;

import io.seriatim.graph.program.OpDesc;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What is known of the branches and loops of a program that have run. It holds for all runs of the program in which
 * blocks are run in the same way, as long as the program does not change. Thread-safe.
 */
// Guarded by itself.
public final class ControlFacts {
    /** Whether a gradient reads the steps of an operation. */
    final IdentityHashMap<OpDesc, Boolean> kept = new IdentityHashMap<>();
    /** The operations that read each variable of the program; null before they were needed. */
    @Nullable
    Map<String, List<OpDesc>> readers;
    final IdentityHashMap<OpDesc, ControlInstructions.Loop> loops = new IdentityHashMap<>();
    final IdentityHashMap<OpDesc, ControlInstructions.Gradient> gradients = new IdentityHashMap<>();
    /** The layouts of the environments of the steps of loops and recurrences. */
    final IdentityHashMap<OpDesc, StepLayout> layouts = new IdentityHashMap<>();
    /** What {@link ControlInstructions#exposed} has returned; empty for null. */
    final IdentityHashMap<OpDesc, Optional<Set<String>>> exposed = new IdentityHashMap<>();

    /** Creates those of a program of which nothing has run. */
    public ControlFacts() {
        // Facts are added when they are first needed.
    }
}
