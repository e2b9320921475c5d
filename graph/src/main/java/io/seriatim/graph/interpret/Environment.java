package io.seriatim.graph.interpret;

import io.seriatim.device.Buffer;
import io.seriatim.device.Device;
import io.seriatim.device.Devices;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.SelectedRows;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The variables of a run, by name: tensors, selected rows, lists of tensors, and the environments of a loop's steps.
 *
 * <p>
 * Environments form a tree as blocks do: under the root, which outlives runs, that of the first block; under an
 * environment those of the blocks that its operations run, one for each time. A block and the block of its gradient
 * share one, so that the gradient finds what the block has computed. A variable lives in the environment of the block
 * that declares it; persistable ones live in the root.
 */
final class Environment {
    private final @Nullable Environment parent;
    private final Variables values;
    private final List<Block> blocks = new ArrayList<>(1);
    /** Never changed, but replaced: few environments claim names. */
    private Set<String> claimed = Set.of();
    /**
     * The memory that several variables share, for the whole tree. References are weak, so that it is freed with the
     * last variable.
     */
    private final Set<Buffer> shared;
    /** Where the results of operations are allocated. */
    private final Device host;
    private BlockSession.@Nullable Iteration iteration;
    private @Nullable StepMemory memory;

    Environment(@Nullable Environment parent) {
        this(parent, parent == null ? Devices.system().host() : parent.host);
    }

    /** The environment of a step of a loop. */
    Environment(Environment parent, StepLayout layout) {
        this(parent, parent.host, layout);
    }

    /** An environment whose operations allocate their results on a device of the host. */
    Environment(@Nullable Environment parent, Device host) {
        this(parent, host, null);
    }

    private Environment(@Nullable Environment parent, Device host, @Nullable StepLayout layout) {
        this.values = new Variables(layout);
        this.host = host;
        this.parent = parent;
        this.shared = parent == null ? Collections.newSetFromMap(new WeakHashMap<>()) : parent.shared;
    }

    /** The steps of a loop or branch, kept for its gradient. */
    record Steps(List<Step> steps) {
        Steps() {
            this(new ArrayList<>());
        }

        void add(Environment environment, Map<String, Object> after) {
            steps.add(new Step(environment, after));
        }
    }

    /**
     * One step.
     *
     * @param environment
     *            what the step's block has computed; the variables of the loop are as they were before the step
     * @param after
     *            variables of the loop that the step has changed in place, as they were after it
     */
    record Step(Environment environment, Map<String, Object> after) {
    }

    /** The iteration of a loop of which this holds the variables; null if it is none, or if it is kept. */
    BlockSession.@Nullable Iteration iteration() {
        return iteration;
    }

    void iteration(BlockSession.Iteration of) {
        iteration = of;
    }

    /** The memory of a step that is kept for its gradient; null if it is not closed when the gradient has run. */
    @Nullable
    StepMemory memory() {
        return memory;
    }

    void memory(@Nullable StepMemory of) {
        memory = of;
    }

    /** Returns whether tensors are closed, here or further out, when a gradient has run. */
    boolean isFreed() {
        for (Environment environment = this; environment != null; environment = environment.parent) {
            if (environment.memory != null) {
                return true;
            }
        }
        return false;
    }

    /** Records a result that was set: whether nothing else has its memory. */
    void gave(String name, Tensor tensor, boolean isOwn) {
        StepMemory here = memory;
        if (isOwn && here != null && shared.isEmpty() && tensor.equals(values.get(name))) {
            here.add(name, tensor);
            return;
        }
        for (Environment environment = this; environment != null; environment = environment.parent) {
            if (environment.memory != null) {
                environment.memory.keep(tensor);
            }
        }
    }

    /** Forgets variables whose tensors were closed. */
    void removeClosed() {
        values.removeIf(value -> value instanceof Tensor tensor && !tensor.buffer().isOpen());
    }

    Device host() {
        return host;
    }

    /** From now on the variables that a block declares live here. */
    void enter(Block block) {
        if (!blocks.contains(block)) {
            blocks.add(block);
        }
    }

    /**
     * From now on variables of some names live here, whichever block declares them.
     *
     * @param names
     *            if it is a set, it must not change
     */
    void claim(Collection<String> names) {
        if (names instanceof Set<String> set && set.containsAll(claimed)) {
            claimed = set;
            return;
        }
        Set<String> all = new HashSet<>(claimed);
        all.addAll(names);
        claimed = all;
    }

    @Nullable
    Object find(String name) {
        for (Environment environment = this; environment != null; environment = environment.parent) {
            Object value = environment.values.get(name);
            if (value != null) {
                return value;
            }
        }
        return null;
    }

    /**
     * The value where the variable lives, which {@link #set} would replace. A variable of the same name further out is
     * another, such as the gradient that an earlier call has left there.
     */
    @Nullable
    Object findOwned(String name) {
        Environment owner = owner(name);
        return owner == null ? null : owner.values.get(name);
    }

    @Nullable
    Object here(String name) {
        return values.get(name);
    }

    Object get(String name) {
        Object value = find(name);
        if (value == null) {
            throw new IllegalArgumentException(
                    "Variable '" + name + "' has no value: feed it, or run the startup program first");
        }
        return value;
    }

