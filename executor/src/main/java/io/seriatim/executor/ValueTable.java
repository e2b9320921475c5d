package io.seriatim.executor;

import io.seriatim.device.Place;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a specialisation knows of each value. Transfers add copies of values to those of the program. Filled by one thread, then only read. */
final class ValueTable {
    private final List<Entry> entries = new ArrayList<>();

    private static final class Entry {
        private final String name;
        private final Accesses.Origin origin;
        private final boolean persistable;
        private @Nullable TensorSpec spec;
        private @Nullable Tensor constant;
        private int memory;
        private @Nullable Place place;
        private boolean wanted;
        private int result = -1;

        Entry(String name, Accesses.Origin origin, boolean persistable, int memory) {
            this.name = name;
            this.origin = origin;
            this.persistable = persistable;
            this.memory = memory;
        }
    }

    ValueTable(Accesses accesses) {
        accesses.values().forEach(value -> entries.add(new Entry(value.name(), value.origin(), value.persistable(), entries.size())));
        accesses.wanted().forEach(value -> entries.get(value).wanted = true);
    }

    int size() {
        return entries.size();
    }

    /** Adds a copy of a value at another place. */
    int addCopy(int original, Place from, Place to) {
        Entry entry = new Entry(name(original) + "_device_" + from + "_" + to, Accesses.Origin.COMPUTED, false, entries.size());
        entry.spec = entries.get(original).spec;
        entry.place = to;
        entries.add(entry);
        return entries.size() - 1;
    }

    /** Adds a value that a pass has made up, computed in each run. */
    int add(String name, TensorSpec spec) {
        Entry entry = new Entry(name, Accesses.Origin.COMPUTED, false, entries.size());
        entry.spec = spec;
        entries.add(entry);
        return entries.size() - 1;
    }

    String name(int value) {
        return entries.get(value).name;
    }

    Accesses.Origin origin(int value) {
        return entries.get(value).origin;
    }

    boolean isPersistable(int value) {
        return entries.get(value).persistable;
    }

    /** Whether it is wanted after the run. */
    boolean isWanted(int value) {
        return entries.get(value).wanted;
    }

    /** The value that holds this one's content when it is wanted after the run: a copy on the host if this is elsewhere. */
    int result(int value) {
        int result = entries.get(value).result;
        return result < 0 ? value : result;
    }

    void result(int value, int copy) {
        entries.get(value).wanted = false;
        entries.get(value).result = copy;
        entries.get(copy).wanted = true;
    }

    /** What it is; null if that is known at run time only. */
    @Nullable
    TensorSpec spec(int value) {
        return entries.get(value).spec;
    }

    void spec(int value, @Nullable TensorSpec spec) {
        entries.get(value).spec = spec;
    }

    /** Its elements, if they follow from the shapes of what is fed. */
    @Nullable
    Tensor constant(int value) {
        return entries.get(value).constant;
    }

    void constant(int value, Tensor tensor) {
        entries.get(value).constant = tensor;
    }

    /** The value whose memory this is: another one if an operation has changed that in place and called it this. */
    int memory(int value) {
        int at = value;
        while (entries.get(at).memory != at) {
            at = entries.get(at).memory;
        }
        return at;
    }

    /** A value is another one, changed in place. */
    void sameMemory(int value, int as) {
        if (memory(as) != value) {
            entries.get(value).memory = memory(as);
        }
    }

    /** Where it is; null if nothing has touched it yet. */
    @Nullable
    Place place(int value) {
        return entries.get(value).place;
    }

    void place(int value, Place place) {
        entries.get(value).place = place;
    }
}
