package io.seriatim.graph.ops.pooling;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.DerivedGradient;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.GradientSignature;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.ImageLayout;
import io.seriatim.graph.ops.common.WindowAttributes;
import io.seriatim.graph.ops.convolution.ConvolutionOperations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.network.AdaptivePooling;
import io.seriatim.tensor.computation.network.Pooling;
import io.seriatim.tensor.computation.network.PoolingGrad;
import io.seriatim.tensor.computation.network.Window;
import io.seriatim.tensor.kernel.Computation;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Pooling over two or three spatial dimensions. */
public final class PoolingOperations {
    private PoolingOperations() {
    }

    public static void register(Operations registry) {
        String first = "pool2d_grad(Out, Out@GRAD, X) -> X@GRAD";
        Operation.Builder forward = forward("pool2d", "NCHW", 1, 1);
        String second = "pool2d_double_grad(grad_x@GRAD=X@GRAD@GRAD) -> grad_out@GRAD=Out@GRAD@GRAD";
        Operation.Builder backward = forward.gradOperation(first, null).lower(PoolingOperations::backward);
        backward.gradOperation(second, PoolingOperations::inferSecond)
                .refuse((_, attrs) -> attrs.getText("pooling_type").equals("avg")
                        ? null
                        : "only averages have a second gradient, since that of a maximum depends on X, which this "
                                + "operation does not get")
                .lower(l -> pool(l, "grad_x@GRAD", "grad_out@GRAD")).register(registry);
        GradientRule ofAverages = GradientSignature.parse(second);
        backward.grad((op, wanted) -> isMaximum(op) ? ofMaxima(op, wanted) : ofAverages.make(op, wanted))
                .register(registry);
        forward.grad(first).register(registry);
        forward("pool3d", "NCDHW", 1, 1, 1).grad("pool3d_grad(Out, Out@GRAD, X) -> X@GRAD", PoolingOperations::backward)
                .register(registry);
    }

    private static boolean isMaximum(OpDesc op) {
        return op.attribute("pooling_type") instanceof Attribute.Text(String type) && type.equals("max");
    }

    /** PaddlePaddle's operation does not get X, on which the places of the maxima depend. */
    private static List<OpDesc> ofMaxima(OpDesc op, Predicate<String> wanted) {
        return DerivedGradient.ofAll(Operations.system().get(op.type())).make(op, wanted);
    }

    private static Operation.Builder forward(String type, String format, int... strides) {
        return Operation.define(type).in("X").out("Out").required("ksize", Attribute.Ints.class)
                .attr("strides", strides)
                .attr("paddings", new int[strides.length]).attr("ceil_mode", false).attr("exclusive", true)
                .attr("data_format", format)
                .attr("pooling_type", "").attr("global_pooling", false).attr("adaptive", false)
                .attr("padding_algorithm", "EXPLICIT")
                .attr("use_cudnn", false)
                .infer(inference -> inference.set("Out", inference.dtype("X"), places(inference, "X")))
                .lower(l -> pool(l, "X", "Out"));
    }

    private static long[] places(Inference inference, String slot) {
        long[] x = inference.dims(slot);
        Attrs attrs = inference.attrs();
        long[] kernel = attrs.getLongs("ksize");
        inference.require(x.length >= 3 && kernel.length == x.length - 2,
                "%s needs two dimensions more than the attribute 'ksize' has numbers, but they are %s and %s", slot,
                Numbers.text(x),
                Numbers.text(kernel));
        inference.require(Arrays.stream(kernel).allMatch(each -> each > 0),
                "the attribute 'ksize' must have numbers from 1 on, but is %s",
                Numbers.text(kernel));
        String type = attrs.getText("pooling_type");
        inference.require(type.equals("max") || type.equals("avg"),
                "the attribute 'pooling_type' must be max or avg, but is '%s'", type);
        ImageLayout layout = ImageLayout.of(attrs, "data_format");
        long[] lengths = layout.spatialOf(x);
        if (attrs.getBool("adaptive")) {
            return layout.dims(x[0], x[layout.channels(x.length)], attrs.getBool("global_pooling") ? lengths : kernel);
        }
        long[] places = new long[kernel.length];
        for (int i = 0; i < places.length; i++) {
            places[i] = attrs.getBool("global_pooling") ? Math.min(lengths[i], 1) : -1;
        }
        if (!attrs.getBool("global_pooling")) {
            WindowAttributes window = WindowAttributes.of(inference, lengths, kernel);
            for (int i = 0; i < places.length; i++) {
                places[i] = places(inference, window, i, lengths[i], kernel[i]);
            }
        }
        return layout.dims(x[0], x[layout.channels(x.length)], places);
    }

    private static long places(Inference inference, WindowAttributes window, int i, long length, long kernel) {
        if (length < 0) {
            return -1;
        }
        boolean ceil = inference.attrs().getBool("ceil_mode");
        long places = window.places(i, length + (ceil ? window.stride(i) - 1 : 0), kernel);
        inference.require(places > 0, "a window of %d does not fit into the spatial dimension %d with its padding",
                kernel, length);
        inference.require(window.begin(i) < kernel && (places - 1) * window.stride(i) < length + window.begin(i),
                "a window of %d, moved by %d, lies outside of the spatial dimension %d, padded by %d and %d", kernel,
                window.stride(i),
                length,
                window.begin(i), window.end(i));
        return places;
    }

