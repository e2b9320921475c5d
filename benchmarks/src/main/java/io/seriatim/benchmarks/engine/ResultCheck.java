package io.seriatim.benchmarks.engine;

/** The result of checking a workload. */
public enum ResultCheck {
    /** The result equals that of the serial program. */
    SAME("ok"),
    /** The result differs. */
    WRONG("WRONG"),
    /** The operations had an empty body, so there is no result. */
    EMPTY_BODY("empty body");

    private final String text;

    ResultCheck(String text) {
        this.text = text;
    }

    /**
     * Returns the text for tables.
     *
     * @return one or two words
     */
    @Override
    public String toString() {
        return text;
    }
}
