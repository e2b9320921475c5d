package io.seriatim.onnx.operators;

import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Normalisations by means, variances and norms, and dropout. */
public final class NormalisationOperators {
    private static final float EPSILON = 1e-5f;

    /** The most channels that are added one by one; each takes operations of its own. */
    private static final int MOST_SUMMED = 1024;

    private NormalisationOperators() {
    }

    /** Adds the operators. */
    public static void register(Registry operators) {
        operators.all("BatchNormalization", NormalisationOperators::batch);
        operators.one("InstanceNormalization", NormalisationOperators::instance);
        operators.one("GroupNormalization", NormalisationOperators::group);
        operators.all("LayerNormalization", NormalisationOperators::layer);
        operators.one("RMSNormalization", node -> {
            Ref x = node.input(0);
            int axis = node.axis(node.integer("axis", -1), x.rank());
            return rootMeanSquare(node, x, node.input(1), null, axis);
        });
        operators.one("MeanVarianceNormalization", NormalisationOperators::meanVariance);
        operators.one("LpNormalization", NormalisationOperators::norm);
        operators.one("LRN", NormalisationOperators::localResponse);
        operators.all("Dropout", NormalisationOperators::dropout);
    }

    private static List<Ref> batch(Node node) {
        Steps steps = new Steps(node.block());
        Ref x = node.input(0);
        if (x.rank() < 2) {
            throw node.error("needs an operand of rank 2 or more, but its rank is %d", x.rank());
        }
        if (node.version() < 9 && !node.flag("spatial", true)) {
            throw node.error("attribute 'spatial' is 0, which is not supported");
        }
        float epsilon = node.real("epsilon", EPSILON);
        if (isTraining(node)) {
            if (!node.block().model().isForInference()) {
                node.block().model().expressedTraining(node.type());
                return trained(node, steps, x, epsilon);
            }
            // The statistics stay as they are; those of the batch are not computed.
            List<Ref> results = new ArrayList<>(List.of(tested(node, steps, x, epsilon)));
            for (int i = 1; i < node.results(); i++) {
                results.add(node.input(i % 2 == 1 ? 3 : 4));
            }
            return results;
        }
        return List.of(tested(node, steps, x, epsilon));
    }

    /** Before version 14, nodes with more than one result are in training mode, and before 7 those without is_test. */
    private static boolean isTraining(Node node) {
        return node.version() >= 14
                ? node.flag("training_mode", false)
                : node.version() < 7 ? !node.flag("is_test", false) : node.wants(1);
    }

    private static Ref tested(Node node, Steps steps, Ref x, float epsilon) {
        DType dtype = x.dtype();
        // PaddlePaddle's operation refuses larger numbers.
        boolean direct = epsilon <= 1e-3f && IntStream.range(1, 5).allMatch(i -> node.input(i).dtype() == dtype)
                && (dtype == DType.FLOAT32 || dtype == DType.FLOAT64);
        if (direct) {
            return node.op("batch_norm").in("X", x).in("Scale", node.input(1)).in("Bias", node.input(2))
                    .in("Mean", node.input(3)).in("Variance", node.input(4)).attr("epsilon", epsilon)
                    .attr("momentum", node.real("momentum", 0.9f)).attr("is_test", true)
                    .outs("Y", "MeanOut", "VarianceOut", "SavedMean", "SavedVariance").getFirst();
        }
        return affine(steps, x, node.input(1), node.input(2), steps.perChannel(node.input(3), x.rank()),
                steps.perChannel(node.input(4), x.rank()), epsilon);
    }

    private static List<Ref> trained(Node node, Steps steps, Ref x, float epsilon) {
        int[] axes = IntStream.range(0, x.rank()).filter(axis -> axis != 1).toArray();
        Ref precise = steps.cast(x, Steps.precise(x.dtype()));
        Ref mean = steps.reduce("reduce_mean", precise, axes);
        Ref variance = steps.reduce("reduce_mean", steps.unary("square", steps.sub(precise, mean)), axes);
        double momentum = node.real("momentum", 0.9f);
        Ref y = affine(steps, x, node.input(1), node.input(2), mean, variance, epsilon);
        return List.of(y, running(steps, node.input(3), mean, momentum), running(steps, node.input(4), variance,
                momentum), saved(steps, node.input(3), mean), saved(steps, node.input(4), variance));
    }

