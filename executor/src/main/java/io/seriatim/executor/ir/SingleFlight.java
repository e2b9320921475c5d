package io.seriatim.executor.ir;

import io.seriatim.engine.Engine;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Has one thread compute the value of a key, while other threads that ask for the same key wait for it. No lock is held
 * meanwhile, so that the computation may run user code. For many threads.
 *
 * <p>
 * The first thread to ask for a key puts a <i>flight</i> into the map and owns it; every other thread finds the flight
 * and waits for its end. The owner computes, stores the value in the caller's cache, takes the flight out of the map and
 * then ends it, in this order. A thread that puts in the next flight for the key looks into the cache once more
 * afterwards, so it finds a value that was stored since its first look: nothing is computed twice.
 *
 * <p>
 * <b>Failures.</b> All threads that wait get what the owner has thrown; nothing of it is kept for later calls. Two kinds
 * of failure say nothing about the key, so that waiting threads compute the value themselves: an interrupt of the owner,
 * and an error of the virtual machine, such as the end of the owner's stack.
 *
 * <p>
 * <b>Cycles.</b> A computation that asks for its own key, itself or by way of other threads that wait, would never end.
 * A thread registers its wait before it looks for such a cycle, so the last thread to close one sees all its waits and
 * throws. The search spans all instances.
 *
 * <p>
 * <b>Interrupts.</b> A wait ends with {@link InterruptedException}; the computation goes on for the other threads.
 */
public final class SingleFlight<K, V> {
    private static final ConcurrentMap<Thread, Flight<?>> WAITS = new ConcurrentHashMap<>();

    private final ConcurrentMap<K, Flight<V>> flights = new ConcurrentHashMap<>();

    /** One computation. The fields that are not final are written by the owner before the count goes to 0. */
    private static final class Flight<V> {
        private final Thread owner = Thread.currentThread();
        private final CountDownLatch ended = new CountDownLatch(1);
        private @Nullable V value;
        private @Nullable Throwable failure;
    }

    /**
     * The value of a key.
     *
     * @param find
     *            looks it up in the caller's cache; null if it is not there
     * @param make
     *            computes it and stores it in the cache, on the calling thread
     * @throws InterruptedException
     *             if the thread is interrupted while another thread computes the value
     * @throws IllegalStateException
     *             if the value is needed to compute itself
     */
    public V get(K key, Supplier<? extends @Nullable V> find, Supplier<? extends V> make) throws InterruptedException {
        while (true) {
            V known = find.get();
            if (known != null) {
                return known;
            }
            Flight<V> own = new Flight<>();
            Flight<V> other = flights.putIfAbsent(key, own);
            if (other == null) {
                return compute(key, own, find, make);
            }
            await(key, other);
            V value = other.value;
            if (value != null) {
                return value;
            }
            rethrow(other.failure);
        }
    }

    private V compute(K key, Flight<V> flight, Supplier<? extends @Nullable V> find, Supplier<? extends V> make) {
        try {
            V known = find.get();
            V value = known != null ? known : make.get();
            flight.value = value;
            return value;
        } catch (RuntimeException | Error e) {
            if (!(e instanceof VirtualMachineError) && !flight.owner.isInterrupted()) {
                flight.failure = e;
            }
            throw e;
        } finally {
            flights.remove(key, flight);
            flight.ended.countDown();
        }
    }

    /** Another thread takes the place of a worker that waits: the computation may need its engine. */
    private static void await(Object key, Flight<?> flight) throws InterruptedException {
        Thread thread = Thread.currentThread();
        Flight<?> outer = WAITS.put(thread, flight);
        try {
            requireEnd(key, flight, thread);
            Engine.blocking(flight.ended::await);
        } finally {
            if (outer == null) {
                WAITS.remove(thread);
            } else {
                WAITS.put(thread, outer);
            }
        }
    }

    private static void requireEnd(Object key, Flight<?> flight, Thread thread) {
        Flight<?> next = flight;
        while (next != null && next.ended.getCount() > 0) {
            if (next.owner.equals(thread)) {
                throw new IllegalStateException(
                        "To compute " + key + ", " + key + " is needed: this would wait for itself");
            }
            next = WAITS.get(next.owner);
        }
    }

    /** Returns if the failure was the owner's own affair. */
    private static void rethrow(@Nullable Throwable failure) {
        if (failure instanceof RuntimeException e) {
            throw e;
        }
        if (failure instanceof Error e) {
            throw e;
        }
    }
}
