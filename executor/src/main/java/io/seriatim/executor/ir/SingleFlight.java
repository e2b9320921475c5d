package io.seriatim.executor.ir;

import io.seriatim.engine.Engine;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Computes the value of a key on one thread, while other threads that request the same key wait for it. No lock is held
 * during the computation, so it may run user code. Thread-safe.
 *
 * <p>
 * The first thread to request a key puts a <i>flight</i> into the map and owns it; every other thread finds the flight
 * and waits for its end. The owner computes the value, stores it in the caller's cache, removes the flight from the map
 * and then ends it, in this order. A thread that puts the next flight for the key into the map examines the cache again
 * afterwards, so it finds a value that was stored since its first look-up. No value is computed twice.
 *
 * <p>
 * <b>Failures.</b> All waiting threads receive the exception of the owner; it is not kept for later calls. Two kinds of
 * failure do not depend on the key, so waiting threads then compute the value themselves: an interrupt of the owner,
 * and a {@link VirtualMachineError}, such as a stack overflow.
 *
 * <p>
 * <b>Cycles.</b> A computation that requests its own key, directly or through other waiting threads, would never end. A
 * thread registers its wait before it searches for such a cycle, so the thread that closes the cycle sees all waits of
 * it and throws. The search spans all instances.
 *
 * <p>
 * <b>Interrupts.</b> A wait ends with {@link InterruptedException}; the computation continues for the other threads.
 */
public final class SingleFlight<K, V> {
    private static final ConcurrentMap<Thread, Flight<?>> WAITS = new ConcurrentHashMap<>();

    private final ConcurrentMap<K, Flight<V>> flights = new ConcurrentHashMap<>();

    /** One computation. The owner writes the non-final fields before it counts the latch down. */
    private static final class Flight<V> {
        private final Thread owner = Thread.currentThread();
        private final CountDownLatch ended = new CountDownLatch(1);
        private @Nullable V value;
        private @Nullable Throwable failure;
    }

    /**
     * Returns the value of a key.
     *
     * @param find
     *            looks up the value in the caller's cache; returns null if it is not cached
     * @param make
     *            computes the value and stores it in the cache, on the calling thread
     * @throws InterruptedException
     *             if the thread is interrupted while another thread computes the value
     * @throws IllegalStateException
     *             if the computation of the value requires the value itself
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

    /**
     * Waits for a flight. If the current thread is a worker of an engine, another thread replaces it meanwhile, since
     * the computation may need the engine.
     */
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
                        "The computation of " + key + " requires its own result, and would wait for itself: "
                                + "do not run a plan from code that its compilation calls");
            }
            next = WAITS.get(next.owner);
        }
    }

    /** Rethrows the failure of the owner; returns if there is none or if it does not depend on the key. */
    private static void rethrow(@Nullable Throwable failure) {
        if (failure instanceof RuntimeException e) {
            throw e;
        }
        if (failure instanceof Error e) {
            throw e;
        }
    }
}
