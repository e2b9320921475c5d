package io.seriatim.executor;

import io.seriatim.executor.ir.ReleaseMode;

/**
 * When memory that is in no plan comes back: of values whose shape only a run knows, and of all temporaries if there is
 * no memory plan.
 */
public enum Collector {
    /** At the last use. What a device still works on comes back to others only when the device has passed that work. */
    FAST,
    /** When the event after the last use has passed. */
    EVENT,
    /** At the end of the run. */
    NONE;

    ReleaseMode mode() {
        return switch (this) {
            case FAST -> ReleaseMode.AT_LAST_USE;
            case EVENT -> ReleaseMode.AFTER_EVENT;
            case NONE -> ReleaseMode.AT_END;
        };
    }
}
