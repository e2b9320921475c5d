package io.seriatim.executor.ir;

import io.seriatim.device.Buffer;
import io.seriatim.device.Devices;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A cache of a scope's variables in the layouts that kernels prefer, each packed once for all plans. Thread-safe. The
 * first thread that requests an entry packs it without a lock, while others wait. An entry is immutable; a stale entry
 * is replaced. The memory of an entry is freed when the last frame releases it, so that layouts for shapes that are no
 * longer used do not accumulate.
 */
public final class PackedWeights {
    private final Map<String, Map<Form, Entry>> entries = new ConcurrentHashMap<>();
    private final SingleFlight<Key, Entry> flights = new SingleFlight<>();

    /** The key under which threads wait for the same entry. */
    private record Key(String name, Form form) {
        @Override
        public String toString() {
            return "the packed weights '" + name + "' in layout " + form.wanted();
        }
    }

    /** A variable or a part of it, and its packed layout. */
    public record Form(long offset, TensorSpec source, TensorSpec wanted) {
    }

    /**
     * A packed variable, the number of changes that its buffer counted then, and the number of its users. An entry that
     * has lost its last user is never used again.
     */
    public static final class Entry {
        private final Buffer source;
        private final long offset;
        private final long changes;
        private final Tensor packed;
        private final AtomicInteger users = new AtomicInteger(1);

        private Entry(Buffer source, long offset, long changes, Tensor packed) {
            this.source = source;
            this.offset = offset;
            this.changes = changes;
            this.packed = packed;
        }

        public Tensor packed() {
            return packed;
        }

        public boolean isOf(Tensor variable) {
            return isOf(variable, variable.buffer().changes());
        }

        private boolean isOf(Tensor variable, long now) {
            return now != Buffer.UNKNOWN && changes == now && source == variable.buffer() && offset == variable.offset()
                    && source.isOpen();
        }

        /** Counts another user; false if the entry has no user any more. */
        private boolean use() {
            int before = users.get();
            while (before > 0 && !users.compareAndSet(before, before + 1)) {
                before = users.get();
            }
            return before > 0;
        }
    }

    /**
     * Returns the packed form of the variable's current content. The caller must release it by {@link #release}.
     *
     * @return the entry; null if changes of the variable cannot be detected
     * @throws RunFailure
     *             if the thread is interrupted while another thread packs the variable
     */
    @Nullable
    public Entry get(String name, Tensor variable, Form form, Kernel packing) {
        long now = variable.buffer().changes();
        if (now == Buffer.UNKNOWN) {
            forget(name);
            return null;
        }
        while (true) {
            // A new entry has one user, the thread that created it.
            AtomicReference<@Nullable Entry> made = new AtomicReference<>();
            Entry entry = flight(new Key(name, form), () -> find(name, form, variable, now), () -> {
                Entry packed = entry(variable, now, form, packing);
                made.set(packed);
                entries.computeIfAbsent(name, _ -> new ConcurrentHashMap<>()).put(form, packed);
                return packed;
            });
            if (made.get() != null || (entry.isOf(variable, now) && entry.use())) {
                return entry;
            }
        }
    }

    private Entry flight(Key key, Supplier<@Nullable Entry> find, Supplier<Entry> make) {
        try {
            return flights.get(key, find, make);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RunFailure("plan",
                    "Interrupted while another thread packed the weights '" + key.name() + "'; no variable was changed",
                    e);
        }
    }

    /** Returns an up-to-date entry with users, or null. It may lose its last user before the caller uses it. */
    private @Nullable Entry find(String name, Form form, Tensor variable, long now) {
        Map<Form, Entry> forms = entries.get(name);
        Entry there = forms == null ? null : forms.get(form);
        return there != null && there.isOf(variable, now) && there.users.get() > 0 ? there : null;
    }

    private static Entry entry(Tensor variable, long now, Form form, Kernel packing) {
        Tensor packed = Tensor.allocate(Devices.system().host(), form.wanted());
        packed.buffer().label("packed weights");
        Tensor source = new Tensor(variable.buffer().declared(), variable.offset() + form.offset(), form.source());
        packing.run(new Tensor[]{source, packed}, KernelContext.current());
        return new Entry(variable.buffer(), variable.offset(), now, packed);
    }

    /** Removes a user. The last one frees the memory. */
    public void release(String name, Form form, Entry entry) {
        if (entry.users.decrementAndGet() == 0) {
            Map<Form, Entry> forms = entries.get(name);
            if (forms != null) {
                forms.remove(form, entry);
            }
            entry.packed.close();
        }
    }

    /** Returns whether any packed form of a variable is cached. */
    public boolean holds(String name) {
        Map<Form, Entry> forms = entries.get(name);
        return forms != null && !forms.isEmpty();
    }

    public void forget(String name) {
        entries.remove(name);
    }
}
