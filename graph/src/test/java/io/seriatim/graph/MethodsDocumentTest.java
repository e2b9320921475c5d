package io.seriatim.graph;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** docs/methods.md has all methods of {@code Graph}, {@code Value} and {@code Layers}, and no others. */
class MethodsDocumentTest {
    private static final Pattern CALL = Pattern.compile("`((?:g|x)(?:\\.layers\\(\\))?)\\.(\\w+)\\(([^()]*)\\)`");
    private static final Set<String> OF_ALL_OBJECTS = Set.of("equals", "hashCode", "toString");

    private static String page() throws IOException {
        return Files.readString(Path.of("../docs/methods.md"));
    }

    /** Those of a class and of the classes that it extends, which are not public. */
    private static Stream<Method> methods(Class<?> type) {
        List<Method> methods = new ArrayList<>();
        for (Class<?> each = type; each != null && each != Object.class; each = each.getSuperclass()) {
            methods.addAll(List.of(each.getDeclaredMethods()));
        }
        return methods.stream().filter(method -> Modifier.isPublic(method.getModifiers())
                && !Modifier.isStatic(method.getModifiers()) && !method.isSynthetic()
                && !OF_ALL_OBJECTS.contains(method.getName()));
    }

    private static Class<?> receiver(MatchResult call) {
        return switch (call.group(1)) {
            case "g" -> Graph.class;
            case "x" -> Value.class;
            default -> Layers.class;
        };
    }

    private static List<MatchResult> calls() throws IOException {
        return CALL.matcher(page().replaceAll("(?s)```.*?```", "")).results().toList();
    }

    private static String named(Class<?> type, String method) {
        return type.getSimpleName() + "." + method;
    }

    @Test
    void thePageHasAllMethodsAndNoOthers() throws IOException {
        Set<String> there = new TreeSet<>();
        for (Class<?> type : List.of(Graph.class, Value.class, Layers.class)) {
            methods(type).forEach(method -> there.add(named(type, method.getName())));
        }
        Set<String> documented = new TreeSet<>();
        calls().forEach(call -> documented.add(named(receiver(call), call.group(2))));
        assertTrue(there.size() > 150, there::toString);
        assertEquals(String.join("\n", there), String.join("\n", documented));
    }

    @Test
    void theCallsHaveAsManyArguments() throws IOException {
        for (MatchResult call : calls()) {
            int count = call.group(3).isEmpty() ? 0 : call.group(3).split(",", -1).length;
            assertTrue(methods(receiver(call)).anyMatch(method -> method.getName().equals(call.group(2))
                    && (method.getParameterCount() == count
                            || (method.isVarArgs() && count >= method.getParameterCount()))),
                    call::group);
        }
    }

    @Test
    void theExampleRuns() throws IOException {
        Network net = Network.define(g -> {
            Value image = g.data("image", FLOAT32, -1, 28, 28);
            Value label = g.data("label", INT64, -1, 1);
            Value pixels = image.flatten(1).times(1 / 255.0);
            Value logits = g.linear(g.linear(pixels, 128).relu(), 10);
            Value loss = g.softmaxCrossEntropy(logits, label).mean();
            g.minimize(loss, Adam.of(1e-3));
            return Outputs.of("loss", loss, "class", logits.argMax(1));
        });
        String loss = Objects.requireNonNull(net.outputs().get("loss")).name();
        Interpreter interpreter = Interpreter.of(Kernels.system());
        interpreter.run(net.startup(), Map.of(), List.of());
        Map<String, Tensor> feeds = Map.of("image", Tensor.of(new float[2 * 28 * 28], 2, 28, 28), "label",
                Tensor.of(new long[]{3, 7}, 2, 1));
        Tensor result = Objects.requireNonNull(interpreter.run(net.main(), feeds, List.of(loss)).get(loss));
        assertEquals(Math.log(10), result.getDouble(), 1e-3, "black images say nothing");
        List<String> here = code(Files.readString(Path.of("src/test/java/io/seriatim/graph/MethodsDocumentTest.java")));
        String example = page().replaceFirst("(?s).*?```java(.*?)```.*", "$1");
        assertEquals(List.of(), code(example).stream().filter(line -> !here.contains(line)
                && !line.matches("import io\\.seriatim\\.graph\\.(Network|Outputs|Value);")).toList());
    }

    private static List<String> code(String text) {
        return text.lines().map(String::strip).filter(line -> !line.isEmpty()).toList();
    }
}
