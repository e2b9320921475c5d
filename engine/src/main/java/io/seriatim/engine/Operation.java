package io.seriatim.engine;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One operation. It is its own builder until it is pushed, and a node of the tracker afterwards. Pushing threads
 * allocate everything that the tracker needs, so that the tracker allocates nothing.
 *
 * <p>
 * One array holds the variables: first those that are read, then those that are mutated, then those that are
 * overwritten. {@code next} has one link for each variable, to the following operation in the variable's queue.
 * Confined to the thread that builds it until it is pushed. Then its description is constant, and what changes is
 * guarded by the tracker lock, apart from flags that name another guard.
 */
final class Operation extends Callback implements OpBuilder {
    /** The body is an {@link AsyncBody}. */
    static final int ASYNC_BODY = 1;
    /** Runs even if a variable is poisoned. */
    static final int EVEN_IF_FAILED = 1 << 1;
    /** The recorder does not receive it. */
    static final int UNRECORDED = 1 << 2;
    /** Ends as soon as it is ready, without a body: a wait, {@code clearFailure}, or a delete without a callback. */
    static final int IMMEDIATE = 1 << 3;
    /** Is not counted as a mutation and is not shown as an operation of the user. */
    static final int SILENT = 1 << 4;
    /** Clears the failure of its variable. */
    static final int CLEARS = 1 << 5;
    /** A wait, which is not counted and has no position in the push order. */
    static final int PROBE = 1 << 6;
    /** Runs before all other operations in its lane's queue. */
    static final int URGENT = 1 << 7;
    /** The builder has been used. */
    static final int SEALED = 1 << 8;
    /** Has ended; guarded by the tracker lock. */
    static final int ENDED = 1 << 9;
    /** Deletes its variables. */
    static final int DELETES = 1 << 10;
    /** Did not run: skipped or cancelled; guarded by the tracker lock. */
    static final int SKIPPED = 1 << 11;
    /** Its body has returned without its completion having been called; guarded by the tracker lock. */
    static final int STARTED = 1 << 12;
    /**
     * No conflicting operation on its variables was pending when it was pushed; guarded by the push lock, then
     * constant.
     */
    static final int READY_AT_PUSH = 1 << 13;
    /** Was admitted before operations that were pushed earlier; guarded by the tracker lock. */
    static final int TAKEN_EARLY = 1 << 14;
    /**
     * Is sent to a lane other than the main one and is not ready yet; set under the push lock, then guarded by the
     * tracker lock.
     */
    static final int OFF_MAIN = 1 << 15;
    /**
     * A wait inside it, or inside an operation that its thread runs during a wait, has not ended; guarded by the
     * tracker lock.
     */
    static final int IN_WAIT = 1 << 16;
    /**
     * Its push failed after it had been added to the second queue of the log; guarded by the push lock, then constant.
     */
    static final int ABANDONED = 1 << 17;
    /** Its body is a {@link GraphRun}. */
    static final int GRAPH = 1 << 18;
    /** Is executed by a {@link GraphRun} and never pushed. */
    static final int MEMBER = 1 << 19;
    /** Lends its worker to a {@link GraphRun}. Has no position in the push order and is not counted. */
    static final int HELPER = 1 << 20;

    private static final Variable[] NO_VARS = {};
    private static final int SEARCHED = 16;
    private static final int NEAR = Long.BYTES;
    private static final int FAR = 0xff;

    final EngineCore core;
    final String name;
    Lane lane = Lane.CPU;
    OpKind kind = OpKind.NORMAL;
    int priority;
    int flags;
    /** The kind that the operation is counted as, or null for the default; see {@link #kind(String)}. */
    private @Nullable String group;
    @Nullable
    Object body;

    Variable[] vars = NO_VARS;
    int reads;
    int mutatesEnd;
    int count;
    /** The index of each variable, if there are too many for a linear search. */
    private @Nullable Map<Variable, Integer> places;

