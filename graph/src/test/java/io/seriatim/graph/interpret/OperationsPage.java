package io.seriatim.graph.interpret;

import io.seriatim.graph.op.AttributeSpec;
import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.OperationFamilies;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.Slot;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Attributes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The tables of docs/operations.md: a family's operations, their gradients, and what PaddlePaddle has besides. */
final class OperationsPage {
    private static final int WIDTH = 150;
    private static final Set<DType> FLOATS = EnumSet.of(DType.FLOAT32, DType.FLOAT64, DType.FLOAT16, DType.BFLOAT16);
    private static final Set<DType> INTEGERS = EnumSet.of(DType.INT32, DType.INT64);
    /** What gradients that are 0 come down to. */
    private static final Set<String> ZEROS = Set.of("fill_any_like", "fill_constant", "fill_zeros_like");
    private static final String GRADIENT = "_grad";
    private static final Set<String> WITHOUT_STEPS = withoutSteps();
    /** Titles of families whose package is named by an abbreviation. */
    private static final Map<String, String> TITLES = Map.of("linalg", "Linear algebra", "control",
            "Control and communication");

    private final OperationProbe probe = new OperationProbe();
    private final Map<String, String> errors;
    private final SortedMap<String, Collection<Operation>> families = new TreeMap<>();
    private final StringBuilder text = new StringBuilder();

    private OperationsPage(Map<String, String> errors) {
        this.errors = errors;
        OperationFamilies.all().forEach((family, operations) -> families.put(title(family), operations));
    }

    /**
     * The page up to the sections on accuracy.
     *
     * @param sources
     *            the folder of the families' packages
     * @param accuracy
     *            the sections on accuracy, whose first table has a row for each measured operation
     */
    static String text(Path sources, String accuracy) throws IOException {
        OperationsPage page = new OperationsPage(errors(accuracy));
        page.introduction();
        for (String family : OperationFamilies.all().keySet()) {
            page.family(title(family), OperationFamilies.description(sources, family));
        }
        page.coverage();
        page.gradients();
        return page.text.toString();
    }

    /** The figures of rows {@code | `type` | allowed | seen | allowed | seen |}. */
    private static Map<String, String> errors(String accuracy) {
        Map<String, String> errors = new TreeMap<>();
        for (String line : accuracy.lines().toList()) {
            String[] cells = line.split("\\|", -1);
            if (line.startsWith("| `") && cells.length == 7) {
                errors.putIfAbsent(cells[1].strip().replace("`", ""), ulps(cells[3]) + " · " + ulps(cells[5]));
            }
        }
        return errors;
    }

    private static String ulps(String cell) {
        String figure = cell.strip().split(" ", -1)[0];
        return figure.equals("–") ? figure : figure.replaceFirst("(?<=\\.\\d)0$", "");
    }

    private static String title(String family) {
        return TITLES.getOrDefault(family, family.substring(0, 1).toUpperCase(Locale.ROOT) + family.substring(1));
    }

    private static boolean isGradient(Operation operation) {
        return operation.type().matches(".*_grad2?");
    }

    private void introduction() {
        List<Operation> all = families.values().stream().flatMap(Collection::stream).toList();
        long gradients = all.stream().filter(OperationsPage::isGradient).count();
        text.append(introduction(all.size() - gradients, gradients));
        List<String> links = new ArrayList<>();
        families.forEach((title, operations) -> {
            long count = operations.stream().filter(operation -> !isGradient(operation)).count();
            links.add("[" + title + "](#" + title.toLowerCase(Locale.ROOT).replace(' ', '-') + ") " + count);
        });
        wrap(links, " ·");
        text.append('\n');
    }

    private void wrap(Collection<String> words, String separator) {
        int width = 0;
        int left = words.size();
        for (String word : words) {
            left--;
            String next = word + (left == 0 ? "" : separator);
            if (width > 0 && width + 1 + next.length() > WIDTH) {
                text.append('\n');
                width = 0;
            }
            text.append(width == 0 ? "" : " ").append(next);
            width += next.length() + (width == 0 ? 0 : 1);
        }
        text.append('\n');
    }

