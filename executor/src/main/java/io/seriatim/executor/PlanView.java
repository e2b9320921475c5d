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
 * What an executor makes of a program, step by step, to read or to look at. Nothing is run, and neither parameters nor
 * values to feed are needed: shapes are enough.
 */
public final class PlanView {
    private final CompiledPlan plan;
    private final Options options;
    private final List<String> fetches;
    private final Lifetimes lifetimes;
    private final int[][] chained;

    /** Why a task waits for another one. */
    enum Reason {
        /** One reads or overwrites what the other touches, or both have the same effect. */
        DATA,
        /** They are on one stream. */
        STREAM,
        /** They share memory. */
        MEMORY
    }

    /**
     * That a task waits for another one.
     *
     * @param from
     *            the other one
     * @param reason
     *            why
     * @param event
     *            whether an event says that it has ended
     */
    record Edge(int from, Reason reason, boolean event) {
    }

    private PlanView(CompiledPlan plan, Options options, List<String> fetches) {
        this.plan = plan;
        this.options = options;
        this.fetches = List.copyOf(fetches);
        this.lifetimes = Lifetimes.of(plan.tasks(), plan.values());
        int[][] demanded = plan.dependencies().before();
        this.chained = plan.streams().isHostOnly() ? demanded : Streams.chained(demanded, plan.streams().stream());
    }

    /**
     * Plans a program.
     *
     * @param executor
     *            for which place, with how many threads, and so on. Its scope is not looked at
     * @param program
     *            all of whose operation types are known
     * @param batch
     *            what stands for unknown dimensions
     * @param fetches
     *            what is wanted
     * @return the plan
     * @throws IllegalArgumentException
     *             if the program has no such variable, or an operation is not known
     * @throws ProgramFailedException
     *             if shapes do not fit one another
     */
    public static PlanView of(Executor executor, Program program, long batch, List<String> fetches) {
        return of(executor, program, batch, Map.of(), fetches);
    }

    /**
     * Plans a program for shapes of what is fed.
     *
     * @param executor
     *            for which place, with how many threads, and so on. Its scope is not looked at
     * @param program
     *            all of whose operation types are known
     * @param batch
     *            what stands for unknown dimensions
     * @param shapes
     *            of some variables; others have the program's
     * @param fetches
     *            what is wanted
     * @return the plan
     * @throws IllegalArgumentException
     *             if the program has no such variable, or an operation is not known
     * @throws ProgramFailedException
     *             if shapes do not fit one another
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
        try (StandIns standIns = new StandIns(given)) {
            Scope scope = new Scope();
            given.keySet().stream().filter(name -> !fed.contains(name))
                    .forEach(name -> scope.set(name, standIns.get(name)));
            Plan plan = executor.outline(program, new Feeds(fed), new Fetches(fetches));
            try {
                return new PlanView(
                        plan.specialisation(scope, Sharing.NONE,
                                fed.stream().map(standIns::get).toArray(Tensor[]::new)),
                        executor.options(),
                        fetches);
            } finally {
                plan.close();
            }
        }
    }

    /** What a run would find in the scope or be fed. */
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

    /** Tensors whose elements no one looks at. All of a type have the same memory. */
    private static final class StandIns implements AutoCloseable {
        private final Map<String, TensorSpec> specs;
        private final Map<DType, Buffer> buffers = new EnumMap<>(DType.class);

        StandIns(Map<String, TensorSpec> specs) {
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

    /** What a task waits for. */
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

    /** What carries a task out. */
    String kernels(Task task) {
        return switch (task) {
            case Task.Transfer _ -> "copy";
            case Task.Interpreted interpreted -> "interpreted: " + interpreted.because();
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

    /** The stream of a task, or the host. */
    String lane(int task) {
        int stream = plan.streams().stream()[task];
        return stream < 0 ? plan.tasks().get(task).place().toString() : plan.streams().streams().get(stream).toString();
    }

    /** The values that have memory of their own or lie in an arena, not those that are other ones changed in place. */
    int[] memories() {
        return IntStream.range(0, plan.values().size())
                .filter(i -> plan.values().memory(i) == i && lifetimes.last(i) >= 0).toArray();
    }

    /** How large a value is; −1 if only a run knows. */
    long bytes(int value) {
        TensorSpec spec = plan.values().spec(value);
        return spec == null ? -1 : spec.bytes();
    }

    /** A value's number and name, for people. */
    String label(int value) {
        return value + " " + plan.values().name(value);
    }

    /** Where a value is. */
    Place place(int value) {
        Place place = plan.values().place(value);
        return place == null ? Place.CPU : place;
    }

    /**
     * A section for each step: variables, kernels, dependencies, streams, lifetimes, memory.
     *
     * @return lines of text
     */
    public String text() {
        return new PlanText(this).text();
    }

    /**
     * A picture: the tasks, each below all that it waits for, and beneath them what lies in memory from which task to
     * which. It fits light and dark backgrounds. Of a long program the first 400 tasks.
     *
     * @return an SVG document
     */
    public String svg() {
        return new PlanSvg(this).svg();
    }
}
