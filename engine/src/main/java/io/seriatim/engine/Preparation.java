package io.seriatim.engine;

import java.util.List;

/** A prepared operation or graph of this implementation. */
abstract class Preparation implements PreparedOp {
    final EngineCore core;
    final String name;

    Preparation(EngineCore core, String name) {
        this.core = core;
        this.name = name;
    }

    /** Throws if it has been deleted. */
    abstract void checkNotDeleted();

    /** Appends its operations to a list, as preparations that can be deleted independently. */
    abstract void addTo(List<Prepared> ops);

    /** Returns the exception of a use after the deletion. */
    final IllegalStateException deleted(String what) {
        return new IllegalStateException(what + " '" + name + "' has been deleted: prepare it anew to push it again");
    }
}
