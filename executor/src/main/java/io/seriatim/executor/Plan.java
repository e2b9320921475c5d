package io.seriatim.executor;

import io.seriatim.engine.Engine;
import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Copies;
import io.seriatim.executor.ir.EndOfBatches;
import io.seriatim.executor.ir.Options;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.RunFailure;
import io.seriatim.executor.ir.Sharing;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.run.Cancellation;
import io.seriatim.executor.run.OpenRuns;
import io.seriatim.executor.run.Recording;
import io.seriatim.executor.run.RunContext;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.trace.RunRecorder;
import io.seriatim.graph.interpret.ControlFacts;
import io.seriatim.graph.lod.LodProgram;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Aliases;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.HeapMemory;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.SelectedRows;
import io.seriatim.graph.quantization.IntegerProducts;
import io.seriatim.graph.quantization.IntegerSums;
import io.seriatim.graph.quantization.LevelTables;
import io.seriatim.graph.unroll.LoopUnrolling;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.array.NDArray;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A compiled program, which can be run many times and by several threads at once. Runs on the same scope are concurrent
 * if the program writes no persistable variable and is fed none; otherwise they execute one after the other. Runs on
 * different scopes are always concurrent. The first run with new shapes compiles the plan for these shapes; the result
 * is cached.
 *
 * <p>
 * If a run fails, each variable in the scope has a complete value, either that from before the run or the one that the
 * run has computed, and later runs work. An interrupt of the calling thread makes its run fail in this way; the
 * interrupt status stays set.
 */
public final class Plan {
    private final Executor executor;
    /** With companion values for level-of-detail offsets. */
    private final Program program;
    private final LodProgram lods;
    private final FeedRequirements requirements;
    private final Feeds feeds;
    private final Fetches fetches;
    /** The feeds that are persistable: a run stores them in the scope before it begins. */
    private final Set<String> stored;
    private final Reads reads;
    private final boolean writesScope;
    private final boolean makesAliases;
    private final ControlFacts facts = new ControlFacts();
    private final BlockPlans blocks;

    static Plan of(Executor executor, Program program, Feeds feeds, Fetches fetches, boolean once) {
        return HeapMemory.compiling(program, () -> new Plan(executor, program, feeds, fetches, once));
    }

    private Plan(Executor executor, Program program, Feeds feeds, Fetches fetches, boolean once) {
        this.executor = executor;
        Aliases.check(program);
        this.makesAliases = Aliases.areMadeBy(program);
        this.feeds = feeds;
        this.fetches = fetches;
        this.requirements = FeedRequirements.of(program, feeds);
        fetches.names().forEach(name -> requireFetch(program.global(), name));
        Options options = executor.options();
        boolean unrolls = !once && !options.nanCheck() && options.passes().contains(PassName.SIMPLIFICATION);
        Program unrolled = unrolls
                ? LoopUnrolling.of(program, feeds.names(), fetches.names(), executor.interpreter())
                : program;
        Program quantized = options.passes().contains(PassName.INTEGERS)
                ? LevelTables.of(IntegerSums.of(IntegerProducts.of(unrolled, fetches.names())))
                : unrolled;
        this.lods = LodProgram.of(BlockPersistables.moved(quantized), feeds.names(), fetches.names());
        this.program = lods.program() == program ? program.copy() : lods.program();
        Block block = this.program.global();
        this.stored = feeds.names().stream().filter(name -> block.get(name).isPersistable())
                .collect(Collectors.toCollection(LinkedHashSet::new));
        this.reads = Reads.of(block, feeds.names());
        List<String> given = Stream.concat(feeds.names().stream().filter(name -> !stored.contains(name)),
                lods.feeds().stream()).toList();
        List<String> wanted = Stream.concat(fetches.names().stream(), lods.fetches().stream()).toList();
        this.blocks = new BlockPlans(executor, this.program, given, wanted, once, makesAliases);
        ValueNumbering accesses = blocks.global(Set.of()).accesses();
        // A write under another name may also change a persistable variable.
        this.writesScope = makesAliases || !stored.isEmpty()
                || accesses.operations().stream().anyMatch(access -> writesScope(access, accesses));
    }

