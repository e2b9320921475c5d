package io.seriatim.executor;

/**
 * The sizes with which a plan was run, see {@link Plan#bindings}.
 *
 * @param kept
 *            the number of combinations of shapes that are kept now, at most {@link Executor.Builder#specialisations}
 * @param bound
 *            how often the plan was compiled for a combination of shapes
 * @param hits
 *            the number of runs that found their combination
 * @param bytes
 *            the native memory of the kernels and idle arenas that are kept, in bytes, an estimate
 */
public record BoundSizes(int kept, long bound, long hits, long bytes) {
}
