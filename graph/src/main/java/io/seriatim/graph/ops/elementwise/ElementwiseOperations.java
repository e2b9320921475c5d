package io.seriatim.graph.ops.elementwise;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Alignment;
import io.seriatim.graph.ops.common.ComplexNumbers;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.BinaryGrad;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.Where;
import java.util.Arrays;

/** Arithmetic on two tensors that broadcast. */
public final class ElementwiseOperations {
    private ElementwiseOperations() {
    }

    public static void register(Operations registry) {
        ElementwiseDoubleGradients.ofAddition(registry, begin("elementwise_add", Binary.Function.ADD).shapeArithmetic(),
                "elementwise_add_grad(X, Y, Out@GRAD) -> X@GRAD, Y@GRAD", ElementwiseOperations::addGradient);
        ElementwiseDoubleGradients.ofSubtraction(registry,
                begin("elementwise_sub", Binary.Function.SUBTRACT).shapeArithmetic(),
                "elementwise_sub_grad(X, Y, Out@GRAD) -> X@GRAD, Y@GRAD", ElementwiseOperations::subtractGradient);
        ElementwiseDoubleGradients.ofMultiplication(registry,
                begin("elementwise_mul", Binary.Function.MULTIPLY).shapeArithmetic(),
                "elementwise_mul_grad(X, Y, Out@GRAD) -> X@GRAD, Y@GRAD", ElementwiseOperations::multiplyGradient);
        ElementwiseDoubleGradients.ofDivision(registry,
                begin("elementwise_div", Binary.Function.DIVIDE).shapeArithmetic(),
                "elementwise_div_grad(X, Y, Out, Out@GRAD) -> X@GRAD, Y@GRAD", ElementwiseOperations::divideGradient);
        begin("elementwise_max", Binary.Function.MAXIMUM).shapeArithmetic()
                .grad("elementwise_max_grad(X, Y, Out@GRAD) -> X@GRAD, Y@GRAD",
                        l -> chosenGradient(l, Binary.Function.GREATER))
                .register(registry);
        begin("elementwise_min", Binary.Function.MINIMUM).shapeArithmetic()
                .grad("elementwise_min_grad(X, Y, Out@GRAD) -> X@GRAD, Y@GRAD",
                        l -> chosenGradient(l, Binary.Function.LESS))
                .register(registry);
        begin("elementwise_pow", Binary.Function.POWER)
                .grad("elementwise_pow_grad(X, Y, Out@GRAD) -> X@GRAD, Y@GRAD", ElementwiseOperations::powerGradient)
                .register(registry);
        begin("elementwise_mod", Binary.Function.MODULO).shapeArithmetic().register(registry);
        begin("elementwise_floordiv", Binary.Function.FLOOR_DIVIDE).shapeArithmetic().register(registry);
        begin("grad_add", Binary.Function.ADD).register(registry);
    }

    private static Operation.Builder begin(String type, Binary.Function function) {
        return Operation.define(type).in("X", "Y").out("Out").attr("axis", -1).infer(ElementwiseOperations::infer)
                .lower(l -> lower(l, function));
    }

    private static void infer(Inference inference) {
        ArgType x = inference.in("X");
        ArgType y = inference.in("Y");
        inference.require(x.kind() != ArgType.Kind.ARRAY && y.kind() == ArgType.Kind.DENSE, "X and Y must be tensors");
        DType dtype = ComplexNumbers.promoted(inference, x.dtype(), y.dtype());
        if (x.kind() == ArgType.Kind.ROWS) {
            inference.require(
                    inference.type().equals("elementwise_mul") && Arrays.stream(y.dims()).allMatch(dim -> dim == 1),
                    "rows of a tensor can only be multiplied by one number");
            inference.set("Out", 0, x);
        } else {
            inference.set("Out", dtype, Alignment.broadcast(inference, x.dims(), y.dims()));
        }
    }

