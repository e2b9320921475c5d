package io.seriatim.executor.compile;

import io.seriatim.executor.ir.NanPolicy;
import io.seriatim.executor.ir.OpenSizes;
import io.seriatim.executor.ir.Options;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Sharing;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.executor.lower.Cuts;
import io.seriatim.executor.lower.FoldedResults;
import io.seriatim.executor.lower.Lowerer;
import io.seriatim.executor.pass.Layouts;
import io.seriatim.executor.pass.PackedResults;
import io.seriatim.executor.pass.ParameterResults;
import io.seriatim.executor.pass.PassContext;
import io.seriatim.executor.pass.PassPipeline;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.schedule.Dependencies;
import io.seriatim.executor.schedule.Lifetimes;
import io.seriatim.executor.schedule.MemoryPlan;
import io.seriatim.executor.schedule.Placement;
import io.seriatim.executor.schedule.Priorities;
import io.seriatim.executor.schedule.Releases;
import io.seriatim.executor.schedule.ShortPlans;
import io.seriatim.executor.schedule.Streams;
import io.seriatim.executor.schedule.Tiling;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.PreparationMemoryError;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Compiles a block to a plan for the types and shapes of its external values. Each step is a function of the result of
 * the previous one. No kernel is run.
 */
public final class PlanCompiler {
    private final Options options;
    private final PreparedKernels kernels;
    private final Interpreter interpreter;

    public PlanCompiler(Options options, PreparedKernels kernels, Interpreter interpreter) {
        this.options = options;
        this.kernels = kernels;
        this.interpreter = interpreter;
    }

    public PreparedKernels kernels() {
        return kernels;
    }

    /**
     * Compiles a plan. If {@code once} is true, the program runs once, so that memory planning, tiling and the passes
     * that do not pay off within one run are skipped.
     *
     * @param constants
     *            the variables from outside of the block that are constants
     * @param open
     *            the sizes of external values that may be others in a run
     * @param cuts
     *            whether what follows a type that is known only at run time becomes a task of its own
     * @param folded
     *            the results that earlier plans of the block have folded
     */
    public CompiledPlan specialise(ValueNumbering accesses, @Nullable Object[] externals, OpenSizes open,
            Map<String, Tensor> constants, Sharing sharing, Cuts cuts, boolean once, FoldedResults folded) {
        long limit = options.devices().host().memory().limit();
        MemoryLimits limits = new MemoryLimits(limit);
        ValueTable values = new ValueTable(accesses);
        boolean keepsAll = options.nanCheck() || !options.passes().contains(PassName.SIMPLIFICATION);
        Lowerer lowerer = new Lowerer(accesses, values, constants, cuts,
                op -> !keepsAll && Operations.system().isPure(op, accesses.block().program(),
                        options.paddleRandom() != null),
                interpreter, options.paddleRandom(), limit, folded);
        TaskGraph graph = new TaskGraph(lowerer.lower(externals, open, sharing), values);
        try {
            return planned(graph, accesses, once, limits, externals, open, sharing, lowerer.storages());
        } catch (PreparationMemoryError e) {
            throw MemoryLimits.exhausted(graph, e);
        }
    }

    private CompiledPlan planned(TaskGraph graph, ValueNumbering accesses, boolean once, MemoryLimits limits,
            @Nullable Object[] externals, OpenSizes open, Sharing sharing, List<Integer> storages) {
        ValueTable values = graph.values();
        limits.checkBeforePasses(graph, this::isOfHost);
        // The check for NaN needs the results of every operation. The passes assume that different values have disjoint
        // memory.
        if (!options.nanCheck() && !values.hasParts()) {
            PassPipeline.run(graph, new PassContext(accesses.block().program(), options, kernels), once);
        }
        Placement.of(graph, options, kernels, accesses.block().index() > 0);
        limits.check(graph);
        List<ParameterResults.Kept> kept = kept(graph, accesses, once);
        Priorities.order(graph, accesses.block(), options);
        boolean hostOnly = graph.tasks().stream().allMatch(task -> task.place().isHost());
        if (!once && hostOnly && isSplit() && !values.hasParts() && !isShort(graph, accesses)) {
            Tiling.split(graph, options, kernels, !NanPolicy.trains(accesses.block().program()));
        }
        // After Tiling, since tiles may want their weights in other layouts.
        kept = PackedResults.pack(graph, kept, kernels);
        return scheduled(graph, accesses, hostOnly, once, kept, externals, open, sharing, storages);
    }

