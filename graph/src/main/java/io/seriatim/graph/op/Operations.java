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
    /** Families that are registered when they are first needed. */
    private final FamilyIndex index = new FamilyIndex();
    /** Those of families without an index, which do not come from providers either. */
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
        /**
         * Which types come from which family, so that families are added one by one when they are needed.
         *
         * @return for each family a line with its name, then, indented by spaces, lines with its types, separated by
         *         single spaces; {@code gradient<type} is a derived gradient that the schema of {@code type} names.
         *         Empty if all types are to be added at once by {@link #register(Operations)}
         */
        default List<String> index() {
            return List.of();
        }

        /**
         * Adds the types of one family.
         *
         * @param family
         *            a name of the index
         * @param registry
         *            where they go
         */
        default void register(String family, Operations registry) {
            throw new IllegalArgumentException("There is no family of operations '" + family + "' in " + getClass());
        }
    }

    /** How gradients are derived. */
    private static final class Gradients {
        static final Differentiation DIFFERENTIATION = ServiceLoader
                .load(Differentiation.class, Differentiation.class.getClassLoader()).findFirst()
                .orElseThrow(() -> new IllegalStateException("There is no service that derives gradients: put all "
                        + "of seriatim-graph on the class or module path"));

        private Gradients() {
        }
    }

    private static final class OfProcess {
        static final Operations OPERATIONS = load();

        private OfProcess() {
        }

        private static Operations load() {
            Operations operations = new Operations();
            for (BuiltIn service : ServiceLoader.load(BuiltIn.class, BuiltIn.class.getClassLoader())) {
                operations.addFamilies(service);
            }
            operations.deriveGradients();
            operations.builtIn = Set.copyOf(operations.byType.keySet());
            if (operations.builtIn.isEmpty() && operations.index.families().isEmpty()) {
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
        FamilyIndex.Family family = index.family(operation.type());
        if ((family != null && !family.isStarted()) || byType.putIfAbsent(operation.type(), operation) != null) {
            throw new IllegalArgumentException(
                    "There is an operation type '" + operation.type() + "' already; choose another name");
        }
        if (operation.gradient() instanceof GradientSignature signature) {
            byGradient.putIfAbsent(signature.type(), operation);
        }
        return this;
    }

    /** Adds the types of a service, those that it has an index of when they are needed. */
    void addFamilies(BuiltIn service) {
        if (!index.add(service)) {
            service.register(this);
        }
    }

    /** Whether a type has been added, alone or with its family. */
    boolean isRegistered(String type) {
        return byType.containsKey(type);
    }

    /** Takes back types of a family that could not be registered as a whole. */
    void remove(Collection<String> types) {
        byType.keySet().removeAll(types);
    }

    /** Registers all families, and derives all gradients that their schemas name. */
    private void complete() {
        index.families().forEach(family -> family.register(this));
        index.derived().forEach(this::find);
        deriveGradients();
    }

    /** Derives the gradients that schemas name and none defines, nor a family that is registered later. */
    private void deriveGradients() {
        byGradient.keySet().stream().filter(type -> !byType.containsKey(type) && index.family(type) == null).sorted()
                .forEach(type -> {
                    Operation gradient = derive(type);
                    if (gradient != null) {
                        byType.putIfAbsent(type, gradient);
                    }
                });
    }

    /** The gradient that is derived from an operation's steps, whether it defines another or not. */
    static Operation derived(GradientSignature signature, Operation forward) {
        return signature.derived(forward, Gradients.DIFFERENTIATION);
    }

    private @Nullable Operation derive(String type) {
        String forward = index.forward(type);
        Operation named = forward == null ? byGradient.get(type) : find(forward);
        if (named != null) {
            return named.gradient() instanceof GradientSignature signature && named.isLowered()
                    ? derived(signature, named)
                    : null;
        }
        boolean all = type.endsWith(DerivedGradient.OF_ALL);
        String suffix = all ? DerivedGradient.OF_ALL : DerivedGradient.OF_GRADIENT;
        Operation base = type.endsWith(suffix) ? find(type.substring(0, type.length() - suffix.length())) : null;
        if (base == null || !base.isLowered()) {
            return null;
        }
        if (all) {
            return DerivedGradient.ofAll(base).schema(Gradients.DIFFERENTIATION);
        }
        return base.gradient() instanceof DerivedGradient rule ? rule.schema(Gradients.DIFFERENTIATION) : null;
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
        if (operation != null) {
            return operation;
        }
        FamilyIndex.Family family = index.family(type);
        if (family != null) {
            family.register(this);
            return byType.get(type);
        }
        boolean named = index.forward(type) != null;
        if (!named && !DerivedGradient.isGradient(type)) {
            return null;
        }
        Map<String, Operation> known = named ? byType : derived;
        Operation before = known.get(type);
        if (before != null) {
            return before;
        }
        Operation gradient = derive(type);
        return gradient == null ? null : known.merge(type, gradient, (first, _) -> first);
    }

    /** As {@link #find}, for a type that should be there: what the index has not, a family may define all the same. */
    private @Nullable Operation search(String type) {
        Operation operation = find(type);
        if (operation == null) {
            complete();
            return find(type);
        }
        return operation;
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
        Operation operation = search(type);
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
        require(program, false, 0);
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
        require(program, true, 0);
    }

    /**
     * Checks that all operations of a program can be run by several ranks together, as
     * {@link #requireRunnable(Program)} does for a program that is run alone.
     *
     * @param program
     *            any
     * @param ranks
     *            how many; 0 if there is no communicator
     * @throws IllegalArgumentException
     *             if some cannot be run
     */
    public void requireRunnable(Program program, int ranks) {
        require(program, true, ranks);
    }

    private void require(Program program, boolean runs, int ranks) {
        List<Problem> problems = problems(program, ranks).stream()
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
        return problems(program, 0);
    }

    private List<Problem> problems(Program program, int ranks) {
        Map<String, Problem> unknown = new LinkedHashMap<>();
        Map<String, Map<String, Problem>> refused = new LinkedHashMap<>();
        for (Block block : program.blocks()) {
            for (int i = 0; i < block.ops().size(); i++) {
                OpDesc op = block.ops().get(i);
                Operation operation = isBoundary(op.type()) ? find(op.type()) : search(op.type());
                if (operation == null) {
                    if (!isBoundary(op.type())) {
                        unknown.merge(op.type(),
                                new Problem(Problem.Kind.UNKNOWN, op.type(), "", block.index(), i, 1),
                                (first, _) -> first.again());
                    }
                    continue;
                }
                String reason = operation.refusal(op, ranks);
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
        while (DerivedGradient.isGradient(base) && !byType.containsKey(base) && !index.contains(base)) {
            base = base.substring(0, base.lastIndexOf('_'));
        }
        return builtIn.contains(base) || index.contains(base);
    }

    /**
     * The variables that an operation writes, apart from those of its blocks.
     *
     * @param op
     *            an operation of any type
     * @return its outputs, and the inputs that it changes in place
     */
    public List<String> written(OpDesc op) {
        List<String> written = new ArrayList<>(op.outputNames());
        Operation schema = find(op.type());
        if (schema != null) {
            written.addAll(schema.changedInPlace(schema.runForm(op)));
        }
        return written;
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
        complete();
        return registered();
    }

    /** Those that were added, alone or with their families, and derived so far. */
    Collection<Operation> registered() {
        return new TreeMap<>(byType).values();
    }
}
