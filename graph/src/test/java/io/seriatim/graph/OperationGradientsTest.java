package io.seriatim.graph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Term;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Every differentiable operation of the registry has a first and a second gradient, which differences confirm.
 * {@code gradients-without.txt} names those that have none, or that this test cannot reach, each with the reason.
 * {@code -Dgradients=type,type} picks some.
 */
class OperationGradientsTest {
    /** Cases of an operation that are looked at until so many have been compared. */
    private static final int COMPARED = 2;

    private static final Map<String, String> WITHOUT = without();

    private static Map<String, String> without() {
        try (InputStream file = Objects
                .requireNonNull(OperationGradientsTest.class.getResourceAsStream("/gradients-without.txt"))) {
            Map<String, String> reasons = new TreeMap<>();
            new String(file.readAllBytes(), StandardCharsets.UTF_8).lines().filter(line -> !line.startsWith("#"))
                    .forEach(line -> reasons.put(line.substring(0, line.indexOf(':')),
                            line.substring(line.indexOf(':') + 1).strip()));
            return reasons;
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Stream<Operation> operations() {
        String wanted = System.getProperty("gradients", "");
        Set<String> types = Set.of(wanted.split(","));
        return Operations.system().all().stream()
                .filter(each -> each.isLowered() && each.gradient() != null && !each.type().matches(".*_grad2?")
                        && !each.type().startsWith("test_") && !each.type().startsWith("snake"))
                .filter(each -> wanted.isEmpty() || types.contains(each.type()));
    }

    @TestFactory
    Stream<DynamicTest> first() {
        return operations().filter(each -> !WITHOUT.containsKey(each.type() + " first")).map(
                each -> DynamicTest.dynamicTest(each.type(), () -> compare(each.type(), OperationGradients::first)));
    }

    @TestFactory
    Stream<DynamicTest> second() {
        return operations().filter(each -> !WITHOUT.containsKey(each.type())).map(
                each -> DynamicTest.dynamicTest(each.type(), () -> compare(each.type(), OperationGradients::second)));
    }

    /** Reasons are for operations, or cases of them, that there are. */
    @Test
    void everyReasonIsOfAnOperation() {
        Set<String> known = Operations.system().all().stream().map(Operation::type).collect(Collectors.toSet());
        List<String> stale = WITHOUT.keySet().stream().map(name -> name.replaceFirst(" first$", ""))
                .filter(name -> !known.contains(name) && !GoldenOperations.all().containsKey(name)).toList();
        assertEquals(List.of(), stale);
    }

    /** A slope that is wrong by a factor is found, in the first gradient and in the second. */
    @Test
    void findsWrongSlopes() {
        define("test_wrong_first", 1.5, 1);
        define("test_wrong_second", 1, 1.5);
        GoldenOperations golden = Objects.requireNonNull(GoldenOperations.all().get("square.plain"));
        assertThrows(AssertionError.class, () -> gradients("test_wrong_first", golden).first());
        assertEquals(true, gradients("test_wrong_second", golden).first());
        assertThrows(AssertionError.class, () -> gradients("test_wrong_second", golden).second());
    }

    /** The square, with factors of its slope and of the slope of that. */
    private static void define(String type, double first, double second) {
        if (Operations.system().find(type) == null) {
            Operation.Builder builder = Operation.define(type).in("X").out("Out")
                    .infer(inference -> inference.same("X", "Out"))
                    .lower(l -> Term.of(l, "X").times(Term.of(l, "X")).to("Out"));
            String signature = type + "_grad(X, Out@GRAD) -> X@GRAD";
            String more = type + "_grad_grad(X, Out@GRAD, X@GRAD@GRAD) -> X@GRAD, DDOut=Out@GRAD@GRAD";
            Operation.Builder gradient = builder.gradOperation(signature, null).lower(
                    l -> Term.of(l, "X").times(Term.of(l, "Out@GRAD")).linear(2 * first, 0).to("X@GRAD"));
            gradient.gradOperation(more, null).lower(l -> {
                Term.of(l, "Out@GRAD").times(Term.of(l, "X@GRAD@GRAD")).linear(2 * second, 0).to("X@GRAD");
                Term.of(l, "X").times(Term.of(l, "X@GRAD@GRAD")).linear(2, 0).to("DDOut");
            }).register(Operations.system());
            gradient.grad(more).register(Operations.system());
            builder.grad(signature).register(Operations.system());
        }
    }

    private static OperationGradients gradients(String type, GoldenOperations golden) {
        return Objects.requireNonNull(OperationGradients.of(golden.withType(type)));
    }

    private interface Check {
        @Nullable
        Boolean of(OperationGradients gradients);
    }

    private static void compare(String type, Check check) {
        int compared = 0;
        List<GoldenOperations> cases = GoldenOperations.all().values().stream()
                .filter(each -> each.operation().equals(type) && !WITHOUT.containsKey(each.name())).toList();
        for (GoldenOperations golden : cases) {
            OperationGradients gradients = compared < COMPARED ? OperationGradients.of(golden) : null;
            if (gradients != null && check.of(gradients) != null) {
                compared++;
            }
        }
        assertTrue(compared > 0, "none of the " + cases.size() + " golden cases of " + type
                + " is fit for differences: add one with finite numbers where it is smooth");
    }
}
