package io.seriatim.device;

/** The reductions of collectives. */
public enum Reduction {
    /** The sum. */
    SUM,
    /** The product. */
    PRODUCT,
    /** The maximum, or NaN if any element is NaN. */
    MAX,
    /** The minimum, or NaN if any element is NaN. */
    MIN;

    double apply(double a, double b) {
        return switch (this) {
            case SUM -> a + b;
            case PRODUCT -> a * b;
            case MAX -> Math.max(a, b);
            case MIN -> Math.min(a, b);
        };
    }

    float apply(float a, float b) {
        return switch (this) {
            case SUM -> a + b;
            case PRODUCT -> a * b;
            case MAX -> Math.max(a, b);
            case MIN -> Math.min(a, b);
        };
    }

    long apply(long a, long b) {
        return switch (this) {
            case SUM -> a + b;
            case PRODUCT -> a * b;
            case MAX -> Math.max(a, b);
            case MIN -> Math.min(a, b);
        };
    }
}
