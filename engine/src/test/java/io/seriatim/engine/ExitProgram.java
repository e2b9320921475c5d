package io.seriatim.engine;

import java.util.concurrent.CountDownLatch;

/** Ends its main thread while an engine is open; {@link LifeTest} runs it in a separate JVM. */
final class ExitProgram {
    /** The state of the engine at that time. */
    enum State {
        IDLE, BUSY, BODY_BLOCKED, COMPLETION_MISSING, PUSHER_BLOCKED, WAITER_BLOCKED, SHUT_DOWN
    }

    private ExitProgram() {
    }

    public static void main(String[] args) throws Exception {
        State state = State.valueOf(args[0]);
        Engine engine = Engine.builder().maxPending(100).build();
        Var v = engine.newVar("v");
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        engine.op("first").mutates(v).submit(TestSupport.nothing()).get();
        switch (state) {
            case IDLE -> running.countDown();
            case BUSY -> Task.start("busy", () -> {
                while (true) {
                    engine.op("op").mutates(v).push(running::countDown);
                }
            });
            case COMPLETION_MISSING -> engine.op("never").mutates(v).pushAsync(done -> running.countDown());
            default -> engine.op("never").mutates(v).push(() -> {
                running.countDown();
                try {
                    never.await();
                } catch (InterruptedException e) {
                    // By shutdownNow. A failure would be logged if the JVM still runs by then, and only then.
                    Thread.currentThread().interrupt();
                }
            });
        }
        running.await();
        if (state == State.PUSHER_BLOCKED) {
            TestSupport.untilParked(Task.start("pusher", () -> {
                while (true) {
                    engine.op("op").mutates(v).push(TestSupport.nothing());
                }
            }).thread);
        } else if (state == State.WAITER_BLOCKED) {
            TestSupport.untilParked(Task.start("waiter", () -> engine.waitToRead(v)).thread);
        } else if (state == State.SHUT_DOWN) {
            engine.shutdownNow();
        }
        System.out.println("left open: " + state);
    }
}
