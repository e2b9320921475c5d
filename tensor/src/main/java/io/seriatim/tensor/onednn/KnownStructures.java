package io.seriatim.tensor.onednn;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;

/** Whether the library has fast kernels for computations, by their structure. */
final class KnownStructures {
    /** The structures that are remembered; a program has some dozens. */
    private static final int MOST = 10_000;
    private static final Map<Record, Boolean> KNOWN = new ConcurrentHashMap<>();

    private KnownStructures() {
    }

    /**
     * Returns the decision for a structure, which is made once.
     *
     * @param structure
     *            of representative sizes, so that the decision does not depend on which sizes came first
     */
    static boolean isFast(Record structure, BooleanSupplier decision) {
        if (KNOWN.size() > MOST) {
            KNOWN.clear();
        }
        // Not computed inside of the map: the decision calls the library.
        Boolean known = KNOWN.get(structure);
        if (known == null) {
            known = decision.getAsBoolean();
            KNOWN.put(structure, known);
        }
        return known;
    }
}
