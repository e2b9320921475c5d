package io.seriatim.device;

/** A race detector's record of the accesses to a block's bytes. */
interface Shadow {
    void hostAccess(String operation, long offset, long bytes, boolean write);

    void hostCheck(String operation, long offset, long bytes, boolean write);

    void settle();
}
