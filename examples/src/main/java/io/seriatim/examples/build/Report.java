package io.seriatim.examples.build;

import io.seriatim.engine.OperationFailedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The result of each module, and the module of each class. It needs no lock, because a variable orders its uses. */
final class Report {
    static final String FILE = "report.txt";

    private final StringBuilder lines = new StringBuilder();
    private final Map<String, String> index = new TreeMap<>();

    void built(Project.Module module, List<Path> classes, Path jar) throws IOException {
        lines.append(module.name()).append(": ").append(Files.size(jar)).append(" bytes\n");
        for (Path file : classes) {
            String first = index.putIfAbsent(String.valueOf(file.getFileName()), module.name());
            if (first != null) {
                lines.append("  ").append(file.getFileName()).append(" is in ").append(first).append(" too\n");
            }
        }
    }

    void failed(Project.Module module, OperationFailedException failure) {
        String step = "'" + failure.operation() + "' failed";
        boolean own = failure.operation().endsWith(" " + module.name());
        Throwable why = failure.getCause();
        lines.append(module.name())
                .append(own
                        ? ": " + step + ": " + (why == null ? "" : why.getMessage())
                        : ": not built, because " + step)
                .append('\n');
    }

    void write(Path folder) throws IOException {
        index.forEach((name, module) -> lines.append(name).append(" in ").append(module).append('\n'));
        Files.writeString(folder.resolve(FILE), lines);
    }
}
