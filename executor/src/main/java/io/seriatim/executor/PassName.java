package io.seriatim.executor;

/** The passes that can be switched off; {@link Pass}, the public enum, has the same constants and says what each does. */
enum PassName {
    SIMPLIFICATION, CASTS, EPILOGUES, FOLDING, CHAINS, VIEWS, GATES, STACKING, BY_PRODUCTS, UPDATES, LAYOUTS, CHANNELS_LAST, PARTITION
}
