package io.seriatim.graph.ops.optimizer;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.Where;
import io.seriatim.tensor.computation.network.Update;
import java.util.Arrays;
import java.util.List;

/**
 * One step of an optimizer: parameter and accumulators are changed in place. A gradient may hold some rows of an
 * embedding only.
 */
public final class OptimizerOperations {
    private OptimizerOperations() {
    }

    public static void register(Operations registry) {
        sgd(registry);
        momentum(registry);
        larsMomentum(registry);
        adagrad(registry);
        adadelta(registry);
        adamax(registry);
        rmsProp(registry);
    }

    /** Slots that all steps have, with some accumulators of the parameter's shape. */
    static Operation.Builder define(String type, String... accumulators) {
        return Operation.define(type).in("Param", "Grad").in(accumulators).in("LearningRate", "MasterParam?")
                .out("ParamOut")
                .out(Arrays.stream(accumulators).map(slot -> slot + "Out").toArray(String[]::new))
                .out("MasterParamOut?")
                .attr("multi_precision", false).infer(inference -> infer(inference, accumulators));
    }

    static void infer(Inference inference, String... accumulators) {
        long[] dims = inference.dims("Param");
        DType dtype = inference.dtype("Param");
        inference.require(dtype.isFloating(), "the parameter must be of a floating-point type, but is %s", dtype);
        sameShape(inference, "Grad", dims);
        inference.require(inference.in("Grad").dtype().isFloating(),
                "the gradient must be of a floating-point type, but is %s",
                inference.in("Grad").dtype());
        long rates = Inference.size(inference.dims("LearningRate"));
        inference.require(rates == 1 || rates < 0, "the learning rate must be one number, but are %d", rates);
        if (inference.has("MasterParam")) {
            sameShape(inference, "MasterParam", dims);
            inference.same("MasterParam", "MasterParamOut");
        }
        inference.same("Param", "ParamOut");
        for (String accumulator : accumulators) {
            sameShape(inference, accumulator, dims);
            inference.same(accumulator, accumulator + "Out");
        }
    }

    private static void sameShape(Inference inference, String slot, long[] dims) {
        long[] found = inference.dims(slot);
        boolean fits = found.length == dims.length;
        for (int i = 0; fits && i < dims.length; i++) {
            fits = found[i] == dims[i] || found[i] < 0 || dims[i] < 0;
        }
        inference.require(fits, "%s must have the parameter's shape %s, but has %s", slot, Numbers.text(dims),
                Numbers.text(found));
    }

    private static void sgd(Operations registry) {
        define("sgd").lower(l -> new OptimizerStep(l).updateRows(new Update.Sgd())).register(registry);
    }

    private static void momentum(Operations registry) {
        define("momentum", "Velocity").required("mu", Attribute.Real.class).attr("use_nesterov", false)
                .attr("regularization_method", "").attr("regularization_coeff", 0f).attr("rescale_grad", 1f)
                .lower(l -> {
                    OptimizerStep step = new OptimizerStep(l);
                    Attrs attrs = l.attrs();
                    float decay = attrs.getText("regularization_method").equals("l2_decay")
                            ? attrs.getFloat("regularization_coeff")
                            : 0;
                    step.update(new Update.Momentum(attrs.getFloat("mu"), attrs.getBool("use_nesterov"), decay),
                            step.state("Velocity", "VelocityOut"));
                }).register(registry);
    }

    private static void adagrad(Operations registry) {
        define("adagrad", "Moment").attr("epsilon", 1e-6f).lower(l -> {
            OptimizerStep step = new OptimizerStep(l);
            step.updateRows(new Update.Adagrad(l.attrs().getFloat("epsilon")), step.state("Moment", "MomentOut"));
        }).register(registry);
    }

    private static void adadelta(Operations registry) {
        define("adadelta", "AvgSquaredGrad", "AvgSquaredUpdate").attr("rho", 0.95f).attr("epsilon", 1e-6f).lower(l -> {
            OptimizerStep step = new OptimizerStep(l);
            step.update(new Update.Adadelta(l.attrs().getFloat("rho"), l.attrs().getFloat("epsilon")),
                    step.state("AvgSquaredGrad", "AvgSquaredGradOut"),
                    step.state("AvgSquaredUpdate", "AvgSquaredUpdateOut"));
        }).register(registry);
    }

    /** The power of β₁ is another operation's to advance. */
    private static void adamax(Operations registry) {
        define("adamax", "Moment", "InfNorm").in("Beta1Pow").attr("beta1", 0.9f).attr("beta2", 0.999f)
                .attr("epsilon", 1e-8f).lower(l -> {
                    OptimizerStep step = new OptimizerStep(l);
                    Attrs attrs = l.attrs();
                    step.update(
                            new Update.Adamax(attrs.getFloat("beta1"), attrs.getFloat("beta2"),
                                    attrs.getFloat("epsilon")),
                            step.state("Moment", "MomentOut"), step.state("InfNorm", "InfNormOut"),
                            step.scratch("Beta1Pow"));
                }).register(registry);
    }

