package io.seriatim.executor;

import io.seriatim.device.Devices;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.format.LoadOptions;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * A model that answers requests, from any number of threads at once.
 *
 * <pre>{@code
 * try (Predictor predictor = Predictor.load(Path.of("model.onnx"))) {
 *     Tensor y = predictor.run(Map.of("x", x)).get("y");
 * }
 * }</pre>
 *
 * These lines stand for the following ones, which give access to all options:
 *
 * <pre>{@code
 * InferenceModel model = InferenceModels.load(file);
 * Executor executor = Executor.builder().build();
 * model.parameters().forEach(executor.scope()::set);
 * Plan plan = executor.compile(model.program(), new Feeds(model.feeds()), new Fetches(model.fetches()));
 * Tensor y = plan.run(x).get("y");
 * }</pre>
 */
public final class Predictor implements AutoCloseable {
    /** Enough for the first measurements by which a plan chooses its threads. */
    private static final int WARM_UP_RUNS = 3;

    private final Builder settings;
    private final LatencyHistogram latency = new LatencyHistogram();
    private final LongAdder failures = new LongAdder();
    /** The sizes for which the plan was compiled before the first request, for the models that replace this one. */
    private final Queue<Map<String, long[]>> warm = new ConcurrentLinkedQueue<>();
    /** The model for new requests; null after close. Requests keep the one with which they began. */
    private volatile @Nullable Loaded current;

    /**
     * An input or output of a model.
     *
     * @param name
     *            its name in the file
     * @param type
     *            the type of its elements; null if the file does not tell
     * @param sizes
     *            its dimensions, −1 for those that are open
     */
    public record Port(String name, @Nullable DType type, List<Long> sizes) {
        /** Copies the list. */
        public Port {
            sizes = List.copyOf(sizes);
        }
    }

    /**
     * The times of requests, from the call to the answer. Quantiles are at most 1/64 too large.
     *
     * @param count
     *            the number of requests
     * @param mean
     *            their mean
     * @param p50
     *            their median
     * @param p90
     *            nine of ten were at most as long
     * @param p99
     *            99 of 100
     * @param p999
     *            999 of 1,000
     * @param max
     *            the longest
     */
    public record Latency(long count, Duration mean, Duration p50, Duration p90, Duration p99, Duration p999,
            Duration max) {
    }

    /**
     * What a predictor has done since it was built.
     *
     * @param requests
     *            the number of requests that were answered
     * @param failures
     *            the number of those that ended with an exception
     * @param latency
     *            the times of the answered ones
     */
    public record Statistics(long requests, long failures, Latency latency) {
    }

    /** Settings of a predictor. */
    public static final class Builder {
        private final Path path;
        private int threads;
        private LoadOptions load = LoadOptions.defaults();
        private int rows;
        private Duration wait = Duration.ZERO;
        private long bytes;
        private int specialisations;

        private Builder(Path path) {
            this.path = path;
        }

        /**
         * Sets the number of threads that one request may use.
         *
         * @param value
         *            at least 1; without this setting, as many as the executor chooses
         * @return this
         * @throws IllegalArgumentException
         *             if it is less than 1
         */
        public Builder threads(int value) {
            this.threads = positive("threads", value);
            return this;
        }

        /**
         * Sets how the file is read.
         *
         * @param value
         *            for example {@code LoadOptions.defaults().inference()}
         * @return this
         */
        public Builder load(LoadOptions value) {
            this.load = value;
            return this;
        }

        /**
         * Combines requests that wait at the same time into one run, as {@link RequestBatcher} does. The first
         * dimension of each input and output counts examples.
         *
         * @param maxRows
         *            the most examples of a run, at least 1
         * @return this
         * @throws IllegalArgumentException
         *             if it is less than 1
         */
        public Builder batching(int maxRows) {
            return batching(maxRows, Duration.ZERO);
        }

        /**
         * Combines requests into one run, and lets each wait for others while processors are idle. The first dimension
         * of each input and output counts examples.
         *
         * @param maxRows
         *            the most examples of a run, at least 1
         * @param wait
         *            how long a request waits for others while they have fewer examples in all, at least 0. A request
         *            with a time limit waits for others at most half of it
         * @return this
         * @throws IllegalArgumentException
         *             if the examples are fewer than 1, or the time is negative
         */
        public Builder batching(int maxRows, Duration wait) {
            this.rows = positive("rows of a batch", maxRows);
            this.wait = RequestBatcher.requireWait(wait);
            return this;
        }