    /** A statistic of the batch, which versions before 14 return. */
    private static Ref saved(Steps steps, Ref before, Ref now) {
        return steps.cast(steps.reshape(now, -1), before.dtype());
    }

    private static Ref running(Steps steps, Ref before, Ref now, double momentum) {
        Ref mine = saved(steps, before, now);
        return steps.add(steps.linear(before, momentum, 0), steps.linear(mine, 1 - momentum, 0));
    }

    /** (x − mean) / √(variance + epsilon) · scale + bias, with scale and bias for each channel. */
    private static Ref affine(Steps steps, Ref x, Ref scale, Ref bias, Ref mean, Ref variance, float epsilon) {
        DType dtype = Steps.precise(x.dtype());
        Ref factor = steps.mul(steps.unary("rsqrt", steps.linear(steps.cast(variance, dtype), 1, epsilon)),
                steps.perChannel(steps.cast(scale, dtype), x.rank()));
        Ref centred = steps.sub(steps.cast(x, dtype), steps.cast(mean, dtype));
        Ref y = steps.add(steps.mul(centred, factor), steps.perChannel(steps.cast(bias, dtype), x.rank()));
        return steps.cast(y, x.dtype());
    }

    private static Ref instance(Node node) {
        return node.op("instance_norm").in("X", node.input(0)).in("Scale", node.input(1)).in("Bias", node.input(2))
                .attr("epsilon", node.real("epsilon", EPSILON)).outs("Y", "SavedMean", "SavedVariance").getFirst();
    }

    private static Ref group(Node node) {
        Ref x = node.input(0);
        Ref scale = node.input(1);
        Ref bias = node.input(2);
        int groups = node.int32("num_groups", 0);
        if (groups < 1 || x.rank() < 2 || (x.dim(1) >= 0 && x.dim(1) % groups != 0)) {
            throw node.error("attribute 'num_groups' divides the channels, but is %d for an operand of the shape %s",
                    groups, Numbers.text(x.dims()));
        }
        if (node.version() < 21) {
            // Scale and bias have one number for each group.
            scale = spread(node, scale, x.dim(1) / groups);
            bias = spread(node, bias, x.dim(1) / groups);
        }
        Steps steps = new Steps(node.block());
        DType dtype = Steps.precise(x.dtype());
        Ref y = node.op("group_norm").in("X", steps.cast(x, dtype)).in("Scale", steps.cast(scale, dtype))
                .in("Bias", steps.cast(bias, dtype)).attr("groups", groups)
                .attr("epsilon", node.real("epsilon", EPSILON)).outs("Y", "Mean", "Variance").getFirst();
        return steps.cast(y, x.dtype());
    }

    private static Ref spread(Node node, Ref perGroup, long times) {
        if (times < 0) {
            throw node.error("needs a known number of channels before version 21");
        }
        return node.op("repeat_interleave").in("X", perGroup).attr("Repeats", times).attr("dim", 0).out("Out");
    }

    private static List<Ref> layer(Node node) {
        Ref x = node.input(0);
        int axis = node.axis(node.integer("axis", -1), x.rank());
        return layer(node, x, node.input(1), node.maybe(2), axis, node.real("epsilon", EPSILON), node.wants(1)
                || node.wants(2));
    }

