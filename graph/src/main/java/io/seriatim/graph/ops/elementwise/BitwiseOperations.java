package io.seriatim.graph.ops.elementwise;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Unary;

/** Operations on the bits of whole numbers; of truth values they are those of logic. */
public final class BitwiseOperations {
    private BitwiseOperations() {
    }

    public static void register(Operations registry) {
        two(registry, "bitwise_and", Binary.Function.BITWISE_AND);
        two(registry, "bitwise_or", Binary.Function.BITWISE_OR);
        two(registry, "bitwise_xor", Binary.Function.BITWISE_XOR);
        Operation.define("bitwise_not").in("X").out("Out").infer(inference -> {
            requireWhole(inference, "X");
            inference.same("X", "Out");
        }).lower(BitwiseOperations::invert).register(registry);
        shift(registry, "bitwise_left_shift", Binary.Function.SHIFT_LEFT);
        shift(registry, "bitwise_right_shift", Binary.Function.SHIFT_RIGHT);
    }

    /** These have slots in small letters. A shift that is not arithmetic does not keep the sign. */
    private static void shift(Operations registry, String type, Binary.Function function) {
        Operation.define(type).in("x", "y").out("out").attr("is_arithmetic", true).infer(inference -> {
            DType dtype = inference.dtype("x");
            inference.require(dtype.isWhole() && inference.dtype("y") == dtype,
                    "x and y must be of one type of whole numbers, but are %s and %s: cast them", dtype,
                    inference.dtype("y"));
            inference.set("out", dtype, inference.broadcast(inference.dims("x"), inference.dims("y")));
        }).lower(l -> {
            DType dtype = l.in("x").dtype();
            DType bits = l.attrs().getBool("is_arithmetic") ? dtype : unsigned(dtype);
            Operand moved = l.binary(function, l.cast(l.in("x"), bits), l.cast(l.in("y"), bits));
            l.out("out", l.cast(moved, dtype));
        }).register(registry);
    }

    /** The type of the same bits without a sign. */
    private static DType unsigned(DType dtype) {
        return switch (dtype) {
            case INT8 -> DType.UINT8;
            case INT16 -> DType.UINT16;
            case INT32 -> DType.UINT32;
            case INT64 -> DType.UINT64;
            default -> dtype;
        };
    }

    private static void requireWhole(Inference inference, String slot) {
        DType dtype = inference.dtype(slot);
        inference.require(dtype.isWhole() || dtype == DType.BOOL, "%s must be of whole numbers or bool, but is %s",
                slot,
                dtype);
    }

    private static void two(Operations registry, String type, Binary.Function function) {
        Operation.define(type).in("X", "Y").out("Out").infer(inference -> {
            requireWhole(inference, "X");
            inference.require(inference.dtype("X") == inference.dtype("Y"),
                    "X and Y must have one type, but are %s and %s: cast one",
                    inference.dtype("X"), inference.dtype("Y"));
            inference.set("Out", inference.dtype("X"), inference.broadcast(inference.dims("X"), inference.dims("Y")));
        }).lower(l -> l.out("Out", l.binary(function, l.in("X"), l.in("Y")))).register(registry);
    }

    private static void invert(Lowering l) {
        Operand x = l.in("X");
        if (x.dtype() == DType.BOOL) {
            l.out("Out", l.unary(Unary.Function.LOGICAL_NOT, x));
            return;
        }
        l.out("Out", l.binary(Binary.Function.BITWISE_XOR, x, l.number(x.dtype(), -1)));
    }
}
