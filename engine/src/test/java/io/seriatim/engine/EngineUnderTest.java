package io.seriatim.engine;

/** The engines that the contract suite runs over. */
public enum EngineUnderTest {
    NAIVE, POOLED_1, POOLED_2, POOLED_4, PER_DEVICE, PER_DEVICE_1, SHUFFLED;

    /** The seed of the shuffled engine; every seed must pass. */
    public static final long SEED = Long.getLong("seriatim.seed", 20_260_101);

    Engine.Builder builder() {
        Engine.Builder builder = Engine.builder();
        return switch (this) {
            case NAIVE -> builder.naive();
            case POOLED_1 -> builder.pooled(1);
            case POOLED_2 -> builder.pooled(2);
            case POOLED_4 -> builder.pooled(4);
            case PER_DEVICE -> builder.perDevice();
            case PER_DEVICE_1 -> builder.perDevice().workers(Lane.CPU, 1);
            case SHUFFLED -> builder.shuffled(SEED);
        };
    }

    /** Whether operations run on threads of the engine. */
    boolean hasWorkers() {
        return this != NAIVE && this != SHUFFLED;
    }

    /** Whether one thread runs all ordinary operations. */
    boolean isSingle() {
        return this == POOLED_1 || this == PER_DEVICE_1;
    }
}
