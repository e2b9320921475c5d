package io.seriatim.executor.ir;

/** When memory that is in no plan is released; the constants of {@code Collector} by what they do. */
public enum ReleaseMode {
    /** At the last use. */
    AT_LAST_USE,
    /** When the event after the last use has passed. */
    AFTER_EVENT,
    /** At the end of the run. */
    AT_END
}
