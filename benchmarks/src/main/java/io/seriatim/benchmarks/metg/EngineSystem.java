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
 * Seriatim's engine: operations are prepared once for each task of the table and pushed in bulk. A value is stored in
 * one of two variables of its column, in turn, so the engine also orders a store after the reads of the value it
 * replaces. The time includes the preparation.
 */
final class EngineSystem extends ThreadSystem {
    /** The values of a column are this far apart, so that no two share a cache line. */
    private static final int PADDING = 8;
    private static final int BULK = 64;
    private static final int TRIVIAL_ROWS = 64;

    private final Engine engine;
    private final UnaryOperator<TaskGraph> declared;

    EngineSystem(int workers) {
        this(Engine.builder().pooled(workers).name("metg").build(), workers, UnaryOperator.identity());
    }

    /**
     * Creates a system on an engine.
     *
     * @param declared
     *            changes the graph whose dependencies are declared; a test removes one
     */
    EngineSystem(Engine engine, int workers, UnaryOperator<TaskGraph> declared) {
        super("seriatim", "Seriatim", Kind.OURS, workers);
        this.engine = engine;
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
            int prologue = run.graph().prologue();
            List<PreparedOp> bulk = new ArrayList<>();
            for (int step = 0; step < run.steps(); step++) {
                bulk.addAll(steps.get(step < prologue ? step : prologue + (step - prologue) % cycle));
                if (bulk.size() >= BULK) {
                    engine.pushAll(bulk);
                    bulk.clear();
                }
            }
            engine.pushAll(bulk);
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
