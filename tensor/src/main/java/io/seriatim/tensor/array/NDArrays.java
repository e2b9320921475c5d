package io.seriatim.tensor.array;

import io.seriatim.device.Buffer;
import io.seriatim.device.DeviceMemoryException;
import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.device.Stream;
import io.seriatim.engine.Engine;
import io.seriatim.engine.EngineStats;
import io.seriatim.engine.Var;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.Longs;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Concatenation;
import io.seriatim.tensor.computation.Fill;
import io.seriatim.tensor.computation.Range;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Makes arrays on one engine, at one place. */
public final class NDArrays {
    private static final long MOMENT_NANOS = 200_000;
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final Shared shared;
    private final Placement placement;

    /** State that the arrays of all places share. */
    private record Shared(Engine engine, Devices devices, Duration patience, Map<Place, Placement> placements,
            AtomicLong made,
            AtomicLong turns) {
        Placement at(Place place) {
            return placements.computeIfAbsent(place, p -> Placement.of(p, devices.get(p)));
        }
    }

    private NDArrays(Shared shared, Placement placement) {
        this.shared = shared;
        this.placement = placement;
    }

    /**
     * Arrays on an engine, in the host's memory.
     *
     * @param engine
     *            runs their operations
     * @return a factory of arrays
     */
    public static NDArrays on(Engine engine) {
        return on(engine, Devices.system());
    }

    /**
     * Arrays on an engine, in the host's memory.
     *
     * @param engine
     *            runs their operations
     * @param devices
     *            the devices that memory is allocated on
     * @return a factory of arrays
     */
    public static NDArrays on(Engine engine, Devices devices) {
        return on(engine, devices, PATIENCE);
    }

    /** With another limit of the time without progress, after which an allocation fails. */
    static NDArrays on(Engine engine, Devices devices, Duration patience) {
        Shared shared = new Shared(Objects.requireNonNull(engine, "engine"), Objects.requireNonNull(devices, "devices"),
                patience,
                new ConcurrentHashMap<>(), new AtomicLong(), new AtomicLong());
        return new NDArrays(shared, shared.at(Place.CPU));
    }

    /**
     * A factory of arrays at another place, which can be combined with those made here.
     *
     * @param place
     *            where
     * @return a factory of arrays
     * @throws io.seriatim.device.DeviceNotFoundException
     *             if there is no such device
     */
    public NDArrays at(Place place) {
        return new NDArrays(shared, shared.at(place));
    }

    /**
     * The engine of the operations.
     *
     * @return the engine
     */
    public Engine engine() {
        return shared.engine();
    }

    /**
     * The place of new arrays.
     *
     * @return the place
     */
    public Place place() {
        return placement.place();
    }

    Placement placement(Place place) {
        return shared.at(place);
    }

    /** An array with undefined elements, as the result of a computation. */
    NDArray allocate(String name, TensorSpec spec, Placement where) {
        return allocate(name, spec, where, where.compute());
    }

    /** An array with undefined elements, whose first use is on a stream. */
    NDArray allocate(String name, TensorSpec spec, Placement where, Stream stream) {
        Tensor tensor = new Tensor(memory(spec.bytes(), where, stream), 0, spec.rowMajor());
        return array(name, tensor, where, stream);
    }

    private NDArray array(String name, Tensor tensor, Placement where, Stream stream) {
        String unique = name + "#" + shared.made().incrementAndGet();
        return new NDArray(this, new Storage(shared.engine(), unique, tensor, where, stream), tensor);
    }

    private Buffer memory(long bytes, Placement where) {
        return memory(bytes, where, where.compute());
    }

    /** Waits for memory that pending operations hold, as long as the engine makes progress with them. */
    private Buffer memory(long bytes, Placement where, Stream stream) {
        long moved = System.nanoTime();
        long completed = -1;
        while (true) {
            try {
                return where.device().allocate(bytes, stream);
            } catch (DeviceMemoryException e) {
                long used = where.device().memory().used();
                while (where.device().memory().used() >= used) {
                    EngineStats stats = shared.engine().stats();
                    // The operations pushed below do not count as progress.
                    long now = stats.completed() - shared.turns().get();
                    if (now > completed) {
                        completed = now;
                        moved = System.nanoTime();
                    }
                    if (stats.pending() == 0 || System.nanoTime() - moved > shared.patience().toNanos()
                            || !letOthersRun()) {
                        if (where.device().memory().used() < used) {
                            break;
                        }
                        throw e;
                    }
                }
            }
        }
    }

