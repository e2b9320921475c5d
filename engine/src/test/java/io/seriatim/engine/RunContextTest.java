package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The context of a running operation, and the state of its worker. */
@EveryEngine
class RunContextTest extends EngineContract {
    private static final Lane CUDA = Lane.of("cuda:0");

    private final AtomicInteger made = new AtomicInteger();
    private final List<String> closed = Collections.synchronizedList(new ArrayList<>());

    /** Represents a stream of an accelerator. */
    private final class Stream implements AutoCloseable {
        final Thread maker = Thread.currentThread();

        Stream() {
            made.incrementAndGet();
        }

        @Override
        public void close() {
            closed.add("stream");
        }
    }

    /** A second type of state. */
    private final class Handle implements AutoCloseable {
        @Override
        public void close() {
            closed.add("handle");
            throw new Planted("close");
        }
    }

    @Test
    void outsideAnOperationThereIsNone() {
        TestSupport.assertThrowsMentioning(IllegalStateException.class, RunContext::current, "outside an operation");
    }

    @Test
    void laneAndWorker() throws Exception {
        Engine engine = open();
        RunContext context = engine.op("op").on(CUDA).call(() -> {
            assertEquals(CUDA, RunContext.current().lane());
            assertTrue(RunContext.current().worker() >= 0);
            return RunContext.current();
        }).get();
        assertEquals(CUDA, context.lane());
    }

    @Test
    void theStateIsMadeAtItsFirstUseAndClosedWithItsWorker() throws Exception {
        Engine engine = open(builder -> builder.workerState(CUDA, Stream::new));
        engine.op("does not ask").on(CUDA).submit(TestSupport.nothing()).get();
        assertEquals(0, made.get());
        List<Stream> streams = new ArrayList<>();
        Var v = engine.newVar("v");
        for (int i = 0; i < 100; i++) {
            engine.op("asks").mutates(v).on(CUDA).push(() -> {
                Stream stream = RunContext.current().state(Stream.class);
                assertSame(stream, RunContext.current().state(AutoCloseable.class));
                if (kind.hasWorkers()) {
                    assertSame(Thread.currentThread(), stream.maker);
                }
                streams.add(stream);
            });
        }
        engine.waitToRead(v);
        Set<Stream> different = streams.stream().collect(Collectors.toSet());
        assertEquals(made.get(), different.size());
        assertTrue(closed.isEmpty());
        engine.close();
        assertEquals(Collections.nCopies(made.get(), "stream"), closed);
    }

    @Test
    void severalStatesAreClosedInTurnEvenIfOneThrows() throws Exception {
        Engine engine = open(builder -> builder.workerState(Lane.CPU, Stream::new).workerState(Lane.CPU, Handle::new));
        engine.op("asks").submit(() -> {
            Handle handle = RunContext.current().state(Handle.class);
            Stream stream = RunContext.current().state(Stream.class);
            assertNotSame(handle, stream);
        }).get();
        engine.close();
        assertEquals(List.of("handle", "stream"), closed);
        assertEquals(1, unhandled(engine).size());
        TestSupport.assertMentions(unhandled(engine).element(), "close");
    }

    @Test
    void aMissingStateIsNamed() throws Exception {
        Engine engine = open(builder -> builder.workerState(CUDA, Stream::new));
        engine.op("asker").on(CUDA).submit(() -> TestSupport.assertThrowsMentioning(IllegalStateException.class,
                () -> RunContext.current().state(StringBuilder.class).setLength(0), "asker", "cuda:0", "StringBuilder"))
                .get();
        if (kind != EngineUnderTest.POOLED_1 && kind != EngineUnderTest.POOLED_2 && kind != EngineUnderTest.POOLED_4) {
            engine.op("elsewhere").submit(() -> TestSupport.assertThrowsMentioning(IllegalStateException.class,
                    () -> RunContext.current().state(Stream.class).close(), "elsewhere", "cpu", "Stream")).get();
        }
    }

    @Test
    void aSupplierThatThrowsFailsTheOperationAndIsAskedAgain() throws Exception {
        AtomicInteger tries = new AtomicInteger();
        Engine engine = open(builder -> builder.workerState(CUDA, () -> {
            if (tries.incrementAndGet() == 1) {
                throw new Planted("supplier");
            }
            return new Stream();
        }));
        Var v = engine.newVar("v");
        engine.op("first").mutates(v).on(CUDA).push(() -> assertNotNull(RunContext.current().state(Stream.class)));
        engine.waitToWrite(v);
        Throwable failure = engine.failure(v);
        assertTrue(failure != null && failure.getCause() instanceof Planted, () -> "" + failure);
        engine.op("second").overwrites(v).on(CUDA).push(() -> assertNotNull(RunContext.current().state(Stream.class)));
        TestSupport.assertHealthy(engine, v);
    }

    @Test
    void aWorkerThatWaitsKeepsItsStateToItself() throws Exception {
        Engine engine = open(builder -> builder.workerState(Lane.CPU, Stream::new));
        CompletableFuture<Void> outer = engine.op("outer").submit(() -> {
            Stream mine = RunContext.current().state(Stream.class);
            Stream others = engine.op("inner").call(() -> RunContext.current().state(Stream.class)).get();
            assertSame(mine, RunContext.current().state(Stream.class));
            if (kind.hasWorkers()) {
                assertNotSame(mine, others, "a spare worker has a state of its own");
            }
        });
        outer.get();
        engine.close();
        assertEquals(made.get(), closed.size());
    }

    /** A supplier may take long or use the engine; states that were created before are available meanwhile. */
    @Test
    void aSupplierIsCalledWithoutALock() throws Exception {
        CountDownLatch making = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        WorkerStates states = new WorkerStates(List.of(Stream::new, () -> {
            making.countDown();
            try {
                released.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return new Handle();
        }));
        Operation op = (Operation) open().op("asks");
        Stream stream = states.get(Stream.class, op);
        FutureTask<Handle> first = new FutureTask<>(() -> states.get(Handle.class, op));
        FutureTask<Handle> second = new FutureTask<>(() -> states.get(Handle.class, op));
        new Thread(first).start();
        making.await();
        new Thread(second).start();
        assertSame(stream, states.get(Stream.class, op));
        released.countDown();
        assertSame(first.get(), second.get());
    }

    @Test
    void aSupplierThatAsksForItsOwnStateIsRefused() throws Exception {
        Engine engine = open(builder -> builder.workerState(CUDA, () -> RunContext.current().state(Stream.class)));
        Var v = engine.newVar("v");
        engine.op("asker").mutates(v).on(CUDA).push(() -> assertNotNull(RunContext.current().state(Stream.class)));
        engine.waitToWrite(v);
        Throwable failure = engine.failure(v);
        assertTrue(failure != null, "it fails");
        TestSupport.assertMentions(failure, "asker", "Stream", "inside of a supplier");
    }
}
