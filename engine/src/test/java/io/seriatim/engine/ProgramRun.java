package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Runs a random program on an engine and compares every observable result with the oracle's. */
final class ProgramRun {
    private static final int WRITER = 1 << 20;
    private static final int SUPPRESSED = 16;
    /** The number of variables that only nested operations use. */
    private static final int NESTED = 16;
    /** One step in so many pushes an operation inside its body; every second of those pushes another one in turn. */
    private static final int NESTING = 4;

    /** What happens beside the steps of the program. */
    enum Extra {
        NOTHING,
        /** Bodies push operations. */
        NESTED_PUSHES,
        /** Bodies push operations, and the engine is closed while operations are pending. */
        NESTED_PUSHES_AND_CLOSE
    }

    /** The value of a variable, in plain fields, so that a missing dependency becomes visible. */
    private static final class Cell {
        final Var var;
        long value;
        /** The number of current readers, or {@link #WRITER}. */
        final AtomicInteger users = new AtomicInteger();
        final AtomicInteger deletions = new AtomicInteger();

        Cell(Var var) {
            this.var = var;
        }
    }

    private final Engine engine;
    private final RandomProgram program;
    private final Extra extra;
    private final SerialOracle expected;
    private final Cell[] cells = new Cell[RandomProgram.SLOTS];
    private final Cell[] nested = new Cell[NESTED];
    private final List<Cell> deleted = new ArrayList<>();
    private final AtomicIntegerArray runs;
    private final Map<Integer, CompletableFuture<?>> futures = new HashMap<>();
    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();

    ProgramRun(Engine engine, RandomProgram program) {
        this(engine, program, Extra.NOTHING);
    }

    ProgramRun(Engine engine, RandomProgram program, Extra extra) {
        this.engine = engine;
        this.program = program;
        this.extra = extra;
        expected = new SerialOracle(program, SerialOracle.Mistake.NONE);
        runs = new AtomicIntegerArray(program.steps.size());
    }

    /** Runs the program and compares the results. */
    void check() throws Exception {
        try {
            Arrays.setAll(cells, slot -> new Cell(engine.newVar("slot" + slot)));
            Arrays.setAll(nested, slot -> new Cell(engine.newVar("nested" + slot)));
            for (int at = 0; at < program.steps.size(); at++) {
                step(at, program.steps.get(at));
            }
            if (extra == Extra.NESTED_PUSHES_AND_CLOSE) {
                engine.close();
            } else {
                compareFailures();
            }
            compareCounts();
            compareSteps();
            compareCells();
            compareNested();
            assertTrue(wrong.isEmpty(), () -> wrong.size() + " accesses that were not excluded: " + wrong.peek());
        } catch (AssertionError e) {
            throw new AssertionError("program of seed " + program.seed + ": " + e.getMessage(), e);
        }
    }

    private void step(int at, RandomProgram.Step step) throws InterruptedException {
        if (step.what() == RandomProgram.What.OPERATION) {
            push(at, step);
            return;
        }
        int slot = step.mutates()[0];
        Cell cell = cells[slot];
        switch (step.what()) {
            case CLEAR -> engine.clearFailure(cell.var);
            case WAIT_TO_READ -> assertPoison(expected.met.get(at), waited(cell), "the wait of step " + at);
            default -> {
                deleted.add(cell);
                engine.delete(cell.var, () -> {
                    enter(cell, WRITER);
                    cell.deletions.incrementAndGet();
                    cell.users.addAndGet(-WRITER);
                });
                cells[slot] = new Cell(engine.newVar("slot" + slot));
            }
        }
    }

