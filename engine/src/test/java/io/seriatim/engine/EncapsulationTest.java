package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The core is closed: what is public is the API, or stands alone in {@code sync}. */
class EncapsulationTest {
    private static final Path SOURCES = Path.of("src/main/java");
    private static final Set<String> API =
            Set.of("AggregateTable", "AsyncBody", "Body", "Completion", "Engine", "EngineSnapshot",
                    "EngineStats", "Guarded", "Lane", "OpBuilder", "OpKind", "OperationFailedException", "PreparedOp",
                    "Recorder", "RunContext", "TraceFile", "Var", "VarEvent");

    @Test
    void onlyTheApiIsPublic() throws Exception {
        Set<String> found = new TreeSet<>();
        for (Class<?> type : topLevelTypes()) {
            if (Modifier.isPublic(type.getModifiers()) && type.getPackage().equals(Engine.class.getPackage())) {
                found.add(type.getSimpleName());
            }
        }
        assertEquals(new TreeSet<>(API), found);
    }

    @Test
    void theOnlyOtherPackageIsSync() throws IOException {
        Set<String> packages = new TreeSet<>();
        for (Path file : sources()) {
            packages.add(SOURCES.relativize(file.getParent()).toString().replace('\\', '/'));
        }
        assertEquals(new TreeSet<>(Set.of("io/seriatim/engine", "io/seriatim/engine/sync")), packages);
    }

    @Test
    void noMutableFieldIsPublic() throws Exception {
        List<String> found = new ArrayList<>();
        for (Class<?> type : allTypes()) {
            for (Field field : type.getDeclaredFields()) {
                if (Modifier.isPublic(field.getModifiers()) && !Modifier.isFinal(field.getModifiers())) {
                    found.add(field.toString());
                }
            }
        }
        assertEquals(List.of(), found);
    }

    /** A protected field would be open to every subclass: the one of the spin lock has its reason there. */
    @Test
    void oneMutableFieldIsProtected() throws Exception {
        List<String> found = new ArrayList<>();
        for (Class<?> type : allTypes()) {
            for (Field field : type.getDeclaredFields()) {
                if (Modifier.isProtected(field.getModifiers()) && !Modifier.isFinal(field.getModifiers())) {
                    found.add(type.getSimpleName() + "." + field.getName());
                }
            }
        }
        assertEquals(List.of("Held.held"), found);
    }

    @Test
    void classesAreFinal() throws Exception {
        Set<String> open = new TreeSet<>();
        for (Class<?> type : allTypes()) {
            int m = type.getModifiers();
            if (!Modifier.isFinal(m) && !Modifier.isAbstract(m) && !type.isSealed() && !type.isEnum()) {
                open.add(type.getSimpleName());
            }
        }
        // Exceptions are open for users, rules for tests, and the lock for the class that is the push lock.
        assertEquals(new TreeSet<>(Set.of("OperationFailedException", "Rules", "SpinLock")), open);
    }

    private static List<Path> sources() throws IOException {
        try (Stream<Path> all = Files.walk(SOURCES.resolve("io"))) {
            return all.filter(file -> file.toString().endsWith(".java")).toList();
        }
    }

    private static List<Class<?>> topLevelTypes() throws Exception {
        List<Class<?>> types = new ArrayList<>();
        for (Path file : sources()) {
            String name = SOURCES.relativize(file).toString().replace('\\', '/').replace('/', '.');
            if (!name.endsWith("package-info.java")) {
                types.add(Class.forName(name.substring(0, name.length() - ".java".length()), false,
                        Engine.class.getClassLoader()));
            }
        }
        assertTrue(types.size() > 60, types::toString);
        return types;
    }

    private static List<Class<?>> allTypes() throws Exception {
        List<Class<?>> types = topLevelTypes();
        for (int i = 0; i < types.size(); i++) {
            types.addAll(List.of(types.get(i).getDeclaredClasses()));
        }
        return types;
    }
}
