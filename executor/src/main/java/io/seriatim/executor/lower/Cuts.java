package io.seriatim.executor.lower;

/** Where a plan may be cut, so that what follows becomes a plan of its own. */
public enum Cuts {
    /** Nowhere. */
    NONE,
    /** At types that are known only when earlier operations have run, and at branches that these decide. */
    TYPES,
    /** Also at branches that elements of small feeds decide. */
    ELEMENTS
}
