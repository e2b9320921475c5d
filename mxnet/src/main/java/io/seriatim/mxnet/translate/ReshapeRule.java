package io.seriatim.mxnet.translate;

import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/**
 * The dimensions of a reshaped tensor, from MXNet's codes: 0 copies a dimension, −1 takes what is left, −2 copies all
 * that follow, −3 merges two, −4 splits one in two.
 */
final class ReshapeRule {
    /** A code of this program: a dimension that is 1 is dropped. */
    static final int DROPPED = Integer.MIN_VALUE;

    private final long[] from;
    private final List<Dim> dims = new ArrayList<>();
    private int next;

    /** A dimension of the result: a number times some dimensions of the tensor, divided by a number; or the rest. */
    private record Dim(List<Integer> factors, long divisor, long known, boolean rest) {
        static Dim known(long known) {
            return new Dim(List.of(), 1, known, false);
        }

        static Dim copied(Integer... factors) {
            return new Dim(List.of(factors), 1, 1, false);
        }
    }

    private ReshapeRule(long[] from) {
        this.from = from;
    }

    /** Appends the reshape. */
    static String apply(NodeInputs node, String x, int[] codes, boolean reverse) {
        long[] dims = node.dims(x);
        ReshapeRule rule = new ReshapeRule(dims);
        rule.read(node, reverse ? reversed(codes) : codes, reverse);
        return rule.write(node, x);
    }

    private static int[] reversed(int[] codes) {
        int[] all = new int[codes.length];
        Arrays.setAll(all, i -> codes[codes.length - 1 - i]);
        return all;
    }

    private void read(NodeInputs node, int[] codes, boolean reverse) {
        for (int i = 0; i < codes.length; i++) {
            switch (codes[i]) {
                case 0 -> dims.add(Dim.copied(place(node, reverse)));
                case -1 -> {
                    dims.add(new Dim(List.of(), 1, 1, true));
                    next++;
                }
                case -2 -> {
                    while (next < from.length) {
                        dims.add(Dim.copied(place(node, reverse)));
                    }
                }
                case -3 -> dims.add(Dim.copied(place(node, reverse), place(node, reverse)));
                case -4 -> {
                    if (i + 2 >= codes.length) {
                        throw node.unsupported("the code -4 in a shape is followed by two numbers");
                    }
                    split(node, place(node, reverse), codes[i + 1], codes[i + 2]);
                    i += 2;
                }
                case DROPPED -> {
                    int place = place(node, reverse);
                    if (from[place] > 1 || from[place] == 0) {
                        throw node.unsupported("a dimension that is dropped must be 1, but is " + from[place]);
                    }
                }
                default -> {
                    if (codes[i] < 0) {
                        throw node.unsupported("the codes of a shape are from -4 on, but there is " + codes[i]);
                    }
                    dims.add(Dim.known(codes[i]));
                    next++;
                }
            }
        }
        if (reverse) {
            Collections.reverse(dims);
        }
        if (dims.stream().filter(Dim::rest).count() > 1) {
            throw node.unsupported("a shape has the code -1 at most once");
        }
    }

    private int place(NodeInputs node, boolean reverse) {
        if (next >= from.length) {
            throw node.unsupported("a shape copies more dimensions than the " + from.length + " that there are");
        }
        int place = next++;
        return reverse ? from.length - 1 - place : place;
    }

    private void split(NodeInputs node, int place, int left, int right) {
        if (left == 0 || right == 0 || left < -1 || right < -1 || (left == -1 && right == -1)) {
            throw node.unsupported("the code -4 in a shape is followed by two numbers, of which one may be -1, but by "
                    + left + " and " + right);
        }
        dims.add(left > 0 ? Dim.known(left) : new Dim(List.of(place), right, 1, false));
        dims.add(right > 0 ? Dim.known(right) : new Dim(List.of(place), left, 1, false));
    }

    private String write(NodeInputs node, String x) {
        long[] to = new long[dims.size()];
        int open = 0;
        for (int i = 0; i < to.length; i++) {
            Dim dim = dims.get(i);
            to[i] = known(dim);
            if (to[i] < 0 && dim.factors().equals(List.of(i)) && dim.divisor() == 1) {
                to[i] = 0;
            }
            open += to[i] < 0 ? 1 : 0;
        }
        return open <= 1 ? node.ops().reshape(x, to) : computed(node, x, to);
    }

    /** A dimension; −1 if it is not known. */
    private long known(Dim dim) {
        if (dim.rest() || dim.factors().stream().anyMatch(place -> from[place] < 0)) {
            return -1;
        }
        return dim.factors().stream().mapToLong(place -> from[place]).reduce(dim.known(), Math::multiplyExact)
                / dim.divisor();
    }

    /** With dimensions that a run computes. */
    private String computed(NodeInputs node, String x, long[] to) {
        Ops ops = node.ops();
        String shape = ops.shape(x);
        List<String> parts = new ArrayList<>();
        for (int i = 0; i < to.length; i++) {
            Dim dim = dims.get(i);
            if (dim.rest() || to[i] > 0) {
                parts.add(ops.constant(DType.INT32, dim.rest() ? -1.0 : (double) to[i], 1));
                continue;
            }
            String part = null;
            for (int place : dim.factors()) {
                String factor = ops.slice(shape, 0, place, place + 1L);
                part = part == null ? factor : ops.binary("elementwise_mul", part, factor);
            }
            String whole = Objects.requireNonNull(part);
            parts.add(dim.divisor() == 1
                    ? whole
                    : ops.binary("elementwise_floordiv", whole,
                            ops.constant(DType.INT32, (double) dim.divisor(), 1)));
        }
        return ops.reshape(x, ops.concat(0, parts));
    }
}
