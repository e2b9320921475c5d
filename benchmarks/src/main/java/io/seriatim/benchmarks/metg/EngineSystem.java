package io.seriatim.benchmarks.metg;

import io.seriatim.benchmarks.metg.TaskGraph.Task;
import io.seriatim.engine.Body;
import io.seriatim.engine.Engine;
import io.seriatim.engine.OpBuilder;
import io.seriatim.engine.PreparedOp;
import io.seriatim.engine.Var;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/**
 * Seriatim's engine: operations are prepared once for each task of the table, and pushed in bulk, or joined to a graph
 * that is pushed again and again. A value is stored in one of two variables of its column, in turn, so the engine also
 * orders a store after the reads of the value it replaces. The time includes the preparation.
 */
final class EngineSystem extends ThreadSystem {
    /** The values of a column are this far apart, so that no two share a cache line. */
    private static final int PADDING = 8;
    private static final int BULK = 64;
    /** The number of tasks of a graph, if the steps that repeat are fewer. */
    private static final int GRAPH = 512;
    private static final int TRIVIAL_ROWS = 64;

    private final Engine engine;
    private final boolean joined;
    private final UnaryOperator<TaskGraph> declared;

    EngineSystem(int workers, boolean joined) {
        this(Engine.builder().pooled(workers).name("metg").build(), workers, joined, UnaryOperator.identity());
    }

    /**
     * Creates a system on an engine.
     *
     * @param joined
     *            whether operations are joined to a graph
     * @param declared
     *            changes the graph whose dependencies are declared; a test removes one
     */
    EngineSystem(Engine engine, int workers, boolean joined, UnaryOperator<TaskGraph> declared) {
        super(joined ? "seriatim-graph" : "seriatim", joined ? "Seriatim, graph" : "Seriatim", Kind.OURS, workers);
        this.engine = engine;
        this.joined = joined;
        this.declared = declared;
    }

    @Override
    public long run(TaskGraph graph, int steps, int iterations) throws InterruptedException, WrongValueException {
        TaskRun run = new TaskRun(graph, steps, iterations);
        long start = System.nanoTime();
        Operations operations = new Operations(run);
        operations.push();
        engine.waitForAll();
        long nanos = System.nanoTime() - start;
        operations.delete();
        run.finish();
        return nanos;
    }

    @Override
    public void close() {
        engine.close();
    }

    /** The prepared operations of a run: those of the prologue, and those of an even number of steps that repeat. */
    private final class Operations {
        private final TaskRun run;
        private final long[][] values;
        private final Var[][] vars = new Var[2][];
        private final boolean ordered;
        private final int cycle;
        private final List<List<PreparedOp>> steps = new ArrayList<>();

        Operations(TaskRun run) {
            this.run = run;
            TaskGraph graph = run.graph();
            TaskGraph order = declared.apply(graph);
            ordered = graph.hasDependencies();
            int period = graph.period();
            cycle = ordered ? (period % 2 == 0 ? period : 2 * period) : TRIVIAL_ROWS;
            values = new long[2][graph.columns() * PADDING];
            for (int half = 0; half < 2; half++) {
                vars[half] = new Var[graph.columns()];
                for (int column = 0; ordered && column < graph.columns(); column++) {
                    vars[half][column] = engine.newVar();
                }
            }
            for (int step = 0; step < Math.min(run.steps(), graph.prologue() + cycle); step++) {
                steps.add(prepare(step, graph, order));
            }
        }

        private List<PreparedOp> prepare(int step, TaskGraph graph, TaskGraph order) {
            List<PreparedOp> ops = new ArrayList<>();
            int row = graph.row(step);
            for (int column = 0; column < graph.columns(); column++) {
                Task task = graph.at(row, column);
                Task asDeclared = order.at(row, column);
                if (task != null && asDeclared != null) {
                    OpBuilder op = engine.op("task");
                    if (ordered) {
                        for (int input : asDeclared.inputs()) {
                            op.reads(vars[(step + 1) % 2][input]);
                        }
                        op.mutates(vars[step % 2][column]);
                    }
                    ops.add(op.prepare(ordered ? new Ordered(step, column, task) : new Free(step, column, task)));
                }
            }
            return ops;
        }

        void push() {
            if (joined) {
                pushGraph();
                return;
            }
            for (int step = 0; step < run.steps();) {
                List<PreparedOp> bulk = new ArrayList<>();
                while (step < run.steps() && bulk.size() < BULK) {
                    bulk.addAll(at(step++));
                }
                engine.pushAll(bulk);
            }
        }

        private void pushGraph() {
            int prologue = Math.min(run.graph().prologue(), run.steps());
            int cycles = (run.steps() - prologue) / cycle;
            int pushed = prologue;
            engine.pushAll(between(0, prologue));
            if (cycles > 0) {
                int together = Math.min(cycles, Math.max(1, GRAPH / between(prologue, prologue + cycle).size()));
                int by = together * cycle;
                PreparedOp graph = engine.prepareAll("steps", between(prologue, prologue + by));
                for (; pushed + by <= run.steps(); pushed += by) {
                    graph.push();
                }
                graph.delete();
            }
            engine.pushAll(between(pushed, run.steps()));
        }

        private List<PreparedOp> at(int step) {
            int prologue = run.graph().prologue();
            return steps.get(step < prologue ? step : prologue + (step - prologue) % cycle);
        }

        /** Returns the operations of some steps. */
        private List<PreparedOp> between(int from, int to) {
            List<PreparedOp> ops = new ArrayList<>();
            for (int step = from; step < to; step++) {
                ops.addAll(at(step));
            }
            return ops;
        }

        void delete() {
            steps.forEach(step -> step.forEach(PreparedOp::delete));
            for (Var[] half : vars) {
                for (int column = 0; ordered && column < half.length; column++) {
                    engine.delete(half[column]);
                }
            }
        }

        /** A task whose runs are ordered by the variable that it mutates, so that it can count them. */
        private final class Ordered implements Body {
            private final int column;
            private final Task task;
            private int step;

            Ordered(int first, int column, Task task) {
                this.step = first;
                this.column = column;
                this.task = task;
            }

            @Override
            public void run() {
                int now = step;
                step = now + cycle;
                long[] before = values[(now + 1) & 1];
                for (int input : task.inputs()) {
                    run.input(now, column, input, before[input * PADDING]);
                }
                values[now & 1][column * PADDING] = run.execute(now, column, task);
            }
        }

        /** A task without variables, whose runs may overlap. */
        private final class Free implements Body {
            private final int column;
            private final Task task;
            private final AtomicInteger step;

            Free(int first, int column, Task task) {
                this.step = new AtomicInteger(first);
                this.column = column;
                this.task = task;
            }

            @Override
            public void run() {
                run.execute(step.getAndAdd(cycle), column, task);
            }
        }
    }
}
