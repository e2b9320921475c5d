package io.seriatim.executor;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.device.Buffer;
import io.seriatim.device.Devices;
import io.seriatim.engine.Engine;
import io.seriatim.engine.Var;
import io.seriatim.executor.ir.Bindings;
import io.seriatim.executor.ir.Copies;
import io.seriatim.executor.ir.KeptResults;
import io.seriatim.executor.ir.PackedWeights;
import io.seriatim.tensor.Tensor;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/**
 * Variables by name. Scopes form a tree: a variable that a scope does not have is looked up in its parent. A run stores
 * parameters and other persistable variables in the scope in which it found them, or in the root if there is none.
 * Scopes are thread-safe, but the elements of a tensor must not be read while a run changes them.
 */
public final class Scope {
    private final @Nullable Scope parent;
    private final Map<String, Object> values = new ConcurrentHashMap<>();
    private final Memory memory;
    private final PackedWeights packed = new PackedWeights();
    private final KeptResults results = new KeptResults();
    private final Set<String> kept = ConcurrentHashMap.newKeySet();
    /** Fair, so that writing runs execute in the order of their calls. */
    private final ReentrantReadWriteLock order = new ReentrantReadWriteLock(true);
    private final RunOrder reading = new RunOrder();
    @GuardedBy("this")
    private @Nullable Engine engine;
    @GuardedBy("this")
    private @Nullable Var var;
    /** Variables of engines other than {@link #engine}. */
    @GuardedBy("this")
    private final Map<Engine, Var> turns = new WeakHashMap<>();

    /** Creates a root scope. */
    public Scope() {
        this(null);
    }

    private Scope(@Nullable Scope parent) {
        this.parent = parent;
        this.memory = parent == null ? new Memory() : parent.memory;
    }

    /**
     * Creates a child of this scope.
     *
     * @return an empty scope
     */
    public Scope child() {
        return new Scope(this);
    }

    /**
     * Returns the parent of this scope.
     *
     * @return the parent; null for a root
     */
    public @Nullable Scope parent() {
        return parent;
    }

    /**
     * Sets a variable of this scope. If a program has made the variable share memory with others, and the value has the
     * same type and shape, the elements are copied into the shared memory, so that the other variables change too;
     * otherwise the variable stops sharing.
     *
     * @param name
     *            the name of the variable
     * @param value
     *            the value; the scope keeps a reference to it, and runs may change it in place. Do not set the same
     *            tensor in two scopes that are trained
     * @return this
     */
    public Scope set(String name, Tensor value) {
        overwrite(name, value);
        return this;
    }

    /**
     * Sets a variable of this scope to a copy of a value, so that runs, which may change variables in place, leave the
     * value as it is: for the parameters of a loaded model that is trained.
     *
     * @param name
     *            the name of the variable
     * @param value
     *            the value, on any device
     * @return this
     */
    public Scope setCopy(String name, Tensor value) {
        return set(name, Copies.to(Devices.system().host(), value).withLod(value.lod()));
    }

    private void overwrite(String name, Object value) {
        boolean fits = value instanceof Tensor tensor && values.get(name) instanceof Tensor place
                && memory.isAliased(place)
                && tensor.buffer() != place.buffer() && tensor.spec().rowMajor().equals(place.spec())
                && place.place().isHost();
        if (!fits) {
            put(name, value);
            return;
        }
        Tensor place = (Tensor) Objects.requireNonNull(values.get(name));
        Copies.onHost(Copies.toHost((Tensor) value), place);
        place.buffer().changed();
        packed.forget(name);
    }

    /** Returns whether any variables of the tree share memory. */
    boolean sharesMemory() {
        return memory.isShared();
    }

    /**
     * Sets a reader from which programs take batches.
     *
     * @param name
     *            the name of the reader's variable in the program
     * @param reader
     *            the reader, which several plans and scopes may share; the caller closes it
     * @return this
     */
    public Scope set(String name, Reader reader) {
        put(name, reader);
        return this;
    }

