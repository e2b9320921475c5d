package io.seriatim.graph.ops.random;

import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.PaddleRandom;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary.Function;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Dropout;
import io.seriatim.tensor.computation.DropoutGrad;
import io.seriatim.tensor.computation.RandomNumbers;
import io.seriatim.tensor.computation.Where;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Dropout in its two forms: what is kept is scaled up in training, or everything is scaled down in inference. */
public final class DropoutOperations {
    private static final String UP = "upscale_in_train";
    private static final String DOWN = "downgrade_in_infer";

    private DropoutOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("dropout").in("X", "Seed?").out("Out", "Mask~").effect(Effect.RANDOM)
                .attr("dropout_prob", 0.5f)
                .attr("is_test", false).attr("dropout_implementation", DOWN).attr("fix_seed", false).attr("seed", 0)
                .infer(DropoutOperations::infer).lower(DropoutOperations::lower)
                .grad("dropout_grad(Mask, Out@GRAD) -> X@GRAD", DropoutOperations::grad).register(registry);
        Operation.define("dropout_nd").in("X", "Seed?").out("Out", "Mask~").effect(Effect.RANDOM)
                .attr("dropout_prob", 0.5f)
                .attr("is_test", false).attr("dropout_implementation", DOWN).attr("fix_seed", false).attr("seed", 0)
                .attr("axis", new int[0]).infer(DropoutOperations::inferAlongAxes)
                .lower(DropoutOperations::alongAxes)
                .grad("dropout_nd_grad(Mask, Out@GRAD) -> X@GRAD",
                        inference -> inference.same("Out@GRAD", "X@GRAD"), DropoutOperations::gradAlongAxes)
                .register(registry);
    }

    /** The mask has one number for all elements along the axes that are not given. */
    private static void inferAlongAxes(Inference inference) {
        infer(inference);
        long[] dims = inference.dims("X");
        long[] mask = new long[dims.length];
        Arrays.fill(mask, 1);
        for (long axis : inference.attrs().getLongs("axis")) {
            inference.require(axis >= 0 && axis < dims.length,
                    "axis must name some of the %d dimensions of X, but is %s", dims.length,
                    Numbers.text(inference.attrs().getLongs("axis")));
            mask[(int) axis] = dims[(int) axis];
        }
        inference.set("Mask", DType.UINT8, mask);
    }

    private static void alongAxes(Lowering l) {
        Operand x = l.in("X");
        if (l.attrs().getBool("is_test")) {
            l.out("Out", isUpscaled(l) ? x : l.linear(x, 1 - l.attrs().getFloat("dropout_prob"), 0));
            l.out("Mask", l.fill(1, l.outType("Mask", 0).spec()));
            return;
        }
        PaddleRandom shared = l.paddleRandom();
        TensorSpec spec = l.outType("Mask", 0).spec();
        Operand mask = shared != null ? paddleMask(l, shared, spec) : ownMask(l, spec);
        l.out("Out", masked(l, x, mask));
        l.out("Mask", mask);
    }

    private static Operand ownMask(Lowering l, TensorSpec spec) {
        Operand uniform = l.temporary(spec.with(DType.FLOAT32));
        l.into(new RandomNumbers(RandomNumbers.Distribution.UNIFORM, 0, 1, DType.FLOAT32), List.of(key(l)),
                List.of(uniform));
        Operand probability = l.number(DType.FLOAT32, l.attrs().getFloat("dropout_prob"));
        return l.cast(l.binary(Function.GREATER_EQUAL, uniform, probability), DType.UINT8);
    }

    private static void gradAlongAxes(Lowering l) {
        Operand dy = l.in("Out@GRAD");
        if (!l.attrs().getBool("is_test")) {
            l.out("X@GRAD", masked(l, dy, l.in("Mask")));
        } else {
            l.out("X@GRAD", isUpscaled(l) ? dy : l.linear(dy, 1 - l.attrs().getFloat("dropout_prob"), 0));
        }
    }

    private static void infer(Inference inference) {
        double probability = inference.attrs().getDouble("dropout_prob");
        String implementation = inference.attrs().getText("dropout_implementation");
        inference.require(probability >= 0 && probability <= 1, "dropout_prob must be from 0 to 1, but is %s",
                probability);
        inference.require(implementation.equals(UP) || implementation.equals(DOWN),
                "dropout_implementation must be downgrade_in_infer or upscale_in_train, but is '%s'", implementation);
        inference.require(inference.dtype("X").isFloating(), "X must be of a floating-point type, but is %s",
                inference.dtype("X"));
        inference.require(!inference.has("Seed") || Math.abs(Inference.size(inference.dims("Seed"))) == 1,
                "Seed must hold one number");
        inference.same("X", "Out");
        inference.set("Mask", DType.UINT8, inference.dims("X"));
    }

    private static boolean isUpscaled(Lowering l) {
        return l.attrs().getText("dropout_implementation").equals(UP);
    }

    private static void lower(Lowering l) {
        Operand x = l.in("X");
        PaddleRandom shared = l.paddleRandom();
        if (l.attrs().getBool("is_test")) {
            l.out("Out", isUpscaled(l) ? x : l.linear(x, 1 - l.attrs().getFloat("dropout_prob"), 0));
            l.out("Mask", l.fill(1, x.spec().with(DType.UINT8)));
        } else if (shared != null) {
            Operand mask = paddleMask(l, shared, x.spec().with(DType.UINT8));
            l.out("Out", masked(l, x, mask));
            l.out("Mask", mask);
        } else {
            boolean exact = x.dtype() == DType.FLOAT64;
            List<Operand> results = l.runAll(new Dropout(l.attrs().getFloat("dropout_prob"), isUpscaled(l) && !exact),
                    x, key(l));
            l.out("Out", exact ? scaled(l, results.get(0)) : results.get(0));
            l.out("Mask", results.get(1));
        }
    }

    private static Operand paddleMask(Lowering l, PaddleRandom shared, TensorSpec spec) {
        float probability = l.attrs().getFloat("dropout_prob");
        Operand mask = l.temporary(spec);
        if (probability == 1) {
            // Paddle draws nothing here.
            return l.fill(0, mask.spec());
        }
        int fixed = l.attrs().getBool("fix_seed") ? l.attrs().getInt("seed") : 0;
        Operand given = l.optional("Seed");
        l.call(l.type(), (in, out) -> {
            Tensor seed = in.getFirst();
            PaddleDraws draws = RandomOperations.draws(shared, seed == null ? fixed : seed.toLongArray()[0]);
            Tensor to = Objects.requireNonNull(out.getFirst());
            Elements.write(draws.kept(Math.toIntExact(to.shape().size()), probability), to);
        }, Collections.<@Nullable Operand>singletonList(given), List.of(mask));
        return mask;
    }

    /** A seed gives the same numbers in each run; seed 0 those of this run. */
    private static Operand key(Lowering l) {
        Operand seed = l.optional("Seed");
        if (seed == null) {
            return l.randomKey();
        }
        Operand given = l.fill(0, TensorSpec.of(DType.INT64, 2));
        Operand number = l.cast(seed.reshape(1), DType.INT64);
        l.into(Copy.PLAIN, List.of(number), List.of(given.slice(0, 0, 1)));
        return l.run(new Where(), l.binary(Function.NOT_EQUAL, number, l.number(DType.INT64, 0)), given, l.randomKey());
    }

    private static Operand masked(Lowering l, Operand x, Operand mask) {
        return scaled(l, l.binary(Function.MULTIPLY, x, l.cast(mask, x.dtype())));
    }

    /** Divided, as in Paddle: a factor in single precision would be too coarse for double. */
    private static Operand scaled(Lowering l, Operand x) {
        float probability = l.attrs().getFloat("dropout_prob");
        return isUpscaled(l) && probability < 1
                ? l.binary(Function.DIVIDE, x, l.number(x.dtype(), 1 - probability))
                : x;
    }

    private static void grad(Lowering l) {
        if (!l.wants("X@GRAD")) {
            return;
        }
        Operand dy = l.in("Out@GRAD");
        float probability = l.attrs().getFloat("dropout_prob");
        if (l.attrs().getBool("is_test")) {
            l.out("X@GRAD", isUpscaled(l) ? dy : l.linear(dy, 1 - probability, 0));
        } else if (dy.dtype() == DType.FLOAT64) {
            l.out("X@GRAD", masked(l, dy, l.in("Mask")));
        } else {
            l.out("X@GRAD", l.run(new DropoutGrad(new Dropout(probability, isUpscaled(l))), dy, l.in("Mask")));
        }
    }
}
