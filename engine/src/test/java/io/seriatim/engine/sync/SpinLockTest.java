package io.seriatim.engine.sync;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

class SpinLockTest {
    private final SpinLock lock = new SpinLock();

    private boolean isHeldByAnother() throws Exception {
        FutureTask<Boolean> task = new FutureTask<>(lock::isHeldByCurrentThread);
        new Thread(task).start();
        return task.get();
    }

    @Test
    void theHolderIsKnownWhenAssertionsAreEnabled() throws Exception {
        assumeTrue(SpinLock.class.desiredAssertionStatus(), "assertions are disabled");
        assertFalse(lock.isHeldByCurrentThread());
        lock.lock();
        assertTrue(lock.isHeldByCurrentThread());
        assertFalse(isHeldByAnother());
        lock.unlock();
        assertFalse(lock.isHeldByCurrentThread());
        assertTrue(lock.tryLock());
        assertTrue(lock.isHeldByCurrentThread());
        assertFalse(isHeldByAnother());
        lock.unlock();
        assertFalse(lock.isHeldByCurrentThread());
    }

    @Test
    void aHeldLockIsNotAcquired() throws Exception {
        lock.lock();
        FutureTask<Boolean> task = new FutureTask<>(lock::tryLock);
        new Thread(task).start();
        assertFalse(task.get());
        lock.unlock();
    }
}
