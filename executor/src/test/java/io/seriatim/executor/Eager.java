package io.seriatim.executor;

/** Executors whose threads help with every run, however little there is to do. */
final class Eager {
    private Eager() {
    }

    static Executor.Builder threads(int threads) {
        return Executor.builder().threads(threads).eager();
    }
}
