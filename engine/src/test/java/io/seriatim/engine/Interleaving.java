package io.seriatim.engine;

import com.google.errorprone.annotations.FormatMethod;
import io.seriatim.engine.SmallProgram.Access;
import io.seriatim.engine.SmallProgram.Kind;
import io.seriatim.engine.SmallProgram.WaitFor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * One interleaving of a {@link SmallProgram}: drives the engine's own log, tracker, waits and life cycle, step by step
 * on one thread, where each step is what a thread does while it holds a lock. After each step compares the engine with
 * the serial program, whose order is that of the pushes.
 */
final class Interleaving {
    /** A deliberate mistake, each of which stands for a mistake in the engine. */
    enum Mistake {
        NONE,
        /** The engine does not know that an operation reads its first variable. */
        READ_HOLDS_NOTHING,
        /** The engine takes a mutation of the second variable for a read. */
        MUTATION_IS_SHARED,
        /** The end of an operation is reported before its body has ended. */
        ENDS_EARLY,
        /** A failure does not reach the variables. */
        FAILURE_IS_LOST,
        /** A wait begins before the operations that were pushed before it are admitted. */
        WAIT_OVERTAKES,
        /** The end of a wait is not reported. */
        WAKE_UP_IS_LOST,
        /** An engine counts as idle when all admitted operations have ended. */
        IDLE_TOO_EARLY,
        /** A thread that abandons its wait withdraws that of another thread. */
        WAITS_ARE_CONFUSED,
        /** A push by a body counts as one from outside. */
        NESTED_COUNTS_AS_OUTER
    }

    /** One operation of the program: its expected outcome, and how far it has got. */
    private static final class Pushed {
        final int index;
        final SmallProgram.Op op;
        final Operation operation;
        final OpFuture<Void> future;
        /** The values of the variables when the serial program runs it. */
        int[] expected = {};
        boolean skipped;
        boolean started;
        boolean bodyEnded;

        Pushed(int index, SmallProgram.Op op, Operation operation, OpFuture<Void> future) {
            this.index = index;
            this.op = op;
            this.operation = operation;
            this.future = future;
        }

        boolean ended() {
            return operation.has(Operation.ENDED);
        }

        boolean isRunning() {
            return started && !bodyEnded;
        }

        boolean fails() {
            return op.kind() == Kind.FAILS;
        }
    }

    /** A wait of another thread, and how far it has got. */
    private static final class Waiting {
        final int number;
        final WaitFor what;
        final Waiter waiter = new Waiter();
        @Nullable
        Operation probe;
        @Nullable
        Drain drain;
        List<Pushed> awaited = List.of();
        boolean begun;
        boolean abandoned;
        boolean poisonAtWait;
        boolean wasDone;
        boolean wasIdle;

        Waiting(int number, WaitFor what) {
            this.number = number;
            this.what = what;
        }
    }

    private final SmallProgram program;
    private final Mistake mistake;
    private final EngineCore core;
    private final ManualDispatcher dispatcher;
    private final Variable[] vars;
    private final List<Pushed> pushed = new ArrayList<>();
    /** The values that the bodies read and write. */
    private final int[] memory;
    /** The values of the serial program. */
    private final int[] serial;
    private final boolean[] poisoned;
    private final boolean[] deleted;
    private final long[] mutations;
    private final int[] next;
    private final List<String> trace = new ArrayList<>();

    private final List<Waiting> waits = new ArrayList<>();
    private final Waiter closer = new Waiter();
    /** Whether a wait has thrown the failures so far. */
    private boolean thrown;
    private boolean nestedPushed;
    private boolean closed;

    Interleaving(SmallProgram program, Mistake mistake) {
        this.program = program;
        this.mistake = mistake;
        Rules rules = mistake != Mistake.IDLE_TOO_EARLY ? new Rules() : new Rules() {
            @Override
            boolean isIdle(long pushes, long completed, long admitted) {
                return admitted == completed;
            }
        };
        Settings settings = new Settings("small", false, EngineCore.SMALL, null, t -> {
        }, rules, 0, 0);
        core = new EngineCore(settings, ManualDispatcher::new);
        dispatcher = (ManualDispatcher) core.dispatcher;
        int count = program.variables();
        vars = new Variable[count];
        Arrays.setAll(vars, v -> new Variable(core, "v" + v));
        memory = new int[count];
        serial = new int[count];
        poisoned = new boolean[count];
        deleted = new boolean[count];
        mutations = new long[count];
        next = new int[]{0, program.second()};
        for (WaitFor what : program.waits()) {
            waits.add(new Waiting(waits.size(), what));
        }
    }