    private static void rmsProp(Operations registry) {
        define("rmsprop", "Moment", "MeanSquare").in("MeanGrad?").out("MeanGradOut?").attr("epsilon", 1e-10f)
                .attr("decay", 0.9f)
                .attr("momentum", 0f).attr("centered", false).infer(inference -> {
                    infer(inference, "Moment", "MeanSquare");
                    inference.require(inference.has("MeanGrad") || !inference.attrs().getBool("centered"),
                            "the centered kind needs the slot MeanGrad");
                    if (inference.has("MeanGrad")) {
                        sameShape(inference, "MeanGrad", inference.dims("Param"));
                        inference.same("MeanGrad", "MeanGradOut");
                    }
                }).lower(OptimizerOperations::rmsProp).register(registry);
    }

    private static void rmsProp(Lowering l) {
        OptimizerStep step = new OptimizerStep(l);
        Attrs attrs = l.attrs();
        Operand moment = step.state("Moment", "MomentOut");
        Operand meanSquare = step.state("MeanSquare", "MeanSquareOut");
        Operand meanGrad = l.has("MeanGrad")
                ? step.state("MeanGrad", "MeanGradOut")
                : l.fill(0, step.param().spec());
        step.update(new Update.RmsProp(attrs.getFloat("decay"), attrs.getFloat("epsilon"), attrs.getFloat("momentum"),
                attrs.getBool("centered")), moment, meanSquare, meanGrad);
    }

    /** Momentum whose rate follows the norms of parameter and gradient; several parameters at once. */
    private static void larsMomentum(Operations registry) {
        Operation.define("lars_momentum").in("Param*", "Grad*", "Velocity*", "LearningRate*", "MasterParam*?")
                .out("ParamOut*", "VelocityOut*", "MasterParamOut*?").required("mu", Attribute.Real.class)
                .attr("lars_coeff", 0.001f)
                .attr("lars_weight_decay", new float[]{0.0005f}).attr("epsilon", 0f).attr("multi_precision", false)
                .attr("rescale_grad", 1f)
                .infer(inference -> {
                    int count = inference.count("Param");
                    for (String slot : List.of("Grad", "Velocity", "LearningRate")) {
                        inference.require(inference.count(slot) == count,
                                "there must be as many variables in %s as in Param, %d, but are %d",
                                slot, count, inference.count(slot));
                    }
                    inference.sameEach("Param", "ParamOut");
                    inference.sameEach("Velocity", "VelocityOut");
                    inference.sameEach("MasterParam", "MasterParamOut");
                }).lower(l -> {
                    for (int i = 0; i < l.count("Param"); i++) {
                        larsMomentum(l, i);
                    }
                }).register(registry);
    }

    private static void larsMomentum(Lowering l, int index) {
        OptimizerStep step = new OptimizerStep(l, index);
        double[] decays = l.attrs().getDoubles("lars_weight_decay");
        double decay = decays.length == 0 ? 0 : decays[Math.min(index, decays.length - 1)];
        Operand grad = step.gradient();
        Operand ofParam = norm(l, step.param());
        Operand ofGrad = norm(l, grad);
        Operand divisor = l.binary(Binary.Function.ADD, ofGrad,
                l.linear(ofParam, decay, l.attrs().getDouble("epsilon")));
        Operand adapted = l.binary(Binary.Function.DIVIDE,
                l.binary(Binary.Function.MULTIPLY, l.linear(ofParam, l.attrs().getDouble("lars_coeff"), 0),
                        step.rate()),
                divisor);
        Operand zero = l.number(step.dtype(), 0);
        Operand both = l.binary(Binary.Function.LOGICAL_AND, l.binary(Binary.Function.GREATER, ofParam, zero),
                l.binary(Binary.Function.GREATER, ofGrad, zero));
        Operand rate = decay > 0 ? l.run(new Where(), both, adapted, step.rate()) : step.rate();
        Operand direction = l.binary(Binary.Function.MULTIPLY, rate,
                l.binary(Binary.Function.ADD, grad, l.linear(step.param(), decay, 0)));
        step.updateBy(direction, l.number(step.dtype(), 1), new Update.Momentum(l.attrs().getFloat("mu"), false, 0),
                step.state("Velocity", "VelocityOut"));
    }

    private static Operand norm(Lowering l, Operand x) {
        return l.unary(Unary.Function.SQRT,
                l.run(new Reduction(Reduction.Function.SUM_OF_SQUARES, List.of(), false), x));
    }
}
