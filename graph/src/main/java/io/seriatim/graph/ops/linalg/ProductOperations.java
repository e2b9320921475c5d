package io.seriatim.graph.ops.linalg;

import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.GradientSignature;
import io.seriatim.graph.op.GradientSignature.Binding;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.QuantizedScales;
import io.seriatim.tensor.Shape;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Products of matrices, with two and, for matmul_v2, three gradients. */
public final class ProductOperations {
    private ProductOperations() {
    }

    public static void register(Operations registry) {
        UnaryOperator<Operation.Builder> plain = op -> op.attr("trans_x", false).attr("trans_y", false);
        Family matmul = new Family("matmul_v2", plain, ProductInference::broadcasting, ProductOperations::broadcasting);
        matmul.register(registry, Doubles.MATMUL_V2);
        matmul.triple(registry);
        new Family("matmul",
                op -> op.attr("transpose_X", false).attr("transpose_Y", false).attr("alpha", 1f).attr("head_number", 1)
                        .refuse((_, attrs) -> attrs.getInt("head_number") == 1
                                ? null
                                : "head_number must be 1, but is " + attrs.getInt("head_number")),
                ProductInference::equalBatches, ProductOperations::equalBatches).register(registry, Doubles.MATMUL);
        new Family("mul", op -> op.attr("x_num_col_dims", 1).attr("y_num_col_dims", 1), ProductInference::flattened,
                ProductOperations::flattened).register(registry, Doubles.MUL);
        new Family("bmm", op -> op, ProductInference::batches,
                l -> new Product(l, l.in("X").shape(), l.in("Y").shape(), false, false, 1))
                .register(registry, null);
    }

    private static Product broadcasting(Lowering l) {
        Shape x = l.in("X").shape();
        Shape y = l.in("Y").shape();
        return new Product(l, x.rank() == 1 ? Shape.of(1, x.dim(0)) : x, y.rank() == 1 ? Shape.of(y.dim(0), 1) : y,
                l.attrs().getBool("trans_x") && x.rank() > 1, l.attrs().getBool("trans_y") && y.rank() > 1, 1);
    }

    private static Product equalBatches(Lowering l) {
        Shape x = l.in("X").shape();
        Shape y = l.in("Y").shape();
        Shape left = x.rank() == 1 ? Shape.of(1, x.dim(0)) : x;
        Shape right = y.rank() == 1 ? Shape.of(y.dim(0), 1) : y;
        if (left.rank() > 2 && right.rank() > 2) {
            long[] dims = left.dims();
            dims[dims.length - 2] = right.dim(-2);
            dims[dims.length - 1] = right.dim(-1);
            right = Shape.of(dims);
        }
        return new Product(l, left, right, l.attrs().getBool("transpose_X"), l.attrs().getBool("transpose_Y"),
                l.attrs().getFloat("alpha"));
    }

    private static Product flattened(Lowering l) {
        return new Product(l, matrix(l.in("X").shape(), l.attrs().getInt("x_num_col_dims")),
                matrix(l.in("Y").shape(), l.attrs().getInt("y_num_col_dims")), false, false, 1);
    }

    private static Shape matrix(Shape shape, int rows) {
        return Shape.of(shape.slice(0, rows).size(), shape.slice(rows, shape.rank()).size());
    }

    /**
     * The slots of a double gradient: the forward's output gradient and the gradients of the first gradients, which
     * come in; and what goes out.
     */
    private record Doubles(String type, String dout, String ddx, String ddy, String dx, String dy, String ddout) {
        static final Doubles MATMUL_V2 = new Doubles("matmul_v2_grad_grad", "grad_out", "grad_x@GRAD", "grad_y@GRAD",
                "X@GRAD", "Y@GRAD",
                "grad_out@GRAD");
        static final Doubles MATMUL = new Doubles("matmul_grad_grad", "DOut", "DDX", "DDY", "DX", "DY", "DDOut");
        static final Doubles MUL = new Doubles("mul_grad_grad", "DOut", "DDX", "DDY", "DX", "DY", "DDOut");

