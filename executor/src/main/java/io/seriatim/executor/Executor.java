package io.seriatim.executor;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.engine.Engine;
import io.seriatim.executor.compile.PlanCompiler;
import io.seriatim.executor.ir.NanPolicy;
import io.seriatim.executor.ir.Options;
import io.seriatim.executor.run.OpenRuns;
import io.seriatim.executor.run.RunLoop;
import io.seriatim.executor.run.RunLoopChoice;
import io.seriatim.executor.run.StreamPool;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.trace.RunRecorder;
import io.seriatim.graph.interpret.AllowedFiles;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.PaddleRandom;
import io.seriatim.graph.parallel.Communicator;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.util.JavaDefects;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Compiles programs to plans and runs them at one place. {@link #run(Program)} runs a startup program once, which
 * stores the parameters in the executor's {@link #scope} for later runs. Thread-safe.
 */
public final class Executor implements AutoCloseable {
    private final Options options;
    private final StreamPool streams;
    private final Scope scope = new Scope();
    private final Interpreter interpreter;
    private final PlanCompiler specialiser;
    private final RunLoopChoice loops;
    private final PlanCache cached;
    private final LivePlans plans = new LivePlans();
    private final AtomicLong runs; // counted, since random numbers depend on it
    private final OpenRuns openRuns;

    /** Builds an executor. */
    public static final class Builder {
        private Place place = Place.CPU;
        private int threads = 1;
        private boolean sequential;
        private int cachedPlans = 8;
        private int specialisations = 256;
        private boolean nanCheck;
        private @Nullable PaddleRandom paddleRandom;
        private Devices devices = Devices.system();
        private boolean inPlace = true;
        private final Set<Pass> passes = EnumSet.allOf(Pass.class);
        private boolean strictNan;
        private boolean relaxedNan;
        private boolean memoryPlan = true;
        private Collector collector = Collector.FAST;
        private boolean ignoreUnknownFeeds;
        private @Nullable Engine engine;
        private boolean eager;
        private @Nullable RunRecorder recorder;
        private long firstRun;
        private AllowedFiles files = AllowedFiles.NONE;
        private OpenRuns openRuns = new OpenRuns();
        private @Nullable PreparedKernels kernels;
        private @Nullable Communicator communicator;

        private Builder() {
        }

        /**
         * Sets the place at which operations run, unless they name another one ({@code op_device}). An operation
         * without a kernel at that place runs on the host.
         *
         * @param value
         *            the host, which is the default, or a device
         * @return this
         */
        public Builder place(Place value) {
            place = value;
            return this;
        }

        /**
         * Sets the provider of devices.
         *
         * @param value
         *            the devices; by default, those of the process. The caller closes devices of its own after the
         *            executor
         * @return this
         */
        public Builder devices(Devices value) {
            devices = value;
            return this;
        }

        /**
         * Sets whether results may reuse the memory of inputs at their last use.
         *
         * @param value true by default
         * @return this
         */
        public Builder inPlace(boolean value) {
            inPlace = value;
            return this;
        }

        /**
         * Enables or disables all passes, which rewrite operations before they are scheduled.
         *
         * @param value true by default
         * @return this
         */
        public Builder fusion(boolean value) {
            passes.clear();
            if (value) {
                passes.addAll(EnumSet.allOf(Pass.class));
            }
            return this;
        }

        /**
         * Disables some passes, to measure their effect or to find the cause of a difference.
         *
         * @param left the passes to disable
         * @return this
         */
        public Builder without(Pass... left) {
            passes.removeAll(List.of(left));
            return this;
        }

        /**
         * Keeps NaN in every plan. By default, plans of programs without backward fuse activations such as relu into
         * products and convolutions, although the fused kernels turn NaN into a number, as other systems do.
         *
         * @return this
         */
        public Builder strictNan() {
            strictNan = true;
            return this;
        }

        /**
         * Fuses activations such as relu into products and convolutions in plans that train too, although NaN becomes a
         * number there. This is faster, and suitable for networks that are known to compute no NaN.
         *
         * @return this
         */
        public Builder relaxedNan() {
            relaxedNan = true;
            return this;
        }

        /**
         * Sets whether temporaries are planned into an arena before a run. Otherwise runs allocate them, and the
         * {@link #collector} specifies when they are freed.
         *
         * @param value
         *            true by default
         * @return this
         */
        public Builder memoryPlan(boolean value) {
            memoryPlan = value;
            return this;
        }

        /**
         * Sets when memory that is not in the memory plan is freed.
         *
         * @param value {@link Collector#FAST} by default
         * @return this
         */
        public Builder collector(Collector value) {
            collector = value;
            return this;
        }

        /**
         * Makes {@link Executor#run(Program, Map, Fetches)} ignore feeds for variables that the program does not have,
         * as Paddle does. By default they are errors.
         *
         * @return this
         */
        public Builder ignoreUnknownFeeds() {
            ignoreUnknownFeeds = true;
            return this;
        }

        /**
         * Pushes every task of a plan on an engine, so that the engine's recorder, checks and order apply. This is
         * meant for tests and tools; the executor's own threads are faster.
         *
         * @param value
         *            the engine, which the caller closes after the executor
         * @return this
         */
        public Builder engine(Engine value) {
            engine = value;
            return this;
        }

        /**
         * Records when and where each operation of each run starts and ends, for a trace or a report.
         *
         * @param value the recorder
         * @return this
         */
        public Builder recorder(RunRecorder value) {
            recorder = value;
            return this;
        }

        Builder openRuns(OpenRuns value) {
            openRuns = value;
            return this;
        }

        Builder kernels(PreparedKernels value) {
            kernels = value;
            return this;
        }

        /** Also runs plans in parallel that are too small to benefit from it. */
        Builder eager() {
            eager = true;
            return this;
        }

        /**
         * Sets the number of threads for a run: the calling thread and helpers. Plans that are too small to benefit are
         * run by the calling thread alone. The descriptions of {@link Pass#PARTITION} and other passes state how
         * results may depend on the number of threads.
         *
         * @param value
         *            at least 1, which is the default
         * @return this
         */
        public Builder threads(int value) {
            threads = atLeastOne("threads", value);
            return this;
        }

        /**
         * Runs all operations in program order.
         *
         * @return this
         */
        public Builder sequential() {
            sequential = true;
            return this;
        }

        /**
         * Sets how many of the most recently used plans {@link Executor#run(Program, Map, Fetches)} caches.
         *
         * @param value at least 1; 8 by default
         * @return this
         */
        public Builder cachedPlans(int value) {
            cachedPlans = atLeastOne("cachedPlans", value);
            return this;
        }

        /**
         * Sets for how many combinations of fed shapes a plan keeps kernels: the latest one, and those that come often.
         * With 1, it is the latest one, so that two combinations in turn are compiled in every run. They share their
         * memory. Fewer are kept if their kernels take more than 1/64 of the machine's memory.
         *
         * @param value at least 1; 256 by default
         * @return this
         */
        public Builder specialisations(int value) {
            specialisations = atLeastOne("specialisations", value);
            return this;
        }

        /**
         * Makes a run fail at the first operation that computes NaN or infinity. This is slow, because every result is
         * examined and operations are not fused.
         *
         * @return this
         */
        public Builder nanCheck() {
            nanCheck = true;
            return this;
        }

        /**
         * Draws the same random numbers as Paddle on a processor, in program order.
         *
         * @param seed the seed for operations without a seed attribute
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
         * Sets the number of the first run. The random numbers of an operation without a seed attribute depend on the
         * program's seed and the number of the run. With this option, an executor can continue where another one has
         * ended.
         *
         * @param number
         *            the number of the first run, at least 0; 0 by default
         * @return this
         */
        public Builder firstRun(long number) {
            if (number < 0) {
                throw new IllegalArgumentException("The number of the first run must be 0 or more, but is " + number);
            }
            firstRun = number;
            return this;
        }

        /**
         * Allows operations such as save and load to access the files of a folder and its subfolders. By default,
         * programs with such operations are rejected before any operation runs.
         *
         * @param folder
         *            an existing folder; programs cannot access files outside of it
         * @return this
         * @throws IllegalArgumentException
         *             if it is not a folder
         */
        public Builder files(Path folder) {
            return files(AllowedFiles.in(folder));
        }

        /**
         * Allows operations such as save and load to access files.
         *
         * @param allowed
         *            the files; none by default
         * @return this
         */
        public Builder files(AllowedFiles allowed) {
            files = allowed;
            return this;
        }

        /**
         * Sets the ranks among which operations such as {@code c_allreduce_sum} communicate. By default there are none,
         * and programs with such operations are rejected.
         *
         * @param value
         *            the ranks: all run the same programs in the same order, one run at a time. The caller closes it
         * @return this
         */
        public Builder communicator(Communicator value) {
            communicator = value;
            return this;
        }

        /**
         * Builds the executor.
         *
         * @return an executor with a new scope
         * @throws IllegalStateException
         *             if both {@link #strictNan} and {@link #relaxedNan} were set
         */
        public Executor build() {
            JavaDefects.warn();
            Kernels.loadAhead();
            return new Executor(
                    new Options(place, devices, threads, sequential, cachedPlans, specialisations, nanCheck,
                            paddleRandom, inPlace,
                            passes.stream().map(Pass::key).collect(Collectors.toUnmodifiableSet()),
                            NanPolicy.of(strictNan, relaxedNan), memoryPlan, collector.mode(), ignoreUnknownFeeds,
                            engine, eager, recorder, files, communicator),
                    kernels == null ? PreparedKernels.system() : kernels, openRuns, firstRun);
        }
    }

    private Executor(Options options, PreparedKernels kernels, OpenRuns openRuns, long firstRun) {
        this.openRuns = openRuns;
        this.runs = new AtomicLong(firstRun);
        this.options = options;
        this.cached = new PlanCache(options.cachedPlans());
        this.streams = new StreamPool(options.devices());
        this.interpreter = Interpreter.of(kernels).files(options.files())
                .communicator(options.communicator());
        this.specialiser = new PlanCompiler(options, kernels, interpreter);
        PaddleRandom random = options.paddleRandom();
        if (random != null) {
            interpreter.paddleRandom(random);
        }
        this.loops = new RunLoopChoice(options, openRuns);
        options.devices().get(options.place());
    }

    /**
     * Creates an executor that uses one thread for each run.
     *
     * @param place
     *            the place at which programs run
     * @return an executor with a new scope
     */
    public static Executor on(Place place) {
        return builder().place(place).build();
    }

    /** {@return a builder, which collects options} */
    public static Builder builder() {
        return new Builder();
    }

    StreamPool streams() {
        return streams;
    }

    RunLoop loop(CompiledPlan plan) {
        return loops.of(plan);
    }

    /**
     * Names the variables that are fed.
     *
     * @param names
     *            in the order of the values
     * @return the feeds
     */
    public static Feeds feeds(String... names) {
        return new Feeds(List.of(names));
    }

    /**
     * Names the variables that are fetched.
     *
     * @param names
     *            the names of the variables, in the order of the results
     * @return the fetches
     */
    public static Fetches fetches(String... names) {
        return new Fetches(List.of(names));
    }

    Options options() {
        return options;
    }

    PlanCompiler specialiser() {
        return specialiser;
    }

    OpenRuns openRuns() {
        return openRuns;
    }

    long nextRun() {
        return runs.getAndIncrement();
    }

    Interpreter interpreter() {
        return interpreter;
    }

    /** {@return the root scope, which holds persistable variables} */
    public Scope scope() {
        return scope;
    }

    /**
     * Compiles a program. No operation is run.
     *
     * @param program
     *            the program, which is copied and may be changed afterwards
     * @param feeds
     *            the variables that will be fed
     * @param fetches
     *            the variables that runs return
     * @return a plan, which can be run many times
     * @throws io.seriatim.graph.interpret.FilesNotAllowedException
     *             if the program reads or writes files that {@link Builder#files(Path)} does not allow
     * @throws IllegalArgumentException
     *             if the program has no variable of a given name, or contains operations that are unknown or cannot be
     *             run; the message names all of these operations
     */
    public Plan compile(Program program, Feeds feeds, Fetches fetches) {
        return compile(program, feeds, fetches, false);
    }

    /** Compiles a plan for viewing, which is not run. */
    Plan outline(Program program, Feeds feeds, Fetches fetches) {
        Operations.system().requireKnown(program);
        return plan(program, feeds, fetches, false);
    }

    private Plan compile(Program program, Feeds feeds, Fetches fetches, boolean once) {
        Operations.system().requireRunnable(program, options.ranks());
        options.files().check(program);
        return plan(program, feeds, fetches, once);
    }

    private Plan plan(Program program, Feeds feeds, Fetches fetches, boolean once) {
        Plan plan = Plan.of(this, program, feeds, fetches, once);
        plans.add(plan);
        return plan;
    }

    /**
     * Runs a program, such as a startup program, once on the executor's scope. Operations run in program order, without
     * optimisation.
     *
     * @param program
     *            a program without feeds
     * @throws IllegalArgumentException
     *             if the program contains operations that are unknown or cannot be run; the message names all of them
     * @throws IllegalStateException
     *             if the executor is closed, or is being closed
     * @throws ProgramFailedException
     *             if an operation fails
     */
    public void run(Program program) {
        Plan plan = compile(program, feeds(), fetches(), true);
        try {
            plan.run();
        } finally {
            plan.close();
        }
    }

    /**
     * Runs a program on the executor's scope. The plan is cached by the content of the program, which is hashed once
     * for each state of the program (see {@link Program#modifications}).
     *
     * @param program
     *            the program
     * @param feeds
     *            the values of variables by name; the run does not change them, and they must not be changed before the
     *            call returns
     * @param fetches
     *            the variables to return
     * @return the fetched values
     * @throws BadRequestException
     *             if a feed is unknown, missing, closed or of another type or shape than declared, before anything is
     *             computed; or if an index that is fed, or computed from feeds, is out of range
     * @throws IllegalArgumentException
     *             if a fetch is unknown or has no value, or if the program contains operations that are unknown or
     *             cannot be run; the message names all of these operations
     * @throws IllegalStateException
     *             if the executor is closed, or is being closed
     * @throws ProgramFailedException
     *             if an operation fails
     * @throws EndOfDataException
     *             if a reader of the program has no more batches; the next run restarts its data
     */
    public Results run(Program program, Map<String, Tensor> feeds, Fetches fetches) {
        List<String> known = feeds.keySet().stream()
                .filter(name -> !options.ignoreUnknownFeeds() || program.global().var(name) != null).sorted().toList();
        return cached(program, new Feeds(known), fetches).run(FeedRequirements.present(known, feeds));
    }

    Plan cached(Program program, Feeds feeds, Fetches fetches) {
        return cached.get(program, feeds, fetches, () -> compile(program, feeds, fetches));
    }

    /** Returns how many times a program was hashed. */
    long hashed() {
        return cached.hashed();
    }

    /** Frees the memory of idle frames of all plans. */
    void closeIdle() {
        plans.all().forEach(Plan::closeIdle);
    }

    /**
     * Rejects new runs, waits until all runs that have begun or were pushed have ended, and releases threads, streams
     * and the memory of plans. The scope keeps its variables. To end runs early, interrupt their threads. A further
     * call only waits.
     *
     * @throws IllegalStateException
     *             if called within one of the executor's runs, or within an operation for which a pushed run waits; or
     *             if the thread is interrupted while it waits. In that case its interrupt status stays set, and all
     *             resources are kept until the executor is closed again
     */
    @Override
    public void close() {
        openRuns.close(options.engine());
        loops.close();
        plans.removeAll().forEach(Plan::close);
        streams.close();
    }
}
