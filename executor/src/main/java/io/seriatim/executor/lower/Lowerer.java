package io.seriatim.executor.lower;

import io.seriatim.device.Place;
import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Failures;
import io.seriatim.executor.ir.OpenSizes;
import io.seriatim.executor.ir.Sharing;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.interpret.Collective;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Lowered;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.PaddleRandom;
import io.seriatim.graph.op.Step;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.parallel.Communicator;
import io.seriatim.graph.program.Aliases;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Lowers each operation to kernels for given shapes. An operation whose output shape depends on the elements of a
 * tensor is interpreted, unless these elements depend only on shapes: such arithmetic, for example before a reshape, is
 * folded to constants.
 */
public final class Lowerer {
    private final ValueNumbering accesses;
    private final ValueTable values;
    private final @Nullable PaddleRandom random;
    private final long limit;
    /** By value, its type, with −1 for open sizes; null if it is known only at run time. */
    private final @Nullable ArgType[] types;
    private final boolean[] isWrittenOnce;
    private final ShapeFolding folding;
    private final OpenResults openResults;
    private final BranchResults branches;
    /** The variables that share memory at the current point of the program, and the parts of memory that they share. */
    private final Map<String, Shared> shared = new HashMap<>();
    /** The variables that share memory at any point of the program. */
    private final Map<String, Tensor> constants;
    private final @Nullable Communicator communicator;
    private final Cuts cuts;
    private final Cut cut;
    private OpenSizes open = OpenSizes.NONE;
    /** The inferred results of an operation that is interpreted because of open sizes; null for any other. */
    private @Nullable Map<String, List<@Nullable ArgType>> opened;
    private final Set<String> everShared = new HashSet<>();
    private final LoweredOperations before = new LoweredOperations();
    private final List<Integer> storages = new ArrayList<>();

    /**
     * A part of memory that several variables share.
     *
     * @param storage
     *            the value that stands for the whole memory
     * @param from
     *            the offset of the part, in bytes
     * @param spec
     *            the type and shape of the part
     */
    private record Shared(int storage, long from, TensorSpec spec) {
    }

    /**
     * Creates the lowering of a block.
     *
     * @param constants
     *            the variables from outside of the block that are constants
     * @param cuts
     *            where what follows becomes a task of its own; otherwise it is interpreted
     * @param isPure
     *            whether an operation need not be run if nothing uses its results
     * @param limit
     *            the limit of the host's memory in bytes, beyond which operations may not make arrays
     * @param folded
     *            the results that earlier plans of the block have folded
     */
    public Lowerer(ValueNumbering accesses, ValueTable values, Map<String, Tensor> constants, Cuts cuts,
            Predicate<OpDesc> isPure, Interpreter interpreter, @Nullable PaddleRandom random, long limit,
            FoldedResults folded) {
        this.limit = limit;
        this.constants = constants;
        this.cuts = cuts;
        this.accesses = accesses;
        this.values = values;
        this.random = random;
        this.communicator = interpreter.communicator();
        this.types = new ArgType[values.size()];
        this.isWrittenOnce = accesses.isWrittenOnce();
        this.folding = new ShapeFolding(accesses, values, types, everShared, interpreter, folded);
        this.openResults = new OpenResults(accesses, values, types, everShared);
        this.branches = new BranchResults(accesses, values, types, openResults);
        this.cut = new Cut(accesses, values, isPure, branches, new BranchReplacement(values, types, interpreter),
                new FeedConditions(accesses, values, types, isPure));
        for (Access access : accesses.operations()) {
            if (access.makesAliases()) {
                everShared.addAll(access.op().inputNames());
                everShared.addAll(access.op().outputNames());
            }
        }
    }

    /**
     * Returns, for each group of variables that share memory before the run, the value that stands for the whole
     * memory.
     */
    public List<Integer> storages() {
        return storages;
    }

    private void given(Sharing sharing) {
        for (Sharing.Group group : sharing.groups()) {
            int storage = values.addGiven("memory of " + group.members().getFirst().name(), group.spec());
            storages.add(storage);
            for (Sharing.Member member : group.members()) {
                values.part(member.value(), storage, member.from());
                values.spec(member.value(), member.spec());
                shared.put(member.name(), new Shared(storage, member.from(), member.spec()));
                everShared.add(member.name());
            }
        }
    }