    private void family(String title, String description) {
        text.append("## ").append(title).append("\n\n").append(description).append("""


                | operation | inputs → outputs | attributes | gradient | second | types | places | ulp |
                |---|---|---|---|---|---|---|---|
                """);
        for (Operation operation : Objects.requireNonNull(families.get(title))) {
            if (!isGradient(operation)) {
                text.append(row(operation)).append('\n');
            }
        }
        text.append('\n');
    }

    private String row(Operation operation) {
        String type = operation.type();
        String attributes = operation.attributes().stream().map(OperationsPage::attribute)
                .collect(Collectors.joining(" "));
        boolean differentiable = !ZEROS.contains(type) && isDifferentiable(type);
        return "| `" + type + "` | " + code(slots(operation.inputs()) + " → " + slots(operation.outputs())) + " | "
                + code(attributes) + " | " + (differentiable ? "yes" : "–") + " | "
                + (differentiable && hasSecond(operation) ? "yes" : "–") + " | " + types(type) + " | "
                + places(operation) + " | " + errors.getOrDefault(type, "") + " |";
    }

    private static String code(String text) {
        return text.isBlank() ? "" : "`" + text.strip().replace("|", "\\|") + "`";
    }

    private static String slots(List<Slot> slots) {
        return slots.stream().map(Slot::toString).collect(Collectors.joining(" "));
    }

    private static String attribute(AttributeSpec spec) {
        Attribute value = spec.byDefault();
        return spec.name() + (value == null ? "!" : "=" + Attributes.text(value).replaceAll("(\\.0)?E(?=-?\\d)", "e"));
    }

    private static boolean isDifferentiable(String type) {
        if (type.endsWith(GRADIENT)
                && WITHOUT_STEPS.contains(type.substring(0, type.length() - GRADIENT.length()))) {
            return false;
        }
        Operation operation = Operations.system().find(type);
        return ZEROS.contains(type) || (operation != null
                && (operation.gradient() != null || Operations.system().find(type + GRADIENT) != null));
    }

    /** Whether all operations that an operation's gradient consists of are differentiated. */
    private static boolean hasSecond(Operation operation) {
        GradientRule rule = operation.gradient();
        return rule != null
                && rule.make(call(operation), _ -> true).stream().allMatch(made -> isDifferentiable(made.type()));
    }

    /** An operation with a variable in each slot. */
    private static OpDesc call(Operation operation) {
        OpDesc.Builder op = OpDesc.of(operation.type());
        operation.inputs().forEach(slot -> op.in(slot.name(), slot.name()));
        operation.outputs().forEach(slot -> op.out(slot.name(), slot.name()));
        return attributes(operation, op);
    }

    private static OpDesc attributes(Operation operation, OpDesc.Builder op) {
        for (AttributeSpec spec : operation.attributes()) {
            Attribute value = spec.byDefault();
            if (value != null) {
                op.attr(spec.name(), value);
            } else if (spec.type() == Attribute.Int.class) {
                op.attr(spec.name(), 1);
            }
        }
        return op.build();
    }

    private String types(String type) {
        Set<DType> types = new TreeSet<>(probe.types(type));
        List<String> names = new ArrayList<>();
        if (types.containsAll(FLOATS)) {
            names.add("floats");
            types.removeAll(FLOATS);
        }
        if (types.containsAll(INTEGERS)) {
            names.add("integers");
            types.removeAll(INTEGERS);
        }
        types.forEach(dtype -> names.add(dtype.toString()));
        return names.isEmpty() ? "–" : String.join(", ", names);
    }

    private String places(Operation operation) {
        boolean everywhere = !operation.effects().contains(Effect.HOST) && !probe.isOfHost(operation.type())
                && !probe.types(operation.type()).isEmpty();
        String places = !operation.isLowered() ? "instruction" : everywhere ? "cpu, sim" : "cpu";
        String effects = operation.effects().stream().map(effect -> effect.name().toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(", "));
        return places + (effects.isEmpty() ? "" : " (" + effects + ")");
    }

