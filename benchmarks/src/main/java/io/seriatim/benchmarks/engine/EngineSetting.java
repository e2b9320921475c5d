package io.seriatim.benchmarks.engine;

import io.seriatim.engine.Engine;
import io.seriatim.engine.Lane;

/** The kinds of engine that are measured. */
enum EngineSetting {
    /** The default. */
    PER_DEVICE("per-device") {
        @Override
        Engine.Builder builder(int workers) {
            return Engine.builder().perDevice().workers(Lane.CPU, workers);
        }
    },
    /** One pool for all. */
    POOLED("pooled") {
        @Override
        Engine.Builder builder(int workers) {
            return Engine.builder().pooled(workers);
        }
    },
    /** In the pushing thread. */
    NAIVE("naive") {
        @Override
        Engine.Builder builder(int workers) {
            return Engine.builder().naive();
        }
    };

    private final String text;

    EngineSetting(String text) {
        this.text = text;
    }

    abstract Engine.Builder builder(int workers);

    boolean hasWorkers() {
        return this != NAIVE;
    }

    @Override
    public String toString() {
        return text;
    }
}