    private void push(int at, RandomProgram.Step step) {
        Cell[] reads = cellsOf(step.reads());
        Cell[] mutates = cellsOf(step.mutates());
        Cell[] overwrites = cellsOf(step.overwrites());
        OpBuilder op = engine.op(RandomProgram.name(at)).reads(varsOf(reads)).mutates(varsOf(mutates))
                .overwrites(varsOf(overwrites))
                .on(step.lane()).kind(step.kind()).priority(step.priority());
        if (at % 3 == 0) {
            // Naming a variable again has no effect.
            op.reads(varsOf(reads)).reads(varsOf(mutates)).mutates(varsOf(mutates));
        }
        if (step.evenIfFailed()) {
            op.evenIfFailed();
        }
        boolean nests = nests(at, step);
        Body body = () -> {
            if (nests) {
                pushNested(at, at % (2 * NESTING) == 0);
            }
            run(at, reads, mutates, overwrites);
            if (step.fails()) {
                throw new Planted(RandomProgram.name(at));
            }
        };
        switch (step.how()) {
            case PUSH -> op.push(body);
            case SUBMIT -> futures.put(at, op.submit(body));
            case CALL -> futures.put(at, op.call(() -> {
                body.run();
                return at;
            }));
            case PREPARED -> {
                PreparedOp prepared = op.prepare(body);
                prepared.push();
                prepared.delete();
            }
            case ASYNC_AT_ONCE -> op.pushAsync(done -> complete(done, body));
            case ASYNC_ELSEWHERE -> op.pushAsync(done -> ForkJoinPool.commonPool().execute(() -> complete(done, body)));
        }
    }

    /** Returns whether a body pushes: one on another thread would be refused once the engine closes. */
    private boolean nests(int at, RandomProgram.Step step) {
        return extra != Extra.NOTHING && at % NESTING == 0 && step.what() == RandomProgram.What.OPERATION
                && step.how() != RandomProgram.How.ASYNC_ELSEWHERE;
    }

    /**
     * Pushes an operation that adds to a variable, so that the sum does not depend on the order of nested pushes.
     *
     * @param again
     *            whether that operation pushes another one
     */
    private void pushNested(int at, boolean again) {
        Cell cell = nested[nestedSlot(at, again)];
        engine.op("nested in op" + at).mutates(cell.var).push(() -> {
            enter(cell, WRITER);
            cell.value += at;
            cell.users.addAndGet(-WRITER);
            if (again) {
                pushNested(at, false);
            }
        });
    }

    private static int nestedSlot(int at, boolean again) {
        return (at / NESTING + (again ? 1 : 0)) % NESTED;
    }

    private static void complete(Completion done, Body body) {
        try {
            body.run();
        } catch (Throwable t) {
            done.fail(t);
            return;
        }
        done.complete();
    }

    private void run(int at, Cell[] reads, Cell[] mutates, Cell[] overwrites) {
        runs.incrementAndGet(at);
        for (Cell cell : reads) {
            enter(cell, 1);
        }
        for (Cell cell : mutates) {
            enter(cell, WRITER);
        }
        for (Cell cell : overwrites) {
            enter(cell, WRITER);
        }
        long[] mutated = valuesOf(mutates);
        long[] overwritten = new long[overwrites.length];
        RandomProgram.compute(at, valuesOf(reads), mutated, overwritten);
        for (int i = 0; i < mutates.length; i++) {
            mutates[i].value = mutated[i];
            mutates[i].users.addAndGet(-WRITER);
        }
        for (int i = 0; i < overwrites.length; i++) {
            overwrites[i].value = overwritten[i];
            overwrites[i].users.addAndGet(-WRITER);
        }
        for (Cell cell : reads) {
            cell.users.decrementAndGet();
        }
    }

    private void enter(Cell cell, int as) {
        int now = cell.users.addAndGet(as);
        if (now > WRITER || (as == WRITER && now != WRITER)) {
            wrong.add(cell.var + " with " + now);
        }
    }

    private Cell[] cellsOf(int[] slots) {
        return IntStream.of(slots).mapToObj(slot -> cells[slot]).toArray(Cell[]::new);
    }

    private static Var[] varsOf(Cell[] cells) {
        return Arrays.stream(cells).map(cell -> cell.var).toArray(Var[]::new);
    }

    private static long[] valuesOf(Cell[] cells) {
        return Arrays.stream(cells).mapToLong(cell -> cell.value).toArray();
    }

    private @Nullable OperationFailedException waited(Cell cell) throws InterruptedException {
        try {
            engine.waitToRead(cell.var);
            return null;
        } catch (OperationFailedException e) {
            return e;
        }
    }

