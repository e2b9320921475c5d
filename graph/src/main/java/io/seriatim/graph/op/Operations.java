package io.seriatim.graph.op;

import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The registry of operation types. Other modules add types by a {@link Provider}. */
public final class Operations {
    /** Types without a schema that make readers in files of PaddlePaddle; a caller makes the reader instead. */
    private static final Set<String> READER_MAKERS = Set.of("create_py_reader", "create_double_buffer_reader");

    private final Map<String, Operation> byType = new ConcurrentHashMap<>();
    /** By the type of a gradient that is one operation, an operation whose gradient it is. */
    private final Map<String, Operation> byGradient = new ConcurrentHashMap<>();
    /** Gradients that no schema defines, made when they are asked for. */
    private final Map<String, Operation> derived = new ConcurrentHashMap<>();
    /** Those that do not come from providers. */
    private Set<String> builtIn = Set.of();

    /** Adds operation types; found as a service. */
    public interface Provider {
        /**
         * Adds them.
         *
         * @param registry
         *            where they go
         */
        void register(Operations registry);
    }

    /** Adds the run-time's own types, whose effects are all declared; found as a service of the run-time. */
    public interface BuiltIn extends Provider {
    }

    private static final class OfProcess {
        static final Differentiation DIFFERENTIATION = differentiation();
        static final Operations OPERATIONS = load();

        private OfProcess() {
        }

        private static Differentiation differentiation() {
            return ServiceLoader.load(Differentiation.class, Differentiation.class.getClassLoader()).findFirst()
                    .orElseThrow(() -> new IllegalStateException("There is no service that derives gradients: put all "
                            + "of seriatim-graph on the class or module path"));
        }

        private static Operations load() {
            Operations operations = new Operations();
            ServiceLoader.load(BuiltIn.class, BuiltIn.class.getClassLoader())
                    .forEach(family -> family.register(operations));
            operations.deriveGradients();
            operations.builtIn = Set.copyOf(operations.byType.keySet());
            if (operations.builtIn.isEmpty()) {
                throw new IllegalStateException(
                        "No operation types were found as a service: put all of seriatim-graph on the class or "
                                + "module path");
            }
            ServiceLoader.load(Provider.class).forEach(provider -> provider.register(operations));
            operations.deriveGradients();
            return operations;
        }
    }

    Operations() {
    }

    /**
     * Those of the process.
     *
     * @return always the same
     */
    public static Operations system() {
        return OfProcess.OPERATIONS;
    }

    /**
     * Adds an operation type.
     *
     * @param operation
     *            the type
     * @return this
     * @throws IllegalArgumentException
     *             if there is one of that name
     */
    public Operations add(Operation operation) {
        if (byType.putIfAbsent(operation.type(), operation) != null) {
            throw new IllegalArgumentException(
                    "There is an operation type '" + operation.type() + "' already; choose another name");
        }
        if (operation.gradient() instanceof GradientSignature signature) {
            byGradient.putIfAbsent(signature.type(), operation);
        }
        return this;
    }

    /** Derives the gradients that schemas name and none defines. */
    private void deriveGradients() {
        byGradient.keySet().stream().filter(type -> !byType.containsKey(type)).sorted().forEach(type -> {
            Operation gradient = derive(type);
            if (gradient != null) {
                byType.putIfAbsent(type, gradient);
            }
        });
    }

    private @Nullable Operation derive(String type) {
        Operation named = byGradient.get(type);
        if (named != null) {
            return named.gradient() instanceof GradientSignature signature && named.isLowered()
                    ? signature.derived(named, OfProcess.DIFFERENTIATION)
                    : null;
        }
        boolean all = type.endsWith(DerivedGradient.OF_ALL);
        String suffix = all ? DerivedGradient.OF_ALL : DerivedGradient.OF_GRADIENT;
        Operation base = type.endsWith(suffix) ? find(type.substring(0, type.length() - suffix.length())) : null;
        if (base == null || !base.isLowered()) {
            return null;
        }
        if (all) {
            return DerivedGradient.ofAll(base).schema(OfProcess.DIFFERENTIATION);
        }
        return base.gradient() instanceof DerivedGradient rule ? rule.schema(OfProcess.DIFFERENTIATION) : null;
    }

    /**
     * An operation type.
     *
     * @param type
     *            its name
     * @return null if there is none
     */
    public @Nullable Operation find(String type) {
        Operation operation = byType.get(type);
        if (operation != null || !DerivedGradient.isGradient(type)) {
            return operation;
        }
        Operation before = derived.get(type);
        if (before != null) {
            return before;
        }
        Operation gradient = derive(type);
        return gradient == null ? null : derived.merge(type, gradient, (first, _) -> first);
    }

    /**
     * An operation type.
     *
     * @param type
     *            its name
     * @return the type
     * @throws IllegalArgumentException
     *             if there is none
     */
    public Operation get(String type) {
        Operation operation = find(type);
        if (operation == null) {
            throw new IllegalArgumentException("There is no operation type '" + type
                    + "'; docs/operations.md lists those there are, and a Provider of your own adds others");
        }
        return operation;
    }

    /**
     * Whether operations of a type stand around a run: they bring values in or out, or make readers. An executor leaves
     * them out.
     *
     * @param type
     *            its name, known or not
     * @return whether it does
     */
    public boolean isBoundary(String type) {
        Operation operation = find(type);
        return operation == null ? READER_MAKERS.contains(type) : operation.isBoundary();
    }

