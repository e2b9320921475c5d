package io.seriatim.stress;

import io.seriatim.engine.Engine;
import io.seriatim.engine.OperationFailedException;
import io.seriatim.engine.Var;

/** One engine shared by all states of a race, because an engine has threads and a state must be cheap. */
final class Shared {
    static final Engine ENGINE = Engine.builder().pooled(2).name("stress").onUnhandled(t -> {
        // The poisoned variables of a race are dropped without being observed.
    }).build();

    private Shared() {
    }

    /** Returns whether the variable is poisoned, once its mutations have ended. */
    static boolean poisoned(Var v) {
        try {
            ENGINE.waitToRead(v);
            return false;
        } catch (OperationFailedException e) {
            return true;
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    static void waitForAll() {
        try {
            ENGINE.waitForAll();
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private static IllegalStateException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new IllegalStateException("jcstress interrupted a race", e);
    }
}