    /**
     * Returns whether an operation writes a persistable variable. In test mode, a normalisation names its state as an
     * output but does not change it.
     */
    private static boolean writesScope(Access access, ValueNumbering accesses) {
        boolean tests = access.op().attribute("is_test") instanceof Attribute.Bool(boolean set) && set;
        for (int value : access.writes()) {
            boolean kept = tests && !access.runsBlocks()
                    && Arrays.stream(access.reads()).anyMatch(read -> read == value);
            if (accesses.values().get(value).persistable() && !kept) {
                return true;
            }
        }
        return false;
    }

    private static void requireFetch(Block block, String name) {
        if (block.var(name) == null) {
            throw new IllegalArgumentException("The program has no variable '" + name
                    + "' to fetch. A fetch is the name "
                    + "of a variable; that of a network's output is network.outputs().get(\"" + name + "\").name()");
        }
    }

    /** Returns whether a run changes persistable variables. */
    boolean writesScope() {
        return writesScope;
    }

    /** Returns the feeds that a run stores in the scope, since they are persistable. */
    Set<String> stored() {
        return stored;
    }

    Program program() {
        return program;
    }

    Executor executor() {
        return executor;
    }

    /** Returns what the feeds must be. */
    FeedRequirements requirements() {
        return requirements;
    }

    Feeds feeds() {
        return feeds;
    }

    Fetches fetches() {
        return fetches;
    }

    /**
     * Runs the program on the executor's scope.
     *
     * @param values
     *            a value for each feed, in order; the run does not change them, and they must not be changed before the
     *            call returns
     * @return the fetched values
     * @throws BadRequestException
     *             if a value is missing or closed, or if its type or shape does not match that of its variable, before
     *             anything is computed; or if an index that is fed, or computed from feeds, is out of range
     * @throws IllegalStateException
     *             if the executor is closed, or is being closed
     * @throws ProgramFailedException
     *             if an operation fails
     * @throws EndOfDataException
     *             if a reader of the program has no more batches; the next run restarts its data
     */
    public Results run(Tensor... values) {
        return run(executor.scope(), values);
    }

    /**
     * Runs the program on a scope.
     *
     * @param root
     *            the scope that holds persistable variables, itself or by its ancestors
     * @param values
     *            a value for each feed, in order; the run does not change them, and they must not be changed before the
     *            call returns
     * @return the fetched values
     * @throws BadRequestException
     *             if a value is missing or closed, or if its type or shape does not match that of its variable, before
     *             anything is computed; or if an index that is fed, or computed from feeds, is out of range
     * @throws IllegalStateException
     *             if the executor is closed, or is being closed
     * @throws ProgramFailedException
     *             if an operation fails
     * @throws EndOfDataException
     *             if a reader of the program has no more batches; the next run restarts its data
     */
    public Results run(Scope root, Tensor... values) {
        return run(new Cancellation(), root, values);
    }

    /**
     * Runs the program on the executor's scope, with a time limit for example.
     *
     * @param options
     *            when the run ends early
     * @param values
     *            a value for each feed, in order; the run does not change them, and they must not be changed before the
     *            call returns
     * @return the fetched values
     * @throws BadRequestException
     *             if a value is missing or closed, or if its type or shape does not match that of its variable, before
     *             anything is computed; or if an index that is fed, or computed from feeds, is out of range
     * @throws IllegalStateException
     *             if the executor is closed, or is being closed
     * @throws ProgramFailedException
     *             if an operation fails
     * @throws EndOfDataException
     *             if a reader of the program has no more batches; the next run restarts its data
     * @throws RunTimeoutException
     *             if the time limit of the options is over
     * @throws java.util.concurrent.CancellationException
     *             if the options cancel the run
     */
    public Results run(RunOptions options, Tensor... values) {
        return run(options, executor.scope(), values);
    }

    /**
     * Runs the program on a scope, with a time limit for example.
     *
     * @param options
     *            when the run ends early
     * @param root
     *            the scope that holds persistable variables, itself or by its ancestors
     * @param values
     *            a value for each feed, in order; the run does not change them, and they must not be changed before the
     *            call returns
     * @return the fetched values
     * @throws BadRequestException
     *             if a value is missing or closed, or if its type or shape does not match that of its variable, before
     *             anything is computed; or if an index that is fed, or computed from feeds, is out of range
     * @throws IllegalStateException
     *             if the executor is closed, or is being closed
     * @throws ProgramFailedException
     *             if an operation fails
     * @throws EndOfDataException
     *             if a reader of the program has no more batches; the next run restarts its data
     * @throws RunTimeoutException
     *             if the time limit of the options is over
     * @throws java.util.concurrent.CancellationException
     *             if the options cancel the run
     */
    public Results run(RunOptions options, Scope root, Tensor... values) {
        return StoppableRun.run(options, cancellation -> run(cancellation, root, values));
    }

