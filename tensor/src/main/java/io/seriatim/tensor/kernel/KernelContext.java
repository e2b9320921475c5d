package io.seriatim.tensor.kernel;

import io.seriatim.device.Buffer;
import io.seriatim.device.Devices;
import org.jspecify.annotations.Nullable;

/**
 * The context of the kernels that a thread runs: the number of threads that they may use, and scratch memory. Only one
 * thread at a time may use it.
 */
public final class KernelContext implements AutoCloseable {
    /**
     * The elements of a tile, which kernels in plain Java move between memory and arrays at once. Three float tiles fit
     * a first-level cache.
     */
    public static final int TILE = 1024;

    /** How many arrays of each kind a kernel may use at once. */
    public static final int SLOTS = 32;

    // Loops over several arrays are up to twice as fast where all begin alike within a cache line: with these lengths,
    // and a header of 16 bytes, arrays that are allocated one after the other do.
    private static final int LINE = 64;
    private static final int HEADER = 16;
    private static final int FLOATS = TILE + (LINE - HEADER) / Float.BYTES;
    private static final int DOUBLES = TILE + (LINE - HEADER) / Double.BYTES;
    private static final int TOGETHER = 8;
    private static final ThreadLocal<KernelContext> CURRENT = ThreadLocal.withInitial(() -> new KernelContext(1));

    private final int threads;
    private final float[][] floats = new float[SLOTS][];
    private final double[][] doubles = new double[SLOTS][];
    private final long[][] longs = new long[SLOTS][];
    private final int[][] ints = new int[SLOTS][];
    private float[] largeFloats = new float[0];
    private double[] largeDoubles = new double[0];
    private int[] largeInts = new int[0];
    private @Nullable Buffer scratch;
    private @Nullable KernelContext nested;

    /**
     * Makes a context.
     *
     * @param threads
     *            how many threads a kernel may use, from 1
     */
    public KernelContext(int threads) {
        if (threads < 1) {
            throw new IllegalArgumentException("A kernel needs at least one thread, but is given " + threads);
        }
        this.threads = threads;
    }

    /**
     * The calling thread's own, with one thread.
     *
     * @return always the same in one thread
     */
    public static KernelContext current() {
        return CURRENT.get();
    }

    /**
     * How many threads a kernel may use.
     *
     * @return from 1
     */
    public int threads() {
        return threads;
    }

    /**
     * A tile.
     *
     * @param slot
     *            which, from 0 to 31
     * @return an array of {@link #TILE} values or more that holds anything
     */
    public float[] floats(int slot) {
        float[] tile = floats[slot];
        if (tile == null) {
            int first = slot / TOGETHER * TOGETHER;
            for (int i = first; i < first + TOGETHER; i++) {
                floats[i] = new float[FLOATS];
            }
            tile = floats[slot];
        }
        return tile;
    }

    /**
     * A tile.
     *
     * @param slot
     *            which, from 0 to 31
     * @return an array of {@link #TILE} values or more that holds anything
     */
    public double[] doubles(int slot) {
        double[] tile = doubles[slot];
        if (tile == null) {
            int first = slot / TOGETHER * TOGETHER;
            for (int i = first; i < first + TOGETHER; i++) {
                doubles[i] = new double[DOUBLES];
            }
            tile = doubles[slot];
        }
        return tile;
    }

    /**
     * A tile.
     *
     * @param slot
     *            which, from 0 to 31
     * @return an array of {@link #TILE} values or more that holds anything
     */
    public long[] longs(int slot) {
        long[] tile = longs[slot];
        if (tile == null) {
            tile = new long[TILE];
            longs[slot] = tile;
        }
        return tile;
    }

    /**
     * A tile.
     *
     * @param slot
     *            which, from 0 to 31
     * @return an array of {@link #TILE} values or more that holds anything
     */
    public int[] ints(int slot) {
        int[] tile = ints[slot];
        if (tile == null) {
            tile = new int[TILE];
            ints[slot] = tile;
        }
        return tile;
    }

    /**
     * A larger array for the time of one run. It grows to the most that was asked for.
     *
     * @param length
     *            how many values
     * @return at least so many, holding anything
     */
    public float[] floatArray(int length) {
        if (largeFloats.length < length) {
            largeFloats = new float[length];
        }
        return largeFloats;
    }

    /**
     * A larger array for the time of one run. It grows to the most that was asked for.
     *
     * @param length
     *            how many values
     * @return at least so many, holding anything
     */
    public double[] doubleArray(int length) {
        if (largeDoubles.length < length) {
            largeDoubles = new double[length];
        }
        return largeDoubles;
    }

    /**
     * A larger array for the time of one run. It grows to the most that was asked for.
     *
     * @param length
     *            how many values
     * @return at least so many, holding anything
     */
    public int[] intArray(int length) {
        if (largeInts.length < length) {
            largeInts = new int[length];
        }
        return largeInts;
    }

    /**
     * Memory of the host for the time of one run. It grows to the most that was asked for.
     *
     * @param bytes
     *            how many
     * @return at least so many, aligned to 64 bytes, holding anything
     */
    public Buffer scratch(long bytes) {
        Buffer have = scratch;
        if (have == null || have.bytes() < bytes) {
            if (have != null) {
                have.close();
            }
            have = Devices.system().host().allocate(bytes).label("scratch of kernels");
            scratch = have;
        }
        return have;
    }

    /**
     * Another context of the same thread, for a kernel that runs others: its own memory there stays as it is while they
     * use this context's.
     *
     * @return always the same; it is closed with this one
     */
    public KernelContext nested() {
        KernelContext have = nested;
        if (have == null) {
            have = new KernelContext(threads);
            nested = have;
        }
        return have;
    }

    /** Frees the scratch memory and arrays. The context may be used again. */
    @Override
    public void close() {
        if (scratch != null) {
            scratch.close();
            scratch = null;
        }
        if (nested != null) {
            nested.close();
            nested = null;
        }
        largeFloats = new float[0];
        largeDoubles = new double[0];
    }
}
