package io.seriatim.benchmarks.engine;

import io.seriatim.engine.Engine;
import io.seriatim.engine.OpBuilder;
import io.seriatim.engine.Var;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Seriatim's engine, used as documented: each operation is described and pushed with a lambda as its body. */
final class SeriatimEngine implements Contender {
    private final String name;
    private final int workers;
    private final Engine engine;

    /** Wraps an engine and closes it at the end. */
    SeriatimEngine(String name, int workers, Engine engine) {
        this.name = name;
        this.workers = workers;
        this.engine = engine;
    }

    static SeriatimEngine of(EngineSetting setting, int workers) {
        String kind = setting == EngineSetting.PER_DEVICE ? "seriatim" : "seriatim " + setting;
        Engine engine = setting.builder(workers).name("bench").build();
        return setting.hasWorkers()
                ? new SeriatimEngine(kind + Workers.text(workers), workers, engine)
                : new SeriatimEngine(kind, 0, engine);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int workers() {
        return workers;
    }

    @Override
    public boolean ours() {
        return true;
    }

    @Override
    public Lap run(Work work) throws InterruptedException {
        List<WorkloadRun> runs = work.begin();
        List<Runnable> pushers = new ArrayList<>();
        for (WorkloadRun run : runs) {
            Var[] vars = Stream.generate(engine::newVar).limit(run.workload().vars()).toArray(Var[]::new);
            pushers.add(() -> pushAll(run, vars));
        }
        return work.lap(Pushers.time(pushers, engine::waitForAll), runs);
    }

    private void pushAll(WorkloadRun run, Var[] vars) {
        Workload workload = run.workload();
        String operation = workload.name();
        int n = workload.size();
        for (int i = 0; i < n; i++) {
            push(run, i, workload, vars, engine.op(operation));
        }
    }

    private static void push(WorkloadRun run, int id, Workload workload, Var[] vars, OpBuilder op) {
        int first = workload.firstRead(id);
        int second = workload.secondRead(id);
        if (second >= 0) {
            op.reads(vars[first], vars[second]);
        } else if (first >= 0) {
            op.reads(vars[first]);
        }
        int mutated = workload.mutates(id);
        if (mutated >= 0) {
            op.mutates(vars[mutated]);
        }
        op.push(() -> run.operation(id));
    }

    @Override
    public void close() {
        engine.close();
    }
}