    /**
     * Returns the tasks in program order. Operations whose operands have open sizes are interpreted.
     *
     * @param externals
     *            the fed values and those from outside of the block
     * @param sizes
     *            those of the external values that are open
     */
    public List<Task> lower(@Nullable Object[] externals, OpenSizes sizes, Sharing sharing) {
        open = sizes;
        for (int i = 0; i < externals.length; i++) {
            int value = accesses.externals()[i];
            if (externals[i] instanceof Tensor tensor) {
                types[value] = sizes.type(i, tensor.spec());
                values.spec(value, sizes.isOpen(i) ? null : tensor.spec().rowMajor());
            } else {
                values.absent(value);
            }
            Tensor constant = constants.get(values.name(value));
            if (constant != null) {
                values.constant(value, constant);
            }
        }
        given(sharing);
        return WorkingMemory.within(limit, this::tasks);
    }

    private List<Task> tasks() {
        List<Task> tasks = new ArrayList<>();
        for (int i = 0; i < accesses.operations().size(); i++) {
            Task.Rest rest = everShared.isEmpty()
                    ? cut.at(i, value -> !isKnown(value), open, cuts, access -> addKnown(access, tasks))
                    : null;
            if (rest != null) {
                if (!rest.operations().isEmpty()) {
                    tasks.add(rest);
                }
                return tasks;
            }
            add(accesses.operations().get(i), tasks);
        }
        return tasks;
    }

    /** Adds the task of an operation, unless it would be interpreted because something is not known. */
    private boolean addKnown(Access access, List<Task> tasks) {
        for (int value : access.reads()) {
            if (!isKnown(value)) {
                return false;
            }
        }
        Operation schema = access.schema();
        if (schema == null || new KnownOperands(access, types, values, true).missing(schema) != null) {
            return false;
        }
        add(access, tasks);
        return true;
    }

    private void add(Access access, List<Task> tasks) {
        Task task;
        try {
            task = lower(access);
        } catch (IllegalArgumentException | OutOfMemoryError e) {
            throw Failures.of(List.of(access), this::shape, e);
        }
        if (task instanceof Task.Interpreted) {
            Map<Integer, ArgType> kept = cuts == Cuts.NONE ? Map.of() : branches.kept(access);
            interpreted(access);
            branches.keep(kept);
            if (opened == null) {
                branches.record(access);
                cut.interpreted(access);
            } else {
                openResults.record(access, opened);
            }
        }
        if (task != null) {
            tasks.add(task);
        }
        cut.added(access);
    }

    private @Nullable String shape(int value) {
        ArgType type = types[value];
        return type == null
                ? null
                : type.kind() == ArgType.Kind.DENSE && type.isKnown() ? Failures.shape(type.spec()) : type.toString();
    }

    private void interpreted(Access access) {
        List<String> aliases = Aliases.made(access.op());
        if (!aliases.isEmpty()) {
            UnchangedVariables.require(accesses, values, access, aliases);
        }
        for (int value : access.writes()) {
            Shared where = shared.get(values.name(value));
            if (where != null) {
                // The run writes the value to that memory, or fails if it does not have the declared type and shape.
                if (value != where.storage()) {
                    values.part(value, where.storage(), where.from());
                    values.spec(value, where.spec());
                }
                types[value] = ArgType.dense(where.spec().dtype(), where.spec().shape().dims());
                continue;
            }
            TensorSpec declared = everShared.contains(values.name(value)) ? declared(value) : null;
            if (declared != null) {
                values.declared(value, declared);
                types[value] = ArgType.dense(declared.dtype(), declared.shape().dims());
                continue;
            }
            types[value] = null;
            if (values.origin(value) == ValueNumbering.Origin.COMPUTED && isWrittenOnce[value]) {
                values.spec(value, null);
            }
        }
        // The interpreter may update an input in place and return it as the output.
        for (String name : access.op().outputNames()) {
            int read = access.read(name);
            int written = access.written(name);
            if (read >= 0 && written >= 0 && read != written && !values.isPart(written)) {
                values.sameMemory(written, read);
            }
        }
    }

