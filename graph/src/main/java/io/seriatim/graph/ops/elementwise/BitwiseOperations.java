package io.seriatim.graph.ops.elementwise;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Unary;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.LongBinaryOperator;

/** Operations on the bits of whole numbers; of truth values they are those of logic. */
public final class BitwiseOperations {
    private BitwiseOperations() {
    }

    public static void register(Operations registry) {
        two(registry, "bitwise_and", Binary.Function.LOGICAL_AND, (x, y) -> x & y);
        two(registry, "bitwise_or", Binary.Function.LOGICAL_OR, (x, y) -> x | y);
        two(registry, "bitwise_xor", Binary.Function.LOGICAL_XOR, (x, y) -> x ^ y);
        Operation.define("bitwise_not").in("X").out("Out").infer(inference -> {
            requireWhole(inference, "X");
            inference.same("X", "Out");
        }).lower(BitwiseOperations::invert).register(registry);
    }

    private static void requireWhole(Inference inference, String slot) {
        inference.require(!inference.dtype(slot).isFloating(), "%s must be of whole numbers or bool, but is %s", slot,
                inference.dtype(slot));
    }

    private static void two(Operations registry, String type, Binary.Function logic, LongBinaryOperator function) {
        Operation.define(type).in("X", "Y").out("Out").infer(inference -> {
            requireWhole(inference, "X");
            inference.require(inference.dtype("X") == inference.dtype("Y"),
                    "X and Y must have one type, but are %s and %s: cast one",
                    inference.dtype("X"), inference.dtype("Y"));
            inference.set("Out", inference.dtype("X"), inference.broadcast(inference.dims("X"), inference.dims("Y")));
        }).lower(l -> {
            if (l.in("X").dtype() == DType.BOOL) {
                l.out("Out", l.binary(logic, l.in("X"), l.in("Y")));
            } else {
                combine(l, function);
            }
        }).register(registry);
    }

    private static void combine(Lowering l, LongBinaryOperator function) {
        Operand result = l.temporary(l.outType("Out", 0).spec());
        Shape shape = result.shape();
        l.call(l.type(), (in, out) -> {
            long[] x = Objects.requireNonNull(in.get(0)).toLongArray();
            long[] y = Objects.requireNonNull(in.get(1)).toLongArray();
            for (int i = 0; i < x.length; i++) {
                x[i] = function.applyAsLong(x[i], y[i]);
            }
            Elements.write(x, Objects.requireNonNull(out.getFirst()));
        }, List.of(l.expand(l.in("X"), shape), l.expand(l.in("Y"), shape)), List.of(result));
        l.out("Out", result);
    }

    private static void invert(Lowering l) {
        Operand x = l.in("X");
        if (x.dtype() == DType.BOOL) {
            l.out("Out", l.unary(Unary.Function.LOGICAL_NOT, x));
            return;
        }
        long mask = x.dtype() == DType.UINT8 ? 0xff : -1L;
        Operand result = l.temporary(x.spec());
        l.call(l.type(), (in, out) -> Elements.write(
                Arrays.stream(Objects.requireNonNull(in.getFirst()).toLongArray()).map(each -> ~each & mask).toArray(),
                Objects.requireNonNull(out.getFirst())), List.of(x), List.of(result));
        l.out("Out", result);
    }
}
