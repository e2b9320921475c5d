package io.seriatim.graph.dialect;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * Padding that keeps the number of places (SAME). PaddlePaddle knows one such algorithm, which pads more at the end and
 * ignores dilations. Others become numbers where the lengths are known; where a run determines them, the image is
 * padded by computed numbers first.
 */
final class PaddingForm {
    private static final String ALGORITHM = "padding_algorithm";

    private PaddingForm() {
    }

    static void register(Map<String, PaddleForms.Rule> rules) {
        for (String type : List.of("conv2d", "depthwise_conv2d", "conv3d")) {
            rules.put(type, (op, steps, _) -> convolution(op, steps));
        }
        for (String type : List.of("pool2d", "pool3d")) {
            rules.put(type, (op, steps, _) -> pooling(op, steps));
        }
    }

    /** A window that pads as ONNX says. */
    private static final class Same {
        private final Attrs attrs;
        private final boolean lower;
        private final long[] lengths;
        private final int[] strides;
        private final long[] extents;
        private final boolean dilated;

        private Same(OpDesc op, Attrs attrs, boolean lower, long[] lengths, long[] kernel) {
            this.attrs = attrs;
            this.lower = lower;
            this.lengths = lengths;
            this.strides = attrs.getInts("strides");
            int[] dilations = new int[kernel.length];
            Arrays.fill(dilations, 1);
            if (op.attribute("dilations") != null) {
                dilations = attrs.getInts("dilations");
            }
            this.dilated = Arrays.stream(dilations).anyMatch(each -> each != 1);
            this.extents = new long[kernel.length];
            for (int i = 0; i < kernel.length; i++) {
                extents[i] = kernel[i] < 0 ? -1 : (kernel[i] - 1) * dilations[i] + 1;
            }
        }

        boolean hasKnownKernel() {
            return Arrays.stream(extents).allMatch(each -> each > 0);
        }

        boolean hasKnownLengths() {
            return Arrays.stream(lengths).allMatch(each -> each >= 0);
        }

        /** The numbers before and behind each axis. */
        int[] paddings() {
            int[] paddings = new int[2 * lengths.length];
            for (int i = 0; i < lengths.length; i++) {
                long places = Math.ceilDiv(lengths[i], strides[i]);
                int sum = Math.toIntExact(Math.max(0, (places - 1) * strides[i] + extents[i] - lengths[i]));
                paddings[2 * i] = lower ? sum - sum / 2 : sum / 2;
                paddings[2 * i + 1] = sum - paddings[2 * i];
            }
            return paddings;
        }

        /** An image whose axes are padded by as much as its lengths require in a run. */
        String padded(Steps steps, String image, double value) {
            int rank = lengths.length;
            int[] less = new int[rank];
            int[] extent = new int[rank];
            for (int i = 0; i < rank; i++) {
                less[i] = strides[i] - 1;
                extent[i] = Math.toIntExact(extents[i]);
            }
            String stride = steps.ints(strides);
            String length = steps.lengths(image, 2, 2 + rank);
            String places = steps.binary("elementwise_floordiv",
                    steps.binary("elementwise_add", length, steps.ints(less)), stride);
            String before = steps.binary("elementwise_mul",
                    steps.binary("elementwise_sub", places, steps.ints(filled(rank, 1))), stride);
            String needed = steps.binary("elementwise_sub",
                    steps.binary("elementwise_add", before, steps.ints(extent)), length);
            String sum = steps.binary("elementwise_max", needed, steps.ints(new int[rank]));
            String small = steps.binary("elementwise_floordiv", sum, steps.ints(filled(rank, 2)));
            String large = steps.binary("elementwise_sub", sum, small);
            // PaddlePaddle's paddings begin with the last axis.
            String pairs = steps.op("stack").in("X", lower ? List.of(large, small) : List.of(small, large))
                    .attr("axis", 1).out("Y");
            String paddings = steps.reshape(steps.op("flip").in("X", pairs).attr("axis", new int[]{0}).out("Out"), -1);
            if (rank == 3) {
                return pad(steps, image, paddings, value);
            }
            String all = steps.op("concat").in("X", paddings, steps.ints(0, 0)).attr("axis", 0).out("Out");
            String volume = steps.op("unsqueeze2").in("X", image).attr("axes", new int[]{2}).out("Out");
            return steps.op("squeeze2").in("X", pad(steps, volume, all, value)).attr("axes", new int[]{2}).out("Out");
        }

        private static String pad(Steps steps, String volume, String paddings, double value) {
            return steps.op("pad3d").in("X", volume).in("Paddings", paddings).attr("mode", "constant")
                    .attr("paddings", new int[6]).attr("value", (float) value).attr("data_format", "NCDHW").out("Out");
        }
    }

    private static Attrs attrs(OpDesc op) {
        return new Attrs(op, Operations.system().find(op.type()));
    }

    private static boolean isOfOnnx(OpDesc op) {
        return op.attribute(ALGORITHM) instanceof Attribute.Text(String text)
                && text.toUpperCase(Locale.ROOT).matches("SAME_(UPPER|LOWER)");
    }

    private static Same same(OpDesc op, Attrs attrs, long[] image, long[] kernel) {
        boolean last = attrs.getText("data_format").endsWith("C");
        return new Same(op, attrs, attrs.getText(ALGORITHM).toUpperCase(Locale.ROOT).endsWith("LOWER"),
                Arrays.copyOfRange(image, last ? 1 : 2, last ? image.length - 1 : image.length), kernel);
    }

