package io.seriatim.graph;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Where a network is described: variables, layers, losses, control flow, backward and optimizer go into a main and a startup program. Of one thread.
 *
 * <p>
 * Operations on single variables are methods of {@link Value}; layers that are used more than once are made first (see {@link Layers}); any operation there is can be added with {@link #op}.
 */
public final class Graph {
    private final Program main = new Program();
    private final Program startup = new Program();
    private final UniqueNames names = new UniqueNames();
    private final Map<String, ParameterSpec> specs = new HashMap<>();
    private final Map<String, Schedule> schedules = new LinkedHashMap<>();
    private final Layers layers = new Layers(this);
    private final int seed;
    private Block block = main.global();
    private int optimizerScopes;
    private int maxChainedAdditions;

    Graph(long seed) {
        this.seed = (int) seed;
        main.randomSeed(seed);
        startup.randomSeed(seed);
    }

    Network finish(Outputs outputs) {
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

    /**
     * Layers that are made before they are used, or used more than once.
     *
     * @return makes them
     */
    public Layers layers() {
        return layers;
    }

    UniqueNames names() {
        return names;
    }

    Block block() {
        return block;
    }

    int role() {
        return Roles.FORWARD;
    }

    int seed() {
        return seed;
    }

    ParameterSpec spec(String parameter) {
        return specs.getOrDefault(parameter, ParameterSpec.DEFAULT);
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
     * @return the variable
     */
    public Value data(String name, DType dtype, long... dims) {
        if (main.global().var(name) != null) {
            throw new IllegalArgumentException("There is a variable '" + name + "' already; choose another name");
        }
        VarType type = new VarType.Dense(VarType.TensorType.of(dtype, dims), 0);
        main.global().put(new VarDesc(name, type, null, true, null, true));
        return value(name);
    }

    /**
     * A trained variable.
     *
     * @param spec
     *            how it is made and trained; its initializer is Xavier's unless given
     * @param dtype
     *            its elements' type
     * @param dims
     *            its dimensions
     * @return the variable
     */
    public Value parameter(ParameterSpec spec, DType dtype, long... dims) {
        return parameter(names.next("create_parameter") + ".w", spec, Initializer.xavier(), dtype, dims);
    }

    Value parameter(String key, ParameterSpec spec, Initializer byDefault, DType dtype, long... dims) {
        String given = spec.name();
        String name = given != null ? given : names.next(key);
        if (Arrays.stream(dims).anyMatch(dim -> dim < 0)) {
            throw new IllegalArgumentException("All dimensions of parameter '" + name + "' must be known, but they are "
                    + Arrays.toString(dims) + ": give the layer a last dimension that is not -1");
        }
        VarDesc known = main.global().var(name);
        if (known != null) {
            if (!known.tensor().equals(VarType.TensorType.of(dtype, dims))) {
                throw new IllegalArgumentException("Parameter '" + name + "' is " + known.tensor() + " already, and cannot be "
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
        Appender.append(startup.global().put(desc), Initializers.constant(name, dtype, dims, initial).with(Roles.DEVICE, device),
                Roles.FORWARD);
        startup.global().put(desc.stopping(true));
    }

    /** The float32 copy of a parameter. */
    void master(String parameter, String name, long[] dims) {
        persistent(name, DType.FLOAT32, dims, 0, false, "");
        Appender.append(startup.global(), OpDesc.of("cast").in("X", parameter).out("Out", name)
                .attr("in_dtype", main.global().get(parameter).tensor().dataType()).attr("out_dtype", DataTypes.number(DType.FLOAT32))
                .build(),
                Roles.FORWARD);
    }

    void schedule(String variable, Schedule schedule) {
        schedules.put(variable, schedule);
    }

    /**
     * Any operation.
     *
     * @param type
     *            its type
     * @return takes slots and attributes
     */
    public GraphOp op(String type) {
        return new GraphOp(this, type);
    }

    /**
     * A tensor of one value.
     *
     * @param dtype
     *            its elements' type
     * @param value
     *            of each element
     * @param dims
     *            its dimensions
     * @return the tensor
     */
    public Value full(DType dtype, double value, long... dims) {
        names.next("fill_constant");
        String text = dtype.isFloating() ? Initializers.text(value) : Long.toString((long) value);
        return op("fill_constant").attr("shape", dims).attr("dtype", DataTypes.number(dtype)).attr("value", (float) value)
                .attr("str_value", text).one("Out");
    }

    /** A constant as Paddle's operators make them for the other operand of a comparison or power. */
    Value constantOperand(DType dtype, double value) {
        String name = names.next("tmp");
        Appender.append(block, OpDesc.of("fill_constant").out("Out", name).attr("shape", new long[0]).attr("dtype", DataTypes.number(dtype))
                .attr("value", (float) value).build(), role());
        block.put(block.get(name).stopping(true));
        return value(name);
    }

    /**
     * Given values.
     *
     * @param values
     *            float32, float64, int32, int64 or bool
     * @return a tensor of them
     */
    public Value constant(Tensor values) {
        OpDesc op = Initializers.operation(new Initializer.Assign(values), "", values.dtype(), values.shape().dims(), 0);
        GraphOp added = op("assign_value");
        op.attributes().forEach(each -> added.attr(each.name(), each.value()));
        return added.one("Out");
    }

    /**
     * Numbers from a start to an end, without it.
     *
     * @param dtype
     *            their type
     * @param start
     *            the first
     * @param end
     *            after the last
     * @param step
     *            from one to the next
     * @return one dimension
     */
    public Value range(DType dtype, double start, double end, double step) {
        return op("range").in("Start", full(dtype, start, 1)).in("End", full(dtype, end, 1)).in("Step", full(dtype, step, 1)).one("Out");
    }

    /**
     * One tensor after the other.
     *
     * @param axis
     *            along which dimension, from −rank
     * @param parts
     *            alike in all other dimensions
     * @return all together
     */
    public Value concat(int axis, Value... parts) {
        return op("concat").in("X", parts).attr("axis", axis).one("Out");
    }

    /**
     * Tensors along a new dimension.
     *
     * @param axis
     *            where it is in the result, from −rank − 1
     * @param parts
     *            of one shape
     * @return all together
     */
    public Value stack(int axis, Value... parts) {
        return op("stack").in("X", parts).attr("axis", axis).one("Y");
    }

    /**
     * The sum of several.
     *
     * @param parts
     *            of one shape
     * @return the sum
     */
    public Value addAll(Value... parts) {
        return op("sum").key("add_n").in("X", parts).one("Out");
    }

    /**
     * Chooses by element.
     *
     * @param condition
     *            bool
     * @param x
     *            where it holds
     * @param y
     *            elsewhere
     * @return of the shape of all three together
     */
    public Value where(Value condition, Value x, Value y) {
        return op("where").in("Condition", condition).in("X", x).in("Y", y).one("Out");
    }

    /**
     * A grid of coordinates.
     *
     * @param axes
     *            the coordinates of each dimension, one dimension each
     * @return for each dimension the coordinates of all points
     */
    public List<Value> meshgrid(Value... axes) {
        return op("meshgrid").in("X", axes).list("Out", axes.length);
    }

    /**
     * Random numbers, evenly from a bound, included, to another.
     *
     * @param dtype
     *            float32 or float64
     * @param low
     *            the lower bound
     * @param high
     *            the upper bound
     * @param dims
     *            dimensions
     * @return new ones in each run
     */
    public Value uniform(DType dtype, double low, double high, long... dims) {
        return op("uniform_random").attr("shape", dims).attr("dtype", DataTypes.number(dtype)).attr("min", (float) low)
                .attr("max", (float) high)
                .attr("seed", 0).one("Out");
    }

    /**
     * Normal random numbers.
     *
     * @param dtype
     *            float32 or float64
     * @param mean
     *            their mean
     * @param deviation
     *            their standard deviation
     * @param dims
     *            dimensions
     * @return new ones in each run
     */
    public Value normal(DType dtype, double mean, double deviation, long... dims) {
        return op("gaussian_random").attr("shape", dims).attr("dtype", DataTypes.number(dtype)).attr("mean", (float) mean)
                .attr("std", (float) deviation).attr("seed", 0).one("Out");
    }

    /**
     * A fully connected layer: x·W + b.
     *
     * @param x
     *            [..., in]
     * @param out
     *            how many outputs
     * @return [..., out]
     */
    public Value linear(Value x, long out) {
        return layers.linear(x.dim(-1), out).apply(x);
    }

    /**
     * A convolution with bias.
     *
     * @param x
     *            [n, channels, height, width]
     * @param filters
     *            how many output channels
     * @param kernel
     *            height and width of the kernel
     * @param stride
     *            in both dimensions
     * @param padding
     *            at each border
     * @return [n, filters, height', width']
     */
    public Value conv2d(Value x, long filters, int kernel, int stride, int padding) {
        return layers.conv2d(x.dim(1), filters, kernel).stride(stride).padding(padding).apply(x);
    }

    /**
     * Rows of a table.
     *
     * @param ids
     *            int32 or int64, any shape
     * @param rows
     *            of the table
     * @param width
     *            of a row
     * @return the shape of the ids, and width
     */
    public Value embedding(Value ids, long rows, long width) {
        return layers.embedding(rows, width).apply(ids);
    }

    /**
     * Batch normalisation with running statistics.
     *
     * @param x
     *            [n, channels, ...]
     * @return of its shape
     */
    public Value batchNorm(Value x) {
        return layers.batchNorm(x.dim(1)).apply(x);
    }

    /**
     * Layer normalisation of the last dimension.
     *
     * @param x
     *            [..., width]
     * @return of its shape
     */
    public Value layerNorm(Value x) {
        return layers.layerNorm(x.dim(-1)).apply(x);
    }

    /**
     * Clears elements at random in training, and scales the others up.
     *
     * @param x
     *            any shape
     * @param probability
     *            of clearing an element; 0 adds no operation
     * @return of its shape
     */
    public Value dropout(Value x, double probability) {
        return probability == 0
                ? x
                : op("dropout").in("X", x).attr("dropout_prob", (float) probability).attr("is_test", false).attr("fix_seed", seed != 0)
                        .attr("seed", seed).attr("dropout_implementation", "upscale_in_train").all("Out", "Mask").getFirst();
    }

    /**
     * Softmax with cross entropy, without a mean.
     *
     * @param logits
     *            [..., classes]
     * @param labels
     *            class numbers, int32 or int64, [..., 1] or [...]
     * @return the loss of each row, [..., 1]
     */
    public Value softmaxCrossEntropy(Value logits, Value labels) {
        return Losses.softmaxCrossEntropy(this, logits, labels, false, -1, -100);
    }

    /**
     * Softmax with cross entropy, with all that it takes.
     *
     * @param logits
     *            classes along the axis
     * @param labels
     *            class numbers, or probabilities of the logits' shape
     * @param soft
     *            whether labels are probabilities
     * @param axis
     *            of the classes, from −rank
     * @param ignoreIndex
     *            a label without loss
     * @return the loss of each row, with the axis of length 1
     */
    public Value softmaxCrossEntropy(Value logits, Value labels, boolean soft, int axis, int ignoreIndex) {
        return Losses.softmaxCrossEntropy(this, logits, labels, soft, axis, ignoreIndex);
    }

    /**
     * The mean of squared differences.
     *
     * @param prediction
     *            any shape
     * @param target
     *            of its shape
     * @return without dimensions
     */
    public Value meanSquaredError(Value prediction, Value target) {
        return prediction.minusNamed(target).square().mean();
    }

    /**
     * The binary cross entropy of sigmoid(logits).
     *
     * @param logits
     *            any shape
     * @param labels
     *            probabilities, of its shape
     * @return of its shape
     */
    public Value sigmoidCrossEntropy(Value logits, Value labels) {
        return op("sigmoid_cross_entropy_with_logits").in("X", logits).in("Label", labels).one("Out");
    }

    /**
     * The binary cross entropy of probabilities.
     *
     * @param probabilities
     *            any shape
     * @param labels
     *            probabilities, of its shape
     * @return of its shape
     */
    public Value binaryCrossEntropy(Value probabilities, Value labels) {
        return op("bce_loss").in("X", probabilities).in("Label", labels).one("Out");
    }

    /**
     * Huber's loss: squared up to delta, linear beyond.
     *
     * @param prediction
     *            any shape
     * @param target
     *            of its shape
     * @param delta
     *            where it changes
     * @return of its shape
     */
    public Value huber(Value prediction, Value target, double delta) {
        return op("huber_loss").in("X", prediction).in("Y", target).attr("delta", (float) delta).all("Out", "Residual").getFirst();
    }

    /**
     * The part of rows whose label is among the highest scores.
     *
     * @param scores
     *            [n, classes]
     * @param labels
     *            class numbers, [n, 1]
     * @param k
     *            how many scores count
     * @return without dimensions, from 0 to 1
     */
    public Value accuracy(Value scores, Value labels, int k) {
        return Losses.accuracy(this, scores, labels, k);
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
        return ifElseAll(condition, () -> List.of(then.get()), () -> List.of(otherwise.get())).getFirst();
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
     *            the loop's variables before the first step; they are overwritten, except for parameters, for variables of outer blocks,
     *            and for those that a gradient needs
     * @return the loop's variables after the last step
     */
    public List<Value> whileLoop(LoopFunction condition, LoopFunction body, Value... initial) {
        return ControlFlow.whileLoop(this, condition, body, List.of(initial));
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
     *            what each batch has, by variable name
     * @return the variables, in order
     */
    public List<Value> reader(String name, Map<String, VarType.TensorType> specs) {
        List<VarType.Dense> types = specs.values().stream().map(type -> new VarType.Dense(type, 0)).toList();
        main.global().put(new VarDesc(name, new VarType.Reader(types), true, null, null, null));
        List<Value> values = new ArrayList<>();
        specs.forEach((variable, type) -> {
            main.global().put(new VarDesc(variable, new VarType.Dense(type, 0), null, null, null, true));
            values.add(value(variable));
        });
        OpDesc read = OpDesc.of("read").in("Reader", name).out("Out", specs.keySet()).attr("throw_eof_exp", true).attr("infer_out", true)
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
     * @return parameters and their gradients
     */
    public List<ParameterGradient> minimize(Value loss, Optimizer optimizer, List<Value> parameters, Set<Value> noGradient) {
        loss.check(this);
        if (loss.shape().size() != 0 && loss.shape().stream().anyMatch(dim -> dim != 1)) {
            throw new IllegalArgumentException("A loss has one element, but '" + loss.name() + "' is " + loss.type()
                    + "; take the mean or the sum of it");
        }
        MixedPrecision precision = optimizer.settings().precision();
        if (precision != null) {
            return new MixedTraining(this, optimizer, precision).minimize(loss, parameters, noGradient);
        }
        List<ParameterGradient> pairs = backward(loss, parameters, noGradient);
        applyGradients(optimizer, pairs);
        return pairs;
    }

    /** The parameters that are trained unless others are named. */
    List<Value> trained() {
        return main.parameters().stream().filter(desc -> !desc.stopsGradient()).map(desc -> value(desc.name())).toList();
    }

    /**
     * Adds backward.
     *
     * @param loss
     *            whose gradients are wanted
     * @return parameters and their gradients
     */
    public List<ParameterGradient> backward(Value loss) {
        return backward(loss, trained(), Set.of());
    }

    /**
     * Adds backward for some parameters.
     *
     * @param loss
     *            whose gradients are wanted
     * @param parameters
     *            with regard to which
     * @param noGradient
     *            variables through which no gradient flows
     * @return parameters and their gradients
     */
    public List<ParameterGradient> backward(Value loss, List<Value> parameters, Set<Value> noGradient) {
        return Backward.append(main, own(loss), parameters.stream().map(this::own).toList(),
                noGradient.stream().map(this::own).collect(Collectors.toSet()), maxChainedAdditions);
    }

    /**
     * Adds an optimizer.
     *
     * @param optimizer
     *            how parameters follow their gradients
     * @param pairs
     *            parameters and their gradients
     */
    public void applyGradients(Optimizer optimizer, List<ParameterGradient> pairs) {
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
     *            what each target's gradient begins with; none for ones
     * @param inputs
     *            with regard to which
     * @param noGradient
     *            variables through which no gradient flows
     * @return one for each input; null where none of the targets depends on it
     */
    public List<@Nullable Value> gradients(List<Value> targets, List<Value> targetGradients, List<Value> inputs, Set<Value> noGradient) {
        List<@Nullable String> seeds = new ArrayList<>(targetGradients.stream().map(this::own).toList());
        List<@Nullable Value> values = new ArrayList<>();
        for (String name : Backward.gradients(main, targets.stream().map(this::own).toList(), seeds,
                inputs.stream().map(this::own).toList(), noGradient.stream().map(this::own).collect(Collectors.toSet()))) {
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
