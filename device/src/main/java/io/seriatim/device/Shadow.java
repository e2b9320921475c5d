package io.seriatim.device;

/** What a race detector knows about the accesses to a block's bytes. */
interface Shadow {
    void hostAccess(String operation, long offset, long bytes, boolean write);

    void hostCheck(String operation, long offset, long bytes, boolean write);

    void settle();
}