    /** The operation, if its padding is one that PaddlePaddle has, or numbers; null if it must be computed. */
    private static boolean direct(OpDesc op, Same same, Steps steps) {
        if (same.hasKnownKernel() && same.hasKnownLengths()) {
            steps.keep(op.with(ALGORITHM, "EXPLICIT").with("paddings", same.paddings()));
            return true;
        }
        if (!same.lower && !same.dilated) {
            steps.keep(op.with(ALGORITHM, "SAME").with("paddings", new int[same.lengths.length]));
            return true;
        }
        return false;
    }

    private static boolean canPad(Same same) {
        return same.hasKnownKernel() && same.lengths.length >= 2 && !same.attrs.getText("data_format").endsWith("C");
    }

    private static OpDesc explicit(OpDesc op, Same same, String slot, String image) {
        return op.with(ALGORITHM, "EXPLICIT").with("paddings", new int[2 * same.lengths.length])
                .renamed(name -> op.input(slot).getFirst().equals(name) ? image : name, name -> name);
    }

    private static boolean convolution(OpDesc op, Steps steps) {
        if (!isOfOnnx(op)) {
            return false;
        }
        Attrs attrs = attrs(op);
        String image = op.input("Input").getFirst();
        long[] filter = steps.tensor(op.input("Filter").getFirst()).shape();
        Same same = same(op, attrs, steps.tensor(image).shape(), Arrays.copyOfRange(filter, 2, filter.length));
        if (direct(op, same, steps)) {
            return true;
        }
        if (!canPad(same)) {
            return false;
        }
        steps.keep(explicit(op, same, "Input", same.padded(steps, image, 0)));
        return true;
    }

    private static boolean pooling(OpDesc op, Steps steps) {
        Attrs attrs = attrs(op);
        if (attrs.getBool("adaptive") && attrs.getText("pooling_type").equals("max")) {
            return adaptiveMaxima(op, attrs, steps);
        }
        if (!isOfOnnx(op) || attrs.getBool("global_pooling") || attrs.getBool("adaptive")) {
            return false;
        }
        String image = op.input("X").getFirst();
        Same same = same(op, attrs, steps.tensor(image).shape(), attrs.getLongs("ksize"));
        if (direct(op, same, steps)) {
            return true;
        }
        if (!canPad(same) || attrs.getBool("ceil_mode")) {
            return false;
        }
        if (attrs.getText("pooling_type").equals("max")) {
            steps.keep(explicit(op, same, "X", same.padded(steps, image, Double.NEGATIVE_INFINITY)));
            return true;
        }
        OpDesc whole = explicit(op, same, "X", same.padded(steps, image, 0)).with("exclusive", false);
        if (!attrs.getBool("exclusive")) {
            steps.keep(whole);
            return true;
        }
        // The average over all elements of a window, divided by the share of those that are no padding.
        String ones = steps.op("fill_any_like").in("X", image).attr("value", 1f).attr("dtype", -1).out("Out");
        String sum = average(steps, whole, whole.input("X").getFirst());
        String share = average(steps, whole, same.padded(steps, ones, 0));
        steps.op("elementwise_div").in("X", sum).in("Y", share).attr("axis", -1)
                .into("Out", op.output("Out").getFirst());
        return true;
    }

    /**
     * PaddlePaddle takes adaptive maxima as if they were not adaptive, unless the operation gives their places, too;
     * with global_pooling, each element is a window.
     */
    private static boolean adaptiveMaxima(OpDesc op, Attrs attrs, Steps steps) {
        String image = op.input("X").getFirst();
        String result = op.output("Out").getFirst();
        if (attrs.getBool("global_pooling")) {
            steps.op("assign").in("X", image).into("Out", result);
        } else if (Arrays.stream(attrs.getInts("ksize")).allMatch(each -> each == 1)) {
            steps.keep(op.with("adaptive", false).with("global_pooling", true));
        } else {
            boolean last = attrs.getText("data_format").endsWith("C");
            int rank = steps.tensor(image).dims().size();
            String first = last
                    ? steps.op("transpose2").in("X", image)
                            .attr("axis", axes(rank, i -> i == 0 ? 0 : i == 1 ? rank - 1 : i - 1)).out("Out")
                    : image;
            int[] size = attrs.getInts("ksize");
            Steps.Step maxima = steps.op(size.length == 2 ? "max_pool2d_with_index" : "max_pool3d_with_index")
                    .in("X", first).attr("ksize", size).attr("strides", filled(size.length, 1))
                    .attr("paddings", new int[size.length]).attr("adaptive", true).attr("global_pooling", false);
            if (last) {
                steps.op("transpose2").in("X", maxima.out("Out"))
                        .attr("axis", axes(rank, i -> i == 0 ? 0 : i == rank - 1 ? 1 : i + 1)).into("Out", result);
            } else {
                maxima.into("Out", result);
            }
        }
        return true;
    }

    private static int[] axes(int rank, IntUnaryOperator axis) {
        return IntStream.range(0, rank).map(axis).toArray();
    }

    private static int[] filled(int count, int value) {
        int[] numbers = new int[count];
        Arrays.fill(numbers, value);
        return numbers;
    }

    private static String average(Steps steps, OpDesc pool, String image) {
        Steps.Step step = steps.op(pool.type()).in("X", image);
        pool.attributes().forEach(each -> step.attr(each.name(), each.value()));
        return step.out("Out");
    }
}