    /** Returns the type and shape of a variable that shares memory at any point, or null if known only at run time. */
    private @Nullable TensorSpec declared(int value) {
        VarDesc desc = accesses.block().find(values.name(value));
        TensorSpec known = values.spec(value);
        if (known != null || desc == null
                || !(desc.type() instanceof VarType.Dense(VarType.TensorType type, Integer _))) {
            return known;
        }
        return type.dims().stream().allMatch(dim -> dim >= 0) ? TensorSpec.of(type.dtype(), type.shape()) : null;
    }

    private static Task interpreted(Access access, String because) {
        return new Task.Interpreted(access, because, access.reads(), access.writes());
    }

    /** Returns the task of an operation; null if the operation was folded. */
    private @Nullable Task lower(Access access) {
        opened = null;
        OpDesc op = access.op();
        Operation known = access.schema();
        Operation schema = known == null ? Operations.system().get(op.type()) : known;
        boolean communicates = Collective.is(op) && Collective.isReady(op, communicator);
        if (!schema.isLowered() && !communicates) {
            return interpreted(access, "it is an instruction");
        }
        for (int value : access.reads()) {
            if (types[value] == null) {
                // Nothing else makes a type unknown here: what follows other late values is cut off.
                opened = open.isNone() ? null : Map.of();
                return interpreted(access, "the type of '" + values.name(value) + "' is known only at run time");
            }
        }
        KnownOperands source = new KnownOperands(access, types, values, true);
        String missing = source.missing(schema);
        if (missing != null) {
            return interpreted(access, missing);
        }
        for (int value : access.reads()) {
            if (!isKnown(value)) {
                opened = openResults.of(access, schema);
                return interpreted(access, "the sizes of '" + values.name(value) + "' change between iterations");
            }
        }
        OperationInputs inputs = folding.inputs(access, schema);
        if (folding.isFolded(access, inputs)) {
            return null;
        }
        LoweredOperations.Entry equal = communicates ? null : before.find(inputs);
        if (equal != null) {
            return new Conversion(access, equal.lowered(), equal.results()).task();
        }
        Map<String, List<@Nullable ArgType>> results = schema.infer(op, source);
        if (!areTensors(results)) {
            return interpreted(access, "its results are not tensors");
        }
        boolean ofShapes = !communicates && folding.isOfShapes(access, schema, results);
        if (ofShapes && schema.isShapeArithmetic()) {
            folding.fold(access, inputs, schema, results);
            return null;
        }
        Lowering lowering = new Lowering(op, schema, source, results, random);
        Lowered lowered = communicates ? Collective.lower(op, lowering, communicator) : schema.lower(lowering);
        if (ofShapes && ShapeFolding.isFunction(lowered)) {
            folding.fold(access, inputs, schema, results);
            return null;
        }
        if (!communicates) {
            before.keep(access, schema, source, inputs, new LoweredOperations.Entry(results, lowered), values);
        }
        return new Conversion(access, lowered, results).task();
    }

    private static boolean areTensors(Map<String, List<@Nullable ArgType>> results) {
        for (List<@Nullable ArgType> types : results.values()) {
            for (ArgType type : types) {
                if (type != null && type.kind() != ArgType.Kind.DENSE) {
                    return false;
                }
            }
        }
        return true;
    }

    private boolean isKnown(int value) {
        ArgType type = types[value];
        return type != null && type.isKnown();
    }

    /** Converts the steps of a lowered operation to stages on values. */
    private final class Conversion {
        private final Access access;
        private final Lowered lowered;
        private final Map<String, List<@Nullable ArgType>> results;
        private final List<TensorSpec> temporaries;
        private final Map<Operand.Source.Output, Integer> beside = new HashMap<>();
        private final List<Stage> stages = new ArrayList<>();
        /** The memory of outputs that other variables come to share. */
        private final Map<Operand.Source.Output, Integer> made = new HashMap<>();

        Conversion(Access access, Lowered lowered, Map<String, List<@Nullable ArgType>> results) {
            this.access = access;
            this.lowered = lowered;
            this.results = results;
            this.temporaries = new ArrayList<>(lowered.temporaries());
        }

