package io.seriatim.graph.ops.normalisation;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.ImageLayout;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.Pooling;
import io.seriatim.tensor.computation.network.Window;
import java.util.List;

/**
 * Local response normalisation (Krizhevsky et al., 2012): elements are divided by a power of k + α · the sum of the
 * squares of their neighbours in n channels.
 */
public final class LocalResponseOperations {
    private LocalResponseOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("lrn").in("X").out("Out", "MidOut~").attr("n", 5).attr("k", 2f).attr("alpha", 0.0001f)
                .attr("beta", 0.75f).attr("data_format", "AnyLayout").infer(LocalResponseOperations::infer)
                .lower(l -> {
                    Operand x = l.in("X");
                    Operand sums = sums(l, l.unary(Unary.Function.SQUARE, x));
                    Operand middle = l.linear(sums, l.attrs().getFloat("alpha"), l.attrs().getFloat("k"));
                    l.out("MidOut", middle);
                    l.out("Out", l.binary(Binary.Function.MULTIPLY, x, power(l, middle)));
                }).grad("lrn_grad(MidOut, Out, Out@GRAD, X) -> X@GRAD", l -> {
                    Attrs attrs = l.attrs();
                    Operand middle = l.in("MidOut");
                    Operand dout = l.in("Out@GRAD");
                    Operand direct = l.binary(Binary.Function.MULTIPLY, dout, power(l, middle));
                    Operand each = l.binary(Binary.Function.DIVIDE,
                            l.binary(Binary.Function.MULTIPLY, dout, l.in("Out")), middle);
                    Operand neighbours = l.binary(Binary.Function.MULTIPLY, l.in("X"), sums(l, each));
                    double factor = -2 * attrs.getDouble("alpha") * attrs.getDouble("beta");
                    l.out("X@GRAD", l.binary(Binary.Function.ADD, direct, l.linear(neighbours, factor, 0)));
                }).register(registry);
    }

    private static void infer(Inference inference) {
        Attrs attrs = inference.attrs();
        long[] x = inference.dims("X");
        int n = attrs.getInt("n");
        inference.require(x.length == 4, "X must have four dimensions, but is %s", Numbers.text(x));
        inference.require(inference.dtype("X").isFloating(), "X must be of a floating-point type, but is %s",
                inference.dtype("X"));
        inference.require(n > 0 && n % 2 == 1, "the attribute 'n' must be odd and from 1 on, but is %d", n);
        for (String name : List.of("k", "alpha", "beta")) {
            inference.require(attrs.getFloat(name) > 0, "the attribute '%s' must be greater than 0, but is %s", name,
                    attrs.getFloat(name));
        }
        inference.same("X", "Out");
        inference.same("X", "MidOut");
    }

    private static Operand power(Lowering l, Operand middle) {
        return l.run(new Unary(Unary.Function.POW, -l.attrs().getFloat("beta"), 0), middle);
    }

    /** The sum over the neighbours in n channels: n times their mean. */
    private static Operand sums(Lowering l, Operand x) {
        if (x.shape().size() == 0) {
            return x;
        }
        int n = l.attrs().getInt("n");
        boolean last = ImageLayout.of(l.attrs(), "data_format").channelsLast();
        long[] view = last
                ? new long[]{x.dim(0), 1, x.dim(1) * x.dim(2), x.dim(3)}
                : new long[]{x.dim(0), 1, x.dim(1), x.dim(2) * x.dim(3)};
        int[] pad = last ? new int[]{0, n / 2} : new int[]{n / 2, 0};
        List<Long> kernel = last ? List.of(1L, (long) n) : List.of((long) n, 1L);
        Window window = Window.of(new int[]{1, 1}, pad, pad, new int[]{1, 1});
        Operand mean = l.run(new Pooling(Pooling.Kind.AVERAGE_WITH_PADDING, kernel, window), l.reshape(x, view));
        return l.linear(mean, n, 0).reshape(x.shape().dims());
    }
}
