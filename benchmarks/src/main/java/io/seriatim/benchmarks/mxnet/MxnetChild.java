package io.seriatim.benchmarks.mxnet;

import io.seriatim.benchmarks.engine.Workload;
import io.seriatim.benchmarks.internal.ffi.MxnetEngine;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.LongStream;

/** Runs workloads on MXNet's engine as requested by lines on stdin; see {@link MxnetSession}. */
final class MxnetChild {
    private static final int WARM_UPS = 5;
    private static final int WARM_UP_OPS = 20_000;

    private final MxnetEngine engine;
    private final Map<String, Workload> workloads = new HashMap<>();

    private MxnetChild(MxnetEngine engine) {
        this.engine = engine;
    }

    /**
     * Serves requests until the end of stdin.
     *
     * @param args
     *            the path of the library
     */
    public static void main(String[] args) throws IOException {
        MxnetChild child = new MxnetChild(new MxnetEngine(Path.of(args[0])));
        for (int i = 0; i < WARM_UPS; i++) {
            Workload.NAMES.forEach(name -> child.run(Workload.of(name, WARM_UP_OPS)));
        }
        System.out.println("ready");
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                int blank = line.indexOf(' ');
                int ops = Integer.parseInt(line.substring(blank + 1));
                Workload workload = child.workloads.computeIfAbsent(line,
                        key -> Workload.of(key.substring(0, blank), ops));
                System.out.println("ran " + child.run(workload) + " " + workload.size());
            }
        }
        // Halts instead of exiting, because the library may hang at exit.
        Runtime.getRuntime().halt(0);
    }

    /** Returns the nanoseconds from the first push to the end of the last operation. */
    private long run(Workload workload) {
        long[] vars = LongStream.generate(engine::newVariable).limit(workload.vars()).toArray();
        int n = workload.size();
        long start = System.nanoTime();
        for (int i = 0; i < n; i++) {
            int first = workload.firstRead(i);
            int second = workload.secondRead(i);
            int mutated = workload.mutates(i);
            int reading = second >= 0 ? 2 : first >= 0 ? 1 : 0;
            engine.push(at(vars, first), at(vars, second), reading, at(vars, mutated), mutated >= 0 ? 1 : 0);
        }
        engine.waitForAll();
        return System.nanoTime() - start;
    }

    private static long at(long[] vars, int v) {
        return v >= 0 ? vars[v] : 0;
    }
}
