package io.seriatim.executor;

import io.seriatim.executor.ir.Bindings;
import io.seriatim.executor.ir.PlaceRequest;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.lower.InnerBlocks;
import io.seriatim.executor.run.Cancellation;
import io.seriatim.executor.run.Frame;
import io.seriatim.executor.run.NamedResults;
import io.seriatim.executor.run.NestedBlock;
import io.seriatim.executor.run.Recording;
import io.seriatim.executor.run.RunContext;
import io.seriatim.graph.interpret.BlockExecution;
import io.seriatim.graph.interpret.BlockSession;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.Program;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The plans of a program's blocks. Each is made when a run first reaches its block, by value numbering, which takes no
 * lock: if several threads number the same block, the first result is used by all of them.
 */
final class BlockPlans {
    private final Executor executor;
    private final Program program;
    /** The names of all values that a run is given and that the scope does not hold, batches of readers apart. */
    private final List<String> given;
    /** The names of the values that a run returns or computes results with. */
    private final List<String> wanted;
    private final boolean once;
    private final boolean makesAliases;
    private final boolean usesDevice;
    private @Nullable InnerBlocks innerBlocks;
    /** The plans of the global block, by the set of variables that the scope keeps. */
    private final Map<Set<String>, BlockPlan> global = new ConcurrentHashMap<>();
    /** Those of the other blocks, by index. */
    private final Map<Integer, BlockPlan> inner = new ConcurrentHashMap<>();

    BlockPlans(Executor executor, Program program, List<String> given, List<String> wanted, boolean once,
            boolean makesAliases) {
        this.executor = executor;
        this.program = program;
        this.given = given;
        this.wanted = wanted;
        this.once = once;
        this.makesAliases = makesAliases;
        this.usesDevice = PlaceRequest.usesDevice(program, executor.options().place());
    }

    /** Returns the plan of the global block for a scope that keeps some variables. */
    BlockPlan global(Set<String> kept) {
        BlockPlan known = global.get(kept);
        return known != null ? known : first(global, kept, numberedGlobal(kept));
    }

    private BlockPlan numberedGlobal(Set<String> kept) {
        Set<String> all = new LinkedHashSet<>(wanted);
        kept.stream().filter(name -> program.global().var(name) != null).forEach(all::add);
        return new BlockPlan(executor, ValueNumbering.of(program.global(), given, List.copyOf(all)), once, usesDevice);
    }

    /** Returns the plan of the block of a loop or branch. */
    BlockPlan inner(Block block) {
        BlockPlan known = inner.get(block.index());
        return known != null ? known : first(inner, block.index(), numberedInner(block));
    }

    private BlockPlan numberedInner(Block block) {
        InnerBlocks blocks = innerBlocks();
        ValueNumbering accesses = blocks.numbered(block);
        return BlockPlan.inner(executor, accesses, usesDevice, blocks.constants(accesses));
    }

    private synchronized InnerBlocks innerBlocks() {
        InnerBlocks known = innerBlocks;
        if (known == null) {
            known = InnerBlocks.of(program, Set.copyOf(given), makesAliases, executor.interpreter());
            innerBlocks = known;
        }
        return known;
    }

    /** Returns how a run executes the blocks of operations that have variables by name. */
    BlockExecution execution(Bindings root, boolean sharesMemory, Cancellation cancellation,
            @Nullable Recording recording) {
        return new NamedBlocks(this, root, sharesMemory, cancellation, recording);
    }

    /** Runs blocks with the variables of the enclosing blocks. */
    private record NamedBlocks(BlockPlans plans, Bindings root, boolean sharesMemory, Cancellation cancellation,
            @Nullable Recording recording) implements BlockExecution {
        @Override
        public void run(BlockSession session) {
            BlockPlan plan = plans.inner(session.block());
            run(session, new NamedResults(plan.accesses(), session), plan::run);
        }

        @Override
        public Steps begin(Block block) {
            BlockPlan plan = plans.inner(block);
            NestedBlock.Iterations iterations = plan.begin(true);
            return new Steps() {
                private @Nullable NamedResults variables;

                @Override
                public void run(BlockSession step) {
                    NamedResults known = variables;
                    if (known == null) {
                        known = new NamedResults(plan.accesses(), step);
                        variables = known;
                    }
                    NamedBlocks.this.run(step, known, iterations::run);
                }

                @Override
                public void close() {
                    iterations.close();
                }
            };
        }

        private void run(BlockSession session, NamedResults variables, BiConsumer<RunContext, Consumer<Frame>> plan) {
            cancellation.begin(session.block());
            plan.accept(new RunContext(variables.externals(session),
                    new SessionBindings(session, root, sharesMemory), () -> session, cancellation, recording,
                    ReadInstruction::next, sharesMemory ? null : plans::inner, session.iteration()),
                    frame -> variables.set(frame, session));
        }
    }

    private static <K> BlockPlan first(Map<K, BlockPlan> plans, K key, BlockPlan made) {
        BlockPlan before = plans.putIfAbsent(key, made);
        return before == null ? made : before;
    }

    /** Returns the plan of the block of a loop or branch; null if no run has reached it. */
    @Nullable
    BlockPlan reached(int block) {
        return inner.get(block);
    }

    /** Closes all idle frames. */
    void closeIdle() {
        global.values().forEach(BlockPlan::closeIdle);
        inner.values().forEach(BlockPlan::closeIdle);
    }

    /** Closes all compiled plans and their idle frames. */
    void close() {
        global.values().forEach(BlockPlan::close);
        inner.values().forEach(BlockPlan::close);
    }
}
