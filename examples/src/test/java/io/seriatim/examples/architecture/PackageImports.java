package io.seriatim.examples.architecture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The packages of all modules and the imports between them, read from the main sources.
 *
 * @param modules
 *            the packages of each module, in the order of the build
 * @param imports
 *            the packages that each package imports
 */
record PackageImports(Map<String, List<String>> modules, Map<String, Set<String>> imports) {
    private static final String ROOT = "io.seriatim.";
    private static final Pattern MODULE = Pattern.compile("<module>(\\w+)</module>");
    private static final Pattern IMPORT = Pattern.compile("^import (?:static )?io\\.seriatim\\.([a-z\\d.]+)\\.[A-Z]",
            Pattern.MULTILINE);

    /** Reads the modules that a build lists. Names of packages are without {@code io.seriatim}. */
    static PackageImports read(Path root) throws IOException {
        Map<String, List<String>> modules = new LinkedHashMap<>();
        Map<String, Set<String>> imports = new TreeMap<>();
        Matcher module = MODULE.matcher(Files.readString(root.resolve("pom.xml")));
        while (module.find()) {
            Map<String, Set<String>> own = imports(root.resolve(module.group(1)).resolve("src/main/java"));
            modules.put(module.group(1), List.copyOf(own.keySet()));
            imports.putAll(own);
        }
        return new PackageImports(modules, imports);
    }

    private static Map<String, Set<String>> imports(Path sources) throws IOException {
        Map<String, Set<String>> imports = new TreeMap<>();
        try (Stream<Path> files = Files.walk(sources)) {
            for (Path file : files.filter(PackageImports::isClass).toList()) {
                String own = sources.relativize(Objects.requireNonNull(file.getParent())).toString()
                        .replace(file.getFileSystem().getSeparator(), ".").substring(ROOT.length());
                Set<String> uses = imports.computeIfAbsent(own, _ -> new TreeSet<>());
                Matcher imported = IMPORT.matcher(Files.readString(file));
                while (imported.find()) {
                    uses.add(imported.group(1));
                }
                uses.remove(own);
            }
        }
        return imports;
    }

    /** Package descriptions import annotations only, and modules name packages for readers. */
    private static boolean isClass(Path file) {
        String name = file.getFileName().toString();
        return name.endsWith(".java") && !name.equals("module-info.java") && !name.equals("package-info.java");
    }

    /** Returns these imports without one import of each cycle. */
    PackageImports withoutCycles() {
        Map<String, Set<String>> rest = new TreeMap<>();
        imports.forEach((from, to) -> rest.put(from, new TreeSet<>(to)));
        PackageImports acyclic = new PackageImports(modules, rest);
        for (List<String> cycle = acyclic.cycle(); !cycle.isEmpty(); cycle = acyclic.cycle()) {
            Objects.requireNonNull(rest.get(cycle.getLast())).remove(cycle.getFirst());
        }
        return acyclic;
    }

    /** Returns the packages of a cycle, each of which imports the next; empty if there is none. */
    List<String> cycle() {
        Set<String> done = new TreeSet<>();
        for (String each : new TreeSet<>(imports.keySet())) {
            List<String> cycle = cycle(each, new ArrayList<>(), done);
            if (!cycle.isEmpty()) {
                return cycle;
            }
        }
        return List.of();
    }

    private List<String> cycle(String at, List<String> path, Set<String> done) {
        int before = path.indexOf(at);
        if (before >= 0) {
            return List.copyOf(path.subList(before, path.size()));
        }
        if (!done.contains(at)) {
            path.add(at);
            for (String next : imports.getOrDefault(at, Set.of())) {
                List<String> cycle = cycle(next, path, done);
                if (!cycle.isEmpty()) {
                    return cycle;
                }
            }
            path.removeLast();
            done.add(at);
        }
        return List.of();
    }

    /**
     * Returns the transitive reduction of the imports: if a imports b and b imports c, the import of c by a is left
     * out.
     */
    Map<String, Set<String>> reduced() {
        Map<String, Set<String>> reachable = new TreeMap<>();
        imports.keySet().forEach(each -> reach(each, reachable));
        Map<String, Set<String>> reduced = new TreeMap<>();
        imports.forEach((from, to) -> {
            Set<String> direct = new TreeSet<>(to);
            direct.removeIf(target -> to.stream().anyMatch(
                    other -> !other.equals(target) && reachable.getOrDefault(other, Set.of()).contains(target)));
            reduced.put(from, direct);
        });
        return reduced;
    }

    private Set<String> reach(String from, Map<String, Set<String>> reachable) {
        Set<String> known = reachable.get(from);
        if (known == null) {
            known = new TreeSet<>();
            reachable.put(from, known);
            for (String to : imports.getOrDefault(from, Set.of())) {
                known.add(to);
                known.addAll(reach(to, reachable));
            }
        }
        return known;
    }
}
