package io.seriatim.examples.build;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A project: a folder with the file {@code project.txt}, which names the modules, and a folder for each module with its
 * Java files.
 *
 * @param modules the modules, each after those that it uses
 */
record Project(List<Module> modules) {
    /** Copies the list. */
    Project {
        modules = List.copyOf(modules);
    }

    /**
     * A module: Java files that are packed into one jar.
     *
     * @param name
     *            the name of the module and of its folder
     * @param folder
     *            the folder with its Java files
     * @param uses
     *            the names of the modules that it is compiled against
     */
    record Module(String name, Path folder, List<String> uses) {
        /** Copies the list. */
        Module {
            uses = List.copyOf(uses);
        }
    }

    /** Parses lines {@code name: uses…}. */
    static Project read(Path folder) throws IOException {
        Path file = folder.resolve("project.txt");
        List<Module> modules = new ArrayList<>();
        Set<String> known = new HashSet<>();
        for (String line : Files.readAllLines(file)) {
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            int colon = line.indexOf(':');
            if (colon < 1) {
                throw new IOException(file + ": a line is 'name: uses…', but one is '" + line + "'");
            }
            String name = line.substring(0, colon).strip();
            List<String> uses = List.of(line.substring(colon + 1).strip().split("\\s+", -1)).stream()
                    .filter(use -> !use.isEmpty())
                    .toList();
            if (!known.containsAll(uses) || !known.add(name)) {
                throw new IOException(file + ": a module is named once, after those that it uses, but '" + line
                        + "' follows " + known);
            }
            modules.add(new Module(name, folder.resolve(name), uses));
        }
        return new Project(modules);
    }
}
