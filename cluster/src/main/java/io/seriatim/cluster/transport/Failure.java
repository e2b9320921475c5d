package io.seriatim.cluster.transport;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.graph.parallel.CommunicationException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The first failure of a transport, which is final: it wakes the threads that wait, and later ones are ignored. */
final class Failure {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private volatile @Nullable CommunicationException first;
    @GuardedBy("lock")
    private final List<Runnable> wakers = new ArrayList<>();

    void onFailure(Runnable waker) {
        lock.lock();
        try {
            wakers.add(waker);
        } finally {
            lock.unlock();
        }
    }

    @Nullable
    CommunicationException first() {
        return first;
    }

    /** Throws if there was a failure; a new exception each time, whose cause is the first. */
    void check() {
        CommunicationException failure = first;
        if (failure != null) {
            throw new CommunicationException(String.valueOf(failure.getMessage()), failure.rank(), failure);
        }
    }

    void fail(String message, int rank, @Nullable Throwable cause) {
        lock.lock();
        try {
            if (first == null) {
                first = new CommunicationException(message, rank, cause);
                wakers.forEach(Runnable::run);
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Makes every later use fail; wakes nobody, since what could be woken is closed. */
    void close(String message, int rank) {
        lock.lock();
        try {
            if (first == null) {
                first = new CommunicationException(message, rank, null);
            }
            wakers.clear();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Wakes waiting threads to look at their conditions again. */
    void signal() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until there is a failure or the condition holds, at most so long. */
    void await(BooleanSupplier condition, long nanos) {
        long deadline = System.nanoTime() + nanos;
        lock.lock();
        try {
            while (first == null && !condition.getAsBoolean()) {
                long left = deadline - System.nanoTime();
                if (left <= 0) {
                    return;
                }
                // A wait of bounded length, which the other thread ends: an interrupt is reported by the caller.
                changed.awaitNanos(Math.min(left, TimeUnit.SECONDS.toNanos(1)));
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }
}