        Task task() {
            List<Stage> after = new ArrayList<>();
            for (Map.Entry<String, List<@Nullable ArgType>> slot : results.entrySet()) {
                for (int i = 0; i < slot.getValue().size(); i++) {
                    ArgType type = slot.getValue().get(i);
                    if (type != null && !access.op().output(slot.getKey()).get(i).equals(GradientRule.EMPTY)) {
                        String refused = output(new Operand.Source.Output(slot.getKey(), i), type, after);
                        if (refused != null) {
                            return interpreted(access, refused);
                        }
                    }
                }
            }
            for (Step step : lowered.steps()) {
                stages.add(new Stage(access, step.work(), args(step.inputs()), args(step.outputs()), null));
            }
            stages.addAll(after);
            Task.Compute task = Task.Compute.of(List.of(access), stages, temporaries, Place.CPU);
            // The operands of a task state which part of shared memory it writes. A task that makes variables share
            // memory must wait for all of that memory.
            return lowered.aliases().isEmpty() && values.hasParts() ? task.withoutWrites(values::isPart) : task;
        }

        /**
         * Records the type and memory of an output. Returns null, or the reason why the operation must be interpreted.
         */
        private @Nullable String output(Operand.Source.Output output, ArgType type, List<Stage> after) {
            String name = access.op().output(output.slot()).get(output.index());
            int written = access.written(name);
            TensorSpec spec = type.spec();
            if (isAlias(output)) {
                return alias(output, name, written, type);
            }
            Shared where = shared.get(name);
            if (where != null && fits(name, written, where, spec)) {
                return overwrite(output, name, written, type, where, after);
            }
            TensorSpec before = values.spec(written);
            if (before != null && !before.equals(spec)) {
                return "'" + name + "' changes from " + before + " to " + spec;
            }
            values.spec(written, spec);
            types[written] = type;
            Operand.Source.Input shared = lowered.shared().get(output);
            if (shared != null) {
                return share(written, access.read(access.op().input(shared.slot()).get(shared.index())), spec);
            }
            if (access.read(name) == written) {
                beside.put(output, temporaries.size());
                Arg from = new Arg(new Arg.Temporary(temporaries.size()), 0, spec);
                temporaries.add(spec);
                after.add(Stage.of(access, Copy.PLAIN, List.of(from), new Arg(new Arg.Value(written), 0, spec)));
            }
            return null;
        }

        private boolean isAlias(Operand.Source.Output output) {
            return !lowered.aliases().isEmpty() && (lowered.aliases().containsKey(output)
                    || lowered.aliases().values().stream().anyMatch(of -> of.source().equals(output)));
        }

        /** Records that an output shares memory with other variables from here on. */
        private @Nullable String alias(Operand.Source.Output output, String name, int written, ArgType type) {
            Operand of = lowered.aliases().get(output);
            int storage;
            long from = 0;
            if (of == null) {
                storage = made.computeIfAbsent(output, _ -> values.add("memory of " + name, type.spec()));
            } else if (of.source() instanceof Operand.Source.Input(String slot, int index)) {
                String source = access.op().input(slot).get(index);
                int read = access.read(source);
                storage = values.memory(read);
                from = values.from(read) + of.offset();
                if (values.origin(storage) == ValueNumbering.Origin.FED && values.isPersistable(written)) {
                    throw new IllegalArgumentException(
                            "it makes the persistable variable '" + name + "' share memory with '" + source
                                    + "', which is fed and belongs to the caller: copy it with 'assign' first");
                }
                shared.putIfAbsent(source, new Shared(storage, values.from(read), of.spec()));
            } else {
                Operand.Source.Output whole = (Operand.Source.Output) of.source();
                String wholeName = access.op().output(whole.slot()).get(whole.index());
                TensorSpec spec = Objects.requireNonNull(
                        Objects.requireNonNull(results.get(whole.slot())).get(whole.index())).spec();
                storage = made.computeIfAbsent(whole, _ -> values.add("memory of " + wholeName, spec));
                from = of.offset();
            }
            if (written == storage) {
                return null;
            }
            values.part(written, storage, from);
            values.spec(written, type.spec());
            types[written] = type;
            shared.put(name, new Shared(storage, from, type.spec()));
            return null;
        }

