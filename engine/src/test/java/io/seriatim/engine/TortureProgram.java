package io.seriatim.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Uses an engine while memory or stack is exhausted, and then checks that no operation was lost. {@link TortureTest}
 * runs it in a separate JVM.
 */
final class TortureProgram {
    private static final int MOST = 400_000;
    /** How often a thread looks at least before it takes a wait for a hang. */
    private static final int LOOKS = 20_000;

    private final Engine engine;
    private final Var[] vars;
    /** For each operation, 1 after its push has returned, plus 2 for each time that it has run. */
    private final AtomicIntegerArray seen = new AtomicIntegerArray(MOST);
    private final List<Completion> open = new ArrayList<>(1_000);
    private final boolean naive;
    private int next;

    private TortureProgram(Engine engine, boolean naive) {
        this.engine = engine;
        // On this engine a push returns when the operation has ended.
        this.naive = naive;
        vars = TestSupport.vars(engine, 16);
    }

    public static void main(String[] args) throws Exception {
        long seed = Long.parseLong(args[1]);
        List<Engine.Builder> builders = List.of(Engine.builder().pooled(2), Engine.builder().pooled(1),
                Engine.builder().naive(),
                Engine.builder().shuffled(seed));
        for (int i = 0; i < builders.size(); i++) {
            // When run by hand: only one of the modes.
            if (args.length > 2 && i != Integer.parseInt(args[2])) {
                continue;
            }
            TortureProgram torture = new TortureProgram(builders.get(i).onUnhandled(t -> {
            }).build(), i == 2);
            if (args[0].equals("heap")) {
                torture.heap(seed);
            } else {
                torture.stack(seed);
            }
            torture.check();
        }
        System.out.println("alive");
    }

    private void ran(int i) {
        seen.addAndGet(i, 2);
    }

    /** Pushes one operation of one of several kinds. */
    private void push() {
        int i = next;
        if (i >= MOST) {
            return;
        }
        Var a = vars[i % vars.length];
        Var b = vars[(i * 7 + 1) % vars.length];
        // Otherwise an operation whose push throws would be counted twice.
        next = i + 1;
        switch (i % 6) {
            case 0 -> engine.op("plain").evenIfFailed().reads(a).overwrites(b).push(() -> ran(i));
            case 1 -> engine.op("future").overwrites(a).submit(() -> ran(i)).thenRun(TortureProgram::nothing).isDone();
            case 2 -> engine.op("async").overwrites(a).pushAsync(done -> {
                ran(i);
                done.complete();
            });
            case 3 -> engine.op("of kind async").kind(OpKind.ASYNC).overwrites(b).push(() -> ran(i));
            case 4 -> engine.op("fails").overwrites(a).push(() -> {
                ran(i);
                throw new Planted("planted");
            });
            default -> engine.op("on a fresh variable").evenIfFailed().reads(a).mutates(engine.newVar("fresh"))
                    .push(() -> ran(i));
        }
        seen.addAndGet(i, 1);
    }

    private static void nothing() {
        // Registers a dependent stage.
    }

    /** Fills the memory, pushes until it is exhausted, and frees it again. */
    private void heap(long seed) throws Exception {
        long random = seed;
        for (int round = 0; round < 3; round++) {
            List<Object> hoard = new ArrayList<>(10_000);
            int size = 1 << 20;
            int failed = 0;
            for (int tries = 0; tries < 30_000 && failed < 40; tries++) {
                random = random * 6364136223846793005L + 1442695040888963407L;
                try {
                    if ((random >>> 60) < 3 && hoard.size() < 10_000) {
                        hoard.add(new byte[size]);
                    }
                    push();
                } catch (OutOfMemoryError e) {
                    failed++;
                    size = Math.max(16, size / 2);
                }
            }
            hoard.clear();
            drain();
        }
    }

    /** Pushes, completes and waits while the stack is nearly exhausted. */
    private void stack(long seed) throws Exception {
        AtomicReference<@Nullable Throwable> wrong = new AtomicReference<>();
        // Classes whose first use happened near the end of the stack would fail to initialise and stay unusable.
        for (int i = 0; i < 60; i++) {
            attempt(i % 6);
        }
        if ("←".charAt(0) < 256) {
            throw new IllegalStateException("a text of two bytes a character is needed");
        }
        CompletableFuture<Void> first = new CompletableFuture<>();
        CompletableFuture<Void> dependent = first.thenRun(TortureProgram::nothing);
        first.complete(null);
        dependent.get();
        for (int round = 0; round < 2; round++) {
            List<Thread> parked = naive ? openFromThreads() : List.of();
            for (int i = 0; i < 300 && !naive; i++) {
                engine.op("open").overwrites(vars[i % vars.length]).evenIfFailed().kind(OpKind.NORMAL)
                        .pushAsync(done -> {
                            synchronized (open) {
                                open.add(done);
                            }
                        });
                if (i % 16 == 15) {
                    closeAll();
                }
            }
            Thread deep = new Thread(null, () -> {
                try {
                    dive(seed);
                } catch (Throwable t) {
                    wrong.set(t);
                }
            }, "deep", (192 + Math.floorMod(seed * 37, 128)) << 10);
            deep.setDaemon(true);
            deep.start();
            join(deep);
            Throwable t = wrong.get();
            if (t != null && !(t instanceof StackOverflowError)) {
                throw new IllegalStateException(t.toString(), t);
            }
            closeAll();
            drain();
            for (Thread thread : parked) {
                join(thread);
            }
        }
    }

