package io.seriatim.executor;

import io.seriatim.graph.Network;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** A program, the feeds of each run, and the results and variables that the interpreter computes from them. */
record Expected(String what, Program startup, Program main, List<String> fetches, List<Map<String, Tensor>> fed,
        List<Map<String, Tensor>> results,
        Map<String, Tensor> left) {
    static Expected of(String what, Program startup, Program main, List<String> fetches,
            List<Map<String, Tensor>> fed) {
        Interpreter interpreter = Interpreter.of(Kernels.system());
        interpreter.run(startup, Map.of(), List.of());
        List<Map<String, Tensor>> results = new ArrayList<>();
        for (Map<String, Tensor> each : fed) {
            results.add(interpreter.run(main, each, fetches));
        }
        Map<String, Tensor> left = new TreeMap<>();
        for (VarDesc each : main.persistables()) {
            left.put(each.name(), Bits.copy(interpreter.get(each.name())));
        }
        return new Expected(what, startup, main, fetches, fed, results, left);
    }

    static List<String> names(Network network) {
        return network.outputs().values().values().stream().map(Value::name).distinct().toList();
    }

    /** Returns a random program that overwrites some variables, with operations at random places. */
    static Expected random(long seed, int operations, int overwritten, String... places) {
        Network network = RandomNetworks.of(seed, operations);
        Program main = RandomNetworks.placed(RandomNetworks.overwritten(network.main(), seed, overwritten), seed,
                places);
        return of("seed " + seed, RandomNetworks.placed(network.startup(), seed + 1, places), main, names(network),
                List.of(Map.of("x", Bits.normal(0, 4, 6)), Map.of("x", Bits.normal(1, 4, 6)),
                        Map.of("x", Bits.normal(2, 4, 6))));
    }

    /** Returns a random program with branches and loops. */
    static Expected control(long seed, boolean trains, String... places) {
        Network network = RandomControlFlow.of(seed, trains);
        List<Map<String, Tensor>> fed = new ArrayList<>();
        for (int[] each : new int[][]{{3, 2}, {3, 0}, {5, 3}}) {
            fed.add(Map.of("x", Bits.normal(each[1], each[0], RandomControlFlow.WIDTH), "n", Bits.longs(each[1])));
        }
        return of("control flow, seed " + seed, RandomNetworks.placed(network.startup(), seed + 1, places),
                RandomNetworks.placed(network.main(), seed, places), names(network), fed);
    }

    Plan compile(Executor executor) {
        return executor.compile(main, new Feeds(feeds()), new Fetches(fetches));
    }

    private List<String> feeds() {
        return List.copyOf(new TreeMap<>(fed.getFirst()).keySet());
    }

    Tensor[] batch(int run) {
        return feeds().stream().map(fed.get(run)::get).toArray(Tensor[]::new);
    }

    /** Runs the startup program and all runs, and compares all results and variables bit for bit. */
    void check(Executor executor, String where) {
        String at = what + ", " + where;
        try {
            executor.run(startup);
            Plan plan = compile(executor);
            for (int i = 0; i < fed.size(); i++) {
                check(plan.run(batch(i)), i, at);
            }
            left.forEach((name, tensor) -> Bits.assertSame(tensor, executor.scope().get(name), at + ", " + name));
        } catch (RuntimeException e) {
            throw new AssertionError(at + " fails: " + e, e);
        }
    }

    private void check(Results found, int run, String at) {
        for (String name : fetches) {
            Bits.assertSame(Objects.requireNonNull(results.get(run).get(name)), found.get(name),
                    at + ", run " + run + ", " + name);
        }
    }
}
