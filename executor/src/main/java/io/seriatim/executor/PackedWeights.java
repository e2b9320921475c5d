package io.seriatim.executor;

import io.seriatim.device.Buffer;
import io.seriatim.device.Devices;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A scope's variables in the layouts that kernels want, each made once for all plans. For many threads: an entry is made by the first that wants it while the others wait, and is not changed afterwards. One that
 * is out of date is replaced; since runs may still read it, its memory comes back when no one can reach it.
 */
final class PackedWeights {
    private final Map<String, Map<Form, Entry>> entries = new ConcurrentHashMap<>();

    /** A part of a variable, or all of it, and how it lies when it is packed. */
    record Form(long offset, TensorSpec source, TensorSpec wanted) {
    }

    /** What was packed, as its buffer counted changes then. */
    record Entry(Buffer source, long offset, long changes, Tensor packed) {
        boolean isOf(Tensor variable) {
            return isOf(variable, variable.buffer().changes());
        }

        private boolean isOf(Tensor variable, long now) {
            return now != Buffer.UNKNOWN && changes == now && source == variable.buffer() && offset == variable.offset() && source.isOpen();
        }
    }

    /** The variable as it is now; null if changes of it may go unseen. */
    @Nullable
    Entry get(String name, Tensor variable, Form form, Kernel packing) {
        long now = variable.buffer().changes();
        if (now == Buffer.UNKNOWN) {
            forget(name);
            return null;
        }
        return entries.computeIfAbsent(name, _ -> new ConcurrentHashMap<>()).compute(form,
                (_, there) -> there != null && there.isOf(variable, now) ? there : entry(variable, now, form, packing));
    }

    private static Entry entry(Tensor variable, long now, Form form, Kernel packing) {
        Tensor packed = Tensor.allocate(Devices.system().host(), form.wanted());
        packed.buffer().label("packed weights");
        Tensor source = new Tensor(variable.buffer().declared(), variable.offset() + form.offset(), form.source());
        packing.run(new Tensor[]{source, packed}, KernelContext.current());
        return new Entry(variable.buffer(), variable.offset(), now, packed);
    }

    /** Whether anything is packed of a variable. */
    boolean holds(String name) {
        return entries.containsKey(name);
    }

    void forget(String name) {
        entries.remove(name);
    }
}
