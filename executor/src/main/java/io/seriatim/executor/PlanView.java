package io.seriatim.executor;

import io.seriatim.device.Buffer;
import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Options;
import io.seriatim.executor.ir.Sharing;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.schedule.Lifetimes;
import io.seriatim.executor.schedule.Streams;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A view of the plan that an executor compiles from a program, as text or as a picture. No operation is run. Only the
 * shapes of parameters and feeds are needed, not their values.
 */
public final class PlanView {
    private final CompiledPlan plan;
    private final Options options;
    private final List<String> fetches;
    private final Lifetimes lifetimes;
    private final int[][] chained;

    /** The reason why a task depends on another task. */
    enum Reason {
        /** One task writes a value that the other reads or writes, or both have the same side effect. */
        DATA,
        /** Both are on the same stream. */
        STREAM,
        /** Values of both share memory in an arena. */
        MEMORY
    }

    /**
     * A dependency of a task on an earlier task.
     *
     * @param from
     *            the index of the earlier task
     * @param reason
     *            the reason for the dependency
     * @param event
     *            whether the task waits for an event that the earlier task records
     */
    record Edge(int from, Reason reason, boolean event) {
    }

    private PlanView(CompiledPlan plan, Options options, List<String> fetches) {
        this.plan = plan;
        this.options = options;
        this.fetches = List.copyOf(fetches);
        this.lifetimes = Lifetimes.of(plan);
        int[][] demanded = plan.dependencies().before();
        this.chained = plan.streams().isHostOnly() ? demanded : Streams.chained(demanded, plan.streams().stream());
    }

    /**
     * Compiles a program for viewing.
     *
     * @param executor
     *            the executor whose place and options are used; its scope is not read
     * @param program
     *            a program whose operation types are all registered
     * @param batch
     *            the size of unknown dimensions, at least 1
     * @param fetches
     *            the names of the variables to fetch
     * @return the view
     * @throws IllegalArgumentException
     *             if {@code batch} is less than 1, if the program has no variable of a given name, or if an operation
     *             type is unknown
     * @throws ProgramFailedException
     *             if the shapes of an operation's inputs are incompatible
     */
    public static PlanView of(Executor executor, Program program, long batch, List<String> fetches) {
        return of(executor, program, batch, Map.of(), fetches);
    }

    /**
     * Compiles a program for viewing, with given shapes of some variables.
     *
     * @param executor
     *            the executor whose place and options are used; its scope is not read
     * @param program
     *            a program whose operation types are all registered
     * @param batch
     *            the size of unknown dimensions, at least 1
     * @param shapes
     *            the shapes of some variables by name; other variables have the shapes that the program declares
     * @param fetches
     *            the names of the variables to fetch
     * @return the view
     * @throws IllegalArgumentException
     *             if {@code batch} is less than 1, if the program has no variable of a given name, or if an operation
     *             type is unknown
     * @throws ProgramFailedException
     *             if the shapes of an operation's inputs are incompatible
     */
    public static PlanView of(Executor executor, Program program, long batch, Map<String, long[]> shapes,
            List<String> fetches) {
        if (batch < 1) {
            throw new IllegalArgumentException("batch must be 1 or more, but is " + batch);
        }
        Block block = program.global();
        shapes.keySet().stream().filter(name -> block.var(name) == null).findFirst().ifPresent(name -> {
            throw new IllegalArgumentException("The program has no variable '" + name + "' to give a shape");
        });
        fetches.stream().filter(name -> block.var(name) == null).findFirst().ifPresent(name -> {
            throw new IllegalArgumentException("The program has no variable '" + name + "' to fetch");
        });
        Map<String, TensorSpec> given = given(block, batch, shapes, fetches);
        List<String> fed = given.keySet().stream().filter(name -> !block.get(name).isPersistable()).toList();
        try (Placeholders placeholders = new Placeholders(given)) {
            Scope scope = new Scope();
            given.keySet().stream().filter(name -> !fed.contains(name))
                    .forEach(name -> scope.set(name, placeholders.get(name)));
            Plan plan = executor.outline(program, new Feeds(fed), new Fetches(fetches));
            try {
                return new PlanView(
                        plan.specialisation(scope, Sharing.NONE,
                                fed.stream().map(placeholders::get).toArray(Tensor[]::new)),
                        executor.options(),
                        fetches);
            } finally {
                plan.close();
            }
        }
    }

    /** Returns the types of the variables that a run would be fed or find in the scope. */
    private static Map<String, TensorSpec> given(Block block, long batch, Map<String, long[]> shapes,
            List<String> fetches) {
        ValueNumbering accesses = ValueNumbering.of(block, List.of(), fetches);
        Set<Integer> computedWith = new TreeSet<>();
        for (Access access : accesses.operations()) {
            Operation schema = Operations.system().find(access.op().type());
            if (schema != null && schema.isLowered()) {
                Arrays.stream(access.reads()).forEach(computedWith::add);
            }
        }
        Set<String> fed = block.ops().stream()
                .filter(op -> Operations.system().isBoundary(op.type()) || ValueNumbering.isRead(op))
                .map(OpDesc::outputNames).flatMap(List::stream).collect(Collectors.toSet());
        Map<String, TensorSpec> given = new LinkedHashMap<>();
        for (int value : accesses.externals()) {
            String name = accesses.values().get(value).name();
            VarDesc desc = block.var(name);
            if (desc != null && desc.type() instanceof VarType.Dense(VarType.TensorType type, Integer _)
                    && (desc.isPersistable()
                            || fed.contains(name) || Boolean.TRUE.equals(desc.needCheckFeed())
                            || computedWith.contains(value))) {
                long[] dims = shapes.containsKey(name)
                        ? Objects.requireNonNull(shapes.get(name)).clone()
                        : type.shape();
                Arrays.setAll(dims, i -> dims[i] < 0 ? batch : dims[i]);
                given.put(name, TensorSpec.of(type.dtype(), dims));
            }
        }
        return given;
    }

