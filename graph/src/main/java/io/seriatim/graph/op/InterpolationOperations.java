package io.seriatim.graph.op;

import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Gather;
import io.seriatim.tensor.kernel.Interpolation;
import io.seriatim.tensor.kernel.InterpolationGrad;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Images of another size: nearest and bilinear interpolation over two spatial dimensions. */
final class InterpolationOperations {
    private static final int RANK = 4;
    private static final int SPATIAL = 2;

    private InterpolationOperations() {
    }

    static void register(Operations registry) {
        for (String type : List.of("nearest_interp_v2", "bilinear_interp_v2")) {
            Operation.Builder forward = Operation.define(type).in("X", "OutSize?", "SizeTensor*?", "Scale?").out("Out")
                    .attr("data_layout", "NCHW").attr("out_d", 0)
                    .attr("out_h", 0).attr("out_w", 0).attr("scale", new float[0]).attr("interp_method", "bilinear")
                    .attr("align_corners", true)
                    .attr("align_mode", 1).values("OutSize", "SizeTensor", "Scale").infer(InterpolationOperations::infer)
                    .lower(InterpolationOperations::forward);
            String gradient = type + "_grad(Out@GRAD, OutSize, Scale, SizeTensor, X) -> X@GRAD";
            forward.gradOperation(gradient, null).values("OutSize", "SizeTensor", "Scale").shapesOnly("X")
                    .lower(InterpolationOperations::backward)
                    .register(registry);
            forward.grad(gradient).register(registry);
        }
    }

    /**
     * What decides on the size, in Paddle's order: SizeTensor; else OutSize; else Scale or the attribute 'scale'; else out_h and out_w. Where a scale is given, it also decides on the steps.
     *
     * @param scale
     *            for each dimension, or null
     */
    @SuppressWarnings("ArrayRecordComponent")
    private record Size(long[] lengths, double @Nullable [] scale) {
        static Size of(Attrs attrs, long[] x, long[] listed, long @Nullable [] outSize, double @Nullable [] scaleTensor) {
            if (listed.length > 0) {
                return new Size(listed, null);
            }
            double[] given = scaleTensor != null ? scaleTensor : attrs.getDoubles("scale");
            if (given.length == 0) {
                return new Size(outSize != null ? outSize : new long[]{attrs.getInt("out_h"), attrs.getInt("out_w")}, null);
            }
            double[] scale = {given[0], given[Math.min(1, given.length - 1)]};
            long[] lengths = new long[SPATIAL];
            for (int i = 0; i < SPATIAL; i++) {
                lengths[i] = outSize != null ? outSize[i] : x[i] < 0 ? -1 : (long) (x[i] * (float) scale[i]);
            }
            return new Size(lengths, scale);
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
        inference.require(x.length == RANK, "X needs 4 dimensions, but has %d", x.length);
        String method = attrs.getText("interp_method");
        inference.require(method.equals("nearest") || method.equals("bilinear"),
                "the attribute 'interp_method' must be nearest or bilinear, but is '%s'", method);
        inference.require(method.equals("nearest") || inference.dtype("X").isFloating(),
                "bilinear interpolation needs X of a floating-point type, but it is %s",
                inference.dtype("X"));
        inference.require(!inference.has("SizeTensor") || inference.count("SizeTensor") == SPATIAL,
                "SizeTensor must hold 2 tensors, but has %d",
                inference.count("SizeTensor"));
        ImageLayout layout = ImageLayout.of(attrs, "data_layout");
        long[] lengths = layout.spatialOf(x);
        long[] results = inference.isForRun() ? known(inference, lengths) : declared(inference, lengths);
        inference.set("Out", inference.dtype("X"), layout.dims(x[0], x[layout.channels(RANK)], results));
    }

