package io.seriatim.onnx.operators;

import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.OpAppender;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Tensors that come from numbers, shapes and random generators. */
public final class CreationOperators {
    private CreationOperators() {
    }

    /** Adds the operators. */
    public static void register(Registry operators) {
        operators.one("ConstantOfShape", CreationOperators::filled);
        operators.one("Range", n -> n.op("onnx_range").in("Start", n.input(0)).in("Limit", n.input(1))
                .in("Delta", n.input(2)).out("Out"));
        operators.one("EyeLike", n -> n.op("onnx_eye_like").in("X", n.input(0)).attr("k", n.integer("k", 0))
                .attr("dtype", n.dtype("dtype", n.input(0).dtype())).out("Out"));
        operators.one("HannWindow", n -> window(n, "hann"));
        operators.one("HammingWindow", n -> window(n, "hamming"));
        operators.one("BlackmanWindow", n -> window(n, "blackman"));
        operators.one("RandomNormal", n -> normal(n, null));
        operators.one("RandomNormalLike", n -> normal(n, n.input(0)));
        operators.one("RandomUniform", n -> uniform(n, null));
        operators.one("RandomUniformLike", n -> uniform(n, n.input(0)));
        operators.one("Bernoulli", CreationOperators::bernoulli);
        operators.one("Multinomial", CreationOperators::multinomial);
    }

    private static Ref filled(Node node) {
        Tensor given = node.tensor("value");
        Tensor value = given == null ? Tensor.of(DType.FLOAT32, new double[]{0}, 1) : given;
        if (value.shape().size() != 1) {
            throw node.error("attribute 'value' has one element, but has the shape %s", value.shape());
        }
        OpAppender fill = node.op("fill_constant").in("ValueTensor", node.block().model().constant("value", value))
                .attr("dtype", value.dtype());
        long[] shape = node.integers(0);
        return (shape == null
                ? fill.in("ShapeTensor", node.counted(0, node.declaredRank()))
                : fill.attr("shape", shape)).out("Out");
    }

    private static Ref window(Node node, String function) {
        return node.op("onnx_window").in("Size", node.input(0)).attr("function", function)
                .attr("periodic", node.flag("periodic", true)).attr("dtype", node.dtype("output_datatype",
                        DType.FLOAT32))
                .out("Out");
    }

    private static Ref normal(Node node, @Nullable Ref like) {
        return random(node, "gaussian_random", like).attr("mean", node.real("mean", 0))
                .attr("std", node.real("scale", 1)).out("Out");
    }

    private static Ref uniform(Node node, @Nullable Ref like) {
        return random(node, "uniform_random", like).attr("min", node.real("low", 0)).attr("max", node.real("high", 1))
                .out("Out");
    }

    private static OpAppender random(Node node, String operation, @Nullable Ref like) {
        DType byDefault = like == null || !like.dtype().isFloating() ? DType.FLOAT32 : like.dtype();
        OpAppender random = node.op(operation).attr("seed", seed(node)).attr("dtype", node.dtype("dtype", byDefault));
        if (like == null) {
            long[] shape = node.integers("shape");
            if (shape == null) {
                throw node.error("needs the attribute 'shape'");
            }
            return random.attr("shape", shape);
        }
        return shaped(node.block(), random, like);
    }

    private static OpAppender shaped(BlockBuilder block, OpAppender random, Ref like) {
        return Arrays.stream(like.dims()).allMatch(dim -> dim >= 0)
                ? random.attr("shape", like.dims())
                : random.in("ShapeTensor", block.shape(like));
    }

    /** 0 stands for other numbers in each run. */
    private static int seed(Node node) {
        float seed = node.real("seed", 0);
        return !node.hasAttribute("seed") || (int) seed != 0 ? (int) seed : Float.floatToIntBits(seed) | 1;
    }

    /** Whether a random number is below the probability. */
    private static Ref bernoulli(Node node) {
        BlockBuilder block = node.block();
        Ref x = node.input(0);
        Ref drawn = shaped(block, node.op("uniform_random").attr("seed", seed(node)).attr("dtype", x.dtype())
                .attr("min", 0).attr("max", 1), x).out("Out");
        return block.cast(ElementwiseOperators.apply(block, "less_than", drawn, x), node.dtype("dtype", x.dtype()));
    }

    /** The operand has logarithms of probabilities. */
    private static Ref multinomial(Node node) {
        BlockBuilder block = node.block();
        Ref probabilities = block.op("softmax").in("X", node.input(0)).attr("axis", -1).out("Out");
        Ref drawn = block.op("multinomial").in("X", probabilities)
                .attr("num_samples", node.int32("sample_size", 1)).attr("replacement", true).out("Out");
        return block.cast(drawn, node.dtype("dtype", DType.INT32));
    }
}
