package io.seriatim.executor.ir;

/**
 * The passes that can be switched off; {@code Pass}, the public enum, has the same constants and says what each does.
 */
public enum PassName {
    SIMPLIFICATION, CASTS, EPILOGUES, FOLDING, CHAINS, VIEWS, GATES, STACKING, BY_PRODUCTS, UPDATES, LAYOUTS, CHANNELS_LAST, PARTITION
}