    /** On an engine without threads, operations run only while a thread waits. False if this thread must not wait. */
    private boolean letOthersRun() {
        Engine engine = shared.engine();
        Var turn = engine.newVar("memory");
        try {
            engine.op("wait for memory").mutates(turn).push(() -> {
                // The operation does nothing; only its place in the order matters.
            });
            engine.waitToRead(turn);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            shared.turns().incrementAndGet();
        }
        LockSupport.parkNanos(MOMENT_NANOS);
        return true;
    }

    /** An array around a tensor of the host that belongs to it. */
    NDArray onHost(Tensor tensor) {
        Placement host = shared.at(Place.CPU);
        return array("values", tensor, host, host.compute());
    }

    /** One element, at a place. */
    NDArray constant(double value, DType dtype, Placement where) {
        if (where.place().isHost()) {
            Tensor tensor = new Tensor(memory(dtype.bytes(), where), 0, TensorSpec.of(dtype));
            Doubles.set(tensor.memory(), dtype, 0, value);
            return onHost(tensor);
        }
        NDArray array = allocate("constant", TensorSpec.of(dtype), where);
        return array.fill(value);
    }

    private NDArray placed(Tensor values) {
        NDArray array = onHost(values);
        return placement.place().isHost() ? array : array.copyTo(placement.place());
    }

    private Tensor host(DType dtype, int count, long... shape) {
        long[] dims = shape.length == 0 && count != 1 ? new long[]{count} : shape;
        TensorSpec spec = TensorSpec.of(dtype, dims);
        if (spec.shape().size() != count) {
            throw new IllegalArgumentException(
                    "The shape " + spec.shape() + " has " + spec.shape().size() + " elements, but there are " + count
                            + " values");
        }
        return new Tensor(memory(spec.bytes(), shared.at(Place.CPU)), 0, spec);
    }

    /**
     * A float32 array.
     *
     * @param values
     *            in row-major order; copied before this returns
     * @param shape
     *            the dimensions; none for as many as there are values, or for a single element
     * @return the array
     */
    public NDArray of(float[] values, long... shape) {
        Tensor tensor = host(DType.FLOAT32, values.length, shape);
        Floats.store(tensor, 0, values, 0, values.length);
        return placed(tensor);
    }

    /**
     * A float64 array.
     *
     * @param values
     *            in row-major order; copied before this returns
     * @param shape
     *            the dimensions; none for as many as there are values, or for a single element
     * @return the array
     */
    public NDArray of(double[] values, long... shape) {
        Tensor tensor = host(DType.FLOAT64, values.length, shape);
        Doubles.store(tensor, 0, values, 0, values.length);
        return placed(tensor);
    }

    /**
     * An int64 array.
     *
     * @param values
     *            in row-major order; copied before this returns
     * @param shape
     *            the dimensions; none for as many as there are values, or for a single element
     * @return the array
     */
    public NDArray of(long[] values, long... shape) {
        Tensor tensor = host(DType.INT64, values.length, shape);
        Longs.store(tensor, 0, values, 0, values.length);
        return placed(tensor);
    }

    /**
     * A copy of a tensor of the host.
     *
     * @param values
     *            any tensor; copied before this returns
     * @return the array
     */
    public NDArray of(Tensor values) {
        Tensor tensor = host(values.dtype(), Math.toIntExact(values.shape().size()),
                values.shape().rank() == 0 ? new long[0] : values.shape().dims());
        if (values.dtype().isComplex()) {
            double[] parts = values.asReal().toDoubleArray();
            Doubles.store(tensor.asReal(), 0, parts, 0, parts.length);
        } else if (values.dtype().arithmetic() == DType.INT64) {
            Longs.store(tensor, 0, values.toLongArray(), 0, (int) values.shape().size());
        } else {
            Doubles.store(tensor, 0, values.toDoubleArray(), 0,
                    (int) values.shape().size());
        }
        return placed(tensor);
    }