    /** Returns whether a task is to run on the host, before tasks are placed. */
    private boolean isOfHost(Task.Compute task) {
        return task.placeRequest().resolve(options.place()).isHost();
    }

    private CompiledPlan scheduled(TaskGraph graph, ValueNumbering accesses, boolean hostOnly, boolean once,
            List<ParameterResults.Kept> kept, @Nullable Object[] externals, OpenSizes open, Sharing sharing,
            List<Integer> storages) {
        List<Task> tasks = graph.tasks();
        Map<Streams.Key, Integer> keys = new LinkedHashMap<>();
        int[] stream = Streams.assign(tasks, keys);
        boolean inOrder = hostOnly && (once || options.inOrder());
        Dependencies dependencies = once && hostOnly
                ? Dependencies.none(tasks.size())
                : Dependencies.of(graph, accesses.block(), options);
        int[][] before = hostOnly ? dependencies.before() : Streams.chained(dependencies.before(), stream);
        Lifetimes lifetimes = Lifetimes.of(graph);
        MemoryPlan memory = options.memoryPlan() && !once
                ? MemoryPlan.of(graph, lifetimes, before, inOrder, options.inPlace())
                : MemoryPlan.none(graph, lifetimes, before, inOrder);
        Streams streams = Streams.of(keys, stream, memory.before());
        List<Layouts.Packed> packed = layouts(graph, once);
        Preparation.load(tasks, packed, kept);
        return new CompiledPlan(accesses, graph.values(), tasks, dependencies, streams, memory,
                Releases.of(graph, lifetimes, memory, inOrder), packed, kept, memory.before(),
                Dependencies.after(memory.before()), specs(externals), open, sharing, storages);
    }

    private List<ParameterResults.Kept> kept(TaskGraph graph, ValueNumbering accesses, boolean once) {
        boolean isInference = options.place().isHost() && !NanPolicy.trains(accesses.block().program());
        return isInference && keepsCopies(graph, once) ? ParameterResults.take(graph, kernels) : List.of();
    }

    private List<Layouts.Packed> layouts(TaskGraph graph, boolean once) {
        return keepsCopies(graph, once) ? Layouts.of(graph, kernels) : List.of();
    }

    /** Returns whether a plan may keep copies and results of variables for later runs. */
    private boolean keepsCopies(TaskGraph graph, boolean once) {
        return !once && !options.nanCheck() && !graph.values().hasParts()
                && options.passes().contains(PassName.LAYOUTS);
    }

    /** Returns whether several threads would make a plan slower. */
    private boolean isShort(TaskGraph graph, ValueNumbering accesses) {
        return !options.eager()
                && ShortPlans.contain(graph.tasks(), graph.values(),
                        () -> Dependencies.of(graph, accesses.block(), options).before(), options.threads());
    }

    /** Returns whether the options allow tiling, and several threads can run tiles in parallel. */
    private boolean isSplit() {
        return options.passes().contains(PassName.PARTITION) && options.threads() > 1 && options.memoryPlan()
                && !options.inOrder()
                && !options.sequential() && options.engine() == null && !options.nanCheck();
    }

    /** Returns the types and shapes of external values; null for those that are no tensors. */
    public static @Nullable TensorSpec[] specs(@Nullable Object[] externals) {
        @Nullable
        TensorSpec[] specs = new TensorSpec[externals.length];
        for (int i = 0; i < specs.length; i++) {
            specs[i] = externals[i] instanceof Tensor tensor ? tensor.spec().rowMajor() : null;
        }
        return specs;
    }
}
