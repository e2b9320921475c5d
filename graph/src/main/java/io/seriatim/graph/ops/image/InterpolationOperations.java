package io.seriatim.graph.ops.image;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.graph.ops.common.ImageLayout;
import io.seriatim.graph.ops.convolution.ConvolutionOperations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.network.Interpolation;
import io.seriatim.tensor.computation.network.InterpolationGrad;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Images of another size: nearest, linear and cubic interpolation over one to three spatial dimensions. */
public final class InterpolationOperations {
    private static final List<String> METHODS = List.of("nearest", "linear", "bilinear", "bicubic", "trilinear");
    private static final List<String> SIZES = List.of("out_d", "out_h", "out_w");

    private InterpolationOperations() {
    }

    public static void register(Operations registry) {
        for (String method : METHODS) {
            define(registry, method + "_interp_v2", new float[0]);
            define(registry, method + "_interp", 0f);
        }
    }

    /**
     * Defines a method.
     *
     * @param scale
     *            the default value of the attribute: a list, or one number, which is none unless greater than 0
     */
    private static void define(Operations registry, String type, Object scale) {
        Operation.Builder forward =
                Operation.define(type).in("X", "OutSize?", "SizeTensor*?", "Scale?").out("Out").sharesNoLod()
                        .attr("data_layout", "NCHW").attr("out_d", 0)
                        .attr("out_h", 0).attr("out_w", 0).attr("scale", scale).attr("interp_method", "bilinear")
                        .attr("align_corners", true)
                        .attr("align_mode", 1).values("OutSize", "SizeTensor", "Scale")
                        .infer(InterpolationOperations::infer)
                        .lower(InterpolationOperations::forward);
        String gradient = type + "_grad(Out@GRAD, OutSize, Scale, SizeTensor, X) -> X@GRAD";
        forward.gradOperation(gradient, null).values("OutSize", "SizeTensor", "Scale").shapesOnly("X")
                .lower(InterpolationOperations::backward)
                .register(registry);
        forward.grad(gradient).register(registry);
    }

    /**
     * The source of the size, in Paddle's order: SizeTensor; else OutSize; else Scale or the attribute 'scale'; else
     * out_d, out_h and out_w. Where a scale is given, it also decides on the steps.
     *
     * @param scale
     *            for each dimension, or null
     */
    @SuppressWarnings("ArrayRecordComponent")
    private record Size(long[] lengths, double @Nullable [] scale) {
        static Size of(Attrs attrs, long[] x, long[] listed, long @Nullable [] outSize,
                double @Nullable [] scaleTensor) {
            if (listed.length > 0) {
                return new Size(listed, null);
            }
            double[] given = scales(attrs, scaleTensor);
            if (given.length == 0) {
                return new Size(outSize != null ? outSize : of(attrs, x.length), null);
            }
            double[] scale = new double[x.length];
            long[] lengths = new long[x.length];
            for (int i = 0; i < x.length; i++) {
                scale[i] = given[Math.min(i, given.length - 1)];
                lengths[i] = outSize != null ? outSize[i] : x[i] < 0 ? -1 : (long) (x[i] * (float) scale[i]);
            }
            return new Size(lengths, isNumber(attrs) ? null : scale);
        }

        /** The first version has one scale, which does not decide on the steps. */
        private static boolean isNumber(Attrs attrs) {
            return attrs.get("scale") instanceof Attribute.Real;
        }

        static double[] scales(Attrs attrs, double @Nullable [] tensor) {
            double[] scales = tensor != null ? tensor : attrs.getDoubles("scale");
            return isNumber(attrs) && scales.length > 0 && !(scales[0] > 0) ? new double[0] : scales;
        }

        static long[] of(Attrs attrs, int spatial) {
            return SIZES.subList(SIZES.size() - spatial, SIZES.size()).stream().mapToLong(attrs::getInt).toArray();
        }

        float step(int i, long length, boolean corners) {
            if (lengths[i] <= 1) {
                return 0;
            }
            if (corners) {
                return (float) (length - 1) / (lengths[i] - 1);
            }
            return scale != null ? 1f / (float) scale[i] : (float) length / lengths[i];
        }
    }