    /**
     * Performs one interleaving to its end.
     *
     * @param choices
     *            chooses one of a number of possible steps
     */
    void run(IntUnaryOperator choices) {
        while (true) {
            List<Runnable> steps = steps();
            if (steps.isEmpty()) {
                checkEnd();
                return;
            }
            steps.get(choices.applyAsInt(steps.size())).run();
            checkStep();
        }
    }

    private List<Runnable> steps() {
        List<Runnable> steps = new ArrayList<>();
        for (int p = 0; p < program.pushers(); p++) {
            int pusher = p;
            if (next[p] < (p == 0 ? program.second() : program.outer())) {
                steps.add(() -> push(next[pusher]++, null));
            }
        }
        if (!dispatcher.ready.isEmpty() || core.logReader.hasUnadmitted()) {
            steps.add(this::take);
        }
        if (pushed.stream().anyMatch(this::mayBeAdmittedEarly)) {
            steps.add(this::admitEarly);
        }
        for (Pushed p : pushed) {
            if (p.isRunning() && p.index == program.parent() && !nestedPushed) {
                steps.add(() -> pushNested(p));
            } else if (p.isRunning()) {
                steps.add(() -> end(p));
            }
        }
        for (Waiting w : waits) {
            if (!w.begun && !deleted[0]) {
                steps.add(() -> beginWait(w));
            }
            if (program.abandons() && w.begun && !w.abandoned && !w.waiter.done) {
                steps.add(() -> abandon(w));
            }
        }
        if (program.closes() && !closed) {
            steps.add(this::close);
        }
        return steps;
    }

    /** Returns whether an operation was ready when it was pushed, and stands in the log behind another one. */
    private boolean mayBeAdmittedEarly(Pushed p) {
        return p.operation.order > core.counts.position && p.operation.has(Operation.READY_AT_PUSH)
                && !p.operation.has(Operation.TAKEN_EARLY);
    }

    // --- steps

    private void pushNested(Pushed parent) {
        nestedPushed = true;
        ThreadState state = ThreadState.here();
        state.running = mistake == Mistake.NESTED_COUNTS_AS_OUTER ? null : parent.operation;
        push(program.ops().size() - 1, parent);
        state.running = null;
    }

    private void push(int index, @Nullable Pushed parent) {
        SmallProgram.Op op = program.ops().get(index);
        trace.add("push " + index);
        Operation operation = new Operation(core, "op" + index);
        for (int v = 0; v < vars.length; v++) {
            declare(operation, op.accesses().get(v), v);
        }
        if (op.kind() == Kind.EVEN_IF_FAILED) {
            operation.evenIfFailed();
        } else if (op.kind() == Kind.DELETES) {
            operation.kind(OpKind.DELETE);
        }
        OpFuture<Void> future = new OpFuture<>(operation);
        operation.attachment = future;
        operation.seal(TestSupport.nothing());
        if (op.kind() == Kind.DELETES) {
            operation.flags |= Operation.DELETES;
        }
        boolean allowed = !closed || parent != null;
        for (int v = 0; v < vars.length; v++) {
            allowed &= !op.uses(v) || !deleted[v];
        }
        boolean accepted = true;
        try {
            core.pushes.push(operation);
        } catch (IllegalStateException e) {
            accepted = false;
        }
        require(accepted == allowed, "the push is %s", accepted ? "accepted" : "refused");
        if (accepted) {
            Pushed p = new Pushed(index, op, operation, future);
            pushed.add(p);
            runSerially(p);
        }
    }

    private void declare(Operation operation, Access access, int v) {
        if (access == Access.READS) {
            if (mistake != Mistake.READ_HOLDS_NOTHING || v > 0) {
                operation.reads(vars[v]);
            }
        } else if (access == Access.MUTATES) {
            if (mistake == Mistake.MUTATION_IS_SHARED && v == 1) {
                operation.reads(vars[v]);
            } else {
                operation.mutates(vars[v]);
            }
        } else if (access == Access.OVERWRITES) {
            operation.overwrites(vars[v]);
        }
    }

    /** Runs an operation in the serial program, where it follows all operations that were pushed before. */
    private void runSerially(Pushed p) {
        p.expected = serial.clone();
        Kind kind = p.op.kind();
        boolean inputFailed = false;
        for (int v = 0; v < vars.length; v++) {
            inputFailed |= poisoned[v] && p.op.uses(v) && p.op.accesses().get(v) != Access.OVERWRITES;
        }
        p.skipped = inputFailed && kind != Kind.EVEN_IF_FAILED && kind != Kind.DELETES;
        for (int v = 0; v < vars.length; v++) {
            if (!p.op.changes(v)) {
                continue;
            }
            mutations[v]++;
            if (!p.skipped) {
                serial[v] = written(p);
            }
            if (kind == Kind.DELETES) {
                deleted[v] = true;
            } else if (p.skipped || p.fails()) {
                poisoned[v] = true;
            } else if (p.op.accesses().get(v) == Access.OVERWRITES) {
                poisoned[v] = false;
            }
        }
    }

