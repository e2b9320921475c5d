package io.seriatim.benchmarks.kernels;

/**
 * One row of the table.
 *
 * @param name
 *            the name of the measurement
 * @param ours
 *            one call of the kernel
 * @param limit
 *            one call of the limit
 * @param amount
 *            the floating-point operations or bytes of one call of the kernel
 * @param limitAmount
 *            the same for the limit
 * @param unit
 *            the unit of the amounts
 * @param goal
 *            the minimum fraction of the limit's speed
 */
record Case(String name, Runnable ours, Runnable limit, double amount, double limitAmount, Unit unit,
        double goal) implements AutoCloseable {
    /** The units of amounts. */
    enum Unit {
        /** Floating-point operations. */
        GFLOPS("GFLOP/s"),
        /** Bytes read and written. */
        GIGABYTES("GB/s");

        private final String label;

        Unit(String label) {
            this.label = label;
        }

        String label() {
            return label;
        }
    }

    /** Frees the resources of the calls. */
    @Override
    public void close() {
        release(ours);
        release(limit);
    }

    private static void release(Runnable call) {
        if (call instanceof Call held) {
            held.close();
        }
    }
}
