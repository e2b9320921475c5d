package io.seriatim.benchmarks.engine;

/** Formats numbers of workers. */
final class Workers {
    private Workers() {
    }

    static String text(int workers) {
        return workers == 1 ? ", 1 worker" : ", " + workers + " workers";
    }
}
