package io.seriatim.executor;

import io.seriatim.device.Device;
import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.device.Stream;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Copy;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.lang.foreign.ValueLayout;

/** Copies of tensors outside of plans: done when the call returns. */
final class Copies {
    private Copies() {
    }

    /** A row-major copy at a device. */
    static Tensor to(Device device, Tensor tensor) {
        Tensor dense = tensor;
        if (!tensor.spec().isRowMajor()) {
            dense = Tensor.allocate(Devices.system().host(), tensor.spec().rowMajor());
            PreparedKernels.system().get(Copy.PLAIN, Place.CPU, tensor.spec(), dense.spec()).run(new Tensor[]{tensor, dense},
                    KernelContext.current());
            if (device.place().isHost()) {
                return dense;
            }
        }
        Tensor copy = Tensor.allocate(device, dense.spec());
        if (copy.spec().bytes() > 0) {
            if (device.place().isHost() && dense.place().isHost()) {
                PreparedKernels.system().get(Copy.PLAIN, Place.CPU, dense.spec(), copy.spec()).run(new Tensor[]{dense, copy},
                        KernelContext.current());
            } else {
                copy("copy to " + device.place(), dense, copy);
            }
        }
        return copy;
    }

    /** The tensor itself if it is on the host, else a copy there. */
    static Tensor toHost(Tensor tensor) {
        return tensor.place().isHost() ? tensor : to(Devices.system().host(), tensor);
    }

    /** Between places. Any thread may use both afterwards. */
    static void copy(String operation, Tensor from, Tensor to) {
        Stream stream = (from.place().isHost() ? to : from).buffer().device().defaultStream();
        // Another thread's failure must not come to this one.
        synchronized (stream) {
            stream.copy(operation, from.access(false), to.access(true));
            await(stream);
        }
        from.buffer().settle();
        to.buffer().settle();
    }

    private static void await(Stream stream) {
        try {
            stream.synchronize();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while " + stream.device().place() + " worked; run again", e);
        }
    }

    /** Sets the elements of an int64 tensor of the host. */
    static void store(Tensor tensor, long[] elements) {
        for (int i = 0; i < elements.length; i++) {
            tensor.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, tensor.offset() + (long) i * Long.BYTES, elements[i]);
        }
    }
}
