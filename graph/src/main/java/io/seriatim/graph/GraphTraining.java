package io.seriatim.graph;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.autodiff.Backward;
import io.seriatim.graph.autodiff.MissingGradients;
import io.seriatim.graph.optimizer.MixedPrecision;
import io.seriatim.graph.optimizer.Optimizer;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.ParameterGradient;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.UntrainedParameter;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The part of a {@link Graph} that adds gradients and optimizers. */
abstract sealed class GraphTraining extends GraphLayers permits Graph {
    private static final System.Logger LOGGER = System.getLogger("io.seriatim.graph");
    private static final int MOST_NAMED = 20;
    private List<UntrainedParameter> untrained = List.of();
    private int optimizerScopes;
    private int maxChainedAdditions;

    /**
     * The program that is run many times.
     *
     * @return being built
     */
    public abstract Program main();

    /**
     * The program that is run once, before.
     *
     * @return being built
     */
    public abstract Program startup();

    abstract void checkOpen();

    /** Whether operations come from a loaded model, which its user need not know. */
    abstract boolean isLoaded();

    /** Backward and optimizers go into the first block. In a branch or loop they would see only that block. */
    private void checkOutermost(String what) {
        checkOpen();
        if (block() != main().global()) {
            throw new IllegalStateException(
                    what + " cannot be added inside of a branch, loop or recurrent network; do it after");
        }
    }

    private String own(Value value) {
        value.check(graph());
        return value.name();
    }

    /**
     * How many gradients of one variable are added in a chain rather than by one sum.
     *
     * @param count
     *            up to this many; 0 unless set
     * @return this
     */
    public Graph maxChainedAdditions(int count) {
        if (count < 0) {
            throw new IllegalArgumentException("The number of additions in a chain is from 0 on, but is " + count);
        }
        maxChainedAdditions = count;
        return graph();
    }

    /**
     * Adds backward and optimizer.
     *
     * @param loss
     *            one element
     * @param optimizer
     *            how parameters follow their gradients
     * @return parameters and their gradients
     * @throws IllegalArgumentException
     *             if the loss has more than one element or is not of a floating-point type, or no parameter has a
     *             gradient
     */
    public List<ParameterGradient> minimize(Value loss, Optimizer optimizer) {
        return minimize(loss, optimizer, trained(), Set.of());
    }

    /**
     * Adds backward and optimizer for some parameters.
     *
     * @param loss
     *            one element
     * @param optimizer
     *            how parameters follow their gradients
     * @param parameters
     *            which are trained
     * @param noGradient
     *            variables through which no gradient flows
     * @return parameters and their gradients; without those that the loss does not depend on
     * @throws IllegalArgumentException
     *             if the loss has more than one element or is not of a floating-point type, one of the parameters is
     *             none or is named twice, or none of them has a gradient
     */
    public List<ParameterGradient> minimize(Value loss, Optimizer optimizer, List<Value> parameters,
            Set<Value> noGradient) {
        checkLoss(loss);
        if (loss.shape().size() != 0 && loss.shape().stream().anyMatch(dim -> dim != 1)) {
            throw new IllegalArgumentException("A loss has one element, but '" + loss.name() + "' is " + loss.type()
                    + "; take the mean or the sum of it");
        }
        List<String> names = parameters.stream().map(this::own).toList();
        for (String name : names) {
            checkParameter(name);
            if (names.indexOf(name) != names.lastIndexOf(name)) {
                throw new IllegalArgumentException("Each parameter is named once, but '" + name + "' more often");
            }
        }
        MixedPrecision precision = optimizer.settings().precision();
        if (precision != null) {
            return new MixedTraining(graph(), optimizer, precision).minimize(loss, parameters, noGradient);
        }
        List<ParameterGradient> pairs = backwardToSome(loss, parameters, noGradient);
        applyGradients(optimizer, pairs);
        return pairs;
    }

    private void checkLoss(Value loss) {
        checkOutermost("Gradients");
        loss.check(graph());
        if (!loss.dtype().isFloating()) {
            throw new IllegalArgumentException(
                    "A loss is of a floating-point type, but '" + loss.name() + "' is " + loss.type()
                            + ", through which no gradient flows");
        }
    }

    private void checkParameter(String name) {
        if (!main().global().get(name).isTrained()) {
            throw new IllegalArgumentException(
                    "Only parameters are trained, but '" + name + "' : " + main().global().get(name).tensor()
                            + " is none; make it with parameter(...) or a layer");
        }
    }

    /** Adds backward, refuses a loss that trains no parameter, and logs the parameters that get no gradient. */
    List<ParameterGradient> backwardToSome(Value loss, List<Value> parameters, Set<Value> noGradient) {
        List<ParameterGradient> pairs = backward(loss, parameters, noGradient);
        if (pairs.isEmpty()) {
            throw new IllegalArgumentException(
                    "No parameter has a gradient from the loss '" + loss.name() + "', so that there is nothing to train"
                            + " among " + parameters.stream().map(Value::name).toList()
                            + ": check that the loss depends on them, through variables whose gradient is not stopped"
                            + (untrained.isEmpty() ? "" : "; " + text(untrained)));
        }
        if (!untrained.isEmpty()) {
            LOGGER.log(System.Logger.Level.WARNING,
                    "The loss ''{0}'' has no gradient for {1} of {2} parameters, which are not trained: {3}",
                    loss.name(), untrained.size(), parameters.size(), text(untrained));
        }
        return pairs;
    }

    private static String text(List<UntrainedParameter> parameters) {
        String named = parameters.stream().limit(MOST_NAMED).map(UntrainedParameter::toString)
                .collect(Collectors.joining(", "));
        return parameters.size() > MOST_NAMED ? named + ", and " + (parameters.size() - MOST_NAMED) + " more" : named;
    }

