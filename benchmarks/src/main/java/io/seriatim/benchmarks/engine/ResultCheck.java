package io.seriatim.benchmarks.engine;

/** What is known of the result of running a workload. */
public enum ResultCheck {
    /** It was that of the serial program. */
    SAME("ok"),
    /** It was not. */
    WRONG("WRONG"),
    /** The operations had an empty body, so there is no result. */
    EMPTY_BODY("empty body");

    private final String text;

    ResultCheck(String text) {
        this.text = text;
    }

    /**
     * The form that tables show.
     *
     * @return one or two words
     */
    @Override
    public String toString() {
        return text;
    }
}
