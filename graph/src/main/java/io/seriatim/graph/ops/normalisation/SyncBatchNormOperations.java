package io.seriatim.graph.ops.normalisation;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.GradientSignature;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.ops.common.ImageLayout;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.network.BatchNorm;
import io.seriatim.tensor.computation.network.BatchNormGrad;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Normalisation over the batch of all ranks. Each rank computes mean and variance of its own rows, as batch_norm does,
 * and all gather them; from n rows with mean m and variance v of each rank, in its order and in float64, the mean of
 * all is Σ n m / Σ n, and the variance Σ n (v + (m − mean)²) / Σ n. That is as exact as one pass over all rows, where
 * the mean of squares would lose digits. The ranks may have different numbers of rows.
 *
 * <p>
 * The gradient gathers Σ dy and Σ dy · x̂. With M elements of a channel on all ranks, dx = scale / √(variance + ε) ·
 * (dy − Σ dy / M − x̂ Σ dy x̂ / M). The gradients of scale and bias are those of this rank's rows, as those of all
 * other parameters are, which ranks average later.
 */
public final class SyncBatchNormOperations {
    private static final String TYPE = "sync_batch_norm";
    private static final String GRADIENT = TYPE + "_grad(Bias, MeanOut, ReserveSpace, SavedMean, SavedVariance, Scale, "
            + "VarianceOut, X, Y@GRAD%s) -> Bias@GRAD, Scale@GRAD, X@GRAD";

    /** Gathers numbers of all ranks. */
    @FunctionalInterface
    public interface Gathering {
        /**
         * Gathers.
         *
         * @param own
         *            of this rank, as many on all
         * @return those of all ranks, in their order
         */
        double[][] all(double[] own);
    }

    private SyncBatchNormOperations() {
    }

    public static void register(Operations registry) {
        GradientSignature own = GradientSignature.parse(String.format(GRADIENT, ""));
        String running = String.format(GRADIENT, ", Mean=MeanOut, Variance=VarianceOut");
        GradientSignature given = GradientSignature.parse(running);
        Operation.Builder forward = BatchNormOperations.declare(Operation.define(TYPE));
        forward.effect(Effect.COMMUNICATION).refuseRanks(SyncBatchNormOperations::among);
        forward.gradOperation(running, BatchNormOperations::inferGradient).effect(Effect.COMMUNICATION)
                .refuseRanks(SyncBatchNormOperations::among).register(registry);
        forward.grad((op, wanted) -> (isOfBatch(new Attrs(op, registry.get(op.type()))) ? own : given)
                .make(op, wanted)).register(registry);
    }

    private static @Nullable String among(OpDesc op, Attrs attrs, int ranks) {
        return ranks > 0 || !isOfBatch(attrs)
                ? null
                : "it takes mean and variance of the rows of all ranks, but the run has no communicator: give the "
                        + "executor one with Executor.builder().communicator, one of a single rank too, or use "
                        + "batch_norm";
    }

    /**
     * Whether an operation is one of these.
     *
     * @param type
     *            of any operation
     * @return the forward operation or its gradient
     */
    public static boolean is(String type) {
        return type.equals(TYPE) || type.equals(TYPE + "_grad");
    }

    /**
     * Whether an operation communicates.
     *
     * @param attrs
     *            of one of these
     * @return false if it takes the running statistics
     */
    public static boolean isOfBatch(Attrs attrs) {
        return BatchNormOperations.usesBatch(attrs)
                || (attrs.getBool("trainable_statistics") && !attrs.getBool("use_global_stats"));
    }