    /** What the body writes: a value that names it, and another one before it fails. */
    private static int written(Pushed p) {
        return p.fails() ? -1 - p.index : 1 + p.index;
    }

    private void take() {
        core.lock.enter();
        Operation op = core.logReader.next(dispatcher.ready, 0, false);
        if (op != null) {
            core.execution.starts(op);
        }
        core.lock.leave();
        if (op == null) {
            trace.add("admit the log");
            return;
        }
        Pushed p = pushed.stream().filter(candidate -> candidate.operation.name.equals(op.name)).findFirst()
                .orElseThrow();
        trace.add("take " + p.index);
        require(!p.started, "operation %s starts twice", p.index);
        require(!p.skipped, "operation %s starts, although an input has failed", p.index);
        p.started = true;
        for (Pushed other : pushed) {
            require(other == p || !other.isRunning() || !other.op.conflicts(p.op), "operations %s and %s run at once",
                    other.index, p.index);
        }
        checkSeen(p);
        if (mistake == Mistake.ENDS_EARLY) {
            report(p);
        }
    }

    private void checkSeen(Pushed p) {
        for (int v = 0; v < vars.length; v++) {
            if (p.op.uses(v)) {
                require(memory[v] == p.expected[v], "operation %s sees %s in variable %s, the serial program %s",
                        p.index, memory[v], v, p.expected[v]);
            }
        }
    }

    /** Does what a worker does that has run many operations from a chain: admits one that was ready at its push. */
    private void admitEarly() {
        trace.add("admit early");
        ReadyQueue atHand = new ReadyQueue(0);
        atHand.add(new Operation(core, "at hand"));
        core.lock.enter();
        core.logReader.next(atHand, LogReader.MAX_OVERTAKEN, false);
        core.lock.leave();
    }

    private void end(Pushed p) {
        trace.add("end " + p.index);
        checkSeen(p);
        for (int v = 0; v < vars.length; v++) {
            if (p.op.changes(v)) {
                memory[v] = written(p);
            }
        }
        p.bodyEnded = true;
        if (mistake != Mistake.ENDS_EARLY) {
            report(p);
        }
    }

    private void report(Pushed p) {
        boolean fails = p.fails() && mistake != Mistake.FAILURE_IS_LOST;
        core.lock.enter();
        core.execution.ran(p.operation, fails ? new Planted("planted") : null);
        core.lock.leave();
    }

    private void beginWait(Waiting w) {
        trace.add("wait " + w.number);
        w.begun = true;
        w.poisonAtWait = poisoned[0];
        w.awaited = pushed.stream().filter(p -> switch (w.what) {
            case MUTATIONS -> p.op.changes(0);
            case OPERATIONS -> p.op.uses(0);
            default -> true;
        }).toList();
        core.lock.enter();
        switch (w.what) {
            case MUTATIONS -> {
                Operation op = new Operation(core, "waitToRead");
                op.flags = Operation.PROBE | Operation.IMMEDIATE | Operation.SILENT | Operation.EVEN_IF_FAILED;
                op.reads(vars[0]);
                op.attachment = w.waiter;
                op.next = new Operation[1];
                w.probe = op;
                begin(() -> core.admit(op));
                if (mistake == Mistake.WAKE_UP_IS_LOST && !w.waiter.done) {
                    core.withdraw(op);
                }
            }
            case OPERATIONS -> {
                Drain d = new Drain(vars[0], w.waiter);
                w.drain = d;
                begin(() -> core.drain(d));
            }
            case ALL -> begin(() -> core.epochs.await(w.waiter, new Epoch()));
            case IDLE -> {
                if (core.life.addIdler(w.waiter)) {
                    w.waiter.done = true;
                }
            }
        }
        core.lock.leave();
    }

    private void begin(Runnable action) {
        if (mistake == Mistake.WAIT_OVERTAKES) {
            action.run();
            core.execution.settle();
        } else {
            LogReader.Cut cut = core.logReader.whenAdmitted(action);
            require(cut == null, "a short log is admitted at once");
        }
    }