    /**
     * An array that holds anything.
     *
     * @param dtype
     *            the elements' type
     * @param shape
     *            the dimensions; none for a single element
     * @return the array
     */
    public NDArray empty(DType dtype, long... shape) {
        return allocate("empty", TensorSpec.of(dtype, shape), placement);
    }

    /**
     * An array filled with one value.
     *
     * @param value
     *            the value of every element
     * @param dtype
     *            the elements' type
     * @param shape
     *            the dimensions; none for a single element
     * @return the array
     */
    public NDArray full(double value, DType dtype, long... shape) {
        NDArray array = allocate("full", TensorSpec.of(dtype, shape), placement);
        ArrayOps.compute("full", new Fill(value), List.of(), List.of(array));
        return array;
    }

    /**
     * A float32 array of zeros.
     *
     * @param shape
     *            the dimensions; none for a single element
     * @return the array
     */
    public NDArray zeros(long... shape) {
        return full(0, DType.FLOAT32, shape);
    }

    /**
     * A float32 array of ones.
     *
     * @param shape
     *            the dimensions; none for a single element
     * @return the array
     */
    public NDArray ones(long... shape) {
        return full(1, DType.FLOAT32, shape);
    }

    /**
     * Evenly spaced numbers.
     *
     * @param start
     *            the first
     * @param step
     *            the distance between neighbours
     * @param count
     *            how many
     * @param dtype
     *            the elements' type
     * @return an array of one dimension
     */
    public NDArray range(double start, double step, long count, DType dtype) {
        NDArray array = allocate("range", TensorSpec.of(dtype, count), placement);
        ArrayOps.compute("range", new Range(start, step), List.of(), List.of(array));
        return array;
    }

    /**
     * Concatenates arrays along an axis.
     *
     * @param axis
     *            from −rank
     * @param arrays
     *            of one type, and of shapes that differ in that axis only
     * @return a new array
     */
    public NDArray concat(int axis, List<NDArray> arrays) {
        TensorSpec spec = Concatenation.infer(axis, arrays.stream().map(array -> array.tensor().spec()).toList());
        NDArray result = allocate("concat", spec, arrays.getFirst().storage().placement());
        long from = 0;
        for (NDArray array : arrays) {
            long length = array.shape().dim(axis);
            result.slice(axis, from, from + length).copyFrom(array);
            from += length;
        }
        return result;
    }

    /**
     * A generator of random numbers, whose draws depend only on the seed and their order.
     *
     * @param seed
     *            equal seeds give equal numbers
     * @return the generator
     */
    public Generator generator(long seed) {
        return new Generator(this, seed);
    }

    /**
     * Temporary memory for operations of your own.
     *
     * @param bytes
     *            the size
     * @return the memory, with a variable
     */
    public Workspace workspace(long bytes) {
        return new Workspace(shared.engine(), memory(bytes, placement));
    }

    /**
     * Pushes an operation of your own. Arrays at other places than the host are copied to it and from it.
     *
     * @param name
     *            the operation's name in errors, snapshots and traces
     * @param reads
     *            arrays whose elements it needs
     * @param writes
     *            arrays whose elements it sets, all of them; they must not overlap one another, but may overlap what it
     *            reads: the memory is the same then
     * @param body
     *            what to do, on the engine's thread
     * @param mutates
     *            variables that it changes besides
     * @throws IllegalArgumentException
     *             if an array is on another engine, or two that are written overlap
     * @throws IllegalStateException
     *             if an array is closed
     */
    public void push(String name, List<NDArray> reads, List<NDArray> writes, ArrayBody body, Var... mutates) {
        ArrayOps.call(this, name, reads, writes, body, mutates);
    }

    /**
     * Waits for everything that was pushed on the engine.
     *
     * @throws InterruptedException
     *             if interrupted
     * @throws io.seriatim.engine.OperationFailedException
     *             the first failure since the last such wait
     */
    public void waitForAll() throws InterruptedException {
        shared.engine().waitForAll();
    }
}
