package io.seriatim.executor.ir;

import io.seriatim.device.Device;
import io.seriatim.device.Devices;
import io.seriatim.device.Event;
import io.seriatim.device.Place;
import io.seriatim.device.Stream;
import io.seriatim.device.StreamFailedException;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/** Copies of tensors outside of plans: done when the call returns. */
public final class Copies {
    private Copies() {
    }

    /** A row-major copy at a device. */
    public static Tensor to(Device device, Tensor from) {
        Tensor tensor = from.declared();
        Tensor dense = tensor;
        if (!tensor.spec().isRowMajor()) {
            dense = Tensor.allocate(Devices.system().host(), tensor.spec().rowMajor());
            onHost(tensor, dense);
            if (device.place().isHost()) {
                return dense;
            }
        }
        Tensor copy = Tensor.allocate(device, dense.spec());
        if (copy.spec().bytes() > 0) {
            if (device.place().isHost() && dense.place().isHost()) {
                onHost(dense, copy);
            } else {
                copy("copy to " + device.place(), dense, copy);
            }
        }
        return copy;
    }

    /** Between tensors of one type and shape, whatever their layouts. */
    public static void onHost(Tensor from, Tensor to) {
        PreparedKernels.system().get(Copy.PLAIN, Place.CPU, from.spec(), to.spec()).run(
                new Tensor[]{from.declared(), to.declared()},
                KernelContext.current());
    }

    /** The tensor itself if it is on the host, else a copy there. */
    public static Tensor toHost(Tensor tensor) {
        return tensor.place().isHost() ? tensor : to(Devices.system().host(), tensor);
    }

    /** Between places. Any thread may use both afterwards. */
    public static void copy(String operation, Tensor from, Tensor to) {
        Stream stream = (from.place().isHost() ? to : from).buffer().device().defaultStream();
        // Another thread's failure must not come to this one.
        synchronized (stream) {
            stream.copy(operation, from.access(false), to.access(true));
            StreamFailedException failed = await(stream);
            if (failed != null) {
                throw failed;
            }
        }
        from.buffer().settle();
        to.buffer().settle();
    }

    /**
     * Waits for all that was launched, and goes on waiting when it is interrupted: it ends soon, and who has
     * interrupted is told afterwards. Returns what has failed.
     */
    static @Nullable public StreamFailedException await(Stream stream) {
        Event end = stream.record();
        boolean interrupted = false;
        StreamFailedException failed = null;
        boolean waiting = true;
        while (waiting) {
            try {
                end.synchronize();
                waiting = false;
            } catch (InterruptedException e) {
                interrupted = true;
            } catch (StreamFailedException e) {
                failed = e;
                waiting = false;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return failed;
    }

    /** Sets the elements of an int64 tensor of the host. */
    public static void store(Tensor tensor, long[] elements) {
        for (int i = 0; i < elements.length; i++) {
            tensor.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, tensor.offset() + (long) i * Long.BYTES, elements[i]);
        }
    }
}