    /**
     * Returns a variable of this scope or its ancestors, or null.
     *
     * @param name
     *            the name of the variable
     * @return the variable's own tensor, which later runs may change in place; a copy in host memory if the variable is
     * on a device; null if there is no such variable or its value is not a tensor
     */
    public @Nullable Tensor find(String name) {
        return value(name) instanceof Tensor tensor ? Copies.toHost(tensor) : null;
    }

    /**
     * Returns a variable of this scope or its ancestors.
     *
     * @param name
     *            the name of the variable
     * @return the variable's own tensor, which later runs may change in place; a copy in host memory if the variable is
     * on a device
     * @throws IllegalArgumentException
     *             if there is no such variable or its value is not a tensor
     */
    public Tensor get(String name) {
        Tensor tensor = find(name);
        if (tensor == null) {
            throw new IllegalArgumentException("There is no variable '" + name + "' in this scope; it has " + names()
                    + ": run the startup program first, or set the variable");
        }
        return tensor;
    }

    /**
     * Removes a variable of this scope, between runs.
     *
     * @param name
     *            the name of the variable
     * @return the value, which the caller may close if nothing else refers to it; null if there was none in this scope,
     * or it was no tensor
     */
    public @Nullable Tensor remove(String name) {
        Object before = values.remove(name);
        if (before == null) {
            return null;
        }
        memory.replaced(before, name);
        packed.forget(name);
        return before instanceof Tensor tensor ? tensor : null;
    }

    /**
     * Returns the names of this scope's own variables.
     *
     * @return the names, sorted
     */
    public List<String> names() {
        return List.copyOf(new TreeSet<>(values.keySet()));
    }

    /**
     * Makes runs on this scope store the values of temporary variables in it, so that they can be inspected afterwards.
     * Each run replaces the values of the previous one. Names that a program does not contain are ignored.
     *
     * @param names
     *            the names of temporary variables
     * @return this
     */
    public Scope keep(String... names) {
        kept.addAll(List.of(names));
        return this;
    }

    Set<String> kept() {
        return kept.isEmpty() ? Set.of() : Set.copyOf(kept);
    }

    /**
     * Returns the lock of the tree that a run holds: the write lock if the run changes persistable variables, otherwise
     * the read lock.
     */
    Lock lock(boolean writes) {
        if (parent != null) {
            return parent.lock(writes);
        }
        if (writes && order.getReadHoldCount() > 0 && !order.isWriteLockedByCurrentThread()) {
            throw new IllegalStateException(
                    "A run that changes variables of a scope was started within a run that only reads that scope; "
                            + "it would wait forever for the outer run: start it afterwards, or on another scope");
        }
        return writes ? order.writeLock() : order.readLock();
    }

    /** Returns whether the current thread is within a run on this tree. */
    boolean isLockedByThisThread() {
        return parent == null
                ? order.isWriteLockedByCurrentThread() || order.getReadHoldCount() > 0
                : parent.isLockedByThisThread();
    }

    /** Orders the runs that take batches and change variables of this tree. */
    RunOrder readingOrder() {
        return parent == null ? reading : parent.readingOrder();
    }

    /**
     * Returns the variable that orders runs on this tree among the operations of an engine, even if the scope belongs
     * to another engine.
     */
    Var turn(Engine on) {
        return parent == null ? ownTurn(on) : parent.turn(on);
    }

    private synchronized Var ownTurn(Engine on) {
        Var own = on.equals(engine) ? var : null;
        return own != null ? own : turns.computeIfAbsent(on, each -> each.newVar("scope"));
    }

    /** Returns the scope that has a variable, this one or an ancestor; the root if none has it. */
    private Scope holder(String name) {
        Scope holder = this;
        while (holder.parent != null && !holder.values.containsKey(name)) {
            holder = holder.parent;
        }
        return holder;
    }

    /** Replaces a variable where it is; it then shares no memory with others. */
    void replace(String name, Tensor value) {
        holder(name).put(name, value);
    }

