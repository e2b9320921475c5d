package io.seriatim.executor.ir;

/** The passes that can be disabled. The public enum {@code Pass} has the same constants and describes them. */
public enum PassName {
    SIMPLIFICATION, CASTS, EPILOGUES, FOLDING, CHAINS, VIEWS, GATES, STACKING, //
    BY_PRODUCTS, UPDATES, LAYOUTS, CHANNELS_LAST, PARTITION, INTEGERS
}
