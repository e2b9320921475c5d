package io.seriatim.executor.ir;

import io.seriatim.device.Place;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a specialisation knows of each value. Transfers add copies of values to those of the program. Filled by one
 * thread, then only read.
 */
public final class ValueTable {
    private final List<Entry> entries = new ArrayList<>();
    private boolean parts;

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
        }
    }

    /** A value is a name of a part of another one's memory, which begins at some byte. */
    public void part(int value, int storage, long from) {
        Entry entry = entries.get(value);
        entry.memory = storage;
        entry.from = from;
        entries.get(storage).hasParts = true;
        parts = true;
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

    /** Where it is; null if nothing has touched it yet. */
    @Nullable
    public Place place(int value) {
        return entries.get(value).place;
    }

    public void place(int value, Place place) {
        entries.get(value).place = place;
    }
}
