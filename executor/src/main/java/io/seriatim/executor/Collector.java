package io.seriatim.executor;

import io.seriatim.executor.ir.ReleaseMode;

/**
 * Specifies when a run frees memory that is not in the memory plan: that of values whose shape is known only at run
 * time, and that of all temporaries if there is no memory plan.
 */
public enum Collector {
    /**
     * Frees memory at the last use. Memory that a device still uses becomes available to others when the device has
     * completed that work.
     */
    FAST,
    /** Frees memory when the event recorded after the last use has completed. */
    EVENT,
    /** Frees memory at the end of the run. */
    NONE;

    ReleaseMode mode() {
        return switch (this) {
            case FAST -> ReleaseMode.AT_LAST_USE;
            case EVENT -> ReleaseMode.AFTER_EVENT;
            case NONE -> ReleaseMode.AT_END;
        };
    }
}
