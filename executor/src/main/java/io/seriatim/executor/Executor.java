package io.seriatim.executor;

import io.seriatim.device.Place;
import io.seriatim.engine.Engine;
import io.seriatim.engine.Lane;
import io.seriatim.graph.Interpreter;
import io.seriatim.graph.Program;
import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.op.PaddleRandom;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Compiles programs into plans and runs them, on one place and on variables of a scope. For many threads. */
public final class Executor implements AutoCloseable {
    private final Options options;
    private final Scope scope = new Scope();
    private final PreparedKernels kernels;
    private final Interpreter interpreter;

    private final @Nullable Engine engine;
    private final Map<Key, Plan> plans = new LinkedHashMap<>(8, 0.75f, true);

    /** What a plan depends on: the program's content, and what is asked of it. */
    private record Key(long hash, Feeds feeds, Fetches fetches) {
    }

    /** How plans are made and run. */
    record Options(Place place, int threads, boolean sequential, int cachedPlans, int specialisations, boolean nanCheck,
            @Nullable PaddleRandom paddleRandom) {
    }

    /** Collects options. */
    public static final class Builder {
        private Place place = Place.CPU;
        private int threads = 1;
        private boolean sequential;
        private int cachedPlans = 8;
        private int specialisations = 8;
        private boolean nanCheck;
        private @Nullable PaddleRandom paddleRandom;

        private Builder() {
        }

        /**
         * Where programs run.
         *
         * @param value
         *            the processor
         * @return this
         */
        public Builder place(Place value) {
            if (!value.equals(Place.CPU)) {
                throw new IllegalArgumentException("Programs run on cpu, but the place is " + value);
            }
            place = value;
            return this;
        }

        /**
         * How many threads work on one run: the caller's and workers of an engine.
         *
         * @param value
         *            from 1, which is the default
         * @return this
         */
        public Builder threads(int value) {
            threads = atLeastOne("threads", value);
            return this;
        }

        /**
         * Runs all operations in the order of the program.
         *
         * @return this
         */
        public Builder sequential() {
            sequential = true;
            return this;
        }

        /**
         * How many plans {@link Executor#run} keeps.
         *
         * @param value
         *            from 1; 8 unless set
         * @return this
         */
        public Builder cachedPlans(int value) {
            cachedPlans = atLeastOne("cachedPlans", value);
            return this;
        }

        /**
         * For how many combinations of fed shapes a plan keeps kernels and memory.
         *
         * @param value
         *            from 1; 8 unless set
         * @return this
         */
        public Builder specialisations(int value) {
            specialisations = atLeastOne("specialisations", value);
            return this;
        }

        /**
         * Fails at the first operation that computes NaN or infinity. Slow.
         *
         * @return this
         */
        public Builder nanCheck() {
            nanCheck = true;
            return this;
        }

        /**
         * Draws random numbers as Paddle does on a processor, in the order of the program.
         *
         * @param seed
         *            of the operations that have none of their own
         * @return this
         */
        public Builder paddleRandom(long seed) {
            paddleRandom = PaddleRandom.ofProcess(seed);
            return this;
        }

        private static int atLeastOne(String what, int value) {
            if (value < 1) {
                throw new IllegalArgumentException(what + " must be 1 or more, but is " + value);
            }
            return value;
        }

        /**
         * The executor.
         *
         * @return with a scope of its own
         */
        public Executor build() {
            return new Executor(new Options(place, threads, sequential, cachedPlans, specialisations, nanCheck, paddleRandom));
        }
    }

    private Executor(Options options) {
        this.options = options;
        this.interpreter = Interpreter.of(Kernels.system());
        this.kernels = new PreparedKernels(Kernels.system(), options.place());
        PaddleRandom random = options.paddleRandom();
        if (random != null) {
            interpreter.paddleRandom(random);
        }
        this.engine = options.threads() == 1 ? null : Engine.builder().workers(Lane.CPU, options.threads() - 1).name("executor").build();
    }

    /**
     * With one thread a run.
     *
     * @param place
     *            where programs run
     * @return an executor with a scope of its own
     */
    public static Executor on(Place place) {
        return builder().place(place).build();
    }

    /**
     * With options.
     *
     * @return collects them
     */
    public static Builder builder() {
        return new Builder();
    }

    RunLoop loop(Dependencies dependencies) {
        Engine lanes = engine;
        return lanes == null ? new RunLoop.Serial(dependencies.before().length) : new Crew(dependencies, lanes, options.threads());
    }

    /**
     * Names of what is fed.
     *
     * @param names
     *            in the order in which values will be given
     * @return the feeds
     */
    public static Feeds feeds(String... names) {
        return new Feeds(List.of(names));
    }

    /**
     * Names of what is wanted.
     *
     * @param names
     *            in the order of the results
     * @return the fetches
     */
    public static Fetches fetches(String... names) {
        return new Fetches(List.of(names));
    }

    Options options() {
        return options;
    }

    PreparedKernels kernels() {
        return kernels;
    }

    Interpreter interpreter() {
        return interpreter;
    }

    /**
     * Where variables are that outlive runs.
     *
     * @return the root
     */
    public Scope scope() {
        return scope;
    }

    /**
     * Analyses a program.
     *
     * @param program
     *            copied; it may be changed afterwards
     * @param feeds
     *            what will be fed
     * @param fetches
     *            what is wanted
     * @return a plan
     */
    public Plan compile(Program program, Feeds feeds, Fetches fetches) {
        return new Plan(this, program, feeds, fetches);
    }

    /**
     * Runs a program once, as a startup program is.
     *
     * @param program
     *            without feeds
     */
    public void run(Program program) {
        run(program, Map.of(), fetches());
    }

    /**
     * Runs a program. Its plan is kept for the next time.
     *
     * @param program
     *            what is run
     * @param feeds
     *            values by name
     * @param fetches
     *            what is wanted
     * @return what was fetched
     */
    public Results run(Program program, Map<String, Tensor> feeds, Fetches fetches) {
        Feeds names = new Feeds(List.copyOf(new TreeSet<>(feeds.keySet())));
        Tensor[] values = names.names().stream().map(name -> Objects.requireNonNull(feeds.get(name))).toArray(Tensor[]::new);
        return cached(program, names, fetches).run(values);
    }

    private Plan cached(Program program, Feeds feeds, Fetches fetches) {
        Key key = new Key(ProgramFiles.hash(program), feeds, fetches);
        synchronized (plans) {
            Plan plan = plans.computeIfAbsent(key, _ -> compile(program, feeds, fetches));
            while (plans.size() > options.cachedPlans()) {
                plans.remove(plans.keySet().iterator().next());
            }
            return plan;
        }
    }

    /** Lets the threads go. Memory comes back when no one can reach it. */
    @Override
    public void close() {
        if (engine != null) {
            engine.close();
        }
    }
}
