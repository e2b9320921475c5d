package io.seriatim.engine;

/** Operations that are only stored and found again, for races between parts of the engine. */
final class Nodes {
    private static final EngineCore CORE = ((EngineBuilder) Engine.builder().pooled(1).name("nodes")).buildCore();
    static final Operation FIRST = create(1);
    static final Operation SECOND = create(2);

    private Nodes() {
    }

    /** Creates an operation that is known by its priority. */
    static Operation create(int number) {
        Operation op = new Operation(CORE, "node");
        op.priority = number;
        return op;
    }
}
