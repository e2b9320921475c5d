package io.seriatim.executor.run;

import io.seriatim.device.Buffer;
import io.seriatim.device.Device;
import io.seriatim.device.DeviceMemoryException;
import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The memory of the temporaries of one run at a time: an arena for each place, and a {@link Frame} for each plan that
 * has run in it. Plans of different shapes use the same arenas one after the other, so that many shapes need no more
 * memory than the largest. One thread at a time uses a workspace.
 *
 * @param <P>
 *            what identifies a plan
 * @param <F>
 *            the frames
 */
public final class Workspace<P, F> implements AutoCloseable {
    /**
     * The factor by which an arena that is too small grows at least, so that rising sizes do not replace it each time.
     */
    private static final double GROWTH = 1.5;

    private final Devices devices;
    private final int capacity;
    private final Consumer<F> free;
    private final Map<Place, Tensor> arenas = new HashMap<>();
    /** The most recently used frame last. */
    private final Map<P, F> frames = new LinkedHashMap<>(16, 0.75f, true);
    private int evictions;

    /** Creates a frame in the arenas of this workspace. */
    @FunctionalInterface
    public interface Maker<F> {
        F make(Map<Place, Buffer> arenas);
    }

    /**
     * Creates a workspace without memory.
     *
     * @param capacity
     *            how many frames it keeps
     * @param free
     *            closes a frame
     */
    public Workspace(Devices devices, int capacity, Consumer<F> free) {
        this.devices = devices;
        this.capacity = capacity;
        this.free = free;
    }

    /** Returns the frame of a plan; null if there is none. */
    @Nullable
    public F frame(P plan) {
        return frames.get(plan);
    }

    /**
     * Returns the frame of a plan; makes it if there is none.
     *
     * @param bytes
     *            the bytes that the plan needs at each place
     * @throws DeviceMemoryException
     *             if there is no memory; the workspace then has no frame and no arena
     */
    public F frame(P plan, Map<Place, Long> bytes, Maker<F> maker) {
        F known = frames.get(plan);
        if (known != null) {
            return known;
        }
        boolean made = false;
        try {
            bytes.forEach(this::reserve);
            Map<Place, Buffer> given = new HashMap<>();
            bytes.keySet().forEach(place -> given.put(place, Objects.requireNonNull(arenas.get(place)).buffer()));
            F frame = maker.make(given);
            made = true;
            if (frames.size() == capacity) {
                P eldest = frames.keySet().iterator().next();
                free.accept(Objects.requireNonNull(frames.remove(eldest)));
            }
            frames.put(plan, frame);
            return frame;
        } finally {
            if (!made) {
                close();
            }
        }
    }

    private void reserve(Place place, long bytes) {
        Tensor there = arenas.get(place);
        long before = there == null ? 0 : there.spec().bytes();
        if (there != null && before >= bytes) {
            return;
        }
        if (there != null) {
            // All frames may have arguments in the arena.
            closeFrames();
            arenas.remove(place);
            there.close();
        }
        arenas.put(place, allocate(devices.get(place), bytes, Math.max(bytes, (long) (GROWTH * before))));
    }

    private static Tensor allocate(Device device, long bytes, long wanted) {
        Tensor arena;
        try {
            arena = Tensor.allocate(device, TensorSpec.of(DType.UINT8, wanted));
        } catch (DeviceMemoryException e) {
            if (wanted == bytes) {
                throw e;
            }
            arena = Tensor.allocate(device, TensorSpec.of(DType.UINT8, bytes));
        }
        arena.buffer().label("arena of a plan");
        // All earlier uses of the memory have ended, as this thread has observed.
        arena.buffer().settle();
        return arena;
    }

    /**
     * Closes the frames of plans that are no longer kept.
     *
     * @param evicted
     *            how many plans were evicted until now; nothing is done if there were as many at the last call
     */
    public void closeFrames(int evicted, Predicate<P> gone) {
        if (evictions != evicted) {
            evictions = evicted;
            closeFrames(gone);
        }
    }

    /** Closes the frame of a plan, if there is one. */
    public void closeFrame(P plan) {
        F frame = frames.remove(plan);
        if (frame != null) {
            free.accept(frame);
        }
    }

    /** Closes the frames of some plans. */
    private void closeFrames(Predicate<P> gone) {
        List<F> closed = new ArrayList<>();
        frames.entrySet().removeIf(each -> gone.test(each.getKey()) && closed.add(each.getValue()));
        closed.forEach(free);
    }

    private void closeFrames() {
        closeFrames(_ -> true);
    }

    /** Returns the size of all arenas in bytes. */
    public long bytes() {
        return arenas.values().stream().mapToLong(arena -> arena.spec().bytes()).sum();
    }

    /** Returns the size of the arena at a place in bytes; 0 if there is none. */
    long bytes(Place place) {
        Tensor arena = arenas.get(place);
        return arena == null ? 0 : arena.spec().bytes();
    }

    /** Frees all memory. The workspace can still be used. */
    @Override
    public void close() {
        closeFrames();
        arenas.values().forEach(Tensor::close);
        arenas.clear();
    }
}