    Results run(Cancellation cancellation, Tensor... values) {
        return run(cancellation, executor.scope(), values);
    }

    private Results run(Cancellation cancellation, Scope root, Tensor... values) {
        OpenRuns runs = executor.openRuns();
        OpenRuns.Inside inside = runs.begin();
        try {
            Map<String, Tensor> fed = requirements.checked(values);
            Engine shared = executor.options().engine();
            return shared == null || Engine.isInside()
                    ? runInTurn(root, fed, cancellation)
                    : new CalledRun(runs, cancellation, () -> runInTurn(root, fed, cancellation)).on(shared,
                            root.turn(shared), writesScope);
        } finally {
            runs.end(inside);
        }
    }

    /** Runs the program within the operation of a run that was pushed before the executor was closed. */
    Results runPushed(Scope root, Tensor... values) {
        OpenRuns runs = executor.openRuns();
        OpenRuns.Inside inside = runs.beginPushed();
        try {
            return runInTurn(root, requirements.checked(values), new Cancellation());
        } finally {
            runs.end(inside);
        }
    }

    /** Waits for the turn on the scope and runs the program; converts internal exceptions to public ones. */
    private Results runInTurn(Scope root, Map<String, Tensor> fed, Cancellation cancellation) {
        try {
            return runWithLock(root, fed, cancellation);
        } catch (RunFailure e) {
            throw requirements.exception(program, e, fed);
        } catch (EndOfBatches e) {
            throw EndOfDataException.of(e);
        }
    }

    private Results runWithLock(Scope root, Map<String, Tensor> fed, Cancellation cancellation) {
        Lock lock = root.lock(writesScope);
        // Within another run on the scope, runs with earlier turns wait for that run.
        boolean isOrdered = writesScope && !root.isLockedByThisThread();
        Reads.Taken batches = cancellation.waiting(() -> reads.take(root, isOrdered ? root.readingOrder() : null));
        BatchClaim claim = batches.claim();
        try {
            cancellation.waiting(() -> lock(lock, claim));
        } finally {
            if (claim != null) {
                claim.pass();
            }
        }
        try {
            batches.tensors().forEach((name, tensor) -> {
                FeedRequirements.require(program.global().get(name), tensor.spec());
                fed.put(name, tensor);
            });
            return run(root, fed, cancellation);
        } finally {
            lock.unlock();
        }
    }

    /** Acquires and returns the lock of the scope. A run that gives up returns its batches. */
    private static Lock lock(Lock lock, @Nullable BatchClaim claim) {
        try {
            if (claim != null) {
                claim.awaitTurn();
            }
            // A timed tryLock is fair. The holder of the lock may need the engine of which this thread is a worker.
            if (!lock.tryLock(0, TimeUnit.NANOSECONDS)) {
                Engine.blocking(lock::lockInterruptibly);
            }
            return lock;
        } catch (InterruptedException e) {
            if (claim != null) {
                claim.giveBack();
            }
            Thread.currentThread().interrupt();
            throw interruptedBefore(e);
        }
    }

    static ProgramFailedException interruptedBefore(InterruptedException e) {
        return new ProgramFailedException("plan",
                "Interrupted before the run began; no variable was changed: run the plan again", e);
    }