    // Once the operation is pushed, the tracker lock guards the following fields.
    @Nullable
    Operation[] next = {};
    /**
     * One byte for each of the first eight variables: the variable's index in the next operation of its queue. Saves a
     * search and the cache lines that it would touch.
     */
    private long nextPlaces;
    int waiting;
    long order;
    @Nullable
    WorkerLane workers;
    /**
     * The next operation in a queue of ready ones. While this operation runs, the enclosing operation on the same
     * thread.
     */
    @Nullable
    Operation link;
    int readySequence;
    @Nullable
    Epoch epoch;
    /** The future of a submitted operation, the completion of an asynchronous one, or the waiter of a wait. */
    @Nullable
    Object attachment;
    @Nullable
    Times times;

    Operation(EngineCore core, String name) {
        this.core = core;
        this.name = name;
    }

    /** Copies a prepared operation for one push. */
    Operation(Operation template) {
        this(template.core, template.name);
        lane = template.lane;
        kind = template.kind;
        group = template.group;
        priority = template.priority;
        flags = template.flags;
        body = template.body;
        vars = template.vars;
        reads = template.reads;
        mutatesEnd = template.mutatesEnd;
        count = template.count;
        places = template.places;
        next = count == 0 ? template.next : new Operation[count];
    }

    @Override
    public OpBuilder reads(Var... v) {
        open();
        grow(v.length);
        for (Var var : v) {
            Variable variable = core.own(var);
            int at = indexOf(variable);
            if (at < 0) {
                move(mutatesEnd, count++);
                move(reads, mutatesEnd++);
                put(reads++, variable);
            } else {
                mutateIfOverwritten(at, variable);
            }
        }
        return this;
    }

    @Override
    public OpBuilder mutates(Var... v) {
        open();
        grow(v.length);
        for (Var var : v) {
            Variable variable = core.own(var);
            int at = indexOf(variable);
            if (at < 0) {
                move(mutatesEnd, count++);
                put(mutatesEnd++, variable);
            } else if (at < reads) {
                mutateInsteadOfRead(at, variable);
            } else {
                mutateIfOverwritten(at, variable);
            }
        }
        return this;
    }

    @Override
    public OpBuilder overwrites(Var... v) {
        open();
        grow(v.length);
        for (Var var : v) {
            Variable variable = core.own(var);
            int at = indexOf(variable);
            if (at < 0) {
                put(count++, variable);
            } else if (at < reads) {
                mutateInsteadOfRead(at, variable);
            }
        }
        return this;
    }

    /** Turns a read into a mutation, because the operation also changes the variable. */
    private void mutateInsteadOfRead(int at, Variable variable) {
        move(--reads, at);
        put(reads, variable);
    }

    /** Turns an overwrite into a mutation, because the operation also needs the old value. */
    private void mutateIfOverwritten(int at, Variable variable) {
        if (at >= mutatesEnd) {
            move(mutatesEnd, at);
            put(mutatesEnd++, variable);
        }
    }

    private void grow(int by) {
        if (count + by > vars.length) {
            vars = Arrays.copyOf(vars, count == 0 ? by + 1 : Math.max(count + by, count * 2));
        }
    }

    private void move(int from, int to) {
        if (from != to) {
            put(to, vars[from]);
        }
    }

    private void put(int at, Variable variable) {
        vars[at] = variable;
        if (places != null) {
            places.put(variable, at);
        }
    }

    /** Returns the index of a variable, or -1. */
    int indexOf(Variable variable) {
        Map<Variable, Integer> map = places;
        if (map == null && count > SEARCHED) {
            map = new HashMap<>();
            for (int i = 0; i < count; i++) {
                map.put(vars[i], i);
            }
            places = map;
        }
        if (map != null) {
            Integer at = map.get(variable);
            return at == null ? -1 : at;
        }
        for (int i = 0; i < count; i++) {
            if (vars[i] == variable) {
                return i;
            }
        }
        return -1;
    }

    /** Sets the operation that follows in the queue of a variable, and the index of the variable in that operation. */
    void next(int place, @Nullable Operation following, int itsPlace) {
        next[place] = following;
        if (place < NEAR) {
            int shift = place * Byte.SIZE;
            nextPlaces = (nextPlaces & ~(0xffL << shift)) | (long) Math.min(itsPlace, FAR) << shift;
        }
    }

