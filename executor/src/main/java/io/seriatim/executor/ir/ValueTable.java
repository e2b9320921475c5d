package io.seriatim.executor.ir;

import io.seriatim.device.Place;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The properties of a plan's values. Passes and transfers add values to those of the program. One thread fills the
 * table during compilation; afterwards it is only read.
 */
public final class ValueTable {
    private final List<Entry> entries = new ArrayList<>();
    private boolean parts;
    /** Whether the counts of values for each memory are up to date. */
    private boolean isCounted = true;

    private static final class Entry {
        private final String name;
        private final ValueNumbering.Origin origin;
        private final boolean persistable;
        private @Nullable TensorSpec spec;
        private @Nullable Tensor constant;
        private int memory;
        private @Nullable Place place;
        private boolean wanted;
        private int result = -1;
        /** The offset of a value in memory that it shares with others; otherwise −1. */
        private long from = -1;
        private boolean hasParts;
        private boolean declared;
        private boolean absent;
        private boolean unchanged;
        /** The number of values with the same memory, including this one. */
        private int names = 1;

        Entry(String name, ValueNumbering.Origin origin, boolean persistable, int memory) {
            this.name = name;
            this.origin = origin;
            this.persistable = persistable;
            this.memory = memory;
        }
    }

    public ValueTable(ValueNumbering accesses) {
        accesses.values().forEach(
                value -> entries.add(new Entry(value.name(), value.origin(), value.persistable(), entries.size())));
        accesses.wanted().forEach(value -> entries.get(value).wanted = true);
        for (int value : accesses.unchangedAround()) {
            entries.get(value).unchanged = true;
        }
    }

    public int size() {
        return entries.size();
    }

    /** Adds a copy of a value at another place, and returns its number. */
    public int addCopy(int original, Place from, Place to) {
        Entry entry = new Entry(name(original) + "_device_" + from + "_" + to, ValueNumbering.Origin.COMPUTED, false,
                entries.size());
        entry.spec = entries.get(original).spec;
        entry.declared = entries.get(original).declared;
        entry.place = to;
        entries.add(entry);
        return entries.size() - 1;
    }

    /** Adds a value that a pass introduces, and returns its number. */
    public int add(String name, TensorSpec spec) {
        Entry entry = new Entry(name, ValueNumbering.Origin.COMPUTED, false, entries.size());
        entry.spec = spec;
        entries.add(entry);
        return entries.size() - 1;
    }

    /** Adds external memory that variables share, and returns its number. */
    public int addGiven(String name, TensorSpec spec) {
        Entry entry = new Entry(name, ValueNumbering.Origin.OUTSIDE, false, entries.size());
        entry.spec = spec;
        entries.add(entry);
        return entries.size() - 1;
    }

    public String name(int value) {
        return entries.get(value).name;
    }

    public ValueNumbering.Origin origin(int value) {
        return entries.get(value).origin;
    }

    public boolean isPersistable(int value) {
        return entries.get(value).persistable;
    }

    /** Returns whether a value outlives runs, where no operation outside of the block changes it during one. */
    public boolean isParameter(int value) {
        return entries.get(value).persistable || entries.get(value).unchanged;
    }

    /** Returns whether a value is a result of the run. */
    public boolean isWanted(int value) {
        return entries.get(value).wanted;
    }

    /**
     * Returns the value that holds the content of a result after the run: a copy on the host if the value itself is on
     * a device.
     */
    public int result(int value) {
        int result = entries.get(value).result;
        return result < 0 ? value : result;
    }

    public void result(int value, int copy) {
        entries.get(value).wanted = false;
        entries.get(value).result = copy;
        entries.get(copy).wanted = true;
    }

    /** Returns the type and shape of a value; null if they are known only at run time. */
    @Nullable
    public TensorSpec spec(int value) {
        return entries.get(value).spec;
    }

    public void spec(int value, @Nullable TensorSpec spec) {
        entries.get(value).spec = spec;
    }

    /** Returns the constant elements of a value, if they depend only on shapes; otherwise null. */
    @Nullable
    public Tensor constant(int value) {
        return entries.get(value).constant;
    }

    public void constant(int value, Tensor tensor) {
        entries.get(value).constant = tensor;
    }

