package io.seriatim.executor;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.device.Buffer;
import io.seriatim.engine.Engine;
import io.seriatim.engine.Var;
import io.seriatim.executor.ir.Bindings;
import io.seriatim.executor.ir.Copies;
import io.seriatim.executor.ir.PackedWeights;
import io.seriatim.tensor.Tensor;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/**
 * Variables by name, in a tree: what is not here is looked for above. Runs leave parameters and what else outlives them
 * where they have found it, else in the root. For many threads; but what a tensor holds is not to be read while a run
 * changes it.
 */
public final class Scope {
    private final @Nullable Scope parent;
    private final Map<String, Object> values = new ConcurrentHashMap<>();
    private final Memory memory;
    private final PackedWeights packed = new PackedWeights();
    private final Set<String> kept = ConcurrentHashMap.newKeySet();
    /** Fair: runs that write go in the order of their calls. */
    private final ReentrantReadWriteLock order = new ReentrantReadWriteLock(true);
    @GuardedBy("this")
    private @Nullable Engine engine;
    @GuardedBy("this")
    private @Nullable Var var;
    /** Of other engines. */
    @GuardedBy("this")
    private final Map<Engine, Var> turns = new WeakHashMap<>();

    /** A root. */
    public Scope() {
        this(null);
    }

    private Scope(@Nullable Scope parent) {
        this.parent = parent;
        this.memory = parent == null ? new Memory() : parent.memory;
    }

    /**
     * A scope under this one.
     *
     * @return without variables of its own
     */
    public Scope child() {
        return new Scope(this);
    }

    /**
     * The scope above.
     *
     * @return null for a root
     */
    public @Nullable Scope parent() {
        return parent;
    }

    /**
     * Sets a variable here. One that a program has made share memory with others is overwritten where it is if the
     * value is of its type and shape, so that the others see it; else it shares no longer.
     *
     * @param name
     *            its name
     * @param value
     *            its value; the scope keeps it, and runs may change it in place: scopes that are trained do not share
     *            it
     * @return this
     */
    public Scope set(String name, Tensor value) {
        overwrite(name, value);
        return this;
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
        Tensor place = (Tensor) java.util.Objects.requireNonNull(values.get(name));
        Copies.onHost(Copies.toHost((Tensor) value), place);
        place.buffer().changed();
        packed.forget(name);
    }

    /** Whether any variables of the tree may share memory. */
    boolean sharesMemory() {
        return memory.isShared();
    }

    /**
     * Sets what programs read batches from.
     *
     * @param name
     *            of the reader in the programs
     * @param reader
     *            several plans, and scopes, may share it; the caller closes it
     * @return this
     */
    public Scope set(String name, Reader reader) {
        put(name, reader);
        return this;
    }

    /**
     * A variable here or above.
     *
     * @param name
     *            its name
     * @return the variable's own tensor, which later runs may change in place; of one that lives on a device a copy on
     * the host; null if there is none, or it holds no tensor
     */
    public @Nullable Tensor find(String name) {
        return value(name) instanceof Tensor tensor ? Copies.toHost(tensor) : null;
    }

    /**
     * A variable here or above.
     *
     * @param name
     *            its name
     * @return the variable's own tensor, which later runs may change in place; of one that lives on a device a copy on
     * the host
     * @throws IllegalArgumentException
     *             if there is none
     */
    public Tensor get(String name) {
        Tensor tensor = find(name);
        if (tensor == null) {
            throw new IllegalArgumentException("There is no variable '" + name + "' in this scope; it has " + names()
                    + ". Run the startup program first, or set it");
        }
        return tensor;
    }

    /**
     * The variables that are here.
     *
     * @return their names, sorted
     */
    public List<String> names() {
        return List.copyOf(new TreeSet<>(values.keySet()));
    }

    /**
     * Has runs on this scope leave variables here that would not outlive them, so that they can be looked at
     * afterwards, each time the latest value. Names that a program does not have are left alone.
     *
     * @param names
     *            temporaries of programs
     * @return this
     */
    public Scope keep(String... names) {
        kept.addAll(List.of(names));
        return this;
    }

    Set<String> kept() {
        return kept.isEmpty() ? Set.of() : Set.copyOf(kept);
    }

    /** What a run holds while it lasts: alone if it writes what outlives it. One for the tree. */
    Lock lock(boolean writes) {
        if (parent != null) {
            return parent.lock(writes);
        }
        if (writes && order.getReadHoldCount() > 0 && !order.isWriteLockedByCurrentThread()) {
            throw new IllegalStateException(
                    "A run that changes variables of a scope was begun inside of one that only reads that scope, "
                            + "for whose end it would wait: begin it afterwards, or on another scope");
        }
        return writes ? order.writeLock() : order.readLock();
    }

    /** Orders runs on this tree among the operations of an engine, whether the scope belongs to that or not. */
    Var turn(Engine on) {
        return parent == null ? ownTurn(on) : parent.turn(on);
    }

    private synchronized Var ownTurn(Engine on) {
        Var own = on.equals(engine) ? var : null;
        return own != null ? own : turns.computeIfAbsent(on, each -> each.newVar("scope"));
    }

    /** For runs: what outlives them goes to where it is, else to the root. */
    Bindings bindings() {
        return new Bindings() {
            @Override
            public @Nullable Object find(String name) {
                return value(name);
            }

            @Override
            public void set(String name, Object value) {
                Scope holder = Scope.this;
                while (holder.parent != null && !holder.values.containsKey(name)) {
                    holder = holder.parent;
                }
                holder.overwrite(name, value);
            }

            @Override
            public void alias(String name, Tensor value) {
                Scope holder = Scope.this;
                while (holder.parent != null && !holder.values.containsKey(name)) {
                    holder = holder.parent;
                }
                holder.put(name, value);
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
                Scope holder = Scope.this;
                while (holder.parent != null && !holder.values.containsKey(name)) {
                    holder = holder.parent;
                }
                return holder.packed;
            }
        };
    }

    /**
     * What orders the plans that are pushed with this scope, or another of its tree, and operations of your own that
     * touch its variables. It belongs to the first engine that it is asked for.
     *
     * @param on
     *            the engine
     * @return its variable, one for the whole tree
     * @throws IllegalArgumentException
     *             if it belongs to another engine
     */
    public Var var(Engine on) {
        return parent == null ? own(on) : parent.var(on);
    }

    /**
     * As {@link #var(Engine)}, of the engine that it belongs to.
     *
     * @return the engine's variable
     * @throws IllegalStateException
     *             if it belongs to none: no plan was pushed yet
     */
    public Var var() {
        return parent == null ? own() : parent.var();
    }

    private synchronized Var own() {
        if (var == null) {
            throw new IllegalStateException(
                    "The scope belongs to no engine yet: push a plan with it first, or call var(engine)");
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
                    "A scope belongs to one engine, which orders what touches it, and this one is another's already: "
                            + "push with the engine of the first push, or with another scope");
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

    /** How many variables of a tree each piece of memory is held by. */
    private static final class Memory {
        @GuardedBy("this")
        private final IdentityHashMap<Buffer, Integer> holders = new IdentityHashMap<>();
        /**
         * What programs have made several variables share, rather than a caller who has set one tensor twice. Weak: it
         * goes with the last of them.
         */
        @GuardedBy("this")
        private final Set<Buffer> aliased = Collections.newSetFromMap(new WeakHashMap<>());
        /** How many pieces several variables hold. Written with the lock, read without. */
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