    /** The operations of PaddlePaddle that are not known, by reason. */
    private void coverage() throws IOException {
        List<String> registry = lines("/golden/registry.txt");
        Map<String, List<String>> missing = new LinkedHashMap<>();
        Map<String, List<String>> refused = new LinkedHashMap<>();
        Map<String, String> reasons = lines("/golden/unsupported.txt").stream().map(line -> line.split(" ", 2)).collect(
                Collectors.toMap(parts -> parts[0], parts -> parts[1].strip()));
        for (String type : registry) {
            Operation operation = Operations.system().find(type);
            String refusal = operation == null ? null : refusal(operation);
            if (operation == null) {
                missing.computeIfAbsent(reasons.getOrDefault(type, "no reason is given"), _ -> new ArrayList<>())
                        .add("`" + type + "`");
            } else if (refusal != null) {
                refused.computeIfAbsent(refusal, _ -> new ArrayList<>()).add("`" + type + "`");
            }
        }
        int left = missing.values().stream().mapToInt(List::size).sum();
        int rejected = refused.values().stream().mapToInt(List::size).sum();
        String only = rejected == 0 ? "" : ", " + rejected + " of them only to be refused with a reason";
        text.append("## Coverage of PaddlePaddle\n\n")
                .append("""
                        PaddlePaddle 2.6.2 has %d forward operations for programs on processors, without those for other processors,
                        sparse tensors, communication, parameter servers and generated fusions. %d of them are known here%s,
                        and %d are not.

                        """
                        .formatted(registry.size(), registry.size() - left, only, left));
        table("not known", "reason", missing);
        table("known, but refused", "reason", refused);
    }

    private void table(String left, String right, Map<String, List<String>> rows) {
        if (!rows.isEmpty()) {
            text.append("| ").append(left).append(" | ").append(right).append(" |\n|---|---|\n");
            rows.forEach((reason, types) -> text.append("| ").append(String.join(", ", types)).append(" | ")
                    .append(reason.replace("|", "\\|")).append(" |\n"));
            text.append('\n');
        }
    }

    /** Why an operation is refused whatever its attributes say, even with a communicator, as those of two ranks are. */
    private static @Nullable String refusal(Operation operation) {
        return operation.effects().contains(Effect.COMMUNICATION)
                ? operation.refusal(attributes(operation, OpDesc.of(operation.type())), 1)
                : null;
    }

    /** Operations whose gradients are functions of Java, so that no gradient of them can be derived. */
    private static Set<String> withoutSteps() {
        String reason = ": its gradient is a Java function without steps";
        try {
            return lines("/gradients-without.txt").stream().filter(line -> line.endsWith(reason))
                    .map(line -> line.substring(0, line.length() - reason.length()))
                    .collect(Collectors.toUnmodifiableSet());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> lines(String resource) throws IOException {
        try (InputStream in = OperationsPage.class.getResourceAsStream(resource)) {
            return new String(Objects.requireNonNull(in, resource).readAllBytes(), StandardCharsets.UTF_8).lines()
                    .filter(line -> !line.isBlank()).toList();
        }
    }

    private void gradients() {
        text.append(
                """
                        ## Gradient operations

                        They have the slots of PaddlePaddle's and the attributes of the forward operations. Those with an asterisk are
                        differentiated themselves.

                        """);
        families.forEach((title, operations) -> {
            List<String> names = operations.stream().filter(OperationsPage::isGradient)
                    .map(operation -> "`" + operation.type() + "`" + (isDifferentiable(operation.type()) ? "\\*" : ""))
                    .toList();
            if (!names.isEmpty()) {
                text.append("**").append(title).append(":** ");
                wrap(names, "");
                text.append('\n');
            }
        });
        text.setLength(text.length() - 1);
    }

    private static String introduction(long forward, long gradients) {
        return """
                # Operations

                The operations that programs can contain, by family: %d forward operations and %d operations of their gradients.
                `OperationsPageTest` writes this page from the registry, from golden cases of PaddlePaddle 2.6.2, and from measured errors.

                | column | meaning |
                |---|---|
                | inputs → outputs | slots: `*` takes several variables, `?` may be left out, `~` is read by the gradient only |
                | attributes | with their defaults; `!` must be given |
                | gradient | whether the operation is differentiated; second: whether its gradient is, too |
                | types | those in which golden cases, cast to the type, compute the same within its precision. Floats are float32, float64, float16 and bfloat16, integers int32 and int64 |
                | places | `cpu`, and `sim` if all of its steps are kernels. An instruction has no steps: the interpreter and executors carry it out on the host. An effect follows: operations with the same effect run in the order of the program |
                | ulp | the largest measured error of the result, then of the gradient, in units in the last place of float32; [more](#accuracy-of-operations) |

                """
                .formatted(forward, gradients);
    }
}
