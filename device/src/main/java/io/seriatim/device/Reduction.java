package io.seriatim.device;

/** How the elements of several places become one. */
public enum Reduction {
    /** Their sum. */
    SUM,
    /** Their product. */
    PRODUCT,
    /** The largest; a NaN if there is one. */
    MAX,
    /** The smallest; a NaN if there is one. */
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