    /** Placeholder tensors whose elements are never read. All tensors of the same type share one buffer. */
    private static final class Placeholders implements AutoCloseable {
        private final Map<String, TensorSpec> specs;
        private final Map<DType, Buffer> buffers = new EnumMap<>(DType.class);

        Placeholders(Map<String, TensorSpec> specs) {
            this.specs = specs;
            Map<DType, Long> largest = new EnumMap<>(DType.class);
            specs.values().forEach(spec -> largest.merge(spec.dtype(), spec.bytes(), Math::max));
            try {
                largest.forEach((dtype, bytes) -> buffers.put(dtype, Devices.system().host().allocate(bytes)));
            } catch (RuntimeException e) {
                close();
                throw e;
            }
        }

        Tensor get(String name) {
            TensorSpec spec = Objects.requireNonNull(specs.get(name));
            return new Tensor(Objects.requireNonNull(buffers.get(spec.dtype())), 0, spec);
        }

        @Override
        public void close() {
            buffers.values().forEach(Buffer::close);
        }
    }

    CompiledPlan plan() {
        return plan;
    }

    Options options() {
        return options;
    }

    List<String> fetches() {
        return fetches;
    }

    Lifetimes lifetimes() {
        return lifetimes;
    }

    /** Returns the dependencies of a task. */
    List<Edge> edges(int task) {
        Set<Integer> events = new TreeSet<>();
        Arrays.stream(plan.streams().waits()[task]).forEach(events::add);
        Arrays.stream(plan.streams().hostWaits()[task]).forEach(events::add);
        List<Edge> edges = new ArrayList<>();
        for (int from : plan.before()[task]) {
            Reason reason = contains(plan.dependencies().before()[task], from)
                    ? Reason.DATA
                    : contains(chained[task], from) ? Reason.STREAM : Reason.MEMORY;
            edges.add(new Edge(from, reason, events.contains(from)));
        }
        return edges;
    }

    private static boolean contains(int[] numbers, int number) {
        return Arrays.stream(numbers).anyMatch(each -> each == number);
    }

    /** Returns the names of the kernels of a task. */
    String kernels(Task task) {
        return switch (task) {
            case Task.Transfer _ -> "copy";
            case Task.Interpreted interpreted -> "interpreted: " + interpreted.because();
            case Task.Rest rest when rest.condition() >= 0 -> "two plans of their own, one for each value of '"
                    + plan.values().name(rest.condition()) + "': " + rest.operations().size() + " operations";
            case Task.Rest rest when rest.parts().size() > 1 -> rest.parts().size()
                    + " plans of their own, compiled when their shapes are known: " + rest.operations().size()
                    + " operations";
            case Task.Rest rest -> "a plan of their own, compiled when their shapes are known: "
                    + rest.operations().size() + " operations";
            case Task.Compute compute -> {
                Map<String, Integer> counts = new LinkedHashMap<>();
                for (Stage stage : compute.stages()) {
                    counts.merge(
                            stage.name() + " (" + (stage.kernel() == null ? "java" : stage.kernel().provider()) + ")",
                            1,
                            Integer::sum);
                }
                yield counts.isEmpty()
                        ? "nothing to do"
                        : counts.entrySet().stream()
                                .map(entry -> entry.getKey() + (entry.getValue() == 1 ? "" : " ×" + entry.getValue()))
                                .collect(Collectors.joining(", "));
            }
        };
    }

    /** Returns the name of a task's stream, or its place if it runs on the host. */
    String lane(int task) {
        int stream = plan.streams().stream()[task];
        return stream < 0 ? plan.tasks().get(task).place().toString() : plan.streams().streams().get(stream).toString();
    }

    /** Returns the values that own memory. Values that are updates of another value in place are not included. */
    int[] memories() {
        return IntStream.range(0, plan.values().size())
                .filter(i -> plan.values().memory(i) == i && lifetimes.last(i) >= 0).toArray();
    }

    /** Returns the size of a value in bytes; −1 if it is known only at run time. */
    long bytes(int value) {
        TensorSpec spec = plan.values().spec(value);
        return spec == null ? -1 : spec.bytes();
    }

    /** Returns the number and the name of a value. */
    String label(int value) {
        return value + " " + plan.values().name(value);
    }

    /** Returns the place of a value. */
    Place place(int value) {
        Place place = plan.values().place(value);
        return place == null ? Place.CPU : place;
    }

    /**
     * Returns the plan as text, with one section for each step of compilation: variables, kernels, dependencies,
     * streams, lifetimes and memory.
     *
     * @return lines of text
     */
    public String text() {
        return new PlanText(this).text();
    }

    /**
     * Returns a picture of the plan: the first 400 tasks, each below its dependencies, and the lifetimes and offsets of
     * values in the arenas. Its colours adapt to light and dark backgrounds.
     *
     * @return an SVG document
     */
    public String svg() {
        return new PlanSvg(this).svg();
    }
}