        /**
         * Limits the memory of tensors and temporaries.
         *
         * @param limit
         *            in bytes, at least 1; without this setting, the limit of the process holds
         * @return this
         * @throws IllegalArgumentException
         *             if it is less than 1
         */
        public Builder memory(long limit) {
            if (limit < 1) {
                throw new IllegalArgumentException("The memory limit must be 1 byte or more, but is " + limit);
            }
            this.bytes = limit;
            return this;
        }

        /**
         * Sets for how many combinations of sizes, the latest one and those that come often, the model is kept
         * compiled, such as the lengths of texts.
         *
         * @param value
         *            at least 1; 256 without this setting
         * @return this
         * @throws IllegalArgumentException
         *             if it is less than 1
         * @see Executor.Builder#specialisations
         */
        public Builder specialisations(int value) {
            this.specialisations = positive("combinations of sizes", value);
            return this;
        }

        private static int positive(String what, int value) {
            if (value < 1) {
                throw new IllegalArgumentException("The number of " + what + " must be 1 or more, but is " + value);
            }
            return value;
        }

        /**
         * Loads the model.
         *
         * @return a predictor
         * @throws IOException
         *             if a file cannot be read, or is not a model
         */
        public Predictor build() throws IOException {
            return new Predictor(this);
        }
    }

    /** A loaded model, and the number of those who use it: the predictor itself and the requests in progress. */
    private static final class Loaded {
        private final InferenceModel model;
        private final @Nullable Devices devices;
        private final Executor executor;
        private final Plan plan;
        private final @Nullable RequestBatcher batcher;
        private final AtomicInteger users = new AtomicInteger(1);

        Loaded(Path path, Builder settings) throws IOException {
            this.model = InferenceModels.load(path, settings.load);
            Devices limited = null;
            Executor made = null;
            try {
                Executor.Builder builder = Executor.builder();
                if (settings.threads > 0) {
                    builder.threads(settings.threads);
                }
                if (settings.specialisations > 0) {
                    builder.specialisations(settings.specialisations);
                }
                if (settings.bytes > 0) {
                    limited = Devices.builder().cpuMemory(settings.bytes).build();
                    builder.devices(limited);
                }
                made = builder.build();
                model.parameters().forEach(made.scope()::set);
                this.plan = made.compile(model.program(), new Feeds(model.feeds()), new Fetches(model.fetches()));
                this.batcher = settings.rows == 0 ? null : batcher(plan, settings);
                this.devices = limited;
                this.executor = made;
            } catch (RuntimeException | Error e) {
                close(made, limited, model);
                throw e;
            }
        }

        private static RequestBatcher batcher(Plan plan, Builder settings) {
            int runs = Math.max(1, Runtime.getRuntime().availableProcessors() / Math.max(1, settings.threads));
            return RequestBatcher.of(plan, settings.rows, runs, settings.wait);
        }

        boolean isRetained() {
            for (int now = users.get(); now > 0; now = users.get()) {
                if (users.compareAndSet(now, now + 1)) {
                    return true;
                }
            }
            return false;
        }

        void release() {
            if (users.decrementAndGet() == 0) {
                close(executor, devices, model);
            }
        }

        private static void close(@Nullable Executor executor, @Nullable Devices devices, InferenceModel model) {
            if (executor != null) {
                executor.close();
            }
            model.close();
            if (devices != null) {
                devices.close();
            }
        }

        List<Port> ports(List<String> names) {
            List<Port> all = new ArrayList<>();
            for (String name : names) {
                VarType.TensorType type = model.program().global().get(name).type().tensorType();
                all.add(type == null
                        ? new Port(name, null, List.of())
                        : new Port(name, type.dtype(), type.dims()));
            }
            return all;
        }

        Results run(RunOptions options, Tensor... values) {
            return batcher == null ? plan.run(options, values) : batcher.run(options, values);
        }

