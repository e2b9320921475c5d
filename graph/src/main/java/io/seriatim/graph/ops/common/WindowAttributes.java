package io.seriatim.graph.ops.common;

import com.google.errorprone.annotations.FormatMethod;
import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Numbers;
import io.seriatim.tensor.computation.network.Window;
import java.util.Arrays;
import java.util.Locale;

/** How the attributes of convolutions and poolings say how a window moves. */
public final class WindowAttributes {
    private final int[] strides;
    private final int[] dilations;
    private final int[] begin;
    private final int[] end;

    private WindowAttributes(int[] strides, int[] dilations) {
        this.strides = strides;
        this.dilations = dilations;
        begin = new int[strides.length];
        end = new int[strides.length];
    }

    /**
     * Reads strides, dilations (if the operation has them), paddings and padding_algorithm.
     *
     * @param lengths
     *            the spatial dimensions that are padded, −1 where unknown
     * @param kernel
     *            the kernel's
     * @throws IllegalArgumentException
     *             if they do not fit
     */
    public static WindowAttributes of(Attrs attrs, long[] lengths, long[] kernel) {
        int rank = lengths.length;
        int[] dilations = new int[rank];
        Arrays.fill(dilations, 1);
        WindowAttributes window = new WindowAttributes(numbers(attrs, "strides", rank, 1),
                attrs.has("dilations") ? numbers(attrs, "dilations", rank, 1) : dilations);
        String algorithm = attrs.getText("padding_algorithm").toUpperCase(Locale.ROOT);
        int[] paddings = attrs.getInts("paddings");
        require(paddings.length == rank || paddings.length == 2 * rank,
                "the attribute 'paddings' must have %d or %d numbers, but is %s",
                rank,
                2 * rank, Numbers.text(paddings));
        switch (algorithm) {
            case "EXPLICIT" -> window.explicit(paddings);
            case "SAME" -> window.same(lengths, kernel);
            case "SAME_UPPER" -> window.same(lengths, kernel, true);
            case "SAME_LOWER" -> window.same(lengths, kernel, false);
            case "VALID" -> {
            }
            default ->
                require(false, "the attribute 'padding_algorithm' must be EXPLICIT, SAME, SAME_UPPER, SAME_LOWER "
                        + "or VALID, but is '%s'", algorithm);
        }
        return window;
    }

    /** The same, with errors that name the operation. */
    public static WindowAttributes of(Inference inference, long[] lengths, long[] kernel) {
        try {
            return of(inference.attrs(), lengths, kernel);
        } catch (IllegalArgumentException e) {
            throw (IllegalArgumentException) inference.error(String.valueOf(e.getMessage())).initCause(e);
        }
    }

    /** Numbers of an attribute, one for each spatial dimension. */
    static int[] numbers(Attrs attrs, String name, int rank, int least) {
        int[] numbers = attrs.getInts(name);
        require(numbers.length == rank && Arrays.stream(numbers).allMatch(number -> number >= least),
                "the attribute '%s' must have %d numbers from %d on, but is %s", name, rank, least,
                Numbers.text(numbers));
        return numbers;
    }

    @FormatMethod
    private static void require(boolean holds, String rule, Object... values) {
        if (!holds) {
            throw new IllegalArgumentException(String.format(Locale.ROOT, rule, values));
        }
    }

    private void explicit(int[] paddings) {
        require(Arrays.stream(paddings).allMatch(padding -> padding >= 0),
                "the attribute 'paddings' must have numbers from 0 on, but is %s",
                Numbers.text(paddings));
        boolean both = paddings.length == 2 * begin.length;
        for (int i = 0; i < begin.length; i++) {
            begin[i] = paddings[both ? 2 * i : i];
            end[i] = paddings[both ? 2 * i + 1 : i];
        }
    }

    /** Padding SAME: as many places as strides fit into the length. Paddle then uses dilations of 1. */
    private void same(long[] lengths, long[] kernel) {
        Arrays.fill(dilations, 1);
        same(lengths, kernel, true);
    }

    /** As many places as strides fit into the length, with dilations, as in ONNX; an odd rest is at the end or not. */
    private void same(long[] lengths, long[] kernel, boolean moreAtEnd) {
        for (int i = 0; i < begin.length; i++) {
            if (lengths[i] >= 0 && kernel[i] >= 0) {
                long places = Math.ceilDiv(lengths[i], strides[i]);
                int sum = Math.toIntExact(Math.max(0, (places - 1) * strides[i] + extent(i, kernel[i]) - lengths[i]));
                begin[i] = moreAtEnd ? sum / 2 : sum - sum / 2;
                end[i] = sum - begin[i];
            }
        }
    }

    public int stride(int i) {
        return strides[i];
    }

    public int begin(int i) {
        return begin[i];
    }

    public int end(int i) {
        return end[i];
    }

    /** How many elements a kernel covers. */
    public long extent(int i, long kernel) {
        return dilations[i] * (kernel - 1) + 1;
    }

    /** How many places a kernel has; −1 if that is not known. */
    public long places(int i, long length, long kernel) {
        return length < 0 || kernel < 0
                ? -1
                : Math.max(0, Math.floorDiv(length + begin[i] + end[i] - extent(i, kernel), strides[i]) + 1);
    }

    public Window window() {
        return Window.of(strides, begin, end, dilations);
    }

    /** A copy with other padding at the ends. */
    public Window window(int[] otherEnd) {
        return Window.of(strides, begin, otherEnd, dilations);
    }
}
