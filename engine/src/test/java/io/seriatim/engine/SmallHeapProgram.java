package io.seriatim.engine;

import java.util.concurrent.atomic.LongAdder;

/**
 * Pushes far more operations than a small heap could hold, on each kind of engine. {@link SmallHeapTest} runs it in a
 * separate JVM.
 */
final class SmallHeapProgram {
    private SmallHeapProgram() {
    }

    /** The memory that each body refers to: an engine that kept references to bodies would soon run out of memory. */
    private static final class Load {
        final byte[] bytes = new byte[512];
    }

    public static void main(String[] args) throws InterruptedException {
        long operations = Long.parseLong(args[0]);
        run(Engine.builder().perDevice(), operations);
        run(Engine.builder().pooled(2), operations / 10);
        run(Engine.builder().shuffled(1), operations / 10);
        run(Engine.builder().naive(), operations / 10);
    }

    private static void run(Engine.Builder builder, long operations) throws InterruptedException {
        LongAdder ran = new LongAdder();
        try (Engine engine = builder.build()) {
            Var[] vars = TestSupport.vars(engine, 64);
            for (long i = 0; i < operations; i++) {
                Load load = new Load();
                int at = (int) (i % vars.length);
                engine.op("op").reads(vars[(at * 7 + 1) % vars.length]).mutates(vars[at])
                        .push(() -> ran.add(load.bytes.length / 512));
            }
            engine.waitForAll();
        }
        if (ran.sum() != operations) {
            throw new IllegalStateException("pushed " + operations + " but ran " + ran);
        }
        System.out.println("ran " + ran);
    }
}
