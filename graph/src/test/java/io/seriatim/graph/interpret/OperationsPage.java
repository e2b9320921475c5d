package io.seriatim.graph.interpret;

import io.seriatim.graph.GoldenOperations;
import io.seriatim.graph.op.AttributeSpec;
import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.Slot;
import io.seriatim.graph.op.Step;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Attributes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The list of operation types. A type of elements is listed for an operation if a golden case, cast to it, computes
 * there what it computes in its own type, within the precision of both.
 */
final class OperationsPage {
    private static final List<DType> FLOATS = List.of(DType.FLOAT32, DType.FLOAT64, DType.FLOAT16, DType.BFLOAT16);
    private static final List<DType> WHOLE = List.of(DType.INT64, DType.INT32);

    private final Map<String, Set<DType>> works = new TreeMap<>();
    /** Operations some of whose steps are Java functions. */
    private final Set<String> calls = new TreeSet<>();

    private OperationsPage() {
    }

    static String text() {
        OperationsPage page = new OperationsPage();
        GoldenOperations.all().values().forEach(page::probe);
        StringBuilder text = new StringBuilder(
                """
                        # Operations

                        What the graph knows, written by `OperationsPageTest` out of the registry. Slots: `*` several variables, `?` may be left out, `~` for the gradient only. Attributes with their defaults; `!`
                        must be given. Types: those in which the golden cases of PaddlePaddle 2.6.2, cast, compute the same within their precision, on `cpu`; every operation with steps runs on `sim`, too, whose
                        kernels are those of `cpu`. Instructions have no steps: the interpreter and executors carry them out.

                        | operation | inputs | outputs | attributes | gradient | types | places |
                        |---|---|---|---|---|---|---|
                        """);
        for (Operation operation : Operations.system().all()) {
            // Those of the tutorial and of tests are not the project's.
            if (!operation.type().startsWith("snake") && !operation.type().startsWith("test_")) {
                text.append(page.row(operation)).append('\n');
            }
        }
        return text.toString();
    }

    private String row(Operation operation) {
        Set<DType> types = works.getOrDefault(operation.type(), Set.of());
        String kind = operation.isLowered()
                ? types.isEmpty() ? "–" : types.stream().map(DType::toString).collect(Collectors.joining(" "))
                : "instruction";
        String effects = operation.effects().stream().map(Effect::name).map(String::toLowerCase)
                .collect(Collectors.joining(" "));
        return "| `" + operation.type() + "` | " + slots(operation.inputs()) + " | " + slots(operation.outputs())
                + " | "
                + operation.attributes().stream().map(OperationsPage::attribute).collect(Collectors.joining(" "))
                + " | "
                + (operation.gradient() == null ? "" : "yes") + " | " + kind
                + (effects.isEmpty() ? "" : " (" + effects + ")") + " | "
                + (types.isEmpty() ? "" : calls.contains(operation.type()) ? "cpu" : "cpu sim") + " |";
    }

    private static String slots(List<Slot> slots) {
        return slots.stream().map(Slot::toString).collect(Collectors.joining(" "));
    }

    private static String attribute(AttributeSpec spec) {
        Attribute value = spec.byDefault();
        return spec.name() + (value == null ? "!" : "=" + Attributes.text(value).replace("|", "\\|"));
    }

    private void probe(GoldenOperations golden) {
        DType own = golden.in().values().stream().map(Tensor::dtype).filter(DType::isFloating).findFirst()
                .orElse(golden.in().values().stream().map(Tensor::dtype).findFirst().orElse(DType.FLOAT32));
        if (own == DType.BOOL || golden.in().isEmpty()) {
            run(golden, own, own);
            return;
        }
        for (DType dtype : own.isFloating() ? FLOATS : WHOLE) {
            run(golden, own, dtype);
        }
    }

    private void run(GoldenOperations golden, DType own, DType dtype) {
        if (golden.program().global().ops().stream()
                .allMatch(op -> works.getOrDefault(op.type(), Set.of()).contains(dtype))) {
            return; // Earlier cases have shown it.
        }
        Environment environment = new Environment(null);
        environment.enter(golden.program().global());
        golden.in().forEach(
                (name, tensor) -> environment.set(name, cast(tensor, tensor.dtype() == own ? dtype : tensor.dtype())));
        RunState state = new RunState(golden.program(), new OpRunner(Kernels.system()), environment, environment,
                golden.in(), 0, null,
                AllowedFiles.NONE);
        for (OpDesc op : golden.program().global().ops()) {
            Operation schema = Operations.system().get(op.type());
            if (!schema.isLowered()) {
                return;
            }
            try {
                Inference.Source values = new OpRunner.Values(op, environment);
                Lowering lowering = new Lowering(op, schema, values, schema.infer(op, values), null);
                if (schema.lower(lowering).steps().stream().anyMatch(step -> step.work() instanceof Step.Work.Call)) {
                    calls.add(op.type());
                }
                state.runner().run(op, schema, environment, state, Tensor.of(new long[]{1, 0}, 2));
            } catch (IllegalArgumentException | IllegalStateException e) {
                return; // This type is not served, and what follows cannot be asked.
            }
            if (op.outputs().values().stream().flatMap(List::stream)
                    .allMatch(name -> close(golden, name, environment.find(name), dtype, schema))) {
                works.computeIfAbsent(op.type(), _ -> EnumSet.noneOf(DType.class)).add(dtype);
            }
        }
    }

    private static Tensor cast(Tensor tensor, DType dtype) {
        return Tensor.of(dtype, tensor.toDoubleArray(), tensor.shape().dims());
    }

    private static boolean close(GoldenOperations golden, String name, @Nullable Object value, DType dtype,
            Operation schema) {
        Tensor expected = golden.out().get(name);
        if (expected == null || name.equals(GradientRule.EMPTY) || schema.effects().contains(Effect.RANDOM)) {
            return true;
        }
        if (!(value instanceof Tensor actual) || !actual.shape().equals(expected.shape())) {
            return false;
        }
        double[] want = expected.toDoubleArray();
        double[] have = actual.toDoubleArray();
        double scale = Arrays.stream(want).filter(Double::isFinite).map(Math::abs).max().orElse(0);
        double tolerance = dtype == DType.FLOAT16 || dtype == DType.BFLOAT16 ? 0.1 : 1e-4;
        for (int i = 0; i < want.length; i++) {
            if (Double.isFinite(want[i]) && !(Math.abs(want[i] - have[i]) <= tolerance * Math.max(scale, 1e-3))) {
                return false;
            }
        }
        return true;
    }
}