    private void join(Thread thread) throws Exception {
        thread.join(TimeUnit.SECONDS.toMillis(40));
        if (thread.isAlive()) {
            throw new IllegalStateException(
                    thread + " hangs: " + engine.stats() + " " + engine.snapshot() + " "
                            + Arrays.toString(thread.getStackTrace()));
        }
    }

    /**
     * Threads that are parked in a push or a wait until an operation is completed near the end of another thread's
     * stack. That thread leaves the following operations to them.
     */
    private List<Thread> openFromThreads() throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            Var v = engine.newVar("open");
            CountDownLatch opened = new CountDownLatch(1);
            threads.add(start(() -> engine.op("open").overwrites(v).pushAsync(done -> {
                synchronized (open) {
                    open.add(done);
                }
                opened.countDown();
            })));
            opened.await();
            threads.add(start(() -> engine.op("of kind async, behind an open one").kind(OpKind.ASYNC).mutates(v)
                    .push(TortureProgram::nothing)));
            threads.add(start(() -> engine.op("behind an open one").mutates(v).push(TortureProgram::nothing)));
            threads.add(start(() -> engine.waitToWrite(v)));
        }
        return threads;
    }

    private static Thread start(Body body) {
        Thread thread = new Thread(() -> {
            try {
                body.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private void closeAll() {
        while (true) {
            Completion done;
            synchronized (open) {
                if (open.isEmpty()) {
                    return;
                }
                done = open.remove(open.size() - 1);
            }
            try {
                done.complete();
            } catch (IllegalStateException e) {
                // It has been completed near the end of the stack.
            }
        }
    }

    /**
     * Each frame near the end of the stack tries every call, the deepest frame first: from frames where no call can
     * begin to frames where all calls have room.
     */
    @SuppressWarnings("InfiniteRecursion") // Recurses until the stack is exhausted.
    private int dive(long salt) {
        int above;
        try {
            above = dive(salt * 31 + 7) + 1;
        } catch (StackOverflowError e) {
            above = 0;
        }
        // The naive engine runs bodies on this stack, and they need room of their own; on other engines pushed
        // operations accumulate.
        if (above < (naive ? 400 : 120)) {
            for (int i = 0; i < 6; i++) {
                attempt(i);
            }
        }
        return above;
    }

    private void attempt(int what) {
        try {
            switch (what) {
                case 0, 1 -> push();
                case 2 -> engine.waitToRead(vars[3], Duration.ZERO);
                case 3 -> engine.stats();
                case 4 -> {
                    Completion done = null;
                    synchronized (open) {
                        if (!open.isEmpty()) {
                            done = open.get(open.size() - 1);
                        }
                    }
                    if (done != null) {
                        done.complete();
                        synchronized (open) {
                            open.remove(done);
                        }
                    }
                }
                default -> engine.snapshot();
            }
        } catch (StackOverflowError | Exception e) {
            // A stack overflow, a timeout, or the failure of a body.
        } catch (LinkageError e) {
            // A class of the JDK that was first used near the end of the stack stays unusable; the engine's own classes
            // must not.
            if (String.valueOf(e.getMessage()).contains("seriatim")) {
                throw e;
            }
        }
    }

    private void drain() throws Exception {
        CompletableFuture<Void> end = new CompletableFuture<>();
        Thread waiting = new Thread(() -> {
            try {
                try {
                    engine.waitForAll();
                } catch (OperationFailedException e) {
                    // Bodies failed, as intended.
                }
                end.complete(null);
            } catch (Throwable t) {
                end.completeExceptionally(t);
            }
        });
        waiting.setDaemon(true);
        waiting.start();
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        for (int looks = 0; !end.isDone(); looks++) {
            closeAll();
            // Where other processes have the machine, time alone says nothing.
            if (looks > LOOKS && System.nanoTime() - until > 0) {
                throw new IllegalStateException("waitForAll hangs: " + engine.stats() + " " + engine.snapshot()
                        + Thread.getAllStackTraces().entrySet().stream()
                                .map(e -> "\n" + e.getKey() + " " + Arrays.toString(e.getValue())).toList());
            }
            LockSupport.parkNanos(100_000);
        }
        end.get();
    }

    private void check() throws Exception {
        drain();
        long pushed = 0;
        for (int i = 0; i < next; i++) {
            int s = seen.get(i);
            if ((s & 1) == 1 && s != 3) {
                throw new IllegalStateException("operation " + i + " was pushed and ran " + s / 2 + " times");
            }
            if (s > 3) {
                throw new IllegalStateException("operation " + i + " ran " + s / 2 + " times");
            }
            pushed += s & 1;
        }
        if (engine.stats().pending() != 0) {
            throw new IllegalStateException("pending: " + engine.stats());
        }
        Var v = engine.newVar("v");
        int[] sum = new int[1];
        for (int i = 0; i < 1_000; i++) {
            engine.op("afterwards").mutates(v).push(() -> sum[0]++);
        }
        drain();
        if (sum[0] != 1_000) {
            throw new IllegalStateException("ran " + sum[0] + " of 1000 afterwards");
        }
        engine.close();
        System.out.println("pushed " + pushed + " of " + next);
    }
}
