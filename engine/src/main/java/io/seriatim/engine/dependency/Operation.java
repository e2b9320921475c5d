package io.seriatim.engine.dependency;

import io.seriatim.engine.AsyncBody;
import io.seriatim.engine.Body;
import io.seriatim.engine.Lane;
import io.seriatim.engine.OpBuilder;
import io.seriatim.engine.OpKind;
import io.seriatim.engine.PreparedOp;
import io.seriatim.engine.Var;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One operation: first its own builder, then, once pushed, a node of the tracker. Pushing threads make everything the
 * tracker needs, so that the tracker allocates nothing.
 *
 * <p>
 * The variables stand in one array, those read first, then those mutated, then those overwritten. {@code next} has a
 * link for each: the following operation in that variable's queue.
 */
public final class Operation extends Callback implements OpBuilder {
    /** The body is an {@link AsyncBody}. */
    public static final int ASYNC_BODY = 1;
    /** Runs in spite of poison. */
    public static final int EVEN_IF_FAILED = 1 << 1;
    /** The recorder is not told. */
    public static final int UNRECORDED = 1 << 2;
    /** Ends as soon as it is ready, without a body: a wait, a clearing of a failure, a delete without a callback. */
    public static final int IMMEDIATE = 1 << 3;
    /** Does not count as a mutation and is no operation of the user's. */
    public static final int SILENT = 1 << 4;
    /** Takes the poison from its variable. */
    public static final int CLEARS = 1 << 5;
    /** A wait, which is not counted and has no place in the order. */
    public static final int PROBE = 1 << 6;
    /** Goes before everything else in its lane's queue. */
    public static final int URGENT = 1 << 7;
    /** The builder is used up. */
    static final int SEALED = 1 << 8;
    /** Has ended; guarded by the tracker lock. */
    public static final int ENDED = 1 << 9;
    /** Deletes its variables. */
    public static final int DELETES = 1 << 10;
    /** Did not run: skipped or cancelled; guarded by the tracker lock. */
    public static final int SKIPPED = 1 << 11;
    /** Its body has returned without its completion having been called; guarded by the tracker lock. */
    public static final int STARTED = 1 << 12;
    /** Nothing that used its variables was pending when it was pushed; guarded by the push lock, then fixed. */
    public static final int READY_AT_PUSH = 1 << 13;
    /** Was taken out of the log before its turn; guarded by the tracker lock. */
    public static final int TAKEN_EARLY = 1 << 14;
    /**
     * Is for another lane than the main one, and is not ready yet; set before the push, then guarded by the tracker
     * lock.
     */
    public static final int OFF_MAIN = 1 << 15;
    /** A wait inside it, or inside what its thread runs meanwhile, has not ended; guarded by the tracker lock. */
    public static final int IN_WAIT = 1 << 16;
    /** Its push has failed when it stood in the log already; guarded by the push lock, then fixed. */
    public static final int ABANDONED = 1 << 17;

    private static final Variable[] NO_VARS = {};
    private static final int SEARCHED = 16;
    private static final int NEAR = Long.BYTES;
    private static final int FAR = 0xff;

    public final Owner core;
    public final String name;
    public Lane lane = Lane.CPU;
    public OpKind kind = OpKind.NORMAL;
    public int priority;
    public int flags;
    @Nullable
    public Object body;

    public Variable[] vars = NO_VARS;
    public int reads;
    public int mutatesEnd;
    public int count;
    /** Where each variable stands, if there are too many to search. */
    private @Nullable Map<Variable, Integer> places;

    // From here on guarded by the tracker lock, once pushed.
    @Nullable
    public Operation[] next = {};
    /**
     * For each of the first variables, a byte: where it stands in the next operation of its queue. Saves a search, and
     * the cache lines it would touch.
     */
    private long nextPlaces;
    public int waiting;
    public long order;
    public @Nullable WorkerPool workers;
    /** The next in a queue of ready operations; while it runs, the operation that its thread was running before. */
    @Nullable
    public Operation link;
    public int readySequence;
    @Nullable
    public Epoch epoch;
    /** The future of a submitted operation, the waiter of a wait. */
    @Nullable
    public Object attachment;
    @Nullable
    public Times times;

    public Operation(Owner core, String name) {
        this.core = core;
        this.name = name;
    }

    /** Another push of a prepared operation. */
    Operation(Operation template) {
        this(template.core, template.name);
        lane = template.lane;
        kind = template.kind;
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

    /** A variable that was read is changed too: the operation mutates it. */
    private void mutateInsteadOfRead(int at, Variable variable) {
        move(--reads, at);
        put(reads, variable);
    }

    /** A variable that was overwritten is needed with its old value too: the operation mutates it. */
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

    /** Where a variable stands, or -1. */
    public int indexOf(Variable variable) {
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

    /** Sets the operation that follows in the queue of a variable, and where the variable stands there. */
    public void next(int place, @Nullable Operation following, int itsPlace) {
        next[place] = following;
        if (place < NEAR) {
            int shift = place * Byte.SIZE;
            nextPlaces = (nextPlaces & ~(0xffL << shift)) | (long) Math.min(itsPlace, FAR) << shift;
        }
    }

    /** Where a variable stands in the operation that follows in its queue. */
    int nextPlace(int place, Variable v, Operation following) {
        if (place < NEAR) {
            int known = (int) (nextPlaces >>> (place * Byte.SIZE)) & 0xff;
            if (known != FAR) {
                return known;
            }
        }
        return following.indexOf(v);
    }

    public boolean has(int flag) {
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
        core.push(this);
    }

    @Override
    public void pushAsync(AsyncBody work) {
        open();
        flags |= ASYNC_BODY;
        seal(work);
        core.push(this);
    }

    @Override
    public CompletableFuture<Void> submit(Body work) {
        open();
        OpFuture<Void> future = new OpFuture<>(this);
        attachment = future;
        seal(work);
        core.push(this);
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
        core.push(this);
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

    /** Gives it its body and makes it ready to be pushed. */
    public void seal(Object work) {
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
            // The tracker is to find the map made.
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
    public Owner owner() {
        return core;
    }

    @Override
    public boolean mayBlock() {
        Times t = times;
        return has(ENDED)
                && ((t != null && !t.told) || (attachment instanceof OpFuture<?> future && future.hasDependents()));
    }

    /** Tells of its end or, if it is of kind ASYNC and ready, runs it. */
    @Override
    public void call() {
        if (!has(ENDED)) {
            core.runHere(this);
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