    private static void inferSecond(Inference inference) {
        inference.set("grad_out@GRAD", inference.dtype("grad_x@GRAD"), places(inference, "grad_x@GRAD"));
    }

    /**
     * What is computed.
     *
     * @param weights
     *            factors [places...] of the result, or null: an average that counts padding counts, behind the
     *            elements, as much of a window as there is padding before them, whatever the padding behind them, so it
     *            is the average of the elements times their share of what is counted
     */
    private record Plan(Computation pooling, @Nullable Operand weights) {
        static Plan of(Lowering l, TensorSpec x, Shape y) {
            Attrs attrs = l.attrs();
            boolean max = attrs.getText("pooling_type").equals("max");
            Pooling.Kind exclusive = max ? Pooling.Kind.MAX : Pooling.Kind.AVERAGE;
            long[] lengths = ConvolutionOperations.spatial(x.shape());
            long[] places = ConvolutionOperations.spatial(y);
            if (attrs.getBool("adaptive") || attrs.getBool("global_pooling")) {
                return new Plan(adaptive(exclusive, lengths, places), null);
            }
            long[] kernel = attrs.getLongs("ksize");
            WindowAttributes window = WindowAttributes.of(attrs, lengths, kernel);
            int[] end = new int[places.length];
            boolean cutOff = false;
            for (int i = 0; i < end.length; i++) {
                long covered = (places[i] - 1) * window.stride(i) + kernel[i];
                end[i] = Math.max(window.end(i), Math.toIntExact(covered - lengths[i] - window.begin(i)));
                cutOff |= covered - window.begin(i) > lengths[i] + window.begin(i);
            }
            boolean weighted = cutOff && !max && !attrs.getBool("exclusive");
            Pooling.Kind kind = max || attrs.getBool("exclusive") || weighted
                    ? exclusive
                    : Pooling.Kind.AVERAGE_WITH_PADDING;
            return new Plan(new Pooling(kind, ConvolutionOperations.list(kernel), window.window(end)),
                    weighted ? shares(l, x.dtype(), window, lengths, places, kernel) : null);
        }

        /** Windows of one size, if the lengths are multiples of the places: those are fast. */
        private static Computation adaptive(Pooling.Kind kind, long[] lengths, long[] places) {
            int[] strides = new int[places.length];
            Long[] kernel = new Long[places.length];
            for (int i = 0; i < places.length; i++) {
                if (lengths[i] == 0 || lengths[i] % places[i] != 0) {
                    return new AdaptivePooling(kind, ConvolutionOperations.list(places));
                }
                kernel[i] = lengths[i] / places[i];
                strides[i] = Math.toIntExact(kernel[i]);
            }
            int[] none = new int[places.length];
            int[] ones = new int[places.length];
            Arrays.fill(ones, 1);
            return new Pooling(kind, List.of(kernel), Window.of(strides, none, none, ones));
        }

        private static Operand shares(Lowering l, DType dtype, WindowAttributes window, long[] lengths, long[] places,
                long[] kernel) {
            Operand product = l.number(dtype, 1);
            for (int i = 0; i < places.length; i++) {
                double[] share = new double[WorkingMemory.length(places[i])];
                for (int place = 0; place < share.length; place++) {
                    long first = (long) place * window.stride(i) - window.begin(i);
                    long counted = Math.min(first + kernel[i], lengths[i] + window.begin(i)) - first;
                    long elements = Math.min(first + kernel[i], lengths[i]) - Math.max(first, 0);
                    share[place] = (double) elements / counted;
                }
                long[] dims = new long[places.length];
                Arrays.fill(dims, 1);
                dims[i] = share.length;
                Operand factor = l.constant(Tensor.of(dtype, share, dims));
                product = l.binary(Binary.Function.MULTIPLY, product, factor);
            }
            return product;
        }
    }

    private static void pool(Lowering l, String input, String output) {
        if (!l.wants(output)) {
            return;
        }
        ImageLayout layout = ImageLayout.of(l.attrs(), "data_format");
        Operand x = layout.channelsFirst(l.in(input));
        Operand y = layout.channelsFirst(l.output(output));
        Plan plan = Plan.of(l, x.spec(), y.shape());
        Operand weights = plan.weights();
        if (weights == null) {
            l.into(plan.pooling(), List.of(x), List.of(y));
        } else {
            l.into(Binary.of(Binary.Function.MULTIPLY), List.of(l.run(plan.pooling(), x), weights), List.of(y));
        }
    }

    private static void backward(Lowering l) {
        if (!l.wants("X@GRAD")) {
            return;
        }
        ImageLayout layout = ImageLayout.of(l.attrs(), "data_format");
        Operand x = layout.channelsFirst(l.in("X"));
        Operand dy = layout.channelsFirst(l.in("Out@GRAD"));
        Plan plan = Plan.of(l, x.spec(), dy.shape());
        Operand weights = plan.weights();
        Operand weighted = weights == null ? dy : l.binary(Binary.Function.MULTIPLY, dy, weights);
        l.into(new PoolingGrad(plan.pooling()), Arrays.asList(x, layout.channelsFirst(l.in("Out")), weighted),
                List.of(layout.channelsFirst(l.output("X@GRAD"))));
    }
}