    /** Returns the index of a variable in the operation that follows in its queue. */
    int nextPlace(int place, Variable v, Operation following) {
        if (place < NEAR) {
            int known = (int) (nextPlaces >>> (place * Byte.SIZE)) & 0xff;
            if (known != FAR) {
                return known;
            }
        }
        return following.indexOf(v);
    }

    boolean has(int flag) {
        return (flags & flag) != 0;
    }

    @Override
    public OpBuilder on(Lane where) {
        open();
        lane = Objects.requireNonNull(where, "lane");
        return this;
    }

    @Override
    public OpBuilder kind(OpKind k) {
        open();
        kind = Objects.requireNonNull(k, "kind");
        return this;
    }

    @Override
    public OpBuilder kind(String k) {
        open();
        if (Objects.requireNonNull(k, "kind").isBlank()) {
            throw new IllegalArgumentException("the kind of operation '" + name
                    + "' is blank: give a text, or leave it out for the name up to its first blank");
        }
        group = k;
        return this;
    }

    /** Returns the kind that the operation is counted as: the given one, or the name up to its first blank. */
    String group() {
        String given = group;
        return given == null ? Recorder.OpRecord.groupOf(name) : given;
    }

    @Override
    public OpBuilder priority(int p) {
        open();
        priority = p;
        return this;
    }

    @Override
    public OpBuilder evenIfFailed() {
        open();
        flags |= EVEN_IF_FAILED;
        return this;
    }

    @Override
    public OpBuilder recorded(boolean on) {
        open();
        flags = on ? flags & ~UNRECORDED : flags | UNRECORDED;
        return this;
    }

    @Override
    public void push(Body work) {
        seal(work);
        core.pushes.push(this);
    }

    @Override
    public void pushAsync(AsyncBody work) {
        open();
        flags |= ASYNC_BODY;
        seal(work);
        core.pushes.push(this);
    }

    @Override
    public CompletableFuture<Void> submit(Body work) {
        open();
        OpFuture<Void> future = new OpFuture<>(this);
        attachment = future;
        seal(work);
        core.pushes.push(this);
        return future;
    }

    @Override
    public <T> CompletableFuture<T> call(Callable<T> work) {
        open();
        Objects.requireNonNull(work, "body");
        OpFuture<T> future = new OpFuture<>(this);
        attachment = future;
        Body keeping = () -> future.value = work.call();
        seal(keeping);
        core.pushes.push(this);
        return future;
    }

    @Override
    public PreparedOp prepare(Body work) {
        seal(work);
        return new Prepared(this);
    }

    @Override
    public PreparedOp prepareAsync(AsyncBody work) {
        open();
        flags |= ASYNC_BODY;
        seal(work);
        return new Prepared(this);
    }

    /** Sets the body and completes the description. No further changes are allowed. */
    void seal(Object work) {
        open();
        body = Objects.requireNonNull(work, "body");
        flags |= SEALED;
        if (kind == OpKind.DELETE) {
            flags |= EVEN_IF_FAILED;
        }
        if (count > 0) {
            next = new Operation[count];
        }
        for (int i = 0; i < count; i++) {
            vars[i].state();
        }
        if (count > SEARCHED) {
            // Creates the map now, so that the tracker does not have to.
            indexOf(vars[0]);
        }
    }

    private void open() {
        if ((flags & SEALED) != 0) {
            throw new IllegalStateException(
                    "the builder of operation '" + name + "' has been used: call engine.op for each operation");
        }
    }

    @Override
    EngineCore owner() {
        return core;
    }

    @Override
    boolean mayBlock() {
        Times t = times;
        return has(ENDED)
                && ((t != null && !t.told) || (attachment instanceof OpFuture<?> future && future.hasDependents()));
    }

    /**
     * Reports the end of the operation to its recorder and its future or, if the operation is of kind ASYNC and has not
     * ended, runs it.
     */
    @Override
    void call() {
        if (!has(ENDED)) {
            ThreadState.here().trampoline(this);
            return;
        }
        Times t = times;
        if (t != null && !t.told) {
            t.told = true;
            t.tell(this, t.outcome);
        }
        if (attachment instanceof OpFuture<?> future) {
            future.settle();
        }
    }

    @Override
    public String toString() {
        return "operation '" + name + "'";
    }
}
