package io.seriatim.engine;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The settings of an engine to be built. Confined to the thread that builds. */
final class EngineBuilder implements Engine.Builder {
    private static final AtomicInteger UNNAMED = new AtomicInteger();
    private static final int DEFAULT_MAX_PENDING = 65_536;
    private static final int PRIORITY_WORKERS = 4;
    private static final Lane CPU_COPY = new Lane("cpu", Lane.Queue.COPY);
    private static final Lane CPU_PRIORITY = new Lane("cpu", Lane.Queue.PRIORITY);

    /** The four kinds of engine. */
    enum Type {
        NAIVE, POOLED, PER_DEVICE, SHUFFLED
    }

    String name = "engine" + UNNAMED.getAndIncrement();
    /** Null if neither value was chosen. */
    private @Nullable Boolean checked;
    int maxPending = DEFAULT_MAX_PENDING;
    @Nullable
    Recorder recorder;
    Consumer<? super Throwable> onUnhandled = t -> UnhandledFailures.log(name, t);
    private Rules rules = new Rules();
    private int firstIndex;
    private long firstOrder;
    /** Null if no kind was chosen: then the settings of the environment count. */
    private @Nullable Type type;
    private int threads;
    private long seed;
    private final Map<Lane, Integer> workers = new HashMap<>();
    private final Map<Lane, List<Supplier<?>>> states = new HashMap<>();

    @Override
    public Engine.Builder naive() {
        type = Type.NAIVE;
        return this;
    }

    @Override
    public Engine.Builder pooled(int n) {
        threads = atLeastOne("the threads of a pool", n);
        type = Type.POOLED;
        return this;
    }

    @Override
    public Engine.Builder perDevice() {
        type = Type.PER_DEVICE;
        return this;
    }

    @Override
    public Engine.Builder shuffled(long generatorSeed) {
        seed = generatorSeed;
        type = Type.SHUFFLED;
        return this;
    }

    @Override
    public Engine.Builder workers(Lane lane, int n) {
        workers.put(Objects.requireNonNull(lane, "lane"), atLeastOne("the workers of lane '" + lane + "'", n));
        return this;
    }

    @Override
    public Engine.Builder maxPending(int n) {
        maxPending = atLeastOne("maxPending", n);
        return this;
    }

    @Override
    public Engine.Builder onUnhandled(Consumer<? super Throwable> handler) {
        onUnhandled = Objects.requireNonNull(handler, "handler");
        return this;
    }

    @Override
    public Engine.Builder recorder(Recorder told) {
        recorder = Objects.requireNonNull(told, "recorder");
        return this;
    }

    @Override
    public Engine.Builder checked(boolean on) {
        checked = on;
        return this;
    }

    @Override
    public Engine.Builder name(String given) {
        name = Objects.requireNonNull(given, "name");
        return this;
    }

    @Override
    public Engine.Builder workerState(Lane lane, Supplier<?> state) {
        Objects.requireNonNull(state, "state");
        states.computeIfAbsent(Objects.requireNonNull(lane, "lane"), any -> new ArrayList<>()).add(state);
        return this;
    }

    /** Replaces the rules. Tests pass wrong ones and check that they are detected. */
    EngineBuilder rules(Rules given) {
        rules = given;
        return this;
    }

    /**
     * Sets the first values of the counters, so that tests can let them wrap around.
     *
     * @param index
     *            the first value of 32-bit counters
     * @param order
     *            the first value of the order of operations, and of counters compared with it
     */
    EngineBuilder firstCounters(int index, long order) {
        firstIndex = index;
        firstOrder = order;
        return this;
    }

    @Override
    public Engine build() {
        return new DependencyEngine(buildCore());
    }

    /** Creates an engine without a handle and without workers. */
    EngineCore buildCore() {
        return buildCore(type == null ? EnvironmentSettings.read() : null);
    }

    /**
     * As {@link #buildCore()}, with given settings of the environment.
     *
     * @param environment
     *            the settings that count where this builder has none, or null
     */
    EngineCore buildCore(@Nullable EnvironmentSettings environment) {
        Chosen chosen = chosen(environment);
        if (environment != null) {
            environment.log();
        }
        Settings settings =
                new Settings(name, chosen.checked, maxPending, recorder, onUnhandled, rules, firstIndex, firstOrder);
        return new EngineCore(settings, core -> dispatcher(core, chosen));
    }