        void warmUp(Map<String, long[]> sizes) {
            Map<String, Tensor> zeros = new HashMap<>();
            Map<String, Port> ports = new HashMap<>();
            ports(model.feeds()).forEach(port -> ports.put(port.name(), port));
            sizes.forEach((name, dims) -> {
                Port port = ports.get(name);
                DType type = port == null || port.type() == null ? DType.FLOAT32 : port.type();
                zeros.put(name, Tensor.of(type, new double[Math.toIntExact(Shape.of(dims).size())], dims));
            });
            Tensor[] values = values(zeros);
            for (int i = 0; i < WARM_UP_RUNS; i++) {
                plan.run(values).all().values().forEach(Tensor::close);
            }
            if (batcher != null) {
                batcher.prepare(values);
            }
            zeros.values().forEach(Tensor::close);
        }

        Tensor[] values(Map<String, Tensor> inputs) {
            Set<String> unknown = new LinkedHashSet<>(inputs.keySet());
            model.feeds().forEach(unknown::remove);
            if (!unknown.isEmpty()) {
                throw new BadRequestException("The model has no input " + unknown + "; its inputs are "
                        + model.feeds());
            }
            Tensor[] values = new Tensor[model.feeds().size()];
            for (int i = 0; i < values.length; i++) {
                Tensor value = inputs.get(model.feeds().get(i));
                if (value == null) {
                    throw new BadRequestException("The input '" + model.feeds().get(i)
                            + "' is missing; the inputs of the model are " + model.feeds() + ", given are "
                            + inputs.keySet());
                }
                values[i] = value;
            }
            return values;
        }
    }

    private Predictor(Builder settings) throws IOException {
        this.settings = settings;
        this.current = new Loaded(settings.path, settings);
    }

    /**
     * Loads a model with default settings.
     *
     * @param path
     *            a file or folder of any format that {@link InferenceModels#load(Path)} takes
     * @return a predictor
     * @throws IOException
     *             if a file cannot be read, or is not a model
     */
    public static Predictor load(Path path) throws IOException {
        return builder(path).build();
    }

    /**
     * Begins the settings of a predictor.
     *
     * @param path
     *            a file or folder of any format that {@link InferenceModels#load(Path)} takes
     * @return a builder
     */
    public static Builder builder(Path path) {
        return new Builder(path);
    }

    /**
     * Returns what a request gives.
     *
     * @return the inputs, in the order of the file
     */
    public List<Port> inputs() {
        Loaded loaded = take();
        try {
            return loaded.ports(loaded.model.feeds());
        } finally {
            loaded.release();
        }
    }

    /**
     * Returns what a request gets.
     *
     * @return the outputs, in the order of the file
     */
    public List<Port> outputs() {
        Loaded loaded = take();
        try {
            return loaded.ports(loaded.model.fetches());
        } finally {
            loaded.release();
        }
    }

    /**
     * Answers a request.
     *
     * @param inputs
     *            a tensor for each input, by name; they must not be changed before the call returns
     * @return the outputs by name, which belong to the caller
     * @throws BadRequestException
     *             if an input is missing or unknown, or if its type or sizes are not those that the model declares
     * @throws ProgramFailedException
     *             if an operation fails
     * @throws IllegalStateException
     *             if the predictor is closed
     */
    public Results run(Map<String, Tensor> inputs) {
        return answer(inputs, null);
    }

    /**
     * Answers a request with a time limit, for example. With batching, it is a part of a batch as others are, and can
     * be stopped as {@link RequestBatcher#run(RunOptions, Tensor...)} says.
     *
     * @param inputs
     *            a tensor for each input, by name; they must not be changed before the call returns
     * @param options
     *            when the run ends early
     * @return the outputs by name, which belong to the caller
     * @throws BadRequestException
     *             if an input is missing or unknown, or if its type or sizes are not those that the model declares
     * @throws ProgramFailedException
     *             if an operation fails
     * @throws RunTimeoutException
     *             if the time limit of the options is over
     * @throws java.util.concurrent.CancellationException
     *             if the options cancel the run
     * @throws IllegalStateException
     *             if the predictor is closed
     */
    public Results run(Map<String, Tensor> inputs, RunOptions options) {
        return answer(inputs, options);
    }

