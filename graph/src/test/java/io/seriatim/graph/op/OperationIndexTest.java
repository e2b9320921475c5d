package io.seriatim.graph.op;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.ops.BuiltInOperations;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** The index of built-in operations, and the registration of one family at a time. */
class OperationIndexTest {
    private static final int WIDTH = 120;
    private static final Path FILE = Path.of("src", "main", "resources", "io", "seriatim", "graph", "ops",
            "operations.txt");

    @Test
    void indexIsThatOfTheFamilies() throws IOException {
        List<String> expected = expected();
        if (Boolean.getBoolean("seriatim.write-operation-index")) {
            Files.createDirectories(FILE.getParent());
            Files.writeString(FILE, String.join("\n", expected) + "\n");
        }
        assertEquals(String.join("\n", expected), String.join("\n", Files.readAllLines(FILE)),
                "write it with mvn test -pl graph -am -Dsurefire.failIfNoSpecifiedTests=false "
                        + "-Dtest=OperationIndexTest -Dseriatim.write-operation-index=true");
    }

    /** The index as the classes of the families give it. */
    private static List<String> expected() {
        SortedMap<String, Operations> families = OperationFamilies.byClass();
        Map<String, String> owners = new HashMap<>();
        families.forEach((family, registry) -> registry.registered()
                .forEach(operation -> assertNull(owners.put(operation.type(), family), operation.type())));
        Map<String, String> forwards = new HashMap<>();
        families.values().forEach(registry -> registry.registered().forEach(operation -> {
            if (operation.gradient() instanceof GradientSignature signature && !owners.containsKey(signature.type())) {
                forwards.putIfAbsent(signature.type(), operation.type());
            }
        }));
        List<String> lines = new ArrayList<>();
        families.forEach((family, registry) -> {
            lines.add(family);
            List<String> words = new ArrayList<>();
            registry.registered().forEach(operation -> words.add(operation.type()));
            new TreeMap<>(forwards).forEach((gradient, forward) -> {
                if (family.equals(owners.get(forward))) {
                    words.add(gradient + FamilyIndex.OF + forward);
                }
            });
            StringBuilder line = new StringBuilder();
            for (String word : words) {
                if (line.length() + 1 + word.length() > WIDTH) {
                    lines.add(line.toString());
                    line.setLength(0);
                }
                line.append(line.isEmpty() ? "    " : " ").append(word);
            }
            lines.add(line.toString());
        });
        return lines;
    }

    @Test
    void everyTypeIsFoundAloneAsAmongAll() {
        FamilyIndex index = new FamilyIndex();
        index.add(new BuiltInOperations());
        Operations all = registry(new BuiltInOperations());
        assertFalse(all.all().isEmpty());
        for (Operation operation : all.all()) {
            assertTrue(index.contains(operation.type()), operation.type());
            Operation found = registry(new BuiltInOperations()).find(operation.type());
            assertNotNull(found, operation.type());
            assertEquals(operation.inputs(), found.inputs(), operation.type());
            assertEquals(operation.outputs(), found.outputs(), operation.type());
        }
    }

    private static Operations registry(Operations.BuiltIn service) {
        Operations registry = new Operations();
        registry.addFamilies(service);
        return registry;
    }

    @Test
    void familyIsRegisteredWhenOneOfItsTypesIsAskedFor() {
        Operations registry = registry(new BuiltInOperations());
        assertFalse(registry.isRegistered("relu"));
        Operation relu = registry.get("relu");
        assertTrue(registry.isRegistered("relu"));
        assertFalse(registry.isRegistered("conv2d"));
        assertSame(relu, registry.find("relu"));
    }

    @Test
    void typeOfFamilyThatIsNotYetRegisteredCannotBeAddedAgain() {
        Operation conv = registry(new BuiltInOperations()).get("conv2d");
        Operations registry = registry(new BuiltInOperations());
        String message = assertThrows(IllegalArgumentException.class, () -> registry.add(conv)).getMessage();
        assertTrue(message != null && message.contains("'conv2d'"), message);
    }

    @Test
    void familyWhoseRegistrationFailsIsTriedAgain() {
        BuiltInOperations real = new BuiltInOperations();
        boolean[] fails = {true};
        Operations registry = registry(new Operations.BuiltIn() {
            @Override
            public List<String> index() {
                return real.index();
            }

            @Override
            public void register(Operations all) {
                throw new AssertionError("all families were asked for");
            }

            @Override
            public void register(String family, Operations into) {
                real.register(family, into);
                if (fails[0]) {
                    fails[0] = false;
                    throw new OutOfMemoryError("planted");
                }
            }
        });
        assertThrows(OutOfMemoryError.class, () -> registry.find("relu"));
        assertFalse(registry.isRegistered("relu"));
        assertEquals("relu", registry.get("relu").type());
    }

    @Test
    void typeThatTheIndexLacksIsFoundWhenItIsNeeded() {
        BuiltInOperations real = new BuiltInOperations();
        Operations registry = registry(new Operations.BuiltIn() {
            @Override
            public List<String> index() {
                return real.index().stream().map(line -> line.replace(" relu ", " ")).toList();
            }

            @Override
            public void register(Operations all) {
                throw new AssertionError("all families were asked for");
            }

            @Override
            public void register(String family, Operations into) {
                real.register(family, into);
            }
        });
        assertNull(registry.find("relu"));
        assertEquals("relu", registry.get("relu").type());
    }

    @Test
    void threadsSeeWholeFamilies() throws Exception {
        int threads = 4;
        try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
            for (int round = 0; round < 20; round++) {
                Operations registry = registry(new BuiltInOperations());
                List<Callable<String>> calls = new ArrayList<>();
                for (String type : List.of("tanh_grad", "relu", "exp_grad", "softplus", "mul_grad",
                        "elementwise_add_grad")) {
                    calls.add(() -> registry.get(type).type());
                }
                for (Future<String> future : executor.invokeAll(calls)) {
                    assertNotNull(future.get());
                }
            }
        }
    }
}
