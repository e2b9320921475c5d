package io.seriatim.graph.ops.complex;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.ComplexNumbers;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.ComplexNumber;
import io.seriatim.tensor.computation.ComplexPart;
import java.util.Arrays;
import java.util.List;

/** Complex numbers of their real and imaginary parts, these parts, and the conjugate. */
public final class ComplexOperations {
    private ComplexOperations() {
    }

    public static void register(Operations registry) {
        number(registry);
        part(registry, "real", ComplexPart.Function.REAL);
        part(registry, "imag", ComplexPart.Function.IMAGINARY);
        Operation.define("conj").in("X").out("Out").infer(inference -> inference.same("X", "Out"))
                .lower(l -> l.out("Out", ComplexNumbers.conjugate(l, l.in("X"))))
                .grad("conj(X=Out@GRAD) -> Out=X@GRAD").register(registry);
        Operation.define("as_real").in("X").out("Out").infer(inference -> {
            DType dtype = ComplexNumbers.require(inference, "X");
            long[] dims = inference.dims("X");
            inference.set("Out", dtype.real(), Dims.inserted(dims, dims.length, 2));
        }).lower(ComplexOperations::asReal).grad("as_complex(X=Out@GRAD) -> Out=X@GRAD").register(registry);
        Operation.define("as_complex").in("X").out("Out").infer(ComplexOperations::asComplex).lower(l -> {
            Operand x = l.in("X");
            l.out("Out", l.run(new ComplexNumber(), x.select(-1, 0), x.select(-1, 1)));
        }).grad("as_real(X=Out@GRAD) -> Out=X@GRAD").register(registry);
    }

    private static void asReal(Lowering l) {
        if (l.wants("Out")) {
            Operand out = l.output("Out");
            l.into(new ComplexPart(ComplexPart.Function.REAL), List.of(l.in("X")), List.of(out.select(-1, 0)));
            l.into(new ComplexPart(ComplexPart.Function.IMAGINARY), List.of(l.in("X")), List.of(out.select(-1, 1)));
        }
    }

    private static void asComplex(Inference inference) {
        DType dtype = inference.dtype("X");
        long[] dims = inference.dims("X");
        inference.require(dtype == DType.FLOAT32 || dtype == DType.FLOAT64, "X must be float32 or float64, but is %s",
                dtype);
        inference.require(dims.length > 0 && (dims[dims.length - 1] == 2 || dims[dims.length - 1] < 0),
                "the last dimension of X must have the length 2, for real and imaginary part, but X has the shape %s",
                Numbers.text(dims));
        inference.set("Out", ComplexNumbers.of(dtype), Arrays.copyOf(dims, dims.length - 1));
    }

    private static void number(Operations registry) {
        Operation.define("complex").in("X", "Y").out("Out").infer(inference -> {
            DType dtype = inference.dtype("X");
            inference.require((dtype == DType.FLOAT32 || dtype == DType.FLOAT64) && dtype == inference.dtype("Y"),
                    "X and Y must be both float32 or both float64, but are %s and %s", dtype, inference.dtype("Y"));
            inference.set("Out", ComplexNumbers.of(dtype),
                    inference.broadcast(inference.dims("X"), inference.dims("Y")));
        }).lower(l -> l.out("Out", l.run(new ComplexNumber(), l.in("X"), l.in("Y"))))
                .grad("complex_grad(X, Y, Out@GRAD) -> X@GRAD, Y@GRAD", l -> {
                    part(l, "X", ComplexPart.Function.REAL);
                    part(l, "Y", ComplexPart.Function.IMAGINARY);
                }).register(registry);
    }

    /** The gradient of a part is that part of the gradient, summed over what broadcasting repeated. */
    private static void part(Lowering l, String slot, ComplexPart.Function function) {
        if (l.wants(slot + "@GRAD")) {
            Operand part = l.run(new ComplexPart(function), l.in("Out@GRAD"));
            l.out(slot + "@GRAD", Dims.sumTo(l, part, l.in(slot).shape().dims()));
        }
    }

    private static void part(Operations registry, String type, ComplexPart.Function function) {
        boolean real = function == ComplexPart.Function.REAL;
        Operation.Builder forward = Operation.define(type).in("X").out("Out").infer(inference -> {
            ComplexNumbers.require(inference, "X");
            inference.set("Out", 0, inference.in("X").with(inference.dtype("X").real()));
        }).lower(l -> l.out("Out", l.run(new ComplexPart(function), l.in("X"))));
        String signature = type + "_grad(Out@GRAD) -> X@GRAD";
        forward.gradOperation(signature, inference -> inference.set("X@GRAD", 0,
                inference.in("Out@GRAD").with(ComplexNumbers.of(inference.dtype("Out@GRAD"))))).lower(l -> {
                    Operand dout = l.in("Out@GRAD");
                    Operand zero = l.number(dout.dtype(), 0);
                    l.out("X@GRAD", l.run(new ComplexNumber(), real ? dout : zero, real ? zero : dout));
                }).grad(type + "(X=X@GRAD@GRAD) -> Out=Out@GRAD@GRAD").register(registry);
        forward.grad(signature).register(registry);
    }
}
