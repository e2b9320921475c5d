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
 * A build tool for Java projects of several modules, twice: {@link #serial} as one would write it first, and
 * {@link #parallel}, the same loop with each step pushed on an engine. Both compile each module against the jars of
 * those that it uses, pack it, and keep a report; both write the same bytes.
 *
 * <p>
 * {@code Build [PROJECT [OUT]]} builds a project both ways and compares.
 */
public final class Build {
    private static final int ROUNDS = 4;

    private Build() {
    }

    /**
     * Builds the project in a folder, {@code shop} if none is given, into another.
     *
     * @param args
     *            the project's folder, and where its jars go
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

    /** One step after the other; the first that fails ends it. */
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
     * The same steps in the same order. What they hand to each other has a variable each: a module's sources, its
     * classes, its jar, and the report that all of them share. The engine sees that two modules that do not use each
     * other can be compiled at the same time, and that the report is to be kept in the order of the project.
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

            // Also for a module that could not be built, so that the report stays whole and says why.
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

    /** What the steps of one module hand to each other, each field behind a variable. */
    private static final class Work {
        List<Path> sources = List.of();
        List<Path> classes = List.of();
        Path jar = Path.of("");
    }

    /** Whether two folders hold the same files. */
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
