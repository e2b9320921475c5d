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

/** Copies tensors outside of plans. All methods are synchronous. */
public final class Copies {
    private Copies() {
    }

    /** Returns a row-major copy on a device. */
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

    /** Copies between tensors in host memory with the same type and shape; layouts may differ. */
    public static void onHost(Tensor from, Tensor to) {
        PreparedKernels.system().get(Copy.PLAIN, Place.CPU, from.spec(), to.spec()).run(
                new Tensor[]{from.declared(), to.declared()},
                KernelContext.current());
    }

    /** Returns the tensor itself if it is in host memory, else a copy in host memory. */
    public static Tensor toHost(Tensor tensor) {
        return tensor.place().isHost() ? tensor : to(Devices.system().host(), tensor);
    }

    /** Copies between places. Afterwards, any thread may use both tensors. */
    public static void copy(String operation, Tensor from, Tensor to) {
        Stream stream = (from.place().isHost() ? to : from).buffer().device().defaultStream();
        // Copies on the default stream are serialised, so that a thread does not receive the failure of another
        // thread's copy.
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
     * Waits for all work launched on a stream. The wait is uninterruptible, since the work ends soon; the interrupt
     * status is restored afterwards. Returns the failure of the stream, or null.
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

    /** Sets the elements of an int64 tensor in host memory. */
    public static void store(Tensor tensor, long[] elements) {
        for (int i = 0; i < elements.length; i++) {
            tensor.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, tensor.offset() + (long) i * Long.BYTES, elements[i]);
        }
    }
}
