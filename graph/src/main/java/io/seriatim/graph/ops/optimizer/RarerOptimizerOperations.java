package io.seriatim.graph.ops.optimizer;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.Where;
import java.util.List;

/** Optimizers of older programs, whose gradients are dense. */
public final class RarerOptimizerOperations {
    /** Keeps the thresholds of FTRL above 0, as in Paddle. */
    private static final double ABOVE_ZERO = 1e-10;

    private RarerOptimizerOperations() {
    }

    public static void register(Operations registry) {
        define("decayed_adagrad").in("Moment").out("MomentOut").attr("decay", 0.95f).attr("epsilon", 1e-6f)
                .infer(inference -> infer(inference, "Moment")).lower(l -> decayedAdagrad(new Formula(l)))
                .register(registry);
        define("proximal_gd").attr("l1", 0f).attr("l2", 0f).infer(RarerOptimizerOperations::infer)
                .lower(l -> proximal(new Formula(l))).register(registry);
        define("ftrl").in("SquaredAccumulator", "LinearAccumulator").out("SquaredAccumOut", "LinearAccumOut")
                .attr("l1", 0f).attr("l2", 0f).attr("lr_power", -0.5f).infer(inference -> {
                    infer(inference, "SquaredAccumulator", "LinearAccumulator");
                    inference.same("SquaredAccumulator", "SquaredAccumOut");
                    inference.same("LinearAccumulator", "LinearAccumOut");
                }).lower(l -> followTheLeader(new Formula(l))).register(registry);
        define("dpsgd").attr("clip", 10f).attr("batch_size", 16f).attr("sigma", 1f).attr("seed", 0)
                .effect(Effect.RANDOM).infer(inference -> {
                    float batch = inference.attrs().getFloat("batch_size");
                    float clip = inference.attrs().getFloat("clip");
                    inference.require(batch > 0, "batch_size must be above 0, but is %s", batch);
                    inference.require(clip > 0, "clip must be above 0, but is %s", clip);
                    infer(inference);
                }).lower(l -> differentiallyPrivate(new Formula(l))).register(registry);
    }

    private static Operation.Builder define(String type) {
        return Operation.define(type).in("Param", "Grad", "LearningRate").out("ParamOut");
    }

    private static void infer(Inference inference, String... accumulators) {
        inference.require(inference.in("Grad").kind() == ArgType.Kind.DENSE,
                "the gradient must have all rows of the parameter, but is %s: take is_sparse from the embedding",
                inference.in("Grad"));
        OptimizerOperations.infer(inference, accumulators);
    }

    /** A step with the arithmetic of its formula. */
    private record Formula(Lowering l, OptimizerStep step) {
        Formula(Lowering l) {
            this(l, new OptimizerStep(l));
        }

        float attribute(String name) {
            return l.attrs().getFloat(name);
        }

        Operand number(double value) {
            return l.number(step.dtype(), value);
        }

        Operand add(Operand x, Operand y) {
            return l.binary(Binary.Function.ADD, x, y);
        }

        Operand subtract(Operand x, Operand y) {
            return l.binary(Binary.Function.SUBTRACT, x, y);
        }

        Operand multiply(Operand x, Operand y) {
            return l.binary(Binary.Function.MULTIPLY, x, y);
        }

        Operand divide(Operand x, Operand y) {
            return l.binary(Binary.Function.DIVIDE, x, y);
        }

        Operand of(Unary.Function function, Operand x) {
            return l.unary(function, x);
        }

        void set(Operand variable, Operand value) {
            l.into(Copy.PLAIN, List.of(value), List.of(variable));
        }
    }

    /** m = decay·m + (1 − decay)·g²; p − lr·g / (√m + ε). */
    private static void decayedAdagrad(Formula f) {
        OptimizerStep step = f.step();
        Operand moment = step.state("Moment", "MomentOut");
        Operand gradient = step.gradient();
        float decay = f.attribute("decay");
        f.set(moment, f.add(f.multiply(f.number(decay), moment),
                f.multiply(f.number(1 - decay), f.of(Unary.Function.SQUARE, gradient))));
        Operand divisor = f.add(f.of(Unary.Function.SQRT, moment), f.number(f.attribute("epsilon")));
        f.set(step.param(), f.subtract(step.param(), f.divide(f.multiply(step.rate(), gradient), divisor)));
        step.finish();
    }

    /** p − lr·g, of which l1·lr is taken off towards 0, divided by 1 + l2·lr. */
    private static void proximal(Formula f) {
        OptimizerStep step = f.step();
        Operand rate = step.rate();
        Operand moved = f.subtract(step.param(), f.multiply(rate, step.gradient()));
        float l1 = f.attribute("l1");
        if (l1 > 0) {
            Operand size = f.subtract(f.of(Unary.Function.ABS, moved), f.multiply(f.number(l1), rate));
            Operand left = f.l().binary(Binary.Function.MAXIMUM, size, f.number(0));
            moved = f.multiply(f.of(Unary.Function.SIGN, moved), left);
        }
        Operand divisor = f.add(f.multiply(f.number(f.attribute("l2")), rate), f.number(1));
        f.set(step.param(), f.divide(moved, divisor));
        step.finish();
    }

    /**
     * FTRL-Proximal (McMahan et al., 2013). With s' = s + g² and the power −lr_power of both sums: l = l + g − (s'ᵖ −
     * sᵖ)/lr·p; p = (l1·sign(l) − l) / (s'ᵖ/lr + 2·l2) where |l| is above l1, else 0.
     */
    private static void followTheLeader(Formula f) {
        OptimizerStep step = f.step();
        Operand squared = step.state("SquaredAccumulator", "SquaredAccumOut");
        Operand linear = step.state("LinearAccumulator", "LinearAccumOut");
        Operand gradient = step.gradient();
        Operand rate = step.rate();
        Operand sum = f.add(squared, f.of(Unary.Function.SQUARE, gradient));
        Operand power = power(f, sum);
        Operand change = f.divide(f.subtract(power, power(f, squared)), rate);
        f.set(linear, f.subtract(f.add(linear, gradient), f.multiply(change, step.param())));
        f.set(squared, sum);
        Operand threshold = f.number(f.attribute("l1") + ABOVE_ZERO);
        Operand over = f.subtract(f.multiply(threshold, f.of(Unary.Function.SIGN, linear)), linear);
        Operand divisor = f.add(f.divide(power, rate), f.number(2 * (f.attribute("l2") + ABOVE_ZERO)));
        Operand isAbove = f.l().binary(Binary.Function.GREATER, f.of(Unary.Function.ABS, linear), threshold);
        f.set(step.param(), f.l().run(new Where(), isAbove, f.divide(over, divisor), f.number(0)));
        step.finish();
    }

    private static Operand power(Formula f, Operand x) {
        float power = -f.attribute("lr_power");
        return power == 0.5f
                ? f.of(Unary.Function.SQRT, x)
                : f.l().binary(Binary.Function.POWER, x, f.number(power));
    }

    /**
     * Differentially private descent (Abadi et al., 2016): the gradient is shortened to a norm, and one normal number
     * is added to all of its elements.
     */
    private static void differentiallyPrivate(Formula f) {
        OptimizerStep step = f.step();
        Operand gradient = step.gradient();
        Operand scale = PrivacyNoise.scale(f.l(), gradient);
        Operand noise = f.divide(PrivacyNoise.of(f.l(), step.dtype()), f.number(f.attribute("batch_size")));
        Operand direction = f.add(f.divide(gradient, scale), noise);
        f.set(step.param(), f.subtract(step.param(), f.multiply(step.rate(), direction)));
        step.finish();
    }
}