    Tensor tensor(String name) {
        Object value = get(name);
        if (value instanceof Tensor tensor) {
            return tensor;
        }
        throw new IllegalArgumentException(
                "Variable '" + name + "' holds no tensor, but a " + value.getClass().getSimpleName());
    }

    /** A tensor, or the whole of selected rows. */
    Tensor dense(String name) {
        return get(name) instanceof SelectedRows rows ? rows.whole() : tensor(name);
    }

    /**
     * Sets it where it lives: where it is declared; else where it is; else here. A variable that shares memory is
     * overwritten where it is, as far as the value fits there.
     */
    void set(String name, Object value) {
        Environment owner = owner(name);
        Environment to = owner == null ? this : owner;
        to.values.put(name, shared.isEmpty() ? value : written(to.values.get(name), value));
    }

    /** The value of a variable after it was overwritten. */
    private Object written(@Nullable Object before, Object value) {
        if (!(value instanceof Tensor tensor)) {
            return value;
        }
        if (!(before instanceof Tensor place) || !isShared(place) || tensor.spec().bytes() > place.spec().bytes()) {
            // A value that is only passed on does not become a further name of the memory.
            return isShared(tensor) && !tensor.equals(before) ? VariableValues.copy(tensor) : tensor;
        }
        boolean isThere = tensor.buffer().equals(place.buffer()) && tensor.offset() == place.offset();
        if (isThere) {
            return tensor;
        }
        Tensor from = tensor.buffer().equals(place.buffer()) ? VariableValues.copy(tensor) : tensor;
        Tensor to = new Tensor(place.buffer(), place.offset(), tensor.spec().rowMajor());
        VariableValues.copy(from, to);
        return to;
    }

    /** Whether several variables share a tensor's memory. */
    boolean isShared(Object value) {
        Set<Buffer> all = shared;
        return !all.isEmpty() && value instanceof Tensor tensor && all.contains(tensor.buffer());
    }

    /**
     * Makes the memory of a variable that of others, too. The variable first gets memory of its own, so that feeds and
     * other variables with the same tensor do not change.
     */
    Tensor share(String name) {
        Tensor tensor = tensor(name);
        if (!isShared(tensor)) {
            tensor = VariableValues.copy(tensor);
            alias(name, tensor);
        }
        return tensor;
    }

    /** Makes a variable a name of memory that it shares with others. */
    void alias(String name, Tensor tensor) {
        Environment owner = owner(name);
        (owner == null ? this : owner).values.put(name, tensor);
        shared.add(tensor.buffer());
    }

    /** Gives variables whose memory is shared a copy of their own. */
    void separate(Collection<String> names) {
        for (String name : names) {
            if (find(name) instanceof Tensor tensor && isShared(tensor)) {
                Environment owner = owner(name);
                (owner == null ? this : owner).values.put(name, VariableValues.copy(tensor));
            }
        }
    }

    /** The declaration of a variable in the blocks that are entered. */
    @Nullable
    VarDesc desc(String name) {
        for (Environment environment = this; environment != null; environment = environment.parent) {
            for (Block block : environment.blocks) {
                VarDesc desc = block.var(name);
                if (desc != null) {
                    return desc;
                }
            }
        }
        return null;
    }

    private @Nullable Environment owner(String name) {
        Environment declaring = declaring(name);
        if (declaring != null) {
            return declaring;
        }
        for (Environment environment = this; environment != null; environment = environment.parent) {
            if (environment.values.get(name) != null) {
                return environment;
            }
        }
        return null;
    }

    /** Returns where a variable lives that is declared, or whose name is claimed; null if it is neither. */
    @Nullable
    Environment declaring(String name) {
        for (Environment environment = this; environment != null; environment = environment.parent) {
            if (!environment.claimed.isEmpty() && environment.claimed.contains(name)) {
                return environment;
            }
            for (Block block : environment.blocks) {
                VarDesc desc = block.var(name);
                if (desc != null) {
                    return desc.isPersistable() ? environment.root() : environment;
                }
            }
        }
        return null;
    }

    /** Returns where a variable may be in the environments around this one, from the inside out. */
    Variables.Place[] outside(String name) {
        List<Variables.Place> places = new ArrayList<>(2);
        for (Environment environment = parent; environment != null; environment = environment.parent) {
            places.add(environment.place(name));
        }
        return places.toArray(Variables.Place[]::new);
    }

    Variables.Place place(String name) {
        return values.place(name);
    }

    @Nullable
    StepLayout layout() {
        return values.layout();
    }

    @Nullable
    Environment parent() {
        return parent;
    }

    Set<String> claimed() {
        return claimed;
    }

    /** Returns a variable of the layout that has its value here; null if it has none. */
    @Nullable
    Object at(int index) {
        return values.get(index);
    }

    void at(int index, Object value) {
        values.put(index, value);
    }

    /** Returns whether any variables of the tree share memory. */
    boolean sharesMemory() {
        return !shared.isEmpty();
    }

    private Environment root() {
        Environment root = this;
        while (root.parent != null) {
            root = root.parent;
        }
        return root;
    }

    void setHere(String name, Object value) {
        values.put(name, value);
    }

    void removeHere(String name) {
        values.remove(name);
    }

    /** Forgets a variable that lives here or in the root. */
    void remove(String name) {
        values.remove(name);
        root().values.remove(name);
    }

    List<String> names() {
        return List.copyOf(values.names());
    }
}