    /**
     * Pushes a run as one operation of an engine, together with operations on arrays. The operation reads the variables
     * of the feeds and mutates the variables of the outputs and of the scope. Runs on one scope execute in push order.
     * A run that fails, or reaches the end of the data of a reader, poisons the variables of the outputs and of the
     * scope.
     *
     * @param engine
     *            the engine, which runs the operation on its compute lane
     * @param root
     *            the scope that holds persistable variables; from now on, they may only be accessed in operations that
     *            declare {@link Scope#var()}, or after waiting for it
     * @param inputs
     *            an array for each feed; arrays on accelerators are copied to the host
     * @param outputs
     *            arrays of the fetches' types and shapes that receive the results; other fetches are ignored
     * @throws IllegalArgumentException
     *             if a feed is missing, unknown, or of another type or shape than its variable (a
     *             {@link BadRequestException}), if an output is not a fetch, or if an array or the scope belongs to
     *             another engine
     * @throws IllegalStateException
     *             if the executor is closed, or is being closed; runs that were pushed before are still executed
     */
    public void push(Engine engine, Scope root, Map<String, NDArray> inputs, Map<String, NDArray> outputs) {
        new PlanPush(this, feeds.names(), fetches.names()).push(engine, root, inputs, outputs);
    }

    /**
     * Pushes a run like {@link #push(Engine, Scope, Map, Map)}, with arrays in the order of feeds and fetches.
     *
     * @param engine
     *            the engine, which runs the operation on its compute lane
     * @param root
     *            the scope that holds persistable variables
     * @param inputs
     *            an array for each feed
     * @param outputs
     *            an array for each fetch
     * @throws IllegalArgumentException
     *             if the number of arrays differs, if the type or shape of a feed is not that of its variable (a
     *             {@link BadRequestException}), or if an array or the scope belongs to another engine
     * @throws IllegalStateException
     *             if the executor is closed, or is being closed
     */
    public void push(Engine engine, Scope root, List<NDArray> inputs, List<NDArray> outputs) {
        new PlanPush(this, feeds.names(), fetches.names()).push(engine, root, inputs, outputs);
    }

    private Results run(Scope root, Map<String, Tensor> fed, Cancellation cancellation) {
        fed.putAll(lods.values(source(root, fed)));
        Set<String> kept = root.kept();
        BlockPlan plan = blocks.global(kept);
        ValueNumbering accesses = plan.accesses();
        @Nullable
        Object[] externals = externals(accesses, root, fed);
        if (!stored.isEmpty()) {
            store(root, fed);
            for (int i = 0; i < externals.length; i++) {
                ValueNumbering.Value value = accesses.values().get(accesses.externals()[i]);
                if (isStored(value)) {
                    externals[i] = root.value(value.name());
                }
            }
        }
        Map<String, Tensor> results = LinkedHashMap.newLinkedHashMap(fetches.names().size());
        Map<String, Tensor> offsets = new HashMap<>();
        RunRecorder recorder = executor.options().recorder();
        Recording recording = recorder == null || !recorder.isRecording() ? null : new Recording(recorder);
        boolean sharesMemory = makesAliases || root.sharesMemory();
        RunContext context = new RunContext(externals, root.bindings(),
                new RunContext.Lazy(executor.interpreter(),
                        program.global(), fed, executor.nextRun(),
                        blocks.execution(root.bindings(), sharesMemory, cancellation, recording), facts),
                cancellation,
                recording, ReadInstruction::next, sharesMemory ? null : blocks::inner);
        plan.run(context, frame -> {
            for (int value : accesses.wanted()) {
                String name = accesses.values().get(value).name();
                Object result = frame.take(value);
                if (fetches.names().contains(name)) {
                    results.put(name, tensor(name, result));
                } else if (lods.fetches().contains(name) && result instanceof Tensor tensor) {
                    offsets.put(name, tensor);
                }
                if (kept.contains(name) && result != null) {
                    root.put(name, result);
                }
            }
        });
        results.replaceAll((name, value) -> lods.result(name, value, source(root, fed), offsets::get));
        return new Results(results);
    }

    /**
     * Stores copies of the feeds that are persistable, which the run may then change. A feed has memory of its own, as
     * in PaddlePaddle, also if its variable has shared that of others.
     */
    private void store(Scope root, Map<String, Tensor> fed) {
        for (String name : stored) {
            Tensor value = Objects.requireNonNull(fed.get(name));
            root.replace(name, Copies.to(executor.options().devices().host(), value).withLod(value.lod()));
        }
    }

    private boolean isStored(ValueNumbering.Value value) {
        return value.origin() == ValueNumbering.Origin.OUTSIDE && stored.contains(value.name());
    }

