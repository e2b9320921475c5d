package io.seriatim.graph;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.optimizer.Schedule;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.graph.util.UniqueNames;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The builder of a network: it adds variables, layers, losses, control flow, backward and optimizers to a main and a
 * startup program. Not thread-safe.
 *
 * <p>
 * Operations on single variables are methods of {@link Value}; a layer that is used more than once is made with
 * {@link Layers}; {@link #op} adds an operation of any type.
 */
public final class Graph extends GraphTraining {
    private final Program main;
    private final Program startup = new Program();
    private final UniqueNames names;
    private final Map<String, ParameterSpec> specs = new HashMap<>();
    private final Map<String, Schedule> schedules = new LinkedHashMap<>();
    private final Layers layers = new Layers(this);
    private final GradientFlow flow = new GradientFlow(this);
    private final int seed;
    /** The values of variables that the startup program does not set. */
    private final Map<String, Tensor> values;
    private final boolean loaded;
    private Block block;
    private boolean finished;

    Graph(long seed) {
        this(seed, new Program(), new UniqueNames(), Map.of(), false);
    }

    /** A graph that begins with a loaded program. */
    Graph(long seed, LoadedProgram program) {
        this(seed, program.program(), program.names(), program.values(), true);
        program.statistics().forEach(flow::stop);
        flow.ofLoop(main.global());
    }

    private Graph(long seed, Program main, UniqueNames names, Map<String, Tensor> values, boolean loaded) {
        this.main = main;
        this.names = names;
        this.values = values;
        this.loaded = loaded;
        this.block = main.global();
        // Kernels are loaded in the background while the network is described.
        Kernels.loadAhead();
        this.seed = (int) seed;
        main.randomSeed(seed);
        startup.randomSeed(seed);
    }

    /** Lets gradients flow to a variable, in a loaded program through all operations that there are already. */
    void wantGradient(String name) {
        flow.want(name);
        if (loaded) {
            flow.ofLoop(main.global());
        }
    }

    Network finish(Outputs outputs) {
        if (outputs == null) {
            throw new IllegalArgumentException(
                    "The definition of a network returns its outputs, but this returns null; see Outputs");
        }
        outputs.values().values().forEach(value -> value.check(this));
        finished = true;
        List<String> feeds = Network.fed(main);
        main.blocks().forEach(Block::sortVars);
        startup.blocks().forEach(Block::sortVars);
        return new Network(main, startup, outputs, schedules, values, feeds);
    }

    @Override
    public Program main() {
        return main;
    }

    @Override
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

    @Override
    boolean isLoaded() {
        return loaded;
    }

    GradientFlow flow() {
        return flow;
    }

    ParameterSpec spec(String parameter) {
        return specs.getOrDefault(parameter, ParameterSpec.DEFAULT);
    }

    /** Refuses additions after the network was finished, since they would be missing in plans made of it. */
    @Override
    void checkOpen() {
        if (finished) {
            throw new IllegalStateException(
                    "This network is described already; add operations inside of Network.define(...)");
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

    /** A variable of any block: a result of a branch may be looked up outside of the branch. */
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
     * Runs one of two branches, chosen by a condition at run time.
     *
     * @param condition
     *            bool, one element
     * @param then
     *            adds the operations of the branch that runs if the condition holds
     * @param otherwise
     *            adds the operations of the other branch
     * @return the results of the branch that ran
     */
    public Value ifElse(Value condition, Supplier<Value> then, Supplier<Value> otherwise) {
        return ifElseAll(condition, () -> Collections.singletonList(then.get()),
                () -> Collections.singletonList(otherwise.get()))
                .getFirst();
    }

    /**
     * Runs one of two branches, chosen by a condition at run time.
     *
     * @param condition
     *            bool, one element
     * @param then
     *            adds the operations of the branch that runs if the condition holds
     * @param otherwise
     *            adds the operations of the other branch, with as many results of the same types
     * @return the results of the branch that ran
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
     * A loop that runs while a condition holds. This one doubles {@code x} while {@code i} is less than {@code n}:
     *
     * <pre>{@code
     * List<Value> end = g.whileLoop(v -> List.of(v.get(0).lessThan(n)),
     *         v -> List.of(v.get(0).plus(1), v.get(1).times(2)), i, x);
     * }</pre>
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
    public List<Value> staticRnn(Consumer<StaticRnn> definition) {
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
}