    private Results answer(Map<String, Tensor> inputs, @Nullable RunOptions options) {
        Loaded loaded = take();
        long begin = System.nanoTime();
        boolean answered = false;
        try {
            Tensor[] values = loaded.values(inputs);
            Results results = loaded.run(options == null ? RunOptions.defaults() : options, values);
            answered = true;
            return results;
        } finally {
            loaded.release();
            if (answered) {
                latency.record(System.nanoTime() - begin);
            } else {
                failures.increment();
            }
        }
    }

    private Loaded take() {
        while (true) {
            Loaded loaded = current;
            if (loaded == null) {
                throw new IllegalStateException("The predictor is closed: close it after the last request");
            }
            // If it was replaced meanwhile, the next one is taken.
            if (loaded.isRetained()) {
                return loaded;
            }
        }
    }

    /**
     * Loads another model and uses it for all requests that begin from now on. Requests in progress end with the model
     * with which they began; its memory is freed after the last of them. If the new model cannot be loaded, the
     * predictor goes on with the present one. What {@link #warmUp} was called with is done for the new model before it
     * takes over.
     *
     * @param path
     *            a model with inputs and outputs of the same names and types
     * @throws IOException
     *             if a file cannot be read, or is not a model
     * @throws IllegalArgumentException
     *             if its inputs or outputs are others, or it does not accept the sizes of {@link #warmUp}
     * @throws IllegalStateException
     *             if the predictor is closed
     */
    public void replace(Path path) throws IOException {
        Loaded next = new Loaded(path, settings);
        Loaded before = null;
        try {
            // While requests still use the present model.
            requireSame(next, path);
            warm.forEach(next::warmUp);
            synchronized (this) {
                Loaded present = current;
                if (present == null) {
                    throw new IllegalStateException("The predictor is closed, so its model cannot be replaced");
                }
                current = next;
                before = present;
            }
        } finally {
            (before == null ? next : before).release();
        }
    }

    private void requireSame(Loaded next, Path path) {
        Loaded present = take();
        try {
            requireSame("inputs", present.ports(present.model.feeds()), next.ports(next.model.feeds()), path);
            requireSame("outputs", present.ports(present.model.fetches()), next.ports(next.model.fetches()), path);
        } finally {
            present.release();
        }
    }

    private static void requireSame(String what, List<Port> before, List<Port> after, Path path) {
        List<String> old = before.stream().map(port -> port.name() + ": " + port.type()).toList();
        List<String> found = after.stream().map(port -> port.name() + ": " + port.type()).toList();
        if (!old.equals(found)) {
            throw new IllegalArgumentException("The " + what + " of the model are " + old + ", but those of '" + path
                    + "' are " + found + ": load it as a predictor of its own");
        }
    }

    /**
     * Answers some requests of zeros, so that the first real request of these sizes does not wait for the compilation
     * of the plan. They are not counted. With batching, the plan is also compiled for batches of such requests.
     *
     * @param sizes
     *            the sizes of each input, by name
     * @throws BadRequestException
     *             if an input is missing or unknown, or if its sizes are not those that the model declares
     * @throws ProgramFailedException
     *             if an operation fails with inputs of zeros
     */
    public void warmUp(Map<String, long[]> sizes) {
        Loaded loaded = take();
        try {
            loaded.warmUp(sizes);
            warm.add(Map.copyOf(sizes));
        } finally {
            loaded.release();
        }
    }

    /**
     * Returns what was done so far.
     *
     * @return counts and times of the requests, without those in progress
     */
    public Statistics statistics() {
        Latency times = latency.snapshot();
        return new Statistics(times.count(), failures.sum(), times);
    }

    /**
     * Returns for how many combinations of sizes the model is compiled.
     *
     * @return the counts of the present model, see {@link Plan#bindings}
     * @throws IllegalStateException
     *             if the predictor is closed
     */
    public BoundSizes bindings() {
        Loaded loaded = take();
        try {
            return loaded.plan.bindings();
        } finally {
            loaded.release();
        }
    }

    /** Rejects new requests. The memory is freed when the requests in progress have ended. */
    @Override
    public void close() {
        Loaded last;
        synchronized (this) {
            last = current;
            current = null;
        }
        if (last != null) {
            last.release();
        }
    }
}
