package io.seriatim.onnx.operators;

import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;
import io.seriatim.onnx.node.Size;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Values with elements around them. */
public final class PadOperators {
    private PadOperators() {
    }

    /** Adds the operators. */
    public static void register(Registry operators) {
        operators.one("Pad", PadOperators::pad);
        operators.one("CenterCropPad", PadOperators::centerCropPad);
    }

    private static Ref pad(Node node) {
        Ref x = node.input(0);
        BlockBuilder block = node.block();
        boolean former = node.version() < 11;
        String mode = node.text("mode", "constant");
        if (!List.of("constant", "reflect", "edge", "wrap").contains(mode)) {
            throw node.error("the attribute 'mode' is constant, reflect, edge or wrap, but is '%s'", mode);
        }
        long[] pads = former ? node.integers(node.version() < 2 ? "paddings" : "pads") : node.integers(1);
        if (former && pads == null) {
            throw node.error("needs the attribute 'pads'");
        }
        long[] axes = former || !node.has(3) ? null : node.integers(3);
        boolean computed = !former && node.has(3) && axes == null;
        int[] counted = axes == null
                ? IntStream.range(0, x.rank()).toArray()
                : Arrays.stream(axes).mapToInt(axis -> node.axis(axis, x.rank())).toArray();
        if (pads != null && !computed && pads.length != 2 * counted.length) {
            throw node.error("pads has two numbers for each of %d axes, but is %s", counted.length,
                    Numbers.text(pads));
        }
        Ref value = former
                ? block.cast(block.scalar(DType.FLOAT32, node.real("value", 0)), x.dtype())
                : node.has(2) ? block.reshape(node.input(2)) : block.scalar(x.dtype(), 0);
        return node.op("onnx_pad").in("X", x)
                .in("Pads", former && pads != null ? block.integers(DType.INT64, pads) : node.input(1))
                .in("Value", block.cast(value, x.dtype())).maybe("Axes", computed ? node.input(3) : null)
                .attr("mode", mode).attr("constant", constant(node, x.dtype(), former))
                .attr("axes", computed ? new int[0] : counted).out("Out");
    }

    /** The constant if it is known and exact as a double, else NaN. */
    private static double constant(Node node, DType dtype, boolean former) {
        if (former) {
            return dtype.isFloating() ? node.real("value", 0) : Double.NaN;
        }
        if (!node.has(2)) {
            return 0;
        }
        Tensor value = node.value(2);
        return value == null || !dtype.isFloating() || value.dtype() != dtype || value.shape().size() != 1
                ? Double.NaN
                : value.toDoubleArray()[0];
    }

    private static Ref centerCropPad(Node node) {
        Ref x = node.input(0);
        BlockBuilder block = node.block();
        long[] axes = node.integers("axes");
        int[] counted = axes == null
                ? IntStream.range(0, x.rank()).toArray()
                : Arrays.stream(axes).mapToInt(axis -> node.axis(axis, x.rank())).toArray();
        List<Size> sizes = new ArrayList<>();
        for (int axis : counted) {
            sizes.add(Size.of(block, x, axis));
        }
        Ref have = Size.tensor(block, sizes);
        Ref want = block.cast(node.input(1), DType.INT64);
        Ref two = block.integers(DType.INT64, 2);
        Ref common = block.binary("elementwise_min", have, want);
        Ref from = block.binary("elementwise_floordiv", block.binary("elementwise_sub", have, common), two);
        Ref part = node.op("onnx_slice").in("X", x).in("Starts", from)
                .in("Ends", block.binary("elementwise_add", from, common)).attr("axes", counted).out("Out");
        Ref more = block.binary("elementwise_sub", want, common);
        Ref before = block.binary("elementwise_floordiv", more, two);
        Ref pads = block.concat(0, List.of(before, block.binary("elementwise_sub", more, before)));
        return node.op("onnx_pad").in("X", part).in("Pads", pads).in("Value", block.scalar(x.dtype(), 0))
                .attr("constant", 0.0).attr("axes", counted).out("Out");
    }
}
