package io.seriatim.onnx.operators;

import io.seriatim.graph.op.Numbers;
import io.seriatim.onnx.node.Node;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * How the attributes of a node say how a window moves over the spatial axes.
 *
 * @param kernel
 *            its lengths, −1 where they are not known
 * @param strides
 *            the steps between its places
 * @param dilations
 *            the steps between its elements
 * @param begin
 *            the padding before the elements
 * @param end
 *            the padding behind them
 * @param auto
 *            how padding is computed: NOTSET if begin and end say it, or SAME_UPPER or SAME_LOWER
 */
@SuppressWarnings("ArrayRecordComponent") // Of the translators alone, and never compared.
record Windows(long[] kernel, int[] strides, int[] dilations, int[] begin, int[] end, String auto) {
    static Windows of(Node node, long[] kernel) {
        int rank = kernel.length;
        int[] strides = numbers(node, "strides", rank, 1, 1);
        int[] dilations = numbers(node, "dilations", rank, 1, 1);
        int[] pads = numbers(node, "pads", 2 * rank, 0, 0);
        String auto = node.text("auto_pad", "NOTSET");
        switch (auto) {
            case "NOTSET", "" -> auto = "NOTSET";
            case "VALID" -> {
                auto = "NOTSET";
                Arrays.fill(pads, 0);
            }
            case "SAME_UPPER", "SAME_LOWER" -> Arrays.fill(pads, 0);
            default -> throw node.error(
                    "attribute 'auto_pad' is NOTSET, VALID, SAME_UPPER or SAME_LOWER, but is '%s'", auto);
        }
        return new Windows(kernel, strides, dilations, Arrays.copyOf(pads, rank),
                Arrays.copyOfRange(pads, rank, 2 * rank), auto);
    }

    static int[] numbers(Node node, String name, int count, int least, int byDefault) {
        long[] given = node.integers(name);
        int[] numbers = new int[count];
        if (given == null || given.length == 0) {
            Arrays.fill(numbers, byDefault);
            return numbers;
        }
        if (given.length != count || Arrays.stream(given).anyMatch(each -> each < least || each != (int) each)) {
            throw node.error("attribute '%s' has %d whole numbers from %d on, but is %s", name, count, least,
                    Numbers.text(given));
        }
        return Arrays.stream(given).mapToInt(each -> (int) each).toArray();
    }

    int rank() {
        return kernel.length;
    }

    boolean isDilated() {
        return Arrays.stream(dilations).anyMatch(each -> each != 1);
    }

    boolean isSame() {
        return !auto.equals("NOTSET");
    }

    /** The length that a dilated kernel covers. */
    long extent(int i) {
        return (kernel[i] - 1) * dilations[i] + 1;
    }

    /** The same window with padding as numbers, if the lengths determine it; otherwise this. */
    Windows resolved(long[] lengths) {
        if (!isSame()
                || IntStream.range(0, rank()).anyMatch(i -> kernel[i] < 0 || (lengths[i] < 0 && strides[i] != 1))) {
            return this;
        }
        int[] first = new int[rank()];
        int[] last = new int[rank()];
        for (int i = 0; i < rank(); i++) {
            // With steps of 1, the padding does not depend on the length.
            long covered = strides[i] == 1
                    ? extent(i) - 1
                    : (Math.ceilDiv(lengths[i], strides[i]) - 1) * strides[i] + extent(i) - lengths[i];
            int sum = (int) Math.max(0, covered);
            first[i] = auto.equals("SAME_UPPER") ? sum / 2 : sum - sum / 2;
            last[i] = sum - first[i];
        }
        return new Windows(kernel, strides, dilations, first, last, "NOTSET");
    }

    /** The paddings of Paddle's operations: before and behind each axis. */
    int[] paddings() {
        int[] paddings = new int[2 * rank()];
        for (int i = 0; i < rank(); i++) {
            paddings[2 * i] = begin[i];
            paddings[2 * i + 1] = end[i];
        }
        return paddings;
    }

    /** The attribute padding_algorithm of Paddle's operations. */
    String algorithm() {
        return isSame() ? auto : "EXPLICIT";
    }

    /** A window over two axes, of which the first is new, instead of one over one axis. */
    Windows overTwo() {
        return new Windows(new long[]{1, kernel[0]}, new int[]{1, strides[0]}, new int[]{1, dilations[0]},
                new int[]{0, begin[0]}, new int[]{0, end[0]}, auto);
    }
}