    /** While a program is built, Paddle takes out_h and out_w for what tensors will say of the size, and knows nothing if they will say the scale. */
    private static long[] declared(Inference inference, long[] lengths) {
        Attrs attrs = inference.attrs();
        long[] unknown = {-1, -1};
        if (inference.has("Scale") && !inference.has("SizeTensor")) {
            return unknown;
        }
        long[] none = new long[0];
        boolean scaled = !inference.has("SizeTensor") && attrs.getDoubles("scale").length > 0;
        checkScale(inference, scaled ? attrs.getDoubles("scale") : null);
        long[] size = scaled
                ? Size.of(attrs, lengths, none, null, null).lengths()
                : new long[]{attrs.getInt("out_h"), attrs.getInt("out_w")};
        for (int i = 0; i < SPATIAL; i++) {
            boolean open = inference.has("SizeTensor") || inference.has("OutSize") || (scaled && lengths[i] < 0);
            inference.require(size[i] > 0 || open, "the size of the result must be from 1 on, but out_h and out_w, or scale, make it %s",
                    Arrays.toString(size));
            size[i] = size[i] > 0 ? size[i] : -1;
        }
        return size;
    }

    private static long[] known(Inference inference, long[] lengths) {
        long[] outSize = inference.values("OutSize");
        inference.require(outSize == null || outSize.length == SPATIAL, "OutSize must hold 2 numbers, but is %s", Arrays.toString(outSize));
        double[] scale = inference.numbers("Scale");
        checkScale(inference, scale != null ? scale : inference.attrs().getDoubles("scale"));
        long[] size = Size.of(inference.attrs(), lengths, inference.listed("SizeTensor"), outSize, scale).lengths();
        inference.require(size[0] > 0 && size[1] > 0 && lengths[0] > 0 && lengths[1] > 0,
                "the sizes of X and of the result must be from 1 on, but are %s and %s", Arrays.toString(lengths), Arrays.toString(size));
        return size;
    }

    private static void checkScale(Inference inference, double @Nullable [] scale) {
        inference.require(scale == null || Arrays.stream(scale).allMatch(factor -> factor > 0 && Double.isFinite(factor)),
                "scales must be greater than 0, but are %s", Arrays.toString(scale));
    }

    private static Interpolation interpolation(Lowering l, long[] lengths) {
        Attrs attrs = l.attrs();
        boolean corners = attrs.getBool("align_corners");
        Size size = Size.of(attrs, lengths, l.listed("SizeTensor"), l.values("OutSize"), l.numbers("Scale"));
        Interpolation.Kind kind;
        if (attrs.getText("interp_method").equals("nearest")) {
            kind = corners ? Interpolation.Kind.NEAREST_ROUNDED : Interpolation.Kind.NEAREST;
        } else {
            kind = corners || attrs.getInt("align_mode") != 0 ? Interpolation.Kind.LINEAR : Interpolation.Kind.LINEAR_OF_AREAS;
        }
        return new Interpolation(kind, ConvolutionOperations.list(size.lengths()),
                List.of(size.step(0, lengths[0], corners), size.step(1, lengths[1], corners)));
    }

    private static void forward(Lowering l) {
        if (!l.wants("Out")) {
            return;
        }
        Operand x = l.in("X");
        ImageLayout layout = ImageLayout.of(l.attrs(), "data_layout");
        long[] lengths = layout.spatialOf(x.shape().dims());
        Interpolation interpolation = interpolation(l, lengths);
        if (x.dtype().isFloating()) {
            l.into(interpolation, List.of(layout.channelsFirst(x)), List.of(layout.channelsFirst(l.output("Out"))));
            return;
        }
        Operand result = x;
        for (int i = 0; i < SPATIAL; i++) {
            result = l.run(new Gather(layout.spatial() + i, Gather.NO_PADDING), result, elements(l, interpolation, i, lengths[i]));
        }
        l.out("Out", result);
    }

    /** Which elements the places of a dimension take: numbers of other types are not mixed, so they are picked. */
    private static Operand elements(Lowering l, Interpolation interpolation, int i, long length) {
        long[] elements = new long[Math.toIntExact(interpolation.output().get(i))];
        for (int place = 0; place < elements.length; place++) {
            elements[place] = Math.min((long) interpolation.kind().source(place, interpolation.steps().get(i)), length - 1);
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
        l.into(new InterpolationGrad(interpolation(l, lengths), ConvolutionOperations.list(lengths)),
                List.of(layout.channelsFirst(l.in("Out@GRAD"))), List.of(layout.channelsFirst(l.output("X@GRAD"))));
    }
}