    /** A layer normalisation; with mean and inverse deviation, if they are wanted. */
    static List<Ref> layer(Node node, Ref x, Ref scale, @Nullable Ref bias, int axis, float epsilon,
            boolean withStatistics) {
        Steps steps = new Steps(node.block());
        long[] normalised = Arrays.copyOfRange(x.dims(), axis, x.rank());
        boolean known = Arrays.stream(normalised).allMatch(each -> each > 0);
        boolean direct = known && scale.dtype() == x.dtype() && Arrays.equals(scale.dims(), normalised)
                && (bias == null || (bias.dtype() == x.dtype() && Arrays.equals(bias.dims(), normalised)));
        if (direct && !withStatistics) {
            var op = node.op("layer_norm").in("X", x).in("Scale", flat(steps, scale)).attr("epsilon", epsilon)
                    .attr("begin_norm_axis", axis);
            if (bias != null) {
                op.in("Bias", flat(steps, bias));
            }
            if (axis > 0) {
                return List.of(op.outs("Y", "Mean", "Variance").getFirst());
            }
        }
        int[] axes = Steps.axesFrom(axis, x.rank());
        DType dtype = node.integer("stash_type", 1) == 1 ? Steps.precise(x.dtype()) : x.dtype();
        Ref precise = steps.cast(x, dtype);
        Ref mean = steps.reduce("reduce_mean", precise, axes);
        Ref centred = steps.sub(precise, mean);
        Ref variance = steps.reduce("reduce_mean", steps.unary("square", centred), axes);
        Ref inverse = steps.unary("rsqrt", steps.linear(variance, 1, epsilon));
        Ref y = steps.mul(steps.cast(steps.mul(centred, inverse), x.dtype()), scale);
        Ref result = bias == null ? y : steps.add(y, bias);
        // The type of the statistics is that of the first stage, which may be wider for float64 only.
        return List.of(result, steps.cast(mean, DType.FLOAT32), steps.cast(inverse, DType.FLOAT32));
    }

    private static Ref flat(Steps steps, Ref x) {
        return x.rank() == 1 ? x : steps.reshape(x, -1);
    }

    /** x / √(mean of squares + epsilon) · scale + bias. */
    static Ref rootMeanSquare(Node node, Ref x, Ref scale, @Nullable Ref bias, int axis) {
        Steps steps = new Steps(node.block());
        DType dtype = Steps.precise(x.dtype());
        Ref precise = steps.cast(x, dtype);
        Ref squares = steps.reduce("reduce_mean", steps.unary("square", precise), Steps.axesFrom(axis, x.rank()));
        Ref inverse = steps.unary("rsqrt", steps.linear(squares, 1, node.real("epsilon", EPSILON)));
        Ref y = steps.mul(steps.cast(steps.mul(precise, inverse), scale.dtype()), scale);
        return bias == null ? y : steps.add(y, bias);
    }

    private static Ref meanVariance(Node node) {
        Steps steps = new Steps(node.block());
        Ref x = node.input(0);
        long[] given = node.integers("axes");
        int[] axes = Arrays.stream(given == null ? new long[]{0, 2, 3} : given)
                .mapToInt(axis -> node.axis(axis, x.rank())).toArray();
        Ref precise = steps.cast(x, Steps.precise(x.dtype()));
        Ref centred = steps.sub(precise, steps.reduce("reduce_mean", precise, axes));
        Ref variance = steps.reduce("reduce_mean", steps.unary("square", centred), axes);
        Ref deviation = steps.linear(steps.unary("sqrt", variance), 1, 1e-9);
        return steps.cast(steps.div(centred, deviation), x.dtype());
    }

    private static Ref norm(Node node) {
        Steps steps = new Steps(node.block());
        Ref x = node.input(0);
        int axis = node.axis(node.integer("axis", -1), x.rank());
        long p = node.integer("p", 2);
        if (p != 1 && p != 2) {
            throw node.error("attribute 'p' is 1 or 2, but is %d", p);
        }
        Ref norm = p == 1
                ? steps.reduce("reduce_sum", steps.unary("abs", x), axis)
                : steps.unary("sqrt", steps.reduce("reduce_sum", steps.unary("square", x), axis));
        // Where the norm is 0, all elements are: they stay 0.
        Ref zero = node.op("equal").in("X", norm).in("Y", steps.scalar(x.dtype(), 0)).out("Out");
        return steps.div(x, steps.add(norm, steps.cast(zero, x.dtype())));
    }

