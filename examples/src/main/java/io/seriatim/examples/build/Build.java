package io.seriatim.examples.build;

import io.seriatim.engine.Engine;
import io.seriatim.engine.OperationFailedException;
import io.seriatim.engine.Recorder;
import io.seriatim.engine.TraceFile;
import io.seriatim.engine.Var;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A build tool for Java projects of several modules, in two versions: {@link #serial}, a plain loop, and
 * {@link #parallel}, the same loop with each step pushed on an engine. Both compile each module against the jars of the
 * modules that it uses, pack it, and write a report; both write the same bytes.
 *
 * <p>
 * {@code Build [PROJECT [OUT]]} builds a project with both versions and compares the results.
 */
public final class Build {
    private static final int ROUNDS = 4;

    private Build() {
    }

    /**
     * Builds a project, {@code shop} by default, into another folder.
     *
     * @param args
     *            the project's folder and the output folder
     * @throws Exception
     *             if the project cannot be built
     */
    public static void main(String... args) throws Exception {
        Project project = Project.read(Path.of(args.length > 0 ? args[0] : "shop"));
        Path out = args.length > 1 ? Path.of(args[1]) : Files.createTempDirectory("build");

        for (int round = 1; round <= ROUNDS; round++) { // the first ones are the compiler's own start
            long start = System.nanoTime();
            serial(project, out.resolve("serial"));
            long between = System.nanoTime();
            try (TraceFile trace = Recorder.trace(out.resolve("trace.json"));
                    Engine engine = Engine.builder().recorder(trace).build()) {
                parallel(engine, project, out.resolve("parallel"));
            }
            System.out.printf("serial %d ms, parallel %d ms%n", (between - start) / 1_000_000,
                    (System.nanoTime() - between) / 1_000_000);
        }
        System.out.println("same: " + same(out.resolve("serial"), out.resolve("parallel")) + "\n");
        System.out.print(Files.readString(out.resolve("parallel").resolve(Report.FILE)));
        System.out.println("\nIn " + out + "; trace.json opens in https://ui.perfetto.dev");
    }

    /** Runs one step after the other; the first failure ends the build. */
    static void serial(Project project, Path out) throws Exception {
        Steps steps = new Steps(out);
        Report report = new Report();
        for (Project.Module module : project.modules()) {
            List<Path> sources = steps.list(module);
            List<Path> classes = steps.compile(module, sources);
            Path jar = steps.pack(module, classes);
            report.built(module, classes, jar);
        }
        report.write(out);
    }

    /**
     * The same steps in the same order. Each result that steps pass to each other has a variable: a module's sources,
     * its classes, its jar, and the report that all modules share. From these the engine derives that two modules that
     * do not use each other can be compiled at the same time, and that the report must be written in the order of the
     * project.
     */
    static void parallel(Engine engine, Project project, Path out) throws InterruptedException {
        Steps steps = new Steps(out);
        Report report = new Report();
        Var reported = engine.newVar("report");
        Map<String, Var> jars = new HashMap<>();
        for (Project.Module module : project.modules()) {
            Work work = new Work();
            String name = module.name();
            Var sources = engine.newVar(name + "'s sources");
            Var classes = engine.newVar(name + "'s classes");
            Var jar = engine.newVar(name + ".jar");
            Var[] used = module.uses().stream().map(jars::get).toArray(Var[]::new);
            jars.put(name, jar);

            engine.op("list " + name).mutates(sources).push(() -> work.sources = steps.list(module));
            engine.op("compile " + name).reads(sources).reads(used).mutates(classes)
                    .push(() -> work.classes = steps.compile(module, work.sources));
            engine.op("pack " + name).reads(classes).mutates(jar)
                    .push(() -> work.jar = steps.pack(module, work.classes));

            // Also runs for a module that could not be built, so that the report is complete and contains the reason.
            engine.op("report " + name).reads(classes, jar).mutates(reported).evenIfFailed().push(() -> {
                if (engine.failure(jar) instanceof OperationFailedException failure) {
                    report.failed(module, failure);
                } else {
                    report.built(module, work.classes, work.jar);
                }
            });
        }
        engine.op("write report").reads(reported).push(() -> report.write(out));
        engine.waitForAll(); // throws the first failure, the others suppressed in it
    }

    /** The results that the steps of one module pass to each other, each guarded by a variable. */
    private static final class Work {
        List<Path> sources = List.of();
        List<Path> classes = List.of();
        Path jar = Path.of("");
    }

    /** Returns whether two folders contain the same files. */
    static boolean same(Path a, Path b) throws IOException {
        List<Path> files = files(a);
        if (!files.equals(files(b))) {
            return false;
        }
        for (Path file : files) {
            if (Files.mismatch(a.resolve(file), b.resolve(file)) >= 0) {
                return false;
            }
        }
        return true;
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> walk = Files.walk(folder)) {
            return walk.filter(Files::isRegularFile).map(folder::relativize).sorted().toList();
        }
    }
}
