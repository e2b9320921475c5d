package io.seriatim.examples.build;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;

/** The steps for one module. This is ordinary code, which does not depend on the engine. */
final class Steps {
    /** A fixed time stamp, so that jars do not depend on the time of the build. */
    private static final LocalDateTime TIME = LocalDateTime.of(2026, 1, 1, 0, 0);

    private final Path out;

    Steps(Path out) {
        this.out = out;
    }

    /** Thrown for source code with errors. The message contains the compiler's errors, one per line. */
    static final class DoesNotCompileException extends Exception {
        private static final long serialVersionUID = 1;

        DoesNotCompileException(String message) {
            super(message);
        }
    }

    /** Returns the module's Java files. */
    List<Path> list(Project.Module module) throws IOException {
        return files(module.folder(), ".java");
    }

    /** Compiles the module against the jars of the modules that it uses. */
    List<Path> compile(Project.Module module, List<Path> sources) throws IOException, DoesNotCompileException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        if (compiler == null) {
            throw new IOException("This Java has no compiler: run it with a JDK");
        }
        Path classes = Files.createDirectories(out.resolve("classes").resolve(module.name()));
        for (Path old : files(classes, ".class")) {
            Files.delete(old);
        }
        DiagnosticCollector<JavaFileObject> said = new DiagnosticCollector<>();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(said, Locale.ROOT, null)) {
            files.setLocationFromPaths(StandardLocation.CLASS_OUTPUT, List.of(classes));
            files.setLocationFromPaths(StandardLocation.CLASS_PATH, module.uses().stream().map(this::jar).toList());
            Iterable<? extends JavaFileObject> units = files.getJavaFileObjectsFromPaths(sources);
            if (!compiler.getTask(null, files, said, List.of("-proc:none"), null, units).call()) {
                throw new DoesNotCompileException(
                        said.getDiagnostics().stream().filter(one -> one.getKind() == Diagnostic.Kind.ERROR)
                                .map(Steps::text).collect(Collectors.joining("\n")));
            }
        }
        return files(classes, ".class");
    }

    private static String text(Diagnostic<? extends JavaFileObject> error) {
        JavaFileObject source = error.getSource();
        String file = source == null ? "" : Path.of(source.toUri()).getFileName() + ":" + error.getLineNumber() + ": ";
        return file + error.getMessage(Locale.ROOT).lines().findFirst().orElse("");
    }

    /** Packs classes into the module's jar. */
    Path pack(Project.Module module, List<Path> classes) throws IOException {
        Path root = out.resolve("classes").resolve(module.name());
        try (OutputStream file = Files.newOutputStream(jar(module.name()));
                ZipOutputStream jar = new ZipOutputStream(file)) {
            for (Path one : classes) {
                ZipEntry entry = new ZipEntry(root.relativize(one).toString().replace('\\', '/'));
                entry.setTimeLocal(TIME);
                jar.putNextEntry(entry);
                Files.copy(one, jar);
            }
        }
        return jar(module.name());
    }

    private Path jar(String name) {
        return out.resolve(name + ".jar");
    }

    private static List<Path> files(Path folder, String end) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(end)).sorted().toList();
        }
    }
}
