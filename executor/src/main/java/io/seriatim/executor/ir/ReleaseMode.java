package io.seriatim.executor.ir;

/**
 * Specifies when memory that is not in the memory plan is released. The constants correspond to those of
 * {@code Collector}.
 */
public enum ReleaseMode {
    /** At the last use. */
    AT_LAST_USE,
    /** When the event recorded after the last use has completed. */
    AFTER_EVENT,
    /** At the end of the run. */
    AT_END
}