    /** x / (bias + alpha / size · sum of squares of the channels around)^beta. */
    private static Ref localResponse(Node node) {
        Steps steps = new Steps(node.block());
        Ref x = node.input(0);
        int size = node.int32("size", 0);
        if (size < 1 || x.rank() < 3) {
            throw node.error("needs images and a positive attribute 'size', but the operand has %d dimensions and "
                    + "size is %d", x.rank(), size);
        }
        double alpha = node.real("alpha", 1e-4f);
        float beta = node.real("beta", 0.75f);
        float bias = node.real("bias", 1);
        if (x.rank() == 4 && size % 2 == 1) {
            return node.op("lrn").in("X", x).attr("n", size).attr("k", bias).attr("alpha", (float) (alpha / size))
                    .attr("beta", beta).outs("Out", "MidOut").getFirst();
        }
        if (size > MOST_SUMMED) {
            throw node.error("sums an even number of channels or those of what is no image: at most %d, but the "
                    + "attribute 'size' is %d", MOST_SUMMED, size);
        }
        int before = (size - 1) / 2;
        int[] paddings = new int[2 * x.rank()];
        paddings[2] = before;
        paddings[3] = size - 1 - before;
        Ref padded = node.op("pad").in("X", steps.unary("square", x)).attr("paddings", paddings).out("Out");
        Ref sum = null;
        for (int i = 0; i < size; i++) {
            int behind = size - 1 - i;
            Ref part = steps.slice(padded, 1, i, behind == 0 ? Integer.MAX_VALUE : -behind);
            sum = sum == null ? part : steps.add(sum, part);
        }
        if (sum == null) {
            throw new AssertionError();
        }
        return steps.mul(x, steps.pow(steps.linear(sum, alpha / size, bias), -beta));
    }

    private static List<Ref> dropout(Node node) {
        Steps steps = new Steps(node.block());
        Ref x = node.input(0);
        double ratio = node.real("ratio", 0.5f);
        boolean training = node.version() < 7 && node.hasAttribute("is_test") && !node.flag("is_test", false);
        if (node.version() >= 12) {
            ratio = number(node, 1, 0.5);
            training = number(node, 2, 0) != 0;
            boolean computed = node.has(2) && node.value(2) == null;
            if (!node.block().model().isForInference() && (computed || (training && node.wants(1)))) {
                // Also if an input says during the run whether it trains.
                node.block().model().expressedTraining(node.type());
                return drawn(node, steps, x);
            }
        }
        training &= !node.block().model().isForInference();
        Ref y;
        if (training && ratio > 0) {
            y = drop(node, x, ratio, false);
        } else {
            y = ratio > 0 && ratio < 1 && x.dtype().isFloating() ? drop(node, x, ratio, true) : x;
        }
        return node.wants(1)
                ? List.of(y, steps.filledLike(x, node.version() < 10 ? x.dtype() : DType.BOOL, 1))
                : List.of(y);
    }

    /** A seed of 64 bits as one of 32, the same where it fits. */
    private static int seed(Node node) {
        long seed = node.integer("seed", 0);
        return seed == (int) seed ? (int) seed : Long.hashCode(seed);
    }

    /** As an operation that training can switch on again. */
    private static Ref drop(Node node, Ref x, double ratio, boolean isTest) {
        return node.op("dropout").in("X", x).attr("dropout_prob", (float) ratio).attr("is_test", isTest)
                .attr("dropout_implementation", "upscale_in_train").attr("fix_seed", node.hasAttribute("seed"))
                .attr("seed", seed(node)).outs("Out", "Mask").getFirst();
    }

    private static double number(Node node, int operand, double byDefault) {
        if (!node.has(operand)) {
            return byDefault;
        }
        Tensor value = node.value(operand);
        if (value == null) {
            return byDefault;
        }
        return value.dtype().isFloating() ? value.toDoubleArray()[0] : value.toLongArray()[0];
    }

    /** A dropout whose ratio or mode are known only in a run, or whose mask is wanted. */
    private static List<Ref> drawn(Node node, Steps steps, Ref x) {
        DType dtype = x.dtype();
        Ref given = node.maybe(1);
        Ref ratio = given == null ? steps.scalar(DType.FLOAT32, 0.5) : steps.cast(given, DType.FLOAT32);
        Ref rate = steps.mul(ratio, steps.cast(node.input(2), DType.FLOAT32));
        Ref numbers = node.op("uniform_random").in("ShapeTensor", node.block().shape(x)).attr("min", 0f)
                .attr("max", 1f).attr("seed", seed(node)).attr("dtype", DType.FLOAT32).out("Out");
        Ref kept = node.op("greater_equal").in("X", numbers).in("Y", rate).out("Out");
        Ref factor = steps.unary("reciprocal", steps.linear(rate, -1, 1));
        Ref y = steps.mul(steps.mul(x, steps.cast(kept, dtype)), steps.cast(factor, dtype));
        return List.of(y, kept);
    }
}
