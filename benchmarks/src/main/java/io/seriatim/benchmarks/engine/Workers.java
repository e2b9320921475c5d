package io.seriatim.benchmarks.engine;

/** How numbers of workers are shown. */
final class Workers {
    private Workers() {
    }

    static String text(int workers) {
        return workers == 1 ? ", 1 worker" : ", " + workers + " workers";
    }
}