        /**
         * Returns whether a result is written to the memory that its variable shares with others. A larger result gets
         * separate memory, which ends the sharing.
         */
        private boolean fits(String name, int written, Shared where, TensorSpec spec) {
            boolean stays = values.isPart(written) || written == where.storage();
            if (stays ? spec.equals(values.spec(written)) : spec.bytes() <= where.spec().bytes()) {
                return true;
            }
            if (stays || values.isPersistable(written) || values.origin(written) != ValueNumbering.Origin.COMPUTED) {
                throw new IllegalArgumentException(
                        "'" + name + "' shares memory with other variables, so its type and shape must stay "
                                + where.spec() + ", but the new value is " + spec
                                + ": write the new value to another variable");
            }
            shared.remove(name);
            return false;
        }

        private @Nullable String overwrite(Operand.Source.Output output, String name, int written, ArgType type,
                Shared where,
                List<Stage> after) {
            TensorSpec spec = type.spec();
            if (written != where.storage() && !values.isPart(written)) {
                values.part(written, where.storage(), where.from());
            }
            values.spec(written, spec);
            types[written] = type;
            shared.put(name, new Shared(where.storage(), where.from(), spec));
            boolean inPlace = lowered.shared().containsKey(output);
            boolean reads = Arrays.stream(access.reads()).anyMatch(read -> values.memory(read) == where.storage());
            if (!inPlace && reads) {
                // A kernel may write its output before it has read all inputs.
                beside.put(output, temporaries.size());
                Arg from = new Arg(new Arg.Temporary(temporaries.size()), 0, spec);
                temporaries.add(spec);
                after.add(Stage.of(access, Copy.PLAIN, List.of(from),
                        new Arg(new Arg.Value(where.storage()), where.from(), spec)));
            }
            return null;
        }

        private @Nullable String share(int written, int read, TensorSpec spec) {
            Tensor constant = values.constant(read);
            if (constant != null) {
                stages.add(Stage.of(access, Copy.PLAIN, List.of(new Arg(new Arg.Constant(constant), 0, spec)),
                        new Arg(new Arg.Value(written), 0, spec)));
                return null;
            }
            if (!spec.equals(values.spec(read))) {
                return "it changes the shape of '" + values.name(read) + "' in place";
            }
            if (written != read && (values.isPersistable(read) || values.isPersistable(written))) {
                return "it gives '" + values.name(read) + "' another name";
            }
            if (written != read) {
                values.sameMemory(written, read);
            }
            return null;
        }

        private List<@Nullable Arg> args(List<@Nullable Operand> operands) {
            List<@Nullable Arg> args = new ArrayList<>(operands.size());
            for (Operand operand : operands) {
                args.add(arg(operand));
            }
            return args;
        }

        private @Nullable Arg arg(@Nullable Operand operand) {
            return operand == null
                    ? null
                    : new Arg(source(operand.source()), from(operand.source()) + operand.offset(), operand.spec());
        }

        /** Returns the offset of a value in memory that it shares with others. */
        private long from(Operand.Source source) {
            return switch (source) {
                case Operand.Source.Input(String slot, int index) ->
                    values.from(access.read(access.op().input(slot).get(index)));
                case Operand.Source.Output output ->
                    beside.containsKey(output)
                            ? 0
                            : values.from(access.written(access.op().output(output.slot()).get(output.index())));
                default -> 0;
            };
        }

        private int storage(int value) {
            return values.isPart(value) ? values.memory(value) : value;
        }

        private Arg.Source source(Operand.Source source) {
            return switch (source) {
                case Operand.Source.Input(String slot, int index) ->
                    input(access.read(access.op().input(slot).get(index)));
                case Operand.Source.Output output -> {
                    Integer temporary = beside.get(output);
                    yield temporary != null
                            ? new Arg.Temporary(temporary)
                            : new Arg.Value(
                                    storage(access.written(access.op().output(output.slot()).get(output.index()))));
                }
                case Operand.Source.Temporary(int number) -> new Arg.Temporary(number);
                case Operand.Source.Constant(Tensor tensor) -> new Arg.Constant(tensor);
                case Operand.Source.RandomKey _ -> new Arg.Key(access);
                case Operand.Source.RowIndexes _,Operand.Source.OutputRowIndexes _ ->
                    throw new IllegalStateException(
                            "Operation '" + access.op().type()
                                    + "' operates on selected rows, which only the interpreter supports");
            };
        }

        private Arg.Source input(int value) {
            Tensor constant = values.constant(value);
            return constant == null ? new Arg.Value(storage(value)) : new Arg.Constant(constant);
        }
    }
}