    private void abandon(Waiting w) {
        trace.add("abandon " + w.number);
        w.abandoned = true;
        Waiting withdrawn = mistake == Mistake.WAITS_ARE_CONFUSED ? waits.get(waits.size() - 1 - w.number) : w;
        core.lock.enter();
        if (withdrawn.probe != null) {
            core.withdraw(withdrawn.probe);
        } else if (withdrawn.drain != null) {
            core.withdraw(withdrawn.drain);
        } else if (withdrawn.what == WaitFor.ALL) {
            core.epochs.withdraw(withdrawn.waiter);
        } else {
            core.life.removeIdler(withdrawn.waiter);
        }
        core.lock.leave();
    }

    private void close() {
        trace.add("close");
        closed = true;
        core.lock.enter();
        core.life.drain();
        if (core.life.addCloser(closer)) {
            closer.done = true;
        }
        core.lock.leave();
    }

    // --- checks

    private void checkStep() {
        boolean idle = pushed.stream().allMatch(Pushed::ended);
        if (!core.logReader.hasUnadmitted()) {
            checkReady();
        }
        for (Waiting w : waits) {
            w.wasIdle = w.begun && (w.wasIdle || idle);
            if (w.begun && !w.abandoned && !w.wasDone) {
                boolean over = w.what == WaitFor.IDLE ? w.wasIdle : w.awaited.stream().allMatch(Pushed::ended);
                require(w.waiter.done == over, "wait %s ends too %s", w.number, over ? "late" : "early");
                w.wasDone = w.waiter.done;
                if (w.wasDone) {
                    checkFailureOfWait(w);
                }
            }
        }
        require(core.life.isTerminated() == (closed && idle), "the engine has wrongly terminated, or not");
        require(closer.done == (closed && idle), "close has wrongly returned, or not");
    }

    /** E1 and E2 in both directions: an operation is ready as soon as no conflicting one before it is pending. */
    private void checkReady() {
        for (int i = 0; i < pushed.size(); i++) {
            Pushed p = pushed.get(i);
            boolean free = pushed.subList(0, i).stream().noneMatch(q -> !q.ended() && q.op.conflicts(p.op));
            boolean out = p.started || p.operation.waiting == 0;
            require(free == out, "operation %s%s", p.index, free ? " is not ready" : " is ready too early");
            require(!free || !p.skipped || p.ended(), "operation %s is not skipped at once", p.index);
        }
    }

    private void checkFailureOfWait(Waiting w) {
        if (w.what == WaitFor.MUTATIONS) {
            require((w.waiter.failure != null) == w.poisonAtWait, "the wait wrongly sees a failure, or not");
        } else if (w.what == WaitFor.ALL) {
            core.lock.enter();
            boolean failed = core.epochs.failures().take() != null;
            core.lock.leave();
            boolean awaited = w.awaited.stream().anyMatch(Interleaving::hasFailed);
            // Another wait may have thrown the failures already.
            boolean expected = awaited && !thrown;
            // An idle engine that closes passes all failures on, so one of a later operation may be thrown too.
            boolean allowed = awaited || (closed && pushed.stream().anyMatch(Interleaving::hasFailed));
            require(failed ? allowed : !expected, "waitForAll wrongly throws, or not: %s", failed);
            thrown |= failed;
        }
    }

    private static boolean hasFailed(Pushed p) {
        return p.fails() && !p.skipped && p.ended();
    }

    private void checkEnd() {
        require(core.broken == null, "the engine is broken: %s", String.valueOf(core.broken));
        for (Pushed p : pushed) {
            require(p.ended(), "operation %s never ends", p.index);
            require(p.operation.has(Operation.SKIPPED) == p.skipped && p.started == !p.skipped,
                    "operation %s is wrongly skipped, or not", p.index);
            require(p.future.isDone() && p.future.isCompletedExceptionally() == (p.skipped || p.fails()),
                    "the future of operation %s is %s", p.index, p.future);
        }
        for (int v = 0; v < vars.length; v++) {
            require(memory[v] == serial[v], "variable %s ends as %s, in the serial program as %s", v, memory[v],
                    serial[v]);
            require((vars[v].failure() != null) == poisoned[v], "variable %s is wrongly poisoned, or not", v);
            require(vars[v].version() == mutations[v], "variable %s has version %s", v, vars[v].version());
        }
        require(dispatcher.isTerminated() == closed, "the threads of the engine wrongly end, or not");
    }

    @FormatMethod
    private void require(boolean holds, String violated, Object... details) {
        if (!holds) {
            throw new AssertionError(violated.formatted(details) + " after " + trace + " of " + program);
        }
    }
}
