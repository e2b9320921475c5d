package io.seriatim.engine.log;

import io.seriatim.engine.sync.Padding;

/**
 * Tells workers with a batch that someone cannot wait for its end: who waits for a variable, an operation of another
 * priority, another lane. A word of its own, because workers look at it after every operation and it seldom changes.
 */
public final class Attention extends Padding.Before {
    private volatile boolean wanted;
    @SuppressWarnings("unused")
    private long p8, p9, p10, p11, p12, p13, p14, p15;

    public boolean isWanted() {
        return wanted;
    }

    public void want() {
        if (!wanted) {
            wanted = true;
        }
    }

    /**
     * Takes the wish back; who does has to look at its reasons afterwards, and to want again if there is one: a wish
     * made meanwhile is not to be lost.
     */
    public void dismiss() {
        wanted = false;
    }
}