    private static void lower(Lowering l, Binary.Function function) {
        ScaleOperations.copyRowIndexes(l);
        Operand x = l.in("X");
        Operand y = l.isRows("X") ? l.in("Y").reshape() : l.in("Y");
        int rank = Math.max(x.rank(), y.rank());
        l.out("Out", ComplexNumbers.binary(l, function, Alignment.of(l, x, rank), Alignment.of(l, y, rank)));
    }

    private static void addGradient(Lowering l) {
        Operand dout = l.in("Out@GRAD");
        if (l.wants("X@GRAD")) {
            Alignment.out(l, "X@GRAD", dout);
        }
        if (l.wants("Y@GRAD")) {
            Alignment.out(l, "Y@GRAD", dout);
        }
    }

    private static void subtractGradient(Lowering l) {
        Operand dout = l.in("Out@GRAD");
        if (l.wants("X@GRAD")) {
            Alignment.out(l, "X@GRAD", dout);
        }
        if (l.wants("Y@GRAD")) {
            Alignment.out(l, "Y@GRAD", l.unary(Unary.Function.NEGATE, dout));
        }
    }

    private static void multiplyGradient(Lowering l) {
        Operand dout = l.in("Out@GRAD");
        if (l.wants("X@GRAD")) {
            Alignment.out(l, "X@GRAD",
                    ComplexNumbers.timesConjugate(l, dout, Alignment.of(l, l.in("Y"), dout.rank())));
        }
        if (l.wants("Y@GRAD")) {
            Alignment.out(l, "Y@GRAD",
                    ComplexNumbers.timesConjugate(l, dout, Alignment.of(l, l.in("X"), dout.rank())));
        }
    }

    private static void divideGradient(Lowering l) {
        Operand dout = l.in("Out@GRAD");
        Operand divisor = ComplexNumbers.conjugate(l, Alignment.of(l, l.in("Y"), dout.rank()));
        Operand quotient = ComplexNumbers.binary(l, Binary.Function.DIVIDE, dout, divisor);
        if (l.wants("Y@GRAD")) {
            Operand product = ComplexNumbers.timesConjugate(l, quotient, l.in("Out"));
            Alignment.out(l, "Y@GRAD", l.unary(Unary.Function.NEGATE, product));
        }
        if (l.wants("X@GRAD")) {
            Alignment.out(l, "X@GRAD", quotient);
        }
    }

    /** All of the gradient goes to X where it was chosen, else to Y: of equals to Y. */
    private static void chosenGradient(Lowering l, Binary.Function chosen) {
        Operand dout = l.in("Out@GRAD");
        Operand zero = l.number(dout.dtype(), 0);
        Operand isX = l.binary(chosen, Alignment.of(l, l.in("X"), dout.rank()),
                Alignment.of(l, l.in("Y"), dout.rank()));
        if (l.wants("X@GRAD")) {
            Alignment.out(l, "X@GRAD", l.run(new Where(), isX, dout, zero));
        }
        if (l.wants("Y@GRAD")) {
            Alignment.out(l, "Y@GRAD", l.run(new Where(), isX, zero, dout));
        }
    }

    private static void powerGradient(Lowering l) {
        Operand dout = l.in("Out@GRAD");
        Operand x = Alignment.of(l, l.in("X"), dout.rank());
        Operand y = Alignment.of(l, l.in("Y"), dout.rank());
        Operand dx = l.wants("X@GRAD") ? l.temporary(TensorSpec.of(x.dtype(), x.shape())) : null;
        Operand dy = l.wants("Y@GRAD") ? l.temporary(TensorSpec.of(y.dtype(), y.shape())) : null;
        l.into(new BinaryGrad(Binary.Function.POWER), Arrays.asList(x, y, dout), Arrays.asList(dx, dy));
        if (dx != null) {
            l.out("X@GRAD", dx.reshape(l.outType("X@GRAD", 0).dims()));
        }
        if (dy != null) {
            l.out("Y@GRAD", dy.reshape(l.outType("Y@GRAD", 0).dims()));
        }
    }
}