    /**
     * Adds the steps of an operation.
     *
     * @param l
     *            of one of these
     * @param ranks
     *            how many there are
     * @param gathering
     *            gathers what they compute
     */
    public static void lower(Lowering l, int ranks, Gathering gathering) {
        boolean isForward = l.op().type().equals(TYPE);
        ImageLayout layout = BatchNormOperations.layout(l.attrs(), l.in("X").rank());
        Operand x = layout.channelsFirst(l.in("X"));
        boolean isOfBatch = isForward ? isOfBatch(l.attrs()) : BatchNormOperations.usesBatch(l.attrs());
        if (!isOfBatch || (ranks == 1 && BatchNormOperations.isSingle(x))) {
            if (isForward) {
                BatchNormOperations.forward(l);
            } else {
                BatchNormOperations.backward(l);
            }
        } else if (isForward) {
            forward(l, layout, x, gathering);
        } else {
            backward(l, layout, x, gathering);
        }
    }

    private static void forward(Lowering l, ImageLayout layout, Operand x, Gathering gathering) {
        Operand scale = BatchNormOperations.channel(l, "Scale", 1, x);
        Operand bias = BatchNormOperations.channel(l, "Bias", 0, x);
        Operand y = layout.channelsFirst(l.outputOrTemporary("Y", l.in("X").spec()));
        Operand mean = l.mutable("Mean", "MeanOut");
        Operand variance = l.mutable("Variance", "VarianceOut");
        float epsilon = l.attrs().getFloat("epsilon");
        Operand ownMean = l.temporary(mean.spec());
        Operand ownInverse = l.temporary(mean.spec());
        l.into(new BatchNorm(epsilon, true), List.of(x, scale, bias),
                List.of(l.temporary(x.spec().rowMajor()), ownMean, ownInverse));
        Operand allMean = l.temporary(mean.spec());
        Operand allVariance = l.temporary(mean.spec());
        double rows = (double) x.shape().size() / x.dim(1);
        l.call("statistics of all ranks", (in, out) -> combine(gathering, rows, epsilon,
                numbers(in.get(0)), numbers(in.get(1)), tensor(out.get(0)), tensor(out.get(1))),
                List.of(ownMean, ownInverse), List.of(allMean, allVariance));
        l.into(new BatchNorm(epsilon, false), List.of(x, scale, bias, allMean, allVariance), List.of(y));
        updateRunning(l, mean, allMean, variance, allVariance);
        l.out("SavedMean", allMean);
        l.out("SavedVariance", BatchNormOperations.inverse(l, allVariance, epsilon));
    }

    /** Moves the running statistics towards those of a batch. */
    static void updateRunning(Lowering l, Operand mean, Operand batchMean, Operand variance, Operand batchVariance) {
        double momentum = l.attrs().getDouble("momentum");
        for (List<Operand> pair : List.of(List.of(mean, batchMean), List.of(variance, batchVariance))) {
            Operand old = l.linear(pair.getFirst(), momentum, 0);
            Operand more = l.linear(pair.getLast(), 1 - momentum, 0);
            l.into(Binary.of(Binary.Function.ADD), List.of(old, more), List.of(pair.getFirst()));
        }
    }

    private static void combine(Gathering gathering, double rows, double epsilon, double[] mean, double[] inverse,
            Tensor allMean, Tensor allVariance) {
        int channels = mean.length;
        double[] own = new double[2 * channels + 1];
        own[2 * channels] = rows;
        for (int i = 0; i < channels; i++) {
            own[i] = mean[i];
            own[channels + i] = variance(inverse[i], epsilon);
        }
        combine(gathering.all(own), channels, allMean, allVariance);
    }

    /**
     * Computes the statistics of all rows.
     *
     * @param all
     *            of each part, in order, means, variances and number of rows
     */
    static void combine(double[][] all, int channels, Tensor allMean, Tensor allVariance) {
        double[] means = new double[channels];
        double[] variances = new double[channels];
        double total = 0;
        for (double[] each : all) {
            total += each[2 * channels];
        }
        for (int i = 0; i < channels; i++) {
            for (double[] each : all) {
                means[i] += each[2 * channels] / total * each[i];
            }
            for (double[] each : all) {
                double distance = each[i] - means[i];
                variances[i] += each[2 * channels] / total * (each[channels + i] + distance * distance);
            }
        }
        store(means, allMean);
        store(variances, allVariance);
    }

