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
import org.jspecify.annotations.Nullable;

/**
 * A scope's variables in the layouts that kernels want, each made once for all plans. For many threads: an entry is
 * made by the first that wants it while the others wait, and is not changed afterwards. One that is out of date is
 * replaced. Its memory comes back when the last frame lets go of it, so that the layouts of shapes that are run no more
 * do not gather.
 */
public final class PackedWeights {
    private final Map<String, Map<Form, Entry>> entries = new ConcurrentHashMap<>();

    /** A part of a variable, or all of it, and how it lies when it is packed. */
    public record Form(long offset, TensorSpec source, TensorSpec wanted) {
    }

    /**
     * What was packed, as its buffer counted changes then, and how many use it. Once none does, it is never used again.
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

        /** Counts another user; false if there is none any more. */
        private boolean use() {
            int before = users.get();
            while (before > 0 && !users.compareAndSet(before, before + 1)) {
                before = users.get();
            }
            return before > 0;
        }
    }

    /**
     * The variable as it is now; null if changes of it may go unseen. Whoever gets it lets it go by {@link #release}.
     */
    @Nullable
    public Entry get(String name, Tensor variable, Form form, Kernel packing) {
        long now = variable.buffer().changes();
        if (now == Buffer.UNKNOWN) {
            forget(name);
            return null;
        }
        return entries.computeIfAbsent(name, _ -> new ConcurrentHashMap<>()).compute(form,
                (_, there) -> there != null && there.isOf(variable, now) && there.use()
                        ? there
                        : entry(variable, now, form, packing));
    }

    private static Entry entry(Tensor variable, long now, Form form, Kernel packing) {
        Tensor packed = Tensor.allocate(Devices.system().host(), form.wanted());
        packed.buffer().label("packed weights");
        Tensor source = new Tensor(variable.buffer().declared(), variable.offset() + form.offset(), form.source());
        packing.run(new Tensor[]{source, packed}, KernelContext.current());
        return new Entry(variable.buffer(), variable.offset(), now, packed);
    }

    /** A user less. The last one frees the memory. */
    public void release(String name, Form form, Entry entry) {
        if (entry.users.decrementAndGet() == 0) {
            Map<Form, Entry> forms = entries.get(name);
            if (forms != null) {
                forms.remove(form, entry);
            }
            entry.packed.close();
        }
    }

    /** Whether anything is packed of a variable. */
    public boolean holds(String name) {
        Map<Form, Entry> forms = entries.get(name);
        return forms != null && !forms.isEmpty();
    }

    public void forget(String name) {
        entries.remove(name);
    }
}