    /** Returns the bindings of a run, which store a persistable variable in the scope that has it, or in the root. */
    Bindings bindings() {
        return new Bindings() {
            @Override
            public @Nullable Object find(String name) {
                return value(name);
            }

            @Override
            public void set(String name, Object value) {
                holder(name).overwrite(name, value);
            }

            @Override
            public void alias(String name, Tensor value) {
                holder(name).put(name, value);
                memory.aliased(value);
            }

            @Override
            public boolean sharesMemory() {
                return memory.isShared();
            }

            @Override
            public boolean isShared(Tensor tensor) {
                return memory.isShared(tensor);
            }

            @Override
            public @Nullable PackedWeights packed(String name) {
                return holder(name).packed;
            }

            @Override
            public KeptResults kept(String name) {
                return holder(name).results;
            }
        };
    }

    /**
     * Returns the engine variable that orders the plans pushed with any scope of this tree. Operations of your own that
     * access the scope's variables must read or mutate it. The first call with an engine binds the tree to that engine.
     *
     * @param on
     *            the engine
     * @return the variable, one for the whole tree
     * @throws IllegalArgumentException
     *             if the tree is bound to another engine
     */
    public Var var(Engine on) {
        return parent == null ? own(on) : parent.var(on);
    }

    /**
     * Returns the variable of {@link #var(Engine)} for the engine to which the tree is bound.
     *
     * @return the variable
     * @throws IllegalStateException
     *             if the tree is bound to no engine, because no plan was pushed yet
     */
    public Var var() {
        return parent == null ? own() : parent.var();
    }

    private synchronized Var own() {
        if (var == null) {
            throw new IllegalStateException(
                    "The scope is bound to no engine yet: push a plan with it first, or call var(engine)");
        }
        return var;
    }

    private synchronized Var own(Engine on) {
        if (engine == null) {
            var = ownTurn(on);
            engine = on;
            turns.remove(on);
        } else if (!engine.equals(on)) {
            throw new IllegalArgumentException(
                    "A scope is bound to one engine, and this one is bound to another engine already: "
                            + "push on the engine of the first push, or use another scope");
        }
        return own();
    }

    @Nullable
    Object value(String name) {
        for (Scope scope = this; scope != null; scope = scope.parent) {
            Object value = scope.values.get(name);
            if (value != null) {
                return value;
            }
        }
        return null;
    }

    void put(String name, Object value) {
        Object before = values.put(name, value);
        if (!value.equals(before)) {
            memory.replaced(before, value);
            packed.forget(name);
        }
    }

    /** Counts, for each buffer, the variables of a tree that refer to it. */
    private static final class Memory {
        @GuardedBy("this")
        private final IdentityHashMap<Buffer, Integer> holders = new IdentityHashMap<>();
        /**
         * The buffers that programs have made several variables share, as opposed to a caller that set one tensor
         * twice. The set is weak, so that it does not keep a buffer reachable.
         */
        @GuardedBy("this")
        private final Set<Buffer> aliased = Collections.newSetFromMap(new WeakHashMap<>());
        /** The number of buffers with several variables. Writes hold the lock; reads do not. */
        private volatile int shared;

        synchronized void replaced(@Nullable Object before, Object now) {
            if (now instanceof Tensor tensor && holders.merge(tensor.buffer(), 1, Integer::sum) == 2) {
                shared++;
            }
            if (before instanceof Tensor tensor) {
                Integer left = holders.computeIfPresent(tensor.buffer(), (_, count) -> count == 1 ? null : count - 1);
                shared -= left != null && left == 1 ? 1 : 0;
            }
        }

        synchronized void aliased(Tensor tensor) {
            aliased.add(tensor.buffer());
        }

        synchronized boolean isAliased(Tensor tensor) {
            return shared > 0 && aliased.contains(tensor.buffer()) && holders.getOrDefault(tensor.buffer(), 0) > 1;
        }

        boolean isShared() {
            return shared > 0;
        }

        synchronized boolean isShared(Tensor tensor) {
            return shared > 0 && holders.getOrDefault(tensor.buffer(), 0) > 1;
        }
    }
}