    /** Rounding must not make it negative; NaN stays NaN. */
    static double variance(double inverse, double epsilon) {
        double variance = 1 / (inverse * inverse) - epsilon;
        return variance < 0 ? 0 : variance;
    }

    private static void backward(Lowering l, ImageLayout layout, Operand x, Gathering gathering) {
        Operand mean = l.in("SavedMean");
        Operand inverse = l.in("SavedVariance");
        Operand scale = BatchNormOperations.channel(l, "Scale", 1, x);
        Operand dy = layout.channelsFirst(l.in("Y@GRAD"));
        Operand dscale = l.temporary(mean.spec());
        Operand dbias = l.temporary(mean.spec());
        l.into(new BatchNormGrad(new BatchNorm(l.attrs().getFloat("epsilon"), true)),
                List.of(x, dy, scale, mean, inverse), List.of(l.temporary(x.spec().rowMajor()), dscale, dbias));
        Operand ofDy = l.temporary(mean.spec());
        Operand ofX = l.temporary(mean.spec());
        Operand constant = l.temporary(mean.spec());
        double rows = (double) x.shape().size() / x.dim(1);
        l.call("sums of all ranks", (in, out) -> factors(gathering, rows,
                in.stream().map(SyncBatchNormOperations::numbers).toList(), tensor(out.get(0)), tensor(out.get(1)),
                tensor(out.get(2))), List.of(dscale, dbias, scale, inverse), List.of(ofDy, ofX, constant));
        DType wide = mean.dtype();
        Operand centred = l.binary(Binary.Function.SUBTRACT, l.cast(x, wide), perChannel(mean, x));
        Operand first = l.binary(Binary.Function.MULTIPLY, l.cast(dy, wide), perChannel(ofDy, x));
        Operand second = l.binary(Binary.Function.MULTIPLY, centred, perChannel(ofX, x));
        Operand dx = l.binary(Binary.Function.ADD, l.binary(Binary.Function.ADD, first, second),
                perChannel(constant, x));
        if (l.wants("X@GRAD")) {
            l.out("X@GRAD", layout.from(dx));
        }
        l.out("Scale@GRAD", dscale);
        l.out("Bias@GRAD", dbias);
    }

    private static Operand perChannel(Operand channels, Operand x) {
        return BatchNormOperations.perChannel(channels, x.rank());
    }

    /** dx = ofDy · dy + ofX · (x − mean) + constant. */
    private static void factors(Gathering gathering, double rows, List<double[]> given, Tensor ofDy, Tensor ofX,
            Tensor constant) {
        double[] dscale = given.get(0);
        double[] dbias = given.get(1);
        double[] scale = given.get(2);
        double[] inverse = given.get(3);
        int channels = dscale.length;
        double[] own = new double[2 * channels + 1];
        System.arraycopy(dscale, 0, own, 0, channels);
        System.arraycopy(dbias, 0, own, channels, channels);
        own[2 * channels] = rows;
        double[] sums = new double[own.length];
        for (double[] each : gathering.all(own)) {
            for (int i = 0; i < sums.length; i++) {
                sums[i] += each[i];
            }
        }
        double total = sums[2 * channels];
        double[] first = new double[channels];
        double[] second = new double[channels];
        double[] last = new double[channels];
        for (int i = 0; i < channels; i++) {
            first[i] = scale[i] * inverse[i];
            second[i] = -first[i] * inverse[i] * sums[i] / total;
            last[i] = -first[i] * sums[channels + i] / total;
        }
        store(first, ofDy);
        store(second, ofX);
        store(last, constant);
    }

    private static double[] numbers(@Nullable Tensor tensor) {
        return Objects.requireNonNull(tensor).toDoubleArray();
    }

    private static Tensor tensor(@Nullable Tensor tensor) {
        return Objects.requireNonNull(tensor);
    }

    private static void store(double[] values, Tensor to) {
        Elements.write(values, to);
    }
}