    /** The settings that come from this builder or else from the environment. */
    private record Chosen(Type type, int threads, long seed, Map<Lane, Integer> workers, boolean checked) {
    }

    private Chosen chosen(@Nullable EnvironmentSettings environment) {
        if (type != null || environment == null) {
            return new Chosen(type == null ? Type.PER_DEVICE : type, threads, seed, Map.copyOf(workers),
                    Boolean.TRUE.equals(checked));
        }
        Map<Lane, Integer> counts = new HashMap<>(workers);
        if (environment.workers() > 0) {
            counts.putIfAbsent(Lane.CPU, environment.workers());
        }
        Type kind = environment.type();
        Boolean check = checked == null ? environment.checked() : checked;
        return new Chosen(kind == null ? Type.PER_DEVICE : kind,
                counts.getOrDefault(Lane.CPU, Runtime.getRuntime().availableProcessors()), environment.seed(),
                Map.copyOf(counts), Boolean.TRUE.equals(check));
    }

    private static int atLeastOne(String what, int n) {
        if (n < 1) {
            throw new IllegalArgumentException(what + " must be at least 1, but is " + n);
        }
        return n;
    }

    private Dispatcher dispatcher(EngineCore core, Chosen chosen) {
        return switch (chosen.type) {
            case NAIVE -> new InlineDispatcher(core, copy(states), null);
            case SHUFFLED -> new InlineDispatcher(core, copy(states), chosen.seed);
            case POOLED -> laneDispatcher(core, new Pooled(chosen.threads));
            case PER_DEVICE -> laneDispatcher(core, new PerDevice(chosen.workers));
        };
    }

    private LaneDispatcher laneDispatcher(EngineCore core, LaneDispatcher.Layout layout) {
        Map<Lane, List<Supplier<?>>> byPool = new HashMap<>();
        states.forEach((lane, suppliers) -> byPool.computeIfAbsent(layout.poolOf(lane), any -> new ArrayList<>())
                .addAll(suppliers));
        return new LaneDispatcher(core, layout, byPool);
    }

    private static Map<Lane, List<Supplier<?>>> copy(Map<Lane, List<Supplier<?>>> states) {
        Map<Lane, List<Supplier<?>>> copied = new HashMap<>();
        states.forEach((lane, suppliers) -> copied.put(lane, List.copyOf(suppliers)));
        return copied;
    }

    /** One pool for all lanes but copies, and one thread for copies. */
    private record Pooled(int threads) implements LaneDispatcher.Layout {
        @Override
        public String kind() {
            return "pooled, " + threads + (threads == 1 ? " thread" : " threads");
        }

        @Override
        public Lane poolOf(Lane lane) {
            return lane.queue() == Lane.Queue.COPY ? CPU_COPY : Lane.CPU;
        }

        @Override
        public int threadsOf(Lane pool) {
            return pool.queue() == Lane.Queue.COPY ? 1 : threads;
        }
    }

    /** One pool for each place, another for its copies, and one for urgent work on all {@code cpu} places. */
    private record PerDevice(Map<Lane, Integer> workers) implements LaneDispatcher.Layout {
        @Override
        public String kind() {
            return "perDevice";
        }

        @Override
        public Lane poolOf(Lane lane) {
            if (lane.queue() != Lane.Queue.PRIORITY) {
                return lane;
            }
            return isCpu(lane) ? CPU_PRIORITY : Lane.of(lane.place());
        }

        @Override
        public int threadsOf(Lane pool) {
            int usual = switch (pool.queue()) {
                case COMPUTE -> isCpu(pool) ? Runtime.getRuntime().availableProcessors() : 1;
                case COPY -> 1;
                case PRIORITY -> PRIORITY_WORKERS;
            };
            return workers.getOrDefault(pool, usual);
        }

        private static boolean isCpu(Lane lane) {
            return lane.place().equals("cpu") || lane.place().startsWith("cpu:");
        }
    }
}