        GradientRule rule() {
            return new GradientSignature(type,
                    List.of(of("X", "X"), of("Y", "Y"), of(dout, "Out@GRAD"), gradient(ddx, "X@GRAD"),
                            gradient(ddy, "Y@GRAD")),
                    List.of(gradient(dx, "X"), gradient(dy, "Y"), gradient(ddout, "Out@GRAD")));
        }

        private static Binding of(String slot, String forward) {
            return new Binding(slot, forward, false, false);
        }

        private static Binding gradient(String slot, String forward) {
            return new Binding(slot, forward, true, false);
        }
    }

    /** An operation type with its gradients. */
    private record Family(String type, UnaryOperator<Operation.Builder> attributes, Inference.Rule inference,
            Function<Lowering, Product> product) {
        void register(Operations registry, @Nullable Doubles doubles) {
            Operation.Builder forward = attributes.apply(Operation.define(type).in("X", "Y").out("Out"));
            String gradient = type + "_grad(X, Y, Out@GRAD) -> X@GRAD, Y@GRAD";
            Operation.Builder first = forward.gradOperation(gradient, null).lower(this::gradient);
            if (doubles != null) {
                first.grad(doubles.rule());
                registerDouble(registry, doubles);
            }
            first.register(registry);
            registerQuantized(registry);
            forward.infer(inference)
                    .lower(l -> l.out("Out", shaped(l, "Out", product.apply(l).forward(l.in("X"), l.in("Y")))))
                    .grad(gradient).register(registry);
        }

        /** A product of int8 levels; {@link QuantizedScales} says how its result is scaled. */
        private void registerQuantized(Operations registry) {
            attributes.apply(QuantizedScales.define(type, "X", "Y", "Out")).infer(rule -> {
                inference.infer(rule);
                QuantizedScales.infer(rule, "X", "Y", "Out");
            }).lower(l -> l.out("Out", shaped(l, "Out",
                    product.apply(l).quantized(l.in("X"), l.in("Y"), QuantizedScales.of(l, "X", "Y")))))
                    .register(registry);
        }

        private static Operand shaped(Lowering l, String slot, Operand value) {
            return value.reshape(l.outType(slot, 0).dims());
        }

        private void gradient(Lowering l) {
            Product forward = product.apply(l);
            Operand dout = l.in("Out@GRAD");
            wanted(l, "X@GRAD", slot -> l.out(slot, forward.gradX(dout, l.in("Y"), l.in("X").shape())));
            wanted(l, "Y@GRAD", slot -> l.out(slot, forward.gradY(l.in("X"), dout, l.in("Y").shape())));
        }

        private void registerDouble(Operations registry, Doubles slots) {
            Operation.Builder second = attributes.apply(Operation.define(slots.type())
                    .in("X", "Y", slots.dout(), slots.ddx() + "?", slots.ddy() + "?")
                    .out(slots.dx(), slots.dy(), slots.ddout()));
            if (slots.equals(Doubles.MATMUL_V2)) {
                second.grad(triple());
            }
            second.infer(inference -> {
                inference.same("X", slots.dx());
                inference.same("Y", slots.dy());
                inference.same(slots.dout(), slots.ddout());
            }).lower(l -> second(l, slots)).register(registry);
        }

        /**
         * dx = X·Y's gradient for ddy in place of y, and so on: the first gradients are linear in each of their inputs.
         */
        private void second(Lowering l, Doubles slots) {
            Product forward = product.apply(l);
            Operand x = l.in("X");
            Operand y = l.in("Y");
            Operand dout = l.in(slots.dout());
            Operand ddx = l.optional(slots.ddx());
            Operand ddy = l.optional(slots.ddy());
            wanted(l, slots.dx(),
                    slot -> Product.sum(l, slot, ddy == null ? null : forward.gradX(dout, ddy, x.shape())));
            wanted(l, slots.dy(),
                    slot -> Product.sum(l, slot, ddx == null ? null : forward.gradY(ddx, dout, y.shape())));
            wanted(l, slots.ddout(), slot -> Product.sum(l, slot, ddx == null ? null : forward.forward(ddx, y),
                    ddy == null ? null : forward.forward(x, ddy)));
        }

        private static GradientRule triple() {
            return new GradientSignature("matmul_v2_triple_grad",
                    List.of(Doubles.of("X", "X"), Doubles.of("Y", "Y"), Doubles.of("grad_out", "grad_out"),
                            Doubles.of("grad_grad_x", "grad_x@GRAD"), Doubles.of("grad_grad_y", "grad_y@GRAD"),
                            Doubles.gradient("grad_x@GRAD", "X@GRAD"), Doubles.gradient("grad_y@GRAD", "Y@GRAD"),
                            Doubles.gradient("grad_grad_out@GRAD", "grad_out@GRAD")),
                    List.of(Doubles.gradient("X@GRAD", "X"), Doubles.gradient("Y@GRAD", "Y"),
                            Doubles.gradient("grad_out@GRAD", "grad_out"),
                            Doubles.gradient("grad_grad_x@GRAD", "grad_x@GRAD"),
                            Doubles.gradient("grad_grad_y@GRAD", "grad_y@GRAD")));
        }

        void triple(Operations registry) {
            attributes.apply(Operation.define("matmul_v2_triple_grad")
                    .in("X", "Y", "grad_out", "grad_grad_x?", "grad_grad_y?", "grad_x@GRAD?", "grad_y@GRAD?",
                            "grad_grad_out@GRAD?")
                    .out("X@GRAD", "Y@GRAD", "grad_out@GRAD", "grad_grad_x@GRAD", "grad_grad_y@GRAD"))
                    .infer(inference -> {
                        inference.same("X", "X@GRAD");
                        inference.same("Y", "Y@GRAD");
                        inference.same("grad_out", "grad_out@GRAD");
                        inference.same("X", "grad_grad_x@GRAD");
                        inference.same("Y", "grad_grad_y@GRAD");
                    }).lower(this::third).register(registry);
        }

        private void third(Lowering l) {
            Product p = product.apply(l);
            Shape x = l.in("X").shape();
            Shape y = l.in("Y").shape();
            Operand dout = l.in("grad_out");
            Operand ddx = l.optional("grad_grad_x");
            Operand ddy = l.optional("grad_grad_y");
            Operand gx = l.optional("grad_x@GRAD");
            Operand gy = l.optional("grad_y@GRAD");
            Operand go = l.optional("grad_grad_out@GRAD");
            wanted(l, "X@GRAD", slot -> Product.sum(l, slot, go == null || ddy == null ? null : p.gradX(go, ddy, x)));
            wanted(l, "Y@GRAD", slot -> Product.sum(l, slot, go == null || ddx == null ? null : p.gradY(ddx, go, y)));
            wanted(l, "grad_out@GRAD",
                    slot -> Product.sum(l, slot, gx == null || ddy == null ? null : p.forward(gx, ddy),
                            ddx == null || gy == null ? null : p.forward(ddx, gy)));
            wanted(l, "grad_grad_x@GRAD", slot -> Product.sum(l, slot, gy == null ? null : p.gradX(dout, gy, x),
                    go == null ? null : p.gradX(go, l.in("Y"), x)));
            wanted(l, "grad_grad_y@GRAD", slot -> Product.sum(l, slot, gx == null ? null : p.gradY(gx, dout, y),
                    go == null ? null : p.gradY(l.in("X"), go, y)));
        }

        private static void wanted(Lowering l, String slot, Consumer<String> compute) {
            if (l.wants(slot)) {
                compute.accept(slot);
            }
        }
    }
}