    private static void infer(Inference inference) {
        long[] x = inference.dims("X");
        Attrs attrs = inference.attrs();
        String method = attrs.getText("interp_method");
        inference.require(METHODS.contains(method), "the attribute 'interp_method' must be one of %s, but is '%s'",
                METHODS, method);
        int spatial = spatial(method, x.length);
        inference.require(x.length == spatial + 2, "X needs %d dimensions for %s interpolation, but has %d",
                spatial + 2, method, x.length);
        inference.require(method.equals("nearest") || inference.dtype("X").isFloating(),
                "%s interpolation needs X of a floating-point type, but it is %s", method, inference.dtype("X"));
        inference.require(!inference.has("SizeTensor") || inference.count("SizeTensor") == spatial,
                "SizeTensor must hold %d tensors, but has %d", spatial, inference.count("SizeTensor"));
        ImageLayout layout = ImageLayout.of(attrs, "data_layout");
        long[] lengths = layout.spatialOf(x);
        long[] results = inference.isForRun() ? known(inference, lengths) : declared(inference, lengths);
        inference.set("Out", inference.dtype("X"), layout.dims(x[0], x[layout.channels(x.length)], results));
    }

    /** Over how many spatial dimensions a method goes: the nearest elements are found in two or three. */
    private static int spatial(String method, int rank) {
        return switch (method) {
            case "linear" -> 1;
            case "trilinear" -> 3;
            case "nearest" -> rank == 5 ? 3 : 2;
            default -> 2;
        };
    }

    /**
     * While a program is built, Paddle takes out_d, out_h and out_w for what tensors will say of the size, and knows
     * nothing if they will say the scale.
     */
    private static long[] declared(Inference inference, long[] lengths) {
        Attrs attrs = inference.attrs();
        if (inference.has("Scale") && !inference.has("SizeTensor")) {
            return Dims.unknown(lengths.length);
        }
        long[] none = new long[0];
        double[] scales = Size.scales(attrs, null);
        boolean scaled = !inference.has("SizeTensor") && scales.length > 0;
        checkScale(inference, scaled ? scales : null);
        long[] size = scaled
                ? Size.of(attrs, lengths, none, null, null).lengths()
                : Size.of(attrs, lengths.length);
        for (int i = 0; i < size.length; i++) {
            boolean open = inference.has("SizeTensor") || inference.has("OutSize") || (scaled && lengths[i] < 0);
            inference.require(size[i] > 0 || open,
                    "the size of the result must be from 1 on, but %s, or scale, make it %s",
                    String.join(", ", SIZES.subList(SIZES.size() - size.length, SIZES.size())),
                    Numbers.text(size));
            size[i] = size[i] > 0 ? size[i] : -1;
        }
        return size;
    }

    private static long[] known(Inference inference, long[] lengths) {
        long[] outSize = inference.values("OutSize");
        inference.require(outSize == null || outSize.length == lengths.length,
                "OutSize must hold %d numbers, but is %s", lengths.length,
                Numbers.text(outSize));
        double[] scale = inference.numbers("Scale");
        checkScale(inference, Size.scales(inference.attrs(), scale));
        long[] size = Size.of(inference.attrs(), lengths, inference.listed("SizeTensor"), outSize, scale).lengths();
        inference.require(
                Arrays.stream(size).allMatch(length -> length > 0)
                        && Arrays.stream(lengths).allMatch(length -> length > 0),
                "the sizes of X and of the result must be from 1 on, but are %s and %s", Numbers.text(lengths),
                Numbers.text(size));
        return size;
    }

    private static void checkScale(Inference inference, double @Nullable [] scale) {
        inference.require(
                scale == null || Arrays.stream(scale).allMatch(factor -> factor > 0 && Double.isFinite(factor)),
                "scales must be greater than 0, but are %s", Numbers.text(scale));
    }

    private static Size size(Lowering l, long[] lengths) {
        return Size.of(l.attrs(), lengths, l.listed("SizeTensor"), l.values("OutSize"), l.numbers("Scale"));
    }

    private static boolean isCubic(Lowering l) {
        return l.attrs().getText("interp_method").equals("bicubic");
    }

    private static Interpolation interpolation(Lowering l, Size size, long[] lengths) {
        Attrs attrs = l.attrs();
        boolean corners = attrs.getBool("align_corners");
        Interpolation.Kind kind;
        if (attrs.getText("interp_method").equals("nearest")) {
            kind = corners ? Interpolation.Kind.NEAREST_ROUNDED : Interpolation.Kind.NEAREST;
        } else {
            kind = corners || attrs.getInt("align_mode") != 0
                    ? Interpolation.Kind.LINEAR
                    : Interpolation.Kind.LINEAR_OF_AREAS;
        }
        List<Float> steps = IntStream.range(0, lengths.length).mapToObj(i -> size.step(i, lengths[i], corners))
                .toList();
        return new Interpolation(kind, ConvolutionOperations.list(size.lengths()), steps);
    }

