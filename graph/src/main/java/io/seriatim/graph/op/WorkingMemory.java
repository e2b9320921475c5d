package io.seriatim.graph.op;

import io.seriatim.device.Devices;

/**
 * The memory of arrays that operations make on the Java heap for themselves, such as indexes. Their lengths come from
 * files, so they are checked against the limit of the host's memory before an array is made. Errors do not name the
 * operation: whoever lowers or runs it adds its name.
 */
public final class WorkingMemory {
    /** Arrays of fewer bytes are not checked. */
    private static final long SMALL = 1 << 16;
    private static final int MOST = Integer.MAX_VALUE - 8;
    /** What the objects of a tensor take on the Java heap, without its elements. */
    private static final int TENSOR = 512;
    private static final ScopedValue<Long> LIMIT = ScopedValue.newInstance();

    private WorkingMemory() {
    }

    /**
     * Does something, such as lowering, with another limit than that of the system's devices.
     *
     * @param <T>
     *            the type of its result
     * @param <X>
     *            the type of what it throws
     * @param limit
     *            in bytes
     * @param action
     *            what is done
     * @return its result
     * @throws X
     *             as the action does
     */
    public static <T, X extends Throwable> T within(long limit, ScopedValue.CallableOp<? extends T, X> action)
            throws X {
        // Binding takes longer than many small operations.
        return LIMIT.isBound() && LIMIT.get() == limit
                ? action.call()
                : ScopedValue.where(LIMIT, limit).call(action);
    }

    /**
     * Checks the length of an array of numbers of 8 bytes before it is made.
     *
     * @param length
     *            how many numbers it holds
     * @return the length
     * @throws IllegalArgumentException
     *             if it does not fit into the memory of the host, or is longer than an array can be
     */
    public static int length(long length) {
        return length("an array of " + length + " numbers", length);
    }

    /**
     * Checks the length of an array of numbers of 8 bytes before it is made.
     *
     * @param purpose
     *            what it holds, for messages, such as {@code indexes}
     * @param length
     *            how many numbers it holds
     * @return the length
     * @throws IllegalArgumentException
     *             if it does not fit into the memory of the host, or is longer than an array can be
     */
    public static int length(String purpose, long length) {
        if (length < 0 || length > SMALL / Long.BYTES) {
            require(purpose, length, limit());
        }
        return (int) length;
    }

    /**
     * Checks the length of an array of rows of numbers of 8 bytes before it is made.
     *
     * @param rows
     *            how many rows it holds
     * @param columns
     *            how many numbers each row holds
     * @return how many numbers it holds
     * @throws IllegalArgumentException
     *             if it does not fit into the memory of the host, or is longer than an array can be
     */
    public static int length(long rows, long columns) {
        long length = Math.multiplyHigh(rows, columns) == 0 ? rows * columns : -1;
        return length("an array of " + rows + " × " + columns + " numbers", length);
    }

    /**
     * Checks the length of a list of tensors before the first of them is made: however few elements they have, each
     * takes memory of the Java heap.
     *
     * @param count
     *            how many tensors it holds
     * @return the length
     * @throws IllegalArgumentException
     *             if their objects do not fit into the memory of the host or into the Java heap, or are more than a
     *             list can hold
     */
    public static int tensors(long count) {
        if (count > SMALL / TENSOR) {
            String purpose = "a list of " + count + " tensors";
            require(purpose, count > MOST ? count : count * (TENSOR / Long.BYTES), limit());
            long heap = Runtime.getRuntime().maxMemory();
            if (count > heap / TENSOR) {
                throw new IllegalArgumentException(count * TENSOR + " bytes of the Java heap are needed for " + purpose
                        + ", but the limit is " + heap + " bytes (-Xmx): make fewer parts or raise the limit");
            }
        }
        return (int) count;
    }

    private static void require(String purpose, long length, long limit) {
        if (length < 0 || length > limit / Long.BYTES) {
            throw new IllegalArgumentException((length < 0 || length > Long.MAX_VALUE / Long.BYTES
                    ? "More than 2^63"
                    : length * Long.BYTES) + tooMuch(purpose, limit));
        }
        if (length > MOST) {
            throw new IllegalArgumentException("An array of " + length + " numbers is needed for " + purpose
                    + ", more than an array can hold: use smaller sizes");
        }
    }

    /**
     * The words of an error about too much memory.
     *
     * @param purpose
     *            what it is for
     * @param limit
     *            in bytes
     * @return to follow the number of bytes
     */
    public static String tooMuch(String purpose, long limit) {
        return " bytes of working memory are needed for " + purpose + ", but the limit is " + limit
                + " bytes (-Dseriatim.cpu.memory): use smaller sizes or raise the limit";
    }

    /** The limit of the host's memory that holds here, in bytes. */
    static long limit() {
        return LIMIT.isBound() ? LIMIT.get() : Devices.system().host().memory().limit();
    }
}
