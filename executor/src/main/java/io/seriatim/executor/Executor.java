package io.seriatim.executor;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.engine.Engine;
import io.seriatim.executor.compile.PlanCompiler;
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
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Compiles programs into plans and runs them, on one place. A startup program is run once, with {@link #run(Program)};
 * it leaves the parameters in the executor's {@link #scope}, where later runs find them. For many threads.
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
    private final AtomicLong runs;
    private final OpenRuns openRuns;

    /** Collects options. */
    public static final class Builder {
        private Place place = Place.CPU;
        private int threads = 1;
        private boolean sequential;
        private int cachedPlans = 8;
        private int specialisations = 8;
        private boolean nanCheck;
        private @Nullable PaddleRandom paddleRandom;
        private Devices devices = Devices.system();
        private boolean inPlace = true;
        private final Set<Pass> passes = EnumSet.allOf(Pass.class);
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

        private Builder() {
        }

        /**
         * Where operations run that do not say otherwise ({@code op_device}). One that has no kernel there runs on the
         * host.
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
         * From where devices come.
         *
         * @param value
         *            those of the process unless set; devices of the caller's own are closed after the executor
         * @return this
         */
        public Builder devices(Devices value) {
            devices = value;
            return this;
        }

        /**
         * Whether results may take over the memory of inputs that no one needs any more.
         *
         * @param value
         *            true unless set
         * @return this
         */
        public Builder inPlace(boolean value) {
            inPlace = value;
            return this;
        }

        /**
         * Whether operations may be rewritten before they are scheduled: all passes, or none.
         *
         * @param value
         *            true unless set
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
         * Leaves out some of what a plan does to a program's operations: to measure what each brings, or to look for
         * the cause of a difference.
         *
         * @param left
         *            what is left out
         * @return this
         */
        public Builder without(Pass... left) {
            passes.removeAll(List.of(left));
            return this;
        }

        /**
         * Lets relu and the like become part of matrix products and convolutions although there NaN comes out of them
         * as 0. Faster; for networks that are known to work.
         *
         * @return this
         */
        public Builder relaxedNan() {
            relaxedNan = true;
            return this;
        }

        /**
         * Whether temporaries get their places in one piece of memory before anything runs; else they come from the
         * allocator during runs, and the collector decides when they go back.
         *
         * @param value
         *            true unless set
         * @return this
         */
        public Builder memoryPlan(boolean value) {
            memoryPlan = value;
            return this;
        }

        /**
         * When memory comes back that is in no plan.
         *
         * @param value
         *            {@link Collector#FAST} unless set
         * @return this
         */
        public Builder collector(Collector value) {
            collector = value;
            return this;
        }

        /**
         * Values that {@link Executor#run(Program, Map, Fetches)} is given for variables that the program does not have
         * are left out, as Paddle does; else they are errors.
         *
         * @return this
         */
        public Builder ignoreUnknownFeeds() {
            ignoreUnknownFeeds = true;
            return this;
        }

        /**
         * Pushes every operation of a plan on an engine, so that its recorder, its checks and its order apply. For
         * tests and tools: threads of an executor's own are faster.
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
         * Records when each operation of each run started and ended, and where, for a trace or a report.
         *
         * @param value
         *            the recorder
         * @return this
         */
        public Builder recorder(RunRecorder value) {
            recorder = value;
            return this;
        }

        /** Counts runs in another way: tests plant bugs there. */
        Builder openRuns(OpenRuns value) {
            openRuns = value;
            return this;
        }

        /** Instead of those that the process shares. */
        Builder kernels(PreparedKernels value) {
            kernels = value;
            return this;
        }

        /** Runs in parallel also what is too small to gain by it. */
        Builder eager() {
            eager = true;
            return this;
        }

        /**
         * How many threads work on one run: the caller's, and others that help. What is too small to gain by it is run
         * by the caller alone. Results do not depend on it.
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
         * How many plans {@link Executor#run(Program, Map, Fetches)} keeps: those used last.
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
         * For how many combinations of fed shapes a plan keeps kernels and memory: those used last.
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
         * Fails at the first operation that computes NaN or infinity. Slow: every result is looked at, and operations
         * are not joined.
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
         * From which run on random numbers are drawn: those of an operation without a seed of its own follow from the
         * program's seed and the number of the run. To go on where another executor has ended.
         *
         * @param number
         *            of the first run; 0 unless set
         * @return this
         */
        public Builder firstRun(long number) {
            if (number < 0) {
                throw new IllegalArgumentException("Runs are counted from 0, but the first was to be " + number);
            }
            firstRun = number;
            return this;
        }

        /**
         * Lets operations of programs, such as save and load, read and write the files of a folder, and of folders in
         * it. Without, programs with such operations are refused before anything is run.
         *
         * @param folder
         *            is there; nothing outside of it is read or written, whatever a program says
         * @return this
         * @throws IllegalArgumentException
         *             if it is no folder
         */
        public Builder files(Path folder) {
            return files(AllowedFiles.in(folder));
        }

        /**
         * Lets operations of programs, such as save and load, read and write files.
         *
         * @param allowed
         *            none unless set
         * @return this
         */
        public Builder files(AllowedFiles allowed) {
            files = allowed;
            return this;
        }

        /**
         * The executor.
         *
         * @return with a scope of its own
         */
        public Executor build() {
            Kernels.loadAhead();
            return new Executor(
                    new Options(place, devices, threads, sequential, cachedPlans, specialisations, nanCheck,
                            paddleRandom, inPlace,
                            passes.stream().map(Pass::key).collect(Collectors.toUnmodifiableSet()),
                            relaxedNan, memoryPlan, collector.mode(), ignoreUnknownFeeds, engine, eager, recorder,
                            files),
                    kernels == null ? PreparedKernels.system() : kernels, openRuns, firstRun);
        }
    }

    private Executor(Options options, PreparedKernels kernels, OpenRuns openRuns, long firstRun) {
        this.openRuns = openRuns;
        this.runs = new AtomicLong(firstRun);
        this.options = options;
        this.cached = new PlanCache(options.cachedPlans());
        this.streams = new StreamPool(options.devices());
        this.interpreter = Interpreter.of(kernels).files(options.files());
        this.specialiser = new PlanCompiler(options, kernels, interpreter);
        PaddleRandom random = options.paddleRandom();
        if (random != null) {
            interpreter.paddleRandom(random);
        }
        this.loops = new RunLoopChoice(options, openRuns);
        options.devices().get(options.place());
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

    StreamPool streams() {
        return streams;
    }

    RunLoop loop(CompiledPlan plan) {
        return loops.of(plan);
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

    PlanCompiler specialiser() {
        return specialiser;
    }

    /** Those that have begun and have not ended. */
    OpenRuns openRuns() {
        return openRuns;
    }

    /** Runs are counted, since random numbers depend on it. */
    long nextRun() {
        return runs.getAndIncrement();
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
     * Analyses a program. Nothing of it is run.
     *
     * @param program
     *            copied; it may be changed afterwards
     * @param feeds
     *            what will be fed: any of its variables
     * @param fetches
     *            what is wanted: any of its variables
     * @return a plan, to be run many times
     * @throws io.seriatim.graph.interpret.FilesNotAllowedException
     *             if the program reads or writes files that {@link Builder#files(Path)} does not allow
     * @throws IllegalArgumentException
     *             if the program has no such variable, or operations that are not known or cannot be run; the message
     *             names all of these
     */
    public Plan compile(Program program, Feeds feeds, Fetches fetches) {
        return compile(program, feeds, fetches, false);
    }

    /** Of a plan that is looked at and not run. */
    Plan outline(Program program, Feeds feeds, Fetches fetches) {
        Operations.system().requireKnown(program);
        return plan(program, feeds, fetches, false);
    }

    private Plan compile(Program program, Feeds feeds, Fetches fetches, boolean once) {
        Operations.system().requireRunnable(program);
        options.files().check(program);
        return plan(program, feeds, fetches, once);
    }

    private Plan plan(Program program, Feeds feeds, Fetches fetches, boolean once) {
        Plan plan = new Plan(this, program, feeds, fetches, once);
        plans.add(plan);
        return plan;
    }

    /**
     * Runs a program once on the executor's scope, as a startup program is: in the order of the program, with no more
     * analysis than that takes.
     *
     * @param program
     *            without feeds
     * @throws IllegalArgumentException
     *             if the program has operations that are not known or cannot be run; the message names all of them
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
     * Runs a program on the executor's scope. Its plan is kept, and found again by the program's content, which is
     * hashed once for each state of the program (see {@link Program#modifications}).
     *
     * @param program
     *            what is run
     * @param feeds
     *            values by name; not changed, and not to be changed before the call returns
     * @param fetches
     *            what is wanted
     * @return what was fetched
     * @throws IllegalArgumentException
     *             if a feed or fetch is unknown, missing or does not fit, or operations are not known or cannot be run;
     *             the message names all of these
     * @throws IllegalStateException
     *             if the executor is closed, or is being closed
     * @throws ProgramFailedException
     *             if an operation fails
     * @throws EndOfDataException
     *             if a reader of the program has no more batches; it begins again with the next run
     */
    public Results run(Program program, Map<String, Tensor> feeds, Fetches fetches) {
        List<String> known = new ArrayList<>(feeds.keySet());
        if (options.ignoreUnknownFeeds()) {
            known.removeIf(name -> program.global().var(name) == null);
        }
        Collections.sort(known);
        Tensor[] values = new Tensor[known.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = Objects.requireNonNull(feeds.get(known.get(i)), "feed " + known.get(i));
        }
        Feeds names = new Feeds(known);
        return cached(program, names, fetches).run(values);
    }

    /** The plan that {@link #run(Program, Map, Fetches)} runs. */
    Plan cached(Program program, Feeds feeds, Fetches fetches) {
        return cached.get(program, feeds, fetches, () -> compile(program, feeds, fetches));
    }

    /** How often a program was hashed. */
    long hashed() {
        return cached.hashed();
    }

    /** Lets the memory of past runs go. */
    void closeIdle() {
        plans.all().forEach(Plan::closeIdle);
    }

    /**
     * Refuses new runs, waits until those that have begun or were pushed have ended, and lets threads, streams and the
     * memory of plans go. The scope keeps its variables. To end runs early, interrupt their threads. Closing again does
     * nothing but wait.
     *
     * @throws IllegalStateException
     *             if called inside of one of the executor's runs, or of an operation that a run which was pushed waits
     *             for; or if the thread is interrupted while it waits: its flag stays set, and all is kept that runs
     *             may need, until the executor is closed again
     */
    @Override
    public void close() {
        openRuns.close(options.engine());
        loops.close();
        plans.removeAll().forEach(Plan::close);
        streams.close();
    }
}
