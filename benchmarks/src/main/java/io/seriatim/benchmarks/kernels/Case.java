package io.seriatim.benchmarks.kernels;

/**
 * One line of the table.
 *
 * @param name
 *            what is measured
 * @param ours
 *            one call of it
 * @param limit
 *            one call of what it is held against
 * @param amount
 *            floating-point operations or bytes of one call of ours
 * @param limitAmount
 *            those of one call of the limit
 * @param unit
 *            what the amount is
 * @param goal
 *            the least share of the limit's speed
 */
record Case(String name, Runnable ours, Runnable limit, double amount, double limitAmount, Unit unit,
        double goal) implements AutoCloseable {
    /** What is counted. */
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

    /** Frees what the calls use, where they hold something. */
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