    /**
     * Checks that the types of all operations of a program are known, in all of its blocks, those that are never run
     * included. Enough for a program that is looked at; one that is run is checked by {@link #requireRunnable}.
     *
     * @param program
     *            any
     * @throws IllegalArgumentException
     *             if some are not: one message names each of them, where it stands first, and how often it occurs
     */
    public void requireKnown(Program program) {
        require(program, false);
    }

    /**
     * Checks that all operations of a program can be run, in all of its blocks, those that are never run included: that
     * their types are known, and that their schemas do not refuse their attributes, see {@link Operation#refusal}.
     *
     * @param program
     *            any
     * @throws IllegalArgumentException
     *             if some cannot be run: one message names each of them, where it stands first, how often it occurs,
     *             and why it cannot be run
     */
    public void requireRunnable(Program program) {
        require(program, true);
    }

    private void require(Program program, boolean runs) {
        List<Problem> problems = problems(program).stream()
                .filter(problem -> runs || problem.kind() == Problem.Kind.UNKNOWN).toList();
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException("The program cannot be run, since " + message(problems));
        }
    }

    /**
     * Examines all operations of a program, in all of its blocks, those that are never run included.
     *
     * @param program
     *            any
     * @return types that are not known, in the order in which they occur, then types that are refused with each reason,
     *         see {@link Operation#refusal}; empty if nothing is known to be wrong
     */
    public List<Problem> problems(Program program) {
        Map<String, Problem> unknown = new LinkedHashMap<>();
        Map<String, Map<String, Problem>> refused = new LinkedHashMap<>();
        for (Block block : program.blocks()) {
            for (int i = 0; i < block.ops().size(); i++) {
                OpDesc op = block.ops().get(i);
                Operation operation = find(op.type());
                if (operation == null) {
                    if (!isBoundary(op.type())) {
                        unknown.merge(op.type(),
                                new Problem(Problem.Kind.UNKNOWN, op.type(), "", block.index(), i, 1),
                                (first, _) -> first.again());
                    }
                    continue;
                }
                String reason = operation.refusal(op);
                if (reason != null) {
                    refused.computeIfAbsent(op.type(), _ -> new LinkedHashMap<>()).merge(reason,
                            new Problem(Problem.Kind.REFUSED, op.type(), reason, block.index(), i, 1),
                            (first, _) -> first.again());
                }
            }
        }
        List<Problem> problems = new ArrayList<>(unknown.values());
        refused.values().forEach(reasons -> problems.addAll(reasons.values()));
        return problems;
    }

    private static String message(List<Problem> problems) {
        StringBuilder message = new StringBuilder();
        List<Problem> unknown = problems.stream().filter(each -> each.kind() == Problem.Kind.UNKNOWN).toList();
        if (!unknown.isEmpty()) {
            StringJoiner types = new StringJoiner(", ");
            unknown.forEach(each -> types.add("'" + each.type() + "' (" + each.place() + ")"));
            message.append(unknown.size() == 1 ? "one operation type is" : unknown.size() + " operation types are")
                    .append(" not known: ")
                    .append(types)
                    .append(". docs/operations.md lists those there are; take these operations out, or add their "
                            + "types by a Provider of "
                            + "your own");
        }
        List<Problem> refused = problems.stream().filter(each -> each.kind() == Problem.Kind.REFUSED).toList();
        if (!refused.isEmpty()) {
            StringJoiner operations = new StringJoiner("; ");
            refused.forEach(each -> operations.add("'" + each.type() + "' (" + each.place() + "): " + each.reason()));
            int count = refused.stream().mapToInt(Problem::count).sum();
            message.append(unknown.isEmpty() ? "" : ". Besides, ")
                    .append(count == 1 ? "one operation" : count + " operations")
                    .append(" cannot be run as given: ").append(operations);
        }
        return message.toString();
    }

    /** Whether a type is one of the run-time's own: then what it does apart from its outputs is declared. */
    boolean isBuiltIn(String type) {
        String base = type;
        while (DerivedGradient.isGradient(base) && !byType.containsKey(base)) {
            base = base.substring(0, base.lastIndexOf('_'));
        }
        return builtIn.contains(base);
    }

    /**
     * Whether an operation has no effect but to write its outputs and those of the blocks that it runs. Such an
     * operation may be left out if its outputs are not read. For types of other providers that is not known.
     *
     * @param op
     *            the operation
     * @param program
     *            whose blocks it may run
     * @param statefulRandom
     *            whether random numbers come from one generator, so that drawing them is an effect, too
     * @return false if it may do something else
     */
    public boolean isPure(OpDesc op, Program program, boolean statefulRandom) {
        Operation operation = find(op.type());
        if (operation == null || !isBuiltIn(op.type())) {
            return false;
        }
        for (Effect effect : operation.effects()) {
            if (effect != Effect.CONTROL && (effect != Effect.RANDOM || statefulRandom)) {
                return false;
            }
        }
        return op.attributes().stream().flatMap(each -> each.value().blocks().stream())
                .allMatch(block -> program.block(block).ops().stream()
                        .allMatch(inner -> isPure(inner, program, statefulRandom)));
    }

    /**
     * All operation types.
     *
     * @return by name
     */
    public Collection<Operation> all() {
        return new TreeMap<>(byType).values();
    }
}