    /** The values of variables that are fed or in the scope; null for those without. */
    private static Function<String, @Nullable Tensor> source(Scope root, Map<String, Tensor> fed) {
        return name -> {
            Tensor tensor = fed.get(name);
            return tensor == null && root.value(name) instanceof Tensor there ? there : tensor;
        };
    }

    private static Tensor tensor(String name, @Nullable Object value) {
        return switch (value) {
            case Tensor tensor -> tensor;
            case SelectedRows rows -> rows.whole();
            case null -> throw new IllegalArgumentException("Fetch '" + name + "' has no value: nothing computes it");
            default ->
                throw new IllegalArgumentException(
                        "Fetch '" + name
                                + "' must hold a tensor, but holds a list: fetch its elements, or concatenate them");
        };
    }

    @Nullable
    Object[] externals(ValueNumbering accesses, Scope root, Map<String, Tensor> fed) {
        @Nullable
        Object[] externals = new Object[accesses.externals().length];
        for (int i = 0; i < externals.length; i++) {
            ValueNumbering.Value value = accesses.values().get(accesses.externals()[i]);
            externals[i] = value.origin() == ValueNumbering.Origin.FED || isStored(value)
                    ? fed.get(value.name())
                    : root.value(value.name());
            if (externals[i] == null) {
                requireUnread(accesses, accesses.externals()[i]);
            }
        }
        return externals;
    }

    /** Throws if a lowered operation reads a value that is neither fed nor in the scope, and not written before. */
    private void requireUnread(ValueNumbering accesses, int value) {
        for (Access access : accesses.operations()) {
            Operation schema = Operations.system().find(access.op().type());
            if (schema != null && schema.isLowered()
                    && Arrays.stream(access.reads()).anyMatch(read -> read == value)) {
                ValueNumbering.Value missing = accesses.values().get(value);
                OpDesc op = access.op();
                String message =
                        "Variable '" + missing.name() + "' has no value, but operation " + access.index() + " ("
                                + op.type() + ") reads it: ";
                throw missing.persistable()
                        ? new IllegalArgumentException(
                                message + "run the startup program first, or set it in the scope, a loaded model's "
                                        + "parameters by parameters().forEach(scope::set)")
                        : new BadRequestException(message + "feed it; the feeds of the plan are " + feeds.names());
            }
            if (Arrays.stream(access.writes()).anyMatch(written -> written == value)) {
                return;
            }
        }
    }

    /** Returns the plan compiled for some values, for viewing. */
    CompiledPlan specialisation(Scope root, Tensor... values) {
        return specialisation(root, blocks.global(root.kept()).sharing(root.bindings()), values);
    }

    /** Returns the plan compiled for some values and a given sharing of memory. */
    CompiledPlan specialisation(Scope root, Sharing sharing, Tensor... values) {
        BlockPlan plan = blocks.global(root.kept());
        Map<String, Tensor> fed = requirements.checked(values);
        fed.putAll(lods.values(source(root, fed)));
        return plan.variant(externals(plan.accesses(), root, fed), sharing).plan();
    }

    /**
     * Returns with how many combinations of shapes the program was run, apart from those in the blocks of loops and
     * branches, and from sizes that are known only during the run. The memory of what is compiled for the latter
     * counts.
     *
     * @return the counts since the plan was compiled; other runs may go on meanwhile
     */
    public BoundSizes bindings() {
        return blocks.global(executor.scope().kept()).bindings();
    }

    /** Returns how often those parts of the program were compiled that follow late sizes. */
    List<Long> boundLate() {
        return blocks.global(executor.scope().kept()).boundLate();
    }

    /** Returns {@link #bindings} of an inner block. */
    BoundSizes bindings(int block) {
        BlockPlan known = blocks.reached(block);
        return known == null ? new BoundSizes(0, 0, 0, 0) : known.bindings();
    }

    /** Returns the plan of an inner block; null if it has not run. */
    @Nullable
    BlockPlan inner(int block) {
        return blocks.reached(block);
    }

    /** Closes all idle frames. */
    void closeIdle() {
        blocks.closeIdle();
    }

    /** Closes all compiled plans and their idle frames. */
    void close() {
        blocks.close();
    }

    @Override
    public String toString() {
        return "plan of " + program.global().ops().size() + " operations, fed " + feeds.names() + ", fetches "
                + Objects.toString(fetches.names());
    }
}