    /**
     * The parameters for which the latest {@link #minimize} or {@link #backward} found no gradient. {@code minimize}
     * also logs a warning, with the logger {@code io.seriatim.graph}.
     *
     * @return with the reasons, in the order of the parameters
     */
    public List<UntrainedParameter> untrained() {
        return untrained;
    }

    /** The parameters that are trained unless others are named. */
    List<Value> trained() {
        return main().parameters().stream().filter(desc -> !desc.stopsGradient()).map(desc -> value(desc.name()))
                .toList();
    }

    /**
     * Adds backward.
     *
     * @param loss
     *            whose gradients are wanted; of a floating-point type. The sum counts if it has several elements
     * @return parameters and their gradients; none for those that the loss does not depend on
     */
    public List<ParameterGradient> backward(Value loss) {
        return backward(loss, trained(), Set.of());
    }

    /**
     * Adds backward for some parameters.
     *
     * @param loss
     *            whose gradients are wanted; of a floating-point type. The sum counts if it has several elements
     * @param parameters
     *            with regard to which
     * @param noGradient
     *            variables through which no gradient flows
     * @return parameters and their gradients; none for those that the loss does not depend on
     */
    public List<ParameterGradient> backward(Value loss, List<Value> parameters, Set<Value> noGradient) {
        checkLoss(loss);
        List<String> names = parameters.stream().map(this::own).toList();
        Set<String> stopped = noGradient.stream().map(this::own).collect(Collectors.toSet());
        if (isLoaded()) {
            MissingGradients.require(main(), own(loss), names, stopped);
        }
        List<ParameterGradient> pairs = Backward.append(main(), own(loss), names, stopped, maxChainedAdditions);
        Set<String> found = pairs.stream().map(ParameterGradient::parameter).collect(Collectors.toSet());
        untrained = MissingGradients.of(main(), loss.name(),
                names.stream().filter(name -> !found.contains(name) && !isStorage(name)).toList(),
                stopped);
        return pairs;
    }

    /** Whether a parameter is only the memory that other parameters share. It is trained with them. */
    private boolean isStorage(String parameter) {
        return startup().global().ops().stream()
                .anyMatch(op -> op.type().equals("coalesce_tensor") && op.output("FusedOutput").contains(parameter));
    }

    /**
     * Adds an optimizer.
     *
     * @param optimizer
     *            how parameters follow their gradients; mixed precision needs {@link #minimize}, which scales the loss
     * @param pairs
     *            parameters and their gradients
     * @throws IllegalArgumentException
     *             if there are none, one of the parameters is none, or the optimizer has mixed precision
     */
    public void applyGradients(Optimizer optimizer, List<ParameterGradient> pairs) {
        checkOutermost("An optimizer");
        if (optimizer.settings().precision() != null) {
            throw new IllegalArgumentException(
                    "Mixed precision casts operations and scales the loss before backward; call minimize(...)");
        }
        if (pairs.isEmpty()) {
            throw new IllegalArgumentException("There is nothing to train: no parameter with its gradient is given");
        }
        pairs.forEach(pair -> checkParameter(pair.parameter()));
        new Training(graph(), optimizer, null).apply(pairs);
    }

    /**
     * Adds gradients of some variables with regard to others; gradients of gradients, too.
     *
     * @param targets
     *            whose gradients are wanted; their sum counts
     * @param inputs
     *            with regard to which
     * @return one for each input; null where none of the targets depends on it
     */
    public List<@Nullable Value> gradients(List<Value> targets, List<Value> inputs) {
        return gradients(targets, List.of(), inputs, Set.of());
    }

    /**
     * Adds gradients of some variables with regard to others.
     *
     * @param targets
     *            whose gradients are wanted
     * @param targetGradients
     *            what each target's gradient begins with, of its type and shape; none for ones
     * @param inputs
     *            with regard to which
     * @param noGradient
     *            variables through which no gradient flows
     * @return one for each input; null where none of the targets depends on it
     */
    public List<@Nullable Value> gradients(List<Value> targets, List<Value> targetGradients, List<Value> inputs,
            Set<Value> noGradient) {
        checkOutermost("Gradients");
        if (targets.isEmpty()) {
            throw new IllegalArgumentException("Gradients are those of a target, but none is given");
        }
        List<@Nullable String> seeds = new ArrayList<>(targetGradients.stream().map(this::own).toList());
        List<@Nullable Value> values = new ArrayList<>();
        for (String name : Backward.gradients(main(), targets.stream().map(this::own).toList(), seeds,
                inputs.stream().map(this::own).toList(),
                noGradient.stream().map(this::own).collect(Collectors.toSet()))) {
            values.add(name == null ? null : value(name));
        }
        return values;
    }

    /** An operation that works on a parameter's gradient. */
    void optimize(String scope, ParameterGradient pair, OpDesc.Builder op) {
        op.attr(Roles.SCOPE, scope).attr(Roles.VARIABLES, new String[]{pair.parameter(), pair.gradient()});
        Appender.append(main().global(), op.build(), Roles.OPTIMIZE);
    }

    /** An operation that computes a parameter's own learning rate. */
    void scheduled(ParameterGradient pair, OpDesc.Builder op) {
        op.attr(Roles.VARIABLES, new String[]{pair.parameter(), pair.gradient()});
        Appender.append(main().global(), op.build(), Roles.OPTIMIZE | Roles.RATE);
    }

    String nextOptimizerScope() {
        int number = optimizerScopes++;
        return number == 0 ? "/optimizer/" : "/optimizer_" + number + "/";
    }
}
