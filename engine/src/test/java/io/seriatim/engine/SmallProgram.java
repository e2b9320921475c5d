package io.seriatim.engine;

import java.util.List;

/**
 * A few operations on a few variables, pushed by one or two threads, and possibly the last one by the body of another
 * one, beside at most two waits and one close. Small enough for all its interleavings to be tried.
 *
 * @param ops
 *            the operations
 * @param second
 *            the index of the first operation that the second thread pushes; the first thread pushes those before it
 * @param parent
 *            the index of the operation whose body pushes the last one, or -1 if a thread pushes that one too
 * @param waits
 *            what other threads wait for at any time
 * @param abandons
 *            whether the waits may be abandoned
 * @param closes
 *            whether the engine is closed at any time
 */
record SmallProgram(List<Op> ops, int second, int parent, List<WaitFor> waits, boolean abandons, boolean closes) {
    /** What an operation does with a variable. */
    enum Access {
        NONE, READS, MUTATES, OVERWRITES
    }

    /** What becomes of an operation. */
    enum Kind {
        SUCCEEDS, FAILS, EVEN_IF_FAILED,
        /** Deletes the first variable. */
        DELETES
    }

    /** What another thread waits for; the variable is the first one. */
    enum WaitFor {
        MUTATIONS, OPERATIONS, ALL, IDLE
    }

    /** An operation, with its access to each variable. */
    record Op(Kind kind, List<Access> accesses) {
        boolean uses(int v) {
            return accesses.get(v) != Access.NONE;
        }

        boolean changes(int v) {
            return uses(v) && accesses.get(v) != Access.READS;
        }

        boolean conflicts(Op other) {
            for (int v = 0; v < accesses.size(); v++) {
                if (uses(v) && other.uses(v) && (changes(v) || other.changes(v))) {
                    return true;
                }
            }
            return false;
        }
    }

    int variables() {
        return ops.get(0).accesses.size();
    }

    /** Returns the number of operations that threads push. */
    int outer() {
        return parent < 0 ? ops.size() : ops.size() - 1;
    }

    int pushers() {
        return second < outer() ? 2 : 1;
    }
}