    private static void assertPoison(Set<String> poison, @Nullable OperationFailedException thrown, String what) {
        if (thrown == null) {
            assertEquals(Set.of(), poison, what + " met no failure");
        } else {
            assertTrue(poison.contains(thrown.operation()),
                    () -> what + " met " + thrown.operation() + ", not one of " + poison);
            Throwable cause = thrown.getCause();
            assertNotNull(cause);
            assertEquals(thrown.operation(), cause.getMessage(), "the cause is what that operation threw");
        }
    }

    private void compareFailures() throws InterruptedException {
        long failed = expected.count(SerialOracle.Outcome.FAILED);
        OperationFailedException thrown = null;
        try {
            if (extra == Extra.NOTHING) {
                engine.waitForAll();
            } else {
                engine.waitUntilIdle();
            }
        } catch (OperationFailedException e) {
            thrown = e;
        }
        if (thrown == null) {
            assertEquals(0, failed, "waitForAll threw nothing");
        } else {
            Throwable[] others = thrown.getSuppressed();
            assertEquals(Math.min(failed - 1, SUPPRESSED + 1), others.length, "suppressed");
            if (failed - 1 > SUPPRESSED) {
                TestSupport.assertMentions(others[SUPPRESSED], failed - 1 - SUPPRESSED);
            }
        }
        engine.waitForAll();
    }

    private void compareCounts() {
        EngineStats stats = engine.stats();
        assertEquals(expected.count(SerialOracle.Outcome.FAILED), stats.failed(), "failed operations");
        assertEquals(expected.count(SerialOracle.Outcome.SKIPPED), stats.skipped(), "skipped operations");
    }

    private void compareNested() throws InterruptedException {
        long[] sums = new long[NESTED];
        long[] versions = new long[NESTED];
        for (int at = 0; at < program.steps.size(); at++) {
            if (nests(at, program.steps.get(at)) && expected.outcomes[at] != SerialOracle.Outcome.SKIPPED) {
                boolean twice = at % (2 * NESTING) == 0;
                sums[nestedSlot(at, twice)] += at;
                versions[nestedSlot(at, twice)]++;
                if (twice) {
                    sums[nestedSlot(at, false)] += at;
                    versions[nestedSlot(at, false)]++;
                }
            }
        }
        for (int slot = 0; slot < NESTED; slot++) {
            engine.waitToRead(nested[slot].var);
            assertEquals(sums[slot], nested[slot].value, "sum of nested operations " + slot);
            assertEquals(versions[slot], nested[slot].var.version(), "number of nested operations " + slot);
        }
    }

    private void compareSteps() throws Exception {
        for (int at = 0; at < program.steps.size(); at++) {
            if (program.steps.get(at).what() == RandomProgram.What.OPERATION) {
                SerialOracle.Outcome outcome = expected.outcomes[at];
                assertEquals(outcome == SerialOracle.Outcome.SKIPPED ? 0 : 1, runs.get(at),
                        RandomProgram.name(at) + " runs");
                CompletableFuture<?> future = futures.get(at);
                if (future != null) {
                    assertEquals(outcome, outcomeOf(future), "the future of " + RandomProgram.name(at));
                }
            }
        }
    }

    private static SerialOracle.Outcome outcomeOf(CompletableFuture<?> future) throws InterruptedException {
        try {
            future.get();
            return SerialOracle.Outcome.COMPLETED;
        } catch (ExecutionException e) {
            return e.getCause() instanceof Planted ? SerialOracle.Outcome.FAILED : SerialOracle.Outcome.SKIPPED;
        }
    }

    private void compareCells() throws InterruptedException {
        for (int slot = 0; slot < cells.length; slot++) {
            SerialOracle.Final end = expected.finals.get(slot);
            assertEquals(end.value(), cells[slot].value, "value of slot " + slot);
            assertEquals(end.version(), cells[slot].var.version(), "version of slot " + slot);
            assertPoison(end.poison(), waited(cells[slot]), "slot " + slot);
        }
        assertEquals(expected.deleted.size(), deleted.size());
        for (int i = 0; i < deleted.size(); i++) {
            assertEquals(1, deleted.get(i).deletions.get(), "deletions of variable " + i);
            assertEquals(expected.deleted.get(i).value(), deleted.get(i).value, "last value of deleted variable " + i);
            assertNull(expected.deleted.get(i).poison().isEmpty() ? engine.failure(deleted.get(i).var) : null,
                    "failure of " + i);
        }
    }
}
