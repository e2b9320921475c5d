package io.seriatim.mxnet.translate;

import java.util.Arrays;

/**
 * The codes of {@code mx.npx.reshape}: −1 takes what is left, −2 copies a dimension, −3 drops one that is 1, −4 copies
 * all that follow, −5 merges two, −6 splits one in two.
 */
final class NumpyReshape {
    private NumpyReshape() {
    }

    static String apply(NodeInputs node) {
        int[] codes = node.attributes().integers("newshape");
        boolean reverse = node.attributes().flag("reverse", false);
        int[] old = new int[codes.length];
        for (int i = 0; i < codes.length; i++) {
            old[i] = code(node, codes[i]);
            if (codes[i] == -6) {
                if (i + 2 >= codes.length || reverse) {
                    throw node.attributes().wrong("newshape",
                            "such that two numbers follow the code -6, and not reversed");
                }
                old[i + 1] = codes[i + 1];
                old[i + 2] = codes[i + 2];
                i += 2;
            }
        }
        boolean scalar = Arrays.stream(old).allMatch(code -> code == ReshapeRule.DROPPED);
        return scalar
                ? node.ops().squeeze(node.in(0), Ops.range(0, node.rank(node.in(0))))
                : ReshapeRule.apply(node, node.in(0), old, reverse);
    }

    /** The code of the older reshape. */
    private static int code(NodeInputs node, int code) {
        return switch (code) {
            case -1 -> -1;
            case -2 -> 0;
            case -3 -> ReshapeRule.DROPPED;
            case -4 -> -2;
            case -5 -> -3;
            case -6 -> -4;
            default -> {
                if (code < 1) {
                    throw node.attributes().wrong("newshape", "codes from -6 to -1 and numbers from 1 on");
                }
                yield code;
            }
        };
    }
}
