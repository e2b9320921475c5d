package io.seriatim.executor.ir;

import io.seriatim.device.Place;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a plan knows of each value. Passes and transfers add values to those of the program. One thread fills it while a
 * plan is compiled; afterwards it is only read.
 */
public final class ValueTable {
    private final List<Entry> entries = new ArrayList<>();
    private boolean parts;
    /** Whether each entry knows how many values have its memory. */
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
        /** Of a name of a part of memory that others share, where it begins there; else −1. */
        private long from = -1;
        private boolean hasParts;
        private boolean declared;
        /** How many values have this one's memory, itself included. */
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
    }

    public int size() {
        return entries.size();
    }

    /** Adds a copy of a value at another place. */
    public int addCopy(int original, Place from, Place to) {
        Entry entry = new Entry(name(original) + "_device_" + from + "_" + to, ValueNumbering.Origin.COMPUTED, false,
                entries.size());
        entry.spec = entries.get(original).spec;
        entry.declared = entries.get(original).declared;
        entry.place = to;
        entries.add(entry);
        return entries.size() - 1;
    }

    /** Adds a value that a pass has made up, computed in each run. */
    public int add(String name, TensorSpec spec) {
        Entry entry = new Entry(name, ValueNumbering.Origin.COMPUTED, false, entries.size());
        entry.spec = spec;
        entries.add(entry);
        return entries.size() - 1;
    }

    /** Adds memory that a run is given, of which variables are names. */
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

    /** Whether it is wanted after the run. */
    public boolean isWanted(int value) {
        return entries.get(value).wanted;
    }

    /**
     * The value that holds this one's content when it is wanted after the run: a copy on the host if this is elsewhere.
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

    /** What it is; null if that is known at run time only. */
    @Nullable
    public TensorSpec spec(int value) {
        return entries.get(value).spec;
    }

    public void spec(int value, @Nullable TensorSpec spec) {
        entries.get(value).spec = spec;
    }

    /** Its elements, if they follow from the shapes of what is fed. */
    @Nullable
    public Tensor constant(int value) {
        return entries.get(value).constant;
    }

    public void constant(int value, Tensor tensor) {
        entries.get(value).constant = tensor;
    }

    /** The value whose memory this is: another one if an operation has changed that in place and called it this. */
    public int memory(int value) {
        int at = value;
        while (entries.get(at).memory != at) {
            at = entries.get(at).memory;
        }
        return at;
    }

    /** A value is another one, changed in place. */
    public void sameMemory(int value, int as) {
        if (memory(as) != value) {
            entries.get(value).memory = memory(as);
            isCounted = false;
        }
    }

    /** A value is a name of a part of another one's memory, which begins at some byte. */
    public void part(int value, int storage, long from) {
        Entry entry = entries.get(value);
        entry.memory = storage;
        entry.from = from;
        entries.get(storage).hasParts = true;
        parts = true;
        isCounted = false;
    }

    /** Whether it is a name of a part of memory that others share. */
    public boolean isPart(int value) {
        return entries.get(value).from >= 0;
    }

    /** What it is was not inferred: it is as the program declares it, or the run refuses it. */
    public void declared(int value, TensorSpec spec) {
        entries.get(value).spec = spec;
        entries.get(value).declared = true;
    }

    public boolean isDeclared(int value) {
        return entries.get(value).declared;
    }

    /** Whether others are names of parts of its memory. */
    public boolean hasParts(int memory) {
        return entries.get(memory).hasParts;
    }

    /** Where its first byte lies in the memory that it shares with others; 0 of all other values. */
    public long from(int value) {
        return Math.max(0, entries.get(value).from);
    }

    /** Whether any memory is shared. */
    public boolean hasParts() {
        return parts;
    }

    /**
     * Whether a value is temporary: kernels of this run compute it for other tasks of this run, in memory that no other
     * value has. So it does not come from outside, is neither persistable nor wanted after the run, its type and shape
     * are known, and it is no constant. Passes may leave out, merge and move such values.
     *
     * <p>
     * Three related questions have other answers and other names: whether memory outlives the run
     * ({@link #outlivesRun}), whether it belongs to the scope ({@link #isInScope}), and whether it lies in the arena,
     * which several values may share ({@code MemoryPlan}).
     */
    public boolean isTemporary(int value) {
        Entry entry = entries.get(value);
        return entry.memory == value && entry.origin == ValueNumbering.Origin.COMPUTED && !entry.persistable
                && !entry.wanted && entry.spec != null && entry.constant == null && isAlone(value);
    }

    /** Whether no other value has a value's memory. */
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

    /** Whether a value lies in memory of the scope, or of the variables around an inner block. */
    public boolean isInScope(int memory) {
        Entry entry = entries.get(memory);
        return entry.persistable || entry.origin == ValueNumbering.Origin.OUTSIDE;
    }

    /**
     * By memory, whether its content is needed after the run: a value with this memory is wanted or persistable, or was
     * there before the run.
     */
    public boolean[] outlivesRun() {
        boolean[] outlives = new boolean[entries.size()];
        for (int i = 0; i < outlives.length; i++) {
            outlives[memory(i)] |= isWanted(i) || isInScope(i);
        }
        return outlives;
    }

    /** Where it is; null if nothing has touched it yet. */
    @Nullable
    public Place place(int value) {
        return entries.get(value).place;
    }

    public void place(int value, Place place) {
        entries.get(value).place = place;
    }
}
