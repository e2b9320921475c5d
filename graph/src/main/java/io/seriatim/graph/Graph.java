package io.seriatim.graph;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.autodiff.Backward;
import io.seriatim.graph.autodiff.MissingGradients;
import io.seriatim.graph.optimizer.MixedPrecision;
import io.seriatim.graph.optimizer.Optimizer;
import io.seriatim.graph.optimizer.Schedule;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.ParameterGradient;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.UntrainedParameter;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.graph.util.UniqueNames;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Where a network is described: variables, layers, losses, control flow, backward and optimizer go into a main and a
 * startup program. Of one thread.
 *
 * <p>
 * Operations on single variables are methods of {@link Value}; layers that are used more than once are made first (see
 * {@link Layers}); any operation there is can be added with {@link #op}.
 */
public final class Graph extends GraphLayers {
    private static final System.Logger LOGGER = System.getLogger("io.seriatim.graph");
    private static final int MOST_NAMED = 20;

    private final Program main = new Program();
    private final Program startup = new Program();
    private final UniqueNames names = new UniqueNames();
    private final Map<String, ParameterSpec> specs = new HashMap<>();
    private final Map<String, Schedule> schedules = new LinkedHashMap<>();
    private final Layers layers = new Layers(this);
    private final GradientFlow flow = new GradientFlow(this);
    private final int seed;
    private Block block = main.global();
    private List<UntrainedParameter> untrained = List.of();
    private int optimizerScopes;
    private int maxChainedAdditions;
    private boolean finished;

    Graph(long seed) {
        // Loaded while the network is described: it will be run.
        Kernels.loadAhead();
        this.seed = (int) seed;
        main.randomSeed(seed);
        startup.randomSeed(seed);
    }

    Network finish(Outputs outputs) {
        if (outputs == null) {
            throw new IllegalArgumentException(
                    "The definition of a network returns its outputs, but this returns null; see Outputs");
        }
        outputs.values().values().forEach(value -> value.check(this));
        finished = true;
        main.blocks().forEach(Block::sortVars);
        startup.blocks().forEach(Block::sortVars);
        return new Network(main, startup, outputs, schedules);
    }

    /**
     * The program that is run many times.
     *
     * @return being built
     */
    public Program main() {
        return main;
    }

    /**
     * The program that is run once, before.
     *
     * @return being built
     */
    public Program startup() {
        return startup;
    }

    @Override
    public Layers layers() {
        return layers;
    }

    @Override
    Graph graph() {
        return this;
    }

    @Override
    UniqueNames names() {
        return names;
    }

    @Override
    Block block() {
        return block;
    }

    @Override
    int role() {
        return Roles.FORWARD;
    }

    @Override
    int seed() {
        return seed;
    }

    GradientFlow flow() {
        return flow;
    }

    ParameterSpec spec(String parameter) {
        return specs.getOrDefault(parameter, ParameterSpec.DEFAULT);
    }

    /** A network is described once: what is added later would be missing in what was made of it. */
    void checkOpen() {
        if (finished) {
            throw new IllegalStateException(
                    "This network is described already; add operations inside of Network.define(...)");
        }
    }

    /** Training is added to the first block: in a branch or loop it would happen to what that has, and no one else. */
    private void checkOutermost(String what) {
        checkOpen();
        if (block != main.global()) {
            throw new IllegalStateException(
                    what + " cannot be added inside of a branch, loop or recurrent network; do it after");
        }
    }

    private void checkNew(String name) {
        checkOpen();
        if (name == null || name.isEmpty()) {
            throw new IllegalArgumentException("A variable has a name, but '" + name + "' is none");
        }
        if (main.global().var(name) != null) {
            throw new IllegalArgumentException("There is a variable '" + name + "' already; choose another name");
        }
    }

    /** Adds operations to another block for a while. */
    <T> T in(Block other, Supplier<T> body) {
        Block before = block;
        block = other;
        try {
            return body.get();
        } finally {
            block = before;
        }
    }

    @Override
    Value value(String name) {
        return new Value(this, name);
    }

    private String own(Value value) {
        value.check(this);
        return value.name();
    }

    /** A variable of a block that is not being built: what a branch returned is asked for outside. */
    VarDesc anywhere(String name) {
        for (Block each : main.blocks()) {
            VarDesc desc = each.var(name);
            if (desc != null) {
                return desc;
            }
        }
        throw new IllegalArgumentException("There is no variable '" + name + "' in the program");
    }

    /**
     * A variable by name.
     *
     * @param name
     *            its name
     * @return the variable
     * @throws IllegalArgumentException
     *             if there is none
     */
    public Value var(String name) {
        block.get(name);
        return value(name);
    }

    /**
     * A variable that is fed.
     *
     * @param name
     *            its name
     * @param dtype
     *            its elements' type
     * @param dims
     *            its dimensions; −1 for one that may differ from run to run
     * @return the variable, through which no gradient flows unless {@link Value#wantGradient} says so
     * @throws IllegalArgumentException
     *             if the name is taken
     */
    public Value data(String name, DType dtype, long... dims) {
        checkNew(name);
        checkDims(name, dims);
        VarType type = new VarType.Dense(VarType.TensorType.of(dtype, dims), 0);
        main.global().put(new VarDesc(name, type, null, true, null, true));
        return value(name);
    }

    private static void checkDims(String name, long... dims) {
        if (Arrays.stream(dims).anyMatch(dim -> dim < -1)) {
            throw new IllegalArgumentException(
                    "The dimensions of '" + name + "' are from 0 on, or -1 where they may differ, but they are "
                            + Arrays.toString(dims));
        }
        Shape.of(Arrays.stream(dims).map(Math::abs).toArray()).size();
    }

    /**
     * A trained variable.
     *
     * @param spec
     *            how it is made and trained; its initializer is Xavier's unless given, which is for floating-point
     *            types
     * @param dtype
     *            its elements' type
     * @param dims
     *            its dimensions, all of them known
     * @return the variable; the same as before if the specification's name is that of a parameter of this type
     * @throws IllegalArgumentException
     *             if the name is that of another variable, or a dimension is not known
     */
    public Value parameter(ParameterSpec spec, DType dtype, long... dims) {
        return parameter(names.next("create_parameter") + ".w", spec, Initializer.xavier(), dtype, dims);
    }

    Value parameter(String key, ParameterSpec spec, Initializer byDefault, DType dtype, long... dims) {
        String given = spec.name();
        String name = given != null ? given : names.next(key);
        checkOpen();
        if (Arrays.stream(dims).anyMatch(dim -> dim < 1)) {
            throw new IllegalArgumentException("The dimensions of parameter '" + name
                    + "' must be known and at least 1, but are "
                    + Arrays.toString(dims)
                    + ": check the sizes of its layer; a dimension of its input that is -1 cannot be among them");
        }
        VarDesc known = main.global().var(name);
        if (known == null) {
            checkNew(name);
        } else {
            if (!known.isPersistable()) {
                throw new IllegalArgumentException(
                        "There is a variable '" + name + "' already, which is no parameter; choose another name");
            }
            if (!known.tensor().equals(VarType.TensorType.of(dtype, dims))) {
                throw new IllegalArgumentException(
                        "Parameter '" + name + "' is " + known.tensor() + " already, and cannot be "
                                + VarType.TensorType.of(dtype, dims) + ", too");
            }
            return value(name);
        }
        specs.put(name, spec);
        VarDesc desc = new VarDesc(name, VarType.dense(dtype, dims), true, null, true, !spec.trained());
        main.global().put(desc);
        startup.global().put(desc);
        Initializer initializer = spec.initializer() == null ? byDefault : spec.initializer();
        Appender.append(startup.global(), initializer.operation(name, dtype, dims, seed), Roles.FORWARD);
        startup.global().put(desc);
        return value(name);
    }

    /** A variable that outlives runs and is not trained. */
    void persistent(String name, DType dtype, long[] dims, double initial, boolean stops, String device) {
        VarDesc desc = new VarDesc(name, VarType.dense(dtype, dims), true, null, null, stops);
        main.global().put(desc);
        Appender.append(startup.global().put(desc),
                Initializers.constant(name, dtype, dims, initial).with(Roles.DEVICE, device),
                Roles.FORWARD);
        startup.global().put(desc.stopping(true));
    }

    /** The float32 copy of a parameter. */
    void master(String parameter, String name, long[] dims) {
        persistent(name, DType.FLOAT32, dims, 0, false, "");
        Appender.append(startup.global(), OpDesc.of("cast").in("X", parameter).out("Out", name)
                .attr("in_dtype", main.global().get(parameter).tensor().dataType())
                .attr("out_dtype", DataTypes.number(DType.FLOAT32))
                .build(),
                Roles.FORWARD);
    }

    void schedule(String variable, Schedule schedule) {
        schedules.put(variable, schedule);
    }

    @Override
    public GraphOp op(String type) {
        return new GraphOp(this, Objects.requireNonNull(type, "type"));
    }

    /**
     * One of two, by a condition at run time.
     *
     * @param condition
     *            bool, one element
     * @param then
     *            adds the operations of the one
     * @param otherwise
     *            adds the operations of the other
     * @return what the branch that is taken computes
     */
    public Value ifElse(Value condition, Supplier<Value> then, Supplier<Value> otherwise) {
        return ifElseAll(condition, () -> Collections.singletonList(then.get()),
                () -> Collections.singletonList(otherwise.get()))
                .getFirst();
    }

    /**
     * One of two, by a condition at run time.
     *
     * @param condition
     *            bool, one element
     * @param then
     *            adds the operations of the one
     * @param otherwise
     *            adds the operations of the other, with as many results of the same types
     * @return what the branch that is taken computes
     */
    public List<Value> ifElseAll(Value condition, Supplier<List<Value>> then, Supplier<List<Value>> otherwise) {
        return ControlFlow.ifElse(this, condition, then, otherwise);
    }

    /** The body or condition of a loop. */
    @FunctionalInterface
    public interface LoopFunction {
        /**
         * Adds its operations.
         *
         * @param variables
         *            the loop's variables in this step
         * @return their next values, in order; a condition gives one, bool of one element
         */
        List<Value> apply(List<Value> variables);
    }

    /**
     * A loop that goes on while a condition holds.
     *
     * @param condition
     *            computes whether there is another step
     * @param body
     *            computes the next values
     * @param initial
     *            the loop's variables before the first step; they are overwritten, except for parameters, for variables
     *            of outer blocks, and for those that a gradient needs
     * @return the loop's variables after the last step
     */
    public List<Value> whileLoop(LoopFunction condition, LoopFunction body, Value... initial) {
        return ControlFlow.whileLoop(this, condition, body, Arrays.asList(initial));
    }

    /**
     * A recurrent network over the first dimension of its inputs.
     *
     * @param definition
     *            the step: its inputs, states and outputs
     * @return the outputs of all steps, each with the steps as its first dimension
     */
    public List<Value> staticRnn(java.util.function.Consumer<StaticRnn> definition) {
        return StaticRnn.define(this, definition);
    }

    /**
     * A source of batches, bound to a Java iterator when the program runs.
     *
     * @param name
     *            of the reader
     * @param specs
     *            what each batch has, by variable name; a map that keeps its order
     * @return the variables, in the map's order
     * @throws IllegalArgumentException
     *             if there are none, or a name is taken
     */
    public List<Value> reader(String name, Map<String, VarType.TensorType> specs) {
        if (specs.isEmpty()) {
            throw new IllegalArgumentException("A batch has at least one variable, but reader '" + name + "' has none");
        }
        checkNew(name);
        specs.keySet().forEach(this::checkNew);
        List<VarType.Dense> types = specs.values().stream().map(type -> new VarType.Dense(type, 0)).toList();
        main.global().put(new VarDesc(name, new VarType.Reader(types), true, null, null, null));
        List<Value> values = new ArrayList<>();
        specs.forEach((variable, type) -> {
            main.global().put(new VarDesc(variable, new VarType.Dense(type, 0), null, null, null, true));
            values.add(value(variable));
        });
        OpDesc read = OpDesc.of("read").in("Reader", name).out("Out", specs.keySet()).attr("throw_eof_exp", true)
                .attr("infer_out", true)
                .attr("drop_last", true).build();
        main.global().add(Appender.complete(read, Roles.FORWARD));
        return values;
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
        return this;
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
            return new MixedTraining(this, optimizer, precision).minimize(loss, parameters, noGradient);
        }
        List<ParameterGradient> pairs = backwardToSome(loss, parameters, noGradient);
        applyGradients(optimizer, pairs);
        return pairs;
    }

    private void checkLoss(Value loss) {
        checkOutermost("Gradients");
        loss.check(this);
        if (!loss.dtype().isFloating()) {
            throw new IllegalArgumentException(
                    "A loss is of a floating-point type, but '" + loss.name() + "' is " + loss.type()
                            + ", through which no gradient flows");
        }
    }

    private void checkParameter(String name) {
        if (!main.global().get(name).isTrained()) {
            throw new IllegalArgumentException(
                    "Only parameters are trained, but '" + name + "' : " + main.global().get(name).tensor()
                            + " is none; make it with parameter(...) or a layer");
        }
    }

    /** A training without parameters would do nothing, and say nothing; one that leaves parameters out says which. */
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
     * The parameters that the latest {@link #minimize} or {@link #backward} was to find gradients for, and found none.
     * {@code minimize} also warns of them, with the logger {@code io.seriatim.graph}.
     *
     * @return with the reasons, in the order of the parameters
     */
    public List<UntrainedParameter> untrained() {
        return untrained;
    }

    /** The parameters that are trained unless others are named. */
    List<Value> trained() {
        return main.parameters().stream().filter(desc -> !desc.stopsGradient()).map(desc -> value(desc.name()))
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
        List<ParameterGradient> pairs = Backward.append(main, own(loss), names, stopped, maxChainedAdditions);
        Set<String> found = pairs.stream().map(ParameterGradient::parameter).collect(Collectors.toSet());
        untrained = MissingGradients.of(main, loss.name(),
                names.stream().filter(name -> !found.contains(name) && !isStorage(name)).toList(),
                stopped);
        return pairs;
    }

    /** The memory in which other parameters lie is trained with these. */
    private boolean isStorage(String parameter) {
        return startup.global().ops().stream()
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
        new Training(this, optimizer, null).apply(pairs);
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
        for (String name : Backward.gradients(main, targets.stream().map(this::own).toList(), seeds,
                inputs.stream().map(this::own).toList(),
                noGradient.stream().map(this::own).collect(Collectors.toSet()))) {
            values.add(name == null ? null : value(name));
        }
        return values;
    }

    /** An operation that works on a parameter's gradient. */
    void optimize(String scope, ParameterGradient pair, OpDesc.Builder op) {
        op.attr(Roles.SCOPE, scope).attr(Roles.VARIABLES, new String[]{pair.parameter(), pair.gradient()});
        Appender.append(main.global(), op.build(), Roles.OPTIMIZE);
    }

    /** An operation that computes a parameter's own learning rate. */
    void scheduled(ParameterGradient pair, OpDesc.Builder op) {
        op.attr(Roles.VARIABLES, new String[]{pair.parameter(), pair.gradient()});
        Appender.append(main.global(), op.build(), Roles.OPTIMIZE | Roles.RATE);
    }

    String nextOptimizerScope() {
        int number = optimizerScopes++;
        return number == 0 ? "/optimizer/" : "/optimizer_" + number + "/";
    }
}
