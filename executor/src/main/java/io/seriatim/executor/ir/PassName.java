package io.seriatim.executor.ir;

import io.seriatim.executor.Pass;

/**
 * The passes that can be switched off; {@link Pass}, the public enum, has the same constants and says what each does.
 */
public enum PassName {
    SIMPLIFICATION, CASTS, EPILOGUES, FOLDING, CHAINS, VIEWS, GATES, STACKING, BY_PRODUCTS, UPDATES, LAYOUTS, CHANNELS_LAST, PARTITION
}