    /** Returns the value that owns a value's memory: another one if this value is an update of it in place. */
    public int memory(int value) {
        int at = value;
        while (entries.get(at).memory != at) {
            at = entries.get(at).memory;
        }
        return at;
    }

    /** Records that a value is an update of another one in place. */
    public void sameMemory(int value, int as) {
        if (memory(as) != value) {
            entries.get(value).memory = memory(as);
            isCounted = false;
        }
    }

    /** Records that a value is a part of another one's memory, from a given byte on. */
    public void part(int value, int storage, long from) {
        Entry entry = entries.get(value);
        entry.memory = storage;
        entry.from = from;
        entries.get(storage).hasParts = true;
        parts = true;
        isCounted = false;
    }

    /** Returns whether a value is a part of memory that variables share. */
    public boolean isPart(int value) {
        return entries.get(value).from >= 0;
    }

    /**
     * Sets the type of a value that the interpreter computes: the one that the program declares, or one that was
     * inferred, although sizes of the operands are open or for what branches and loops give. A run fails if the value
     * differs.
     */
    public void declared(int value, TensorSpec spec) {
        entries.get(value).spec = spec;
        entries.get(value).declared = true;
    }

    /** Records that kernels alone compute a value whose type was set by {@link #declared(int, TensorSpec)}. */
    public void computed(int value) {
        entries.get(value).declared = false;
    }

    /** Records that an external value holds no tensor before the run. */
    public void absent(int value) {
        entries.get(value).absent = true;
    }

    /** Returns whether an external value holds no tensor before the run; a branch that is not taken may name it. */
    public boolean isAbsent(int value) {
        return entries.get(value).absent;
    }

    public boolean isDeclared(int value) {
        return entries.get(value).declared;
    }

    /** Returns whether variables share parts of some memory. */
    public boolean hasParts(int memory) {
        return entries.get(memory).hasParts;
    }

    /** Returns the offset of a value in the memory that it shares with others; 0 for all other values. */
    public long from(int value) {
        return Math.max(0, entries.get(value).from);
    }

    /** Returns whether any variables share memory. */
    public boolean hasParts() {
        return parts;
    }

    /**
     * Returns whether a value is temporary: kernels of this run compute it for other tasks of this run, in memory that
     * no other value has. It is thus not external, persistable, a result, a constant or computed by the interpreter,
     * and its type and shape are known. Passes may eliminate, merge and move such values.
     *
     * <p>
     * Three related properties have different definitions and names: whether memory outlives the run
     * ({@link #outlivesRun}), whether it belongs to the scope ({@link #isInScope}), and whether it lies in the arena,
     * which several values may share ({@code MemoryPlan}).
     */
    public boolean isTemporary(int value) {
        return !entries.get(value).wanted && isSeparate(value);
    }

    /** Returns whether kernels compute a value, of this run or of its results, in memory that no other value has. */
    public boolean isSeparate(int value) {
        Entry entry = entries.get(value);
        return entry.memory == value && entry.origin == ValueNumbering.Origin.COMPUTED && !entry.persistable
                && !entry.declared && entry.spec != null && entry.constant == null && isAlone(value);
    }

    /** Returns whether no other value has the same memory. */
    private boolean isAlone(int value) {
        if (!isCounted) {
            entries.forEach(entry -> entry.names = 0);
            for (int i = 0; i < entries.size(); i++) {
                entries.get(memory(i)).names++;
            }
            isCounted = true;
        }
        return entries.get(value).names == 1;
    }

    /** Returns whether a value is in memory of the scope, or of variables of an enclosing block. */
    public boolean isInScope(int memory) {
        Entry entry = entries.get(memory);
        return entry.persistable || entry.origin == ValueNumbering.Origin.OUTSIDE;
    }

    /**
     * Returns for each memory whether its content is needed after the run: a value with this memory is a result, is
     * persistable, or existed before the run.
     */
    public boolean[] outlivesRun() {
        boolean[] outlives = new boolean[entries.size()];
        for (int i = 0; i < outlives.length; i++) {
            outlives[memory(i)] |= isWanted(i) || isInScope(i);
        }
        return outlives;
    }

    /** Returns the place of a value; null if it is not decided yet. */
    @Nullable
    public Place place(int value) {
        return entries.get(value).place;
    }

    public void place(int value, Place place) {
        entries.get(value).place = place;
    }
}
