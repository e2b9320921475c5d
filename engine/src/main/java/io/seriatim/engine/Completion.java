package io.seriatim.engine;

/** Tells the end of an asynchronous operation. */
public interface Completion {
    /**
     * Says that the operation has ended well.
     *
     * @throws IllegalStateException
     *             if it had been completed before; nothing changes
     */
    void complete();

    /**
     * Says that the operation has failed.
     *
     * @param cause
     *            why
     * @throws IllegalStateException
     *             if it had been completed before; nothing changes
     */
    void fail(Throwable cause);
}
