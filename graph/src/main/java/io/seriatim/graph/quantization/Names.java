package io.seriatim.graph.quantization;

import io.seriatim.graph.program.Block;

/** Names of new variables. */
final class Names {
    private Names() {
    }

    /** The name itself, or with a number if the block or its parents have a variable with that name. */
    static String free(Block block, String name) {
        String free = name;
        for (int i = 1; block.find(free) != null; i++) {
            free = name + "_" + i;
        }
        return free;
    }
}