    private static void forward(Lowering l) {
        if (!l.wants("Out")) {
            return;
        }
        Operand x = l.in("X");
        ImageLayout layout = ImageLayout.of(l.attrs(), "data_layout");
        long[] lengths = layout.spatialOf(x.shape().dims());
        Size size = size(l, lengths);
        if (Arrays.equals(lengths, size.lengths())) {
            l.out("Out", x); // whatever the scale
        } else if (isCubic(l)) {
            Cubic cubic = Cubic.of(l, size, lengths, x.dtype());
            Operand wide = l.run(new MatMul(false, true, false, List.of()), layout.channelsFirst(x), cubic.columns());
            l.into(new MatMul(false, false, false, List.of()), List.of(cubic.rows(), wide),
                    List.of(layout.channelsFirst(l.output("Out"))));
        } else if (x.dtype().isFloating()) {
            l.into(interpolation(l, size, lengths), List.of(layout.channelsFirst(x)),
                    List.of(layout.channelsFirst(l.output("Out"))));
        } else {
            l.out("Out", picked(l, interpolation(l, size, lengths), layout, lengths));
        }
    }

    /** Other types cannot be interpolated: the nearest element is taken. */
    private static Operand picked(Lowering l, Interpolation interpolation, ImageLayout layout, long[] lengths) {
        Operand result = l.in("X");
        for (int i = 0; i < lengths.length; i++) {
            result = l.run(new Gather(layout.spatial() + i, Gather.NO_PADDING), result,
                    elements(l, interpolation, i, lengths[i]));
        }
        return result;
    }

    /** Which elements the places of a dimension take. */
    private static Operand elements(Lowering l, Interpolation interpolation, int i, long length) {
        long[] elements = new long[WorkingMemory.length(interpolation.output().get(i))];
        for (int place = 0; place < elements.length; place++) {
            elements[place] = Math.min((long) interpolation.kind().source(place, interpolation.steps().get(i)),
                    length - 1);
        }
        return l.constant(Tensor.of(elements, elements.length));
    }

    private static void backward(Lowering l) {
        if (!l.wants("X@GRAD")) {
            return;
        }
        ImageLayout layout = ImageLayout.of(l.attrs(), "data_layout");
        Shape x = Shape.of(l.type("X", 0).dims());
        long[] lengths = layout.spatialOf(x.dims());
        Size size = size(l, lengths);
        Operand dout = layout.channelsFirst(l.in("Out@GRAD"));
        List<Operand> to = List.of(layout.channelsFirst(l.output("X@GRAD")));
        if (Arrays.equals(lengths, size.lengths())) {
            l.out("X@GRAD", l.in("Out@GRAD"));
        } else if (isCubic(l)) {
            Cubic cubic = Cubic.of(l, size, lengths, dout.dtype());
            Operand wide = l.run(new MatMul(true, false, false, List.of()), cubic.rows(), dout);
            l.into(new MatMul(false, false, false, List.of()), List.of(wide, cubic.columns()), to);
        } else {
            l.into(new InterpolationGrad(interpolation(l, size, lengths), ConvolutionOperations.list(lengths)),
                    List.of(dout), to);
        }
    }

    /**
     * Cubic interpolation (Keys: Cubic convolution interpolation for digital image processing, 1981) is linear in the
     * image: a matrix for each axis has, for each place of the result, the weights of the four elements around it.
     *
     * @param rows
     *            [result's height, height]
     * @param columns
     *            [result's width, width]
     */
    private record Cubic(Operand rows, Operand columns) {
        /** The slope of the kernel at 1. */
        private static final double SLOPE = -0.75;

        static Cubic of(Lowering l, Size size, long[] lengths, DType dtype) {
            return new Cubic(matrix(l, size, 0, lengths[0], dtype), matrix(l, size, 1, lengths[1], dtype));
        }

        private static Operand matrix(Lowering l, Size size, int axis, long length, DType dtype) {
            boolean corners = l.attrs().getBool("align_corners");
            float step = size.step(axis, length, corners);
            int places = Math.toIntExact(size.lengths()[axis]);
            double[] weights = new double[WorkingMemory.length(places, length)];
            for (int place = 0; place < places; place++) {
                double source = corners ? step * place : step * (place + 0.5) - 0.5;
                double at = dtype == DType.FLOAT64 ? source : (float) source;
                long before = (long) Math.floor(at);
                for (long element = before - 1; element <= before + 2; element++) {
                    weights[(int) (place * length + Math.clamp(element, 0, length - 1))] += weight(
                            Math.abs(at - element));
                }
            }
            return l.constant(Tensor.of(dtype, weights, places, length));
        }

        /** The weight of an element at a distance. */
        private static double weight(double distance) {
            return distance <= 1
                    ? ((SLOPE + 2) * distance - (SLOPE + 3)) * distance * distance + 1
                    : ((SLOPE * distance - 5 * SLOPE) * distance + 8 * SLOPE) * distance - 4 * SLOPE;
        }
    }
}
