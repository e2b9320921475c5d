package io.seriatim.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Fails the futures of operations that wait for running ones, after the engine was shut down. An operation that becomes
 * ready during the walk is cancelled together with its future.
 */
final class FutureWalk extends PendingWalk {
    private final Set<Operation> seen = new HashSet<>();
    private final Deque<Operation> open = new ArrayDeque<>();
    private final List<Operation> found = new ArrayList<>();

    FutureWalk(EngineCore core) {
        super(core);
    }

    /** Fails the futures; under no lock. */
    void cancelFutures() {
        core.lock.enter();
        try {
            begin();
            find();
        } finally {
            core.lock.leave();
        }
        CallbackQueue callbacks = new CallbackQueue();
        for (Operation op : found) {
            if (op.attachment instanceof OpFuture<?> future) {
                callbacks.add(new Failing(core, future, core.execution.cancellation(op)));
            }
        }
        core.lock.callAll(callbacks);
    }

    /** Fails a future before its operation has ended. */
    private static final class Failing extends Callback {
        private final EngineCore core;
        private final OpFuture<?> future;
        private final Throwable cause;

        Failing(EngineCore core, OpFuture<?> future, Throwable cause) {
            this.core = core;
            this.future = future;
            this.cause = cause;
        }

        @Override
        EngineCore owner() {
            return core;
        }

        @Override
        void call() {
            future.completeExceptionally(cause);
        }
    }

    private void find() {
        core.forEachReady((op, state, thread) -> {
            if (seen.add(op)) {
                open.add(op);
            }
        });
        Operation op;
        while ((op = open.poll()) != null) {
            forEachFollower(op, (v, follower) -> {
                if (!follower.has(Operation.PROBE) && seen.add(follower)) {
                    open.add(follower);
                    if (follower.attachment instanceof OpFuture<?> && core.execution.isCancelled(follower)) {
                        found.add(follower);
                    }
                }
            });
            pause();
        }
    }
}
