package io.seriatim.graph.differentiate;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.GatherGrad;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.ConvolutionGradInput;
import io.seriatim.tensor.computation.network.ConvolutionGradWeights;
import io.seriatim.tensor.computation.network.Interpolation;
import io.seriatim.tensor.computation.network.InterpolationGrad;
import io.seriatim.tensor.computation.network.LinearResampling;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Products of matrices, convolutions and interpolations. */
final class ProductRules {
    private ProductRules() {
    }

    static void register() {
        Rules.rule(MatMul.class, ProductRules::product);
        Rules.rule(Convolution.class, ProductRules::convolution);
        Rules.rule(ConvolutionGradInput.class, ProductRules::ofGradInput);
        Rules.rule(ConvolutionGradWeights.class, ProductRules::ofGradWeights);
        Rules.rule(Interpolation.class, (interpolation, d) -> d.give(0,
                d.l().run(new InterpolationGrad(interpolation, spatial(d.like(0))), d.gradient())));
        Rules.rule(LinearResampling.class, ProductRules::resampling);
        Rules.rule(InterpolationGrad.class, (grad, d) -> d.give(0, d.l().run(grad.forward(), d.gradient())));
    }

    /** An operand of a product as matrices; of vectors a dimension is added. */
    private record Factor(Operand matrices, boolean transposed) {
        static Factor of(Operand operand, boolean transposed, boolean left) {
            return operand.rank() == 1
                    ? new Factor(operand.unsqueeze(left ? 0 : 1), false)
                    : new Factor(operand, transposed);
        }
    }

    private static void product(MatMul product, Derivative d) {
        Lowering l = d.l();
        boolean vectorX = d.like(0).rank() == 1;
        boolean vectorY = d.like(1).rank() == 1;
        Operand dout = d.gradient();
        dout = vectorY ? dout.unsqueeze(dout.rank()) : dout;
        dout = vectorX ? dout.unsqueeze(dout.rank() - 1) : dout;
        if (d.wants(0)) {
            Factor y = Factor.of(ComplexRules.conjugate(l, d.in(1)), product.transposeY(), false);
            boolean transposed = !vectorX && product.transposeX();
            Operand dx = transposed
                    ? multiply(l, y.matrices(), y.transposed(), dout, true)
                    : multiply(l, dout, false, y.matrices(), !y.transposed());
            d.give(0, vectorX ? dx.squeeze(-2) : dx);
        }
        if (d.wants(1)) {
            Factor x = Factor.of(ComplexRules.conjugate(l, d.in(0)), product.transposeX(), true);
            boolean transposed = !vectorY && product.transposeY();
            boolean flat = !x.transposed() && isFlat(x.matrices(), dout, d.like(1).rank());
            Operand rows = flat ? flat(l, x.matrices()) : x.matrices();
            Operand gradients = flat ? flat(l, dout) : dout;
            Operand dy = transposed
                    ? multiply(l, gradients, true, rows, x.transposed())
                    : multiply(l, rows, !x.transposed(), gradients, false);
            d.give(1, vectorY ? dy.squeeze(-1) : dy);
        }
        if (product.bias()) {
            d.give(2, d.gradient());
        }
    }

    private static Operand multiply(Lowering l, Operand x, boolean transposeX, Operand y, boolean transposeY) {
        return l.run(new MatMul(transposeX, transposeY, false, List.of()), x, y);
    }

    /** Whether all matrices of a batch are multiplied with one: then their rows are those of one large matrix. */
    private static boolean isFlat(Operand x, Operand dout, int rank) {
        return rank <= 2 && x.rank() > 2 && x.rank() == dout.rank()
                && IntStream.range(0, x.rank() - 1).allMatch(axis -> x.dim(axis) == dout.dim(axis));
    }

    private static Operand flat(Lowering l, Operand matrices) {
        long columns = matrices.dim(-1);
        long rows = 1;
        for (int axis = 0; axis < matrices.rank() - 1; axis++) {
            rows *= matrices.dim(axis);
        }
        return l.reshape(matrices, rows, columns);
    }

    private static List<Long> spatial(Operand image) {
        return Arrays.stream(image.shape().dims()).skip(2).boxed().toList();
    }

    private static void convolution(Convolution convolution, Derivative d) {
        Lowering l = d.l();
        if (d.wants(0)) {
            d.give(0, l.run(new ConvolutionGradInput(convolution.window(), convolution.groups(), spatial(d.like(0))),
                    d.gradient(), d.in(1)));
        }
        if (d.wants(1)) {
            d.give(1, l.run(new ConvolutionGradWeights(convolution.window(), convolution.groups(), false,
                    spatial(d.like(1))), d.in(0), d.gradient()));
        }
        if (convolution.bias() && d.wants(2)) {
            List<Integer> axes = IntStream.range(0, d.gradient().rank()).filter(axis -> axis != 1).boxed().toList();
            d.give(2, l.run(new Reduction(Reduction.Function.SUM, axes, false), d.gradient()));
        }
    }

    private static void ofGradInput(ConvolutionGradInput grad, Derivative d) {
        Lowering l = d.l();
        if (d.wants(0)) {
            d.give(0, l.run(new Convolution(grad.window(), grad.groups(), false, List.of()), d.gradient(), d.in(1)));
        }
        if (d.wants(1)) {
            d.give(1, l.run(new ConvolutionGradWeights(grad.window(), grad.groups(), false, spatial(d.like(1))),
                    d.gradient(), d.in(0)));
        }
    }

    private static void ofGradWeights(ConvolutionGradWeights grad, Derivative d) {
        Lowering l = d.l();
        Operand ofWeights = d.gradient(0);
        Operand ofBias = d.gradient(1);
        if (ofWeights != null && d.wants(0)) {
            d.give(0, l.run(new ConvolutionGradInput(grad.window(), grad.groups(), spatial(d.like(0))), d.in(1),
                    ofWeights));
        }
        if (d.wants(1) && ofWeights != null) {
            d.give(1, l.run(new Convolution(grad.window(), grad.groups(), false, List.of()), d.in(0), ofWeights));
        }
        if (d.wants(1) && ofBias != null) {
            long[] dims = new long[d.like(1).rank()];
            Arrays.fill(dims, 1);
            dims[1] = ofBias.shape().size();
            d.give(1, l.reshape(ofBias, dims));
        }
    }

    /** Each element of the gradient goes to two places, times its weights. */
    private static void resampling(LinearResampling resampling, Derivative d) {
        Lowering l = d.l();
        Gather gather = Gather.of(resampling.axis());
        List<Long> shape = Arrays.stream(d.like(0).shape().dims()).boxed().toList();
        long[] alone = new long[shape.size()];
        Arrays.fill(alone, 1);
        List<Operand> parts = new ArrayList<>();
        for (int side = 0; side < 2; side++) {
            alone[d.like(0).shape().axis(resampling.axis())] = d.in(3 + side).shape().size();
            Operand weighted = l.binary(Binary.Function.MULTIPLY, d.gradient(), l.reshape(d.in(3 + side), alone));
            parts.add(l.run(new GatherGrad(gather, shape), weighted, d.in(1 + side)));
        }
        d.give(0, l.binary(Binary.Function.ADD, parts.getFirst(), parts.getLast()));
    }
}
