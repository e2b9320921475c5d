package io.seriatim.benchmarks.metg;

/** A system of this process, whose threads run the same kernel as those that measure its peak. */
abstract class ThreadSystem implements MetgSystem {
    private final String key;
    private final String name;
    private final Kind kind;
    private final int workers;

    ThreadSystem(String key, String name, Kind kind, int workers) {
        this.key = key;
        this.name = name;
        this.kind = kind;
        this.workers = workers;
    }

    @Override
    public final String key() {
        return key;
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final Kind kind() {
        return kind;
    }

    @Override
    public boolean pusherRunsTasks() {
        return false;
    }

    @Override
    public final double peak(long nanos) throws InterruptedException {
        return FmaKernel.peak(workers, nanos);
    }
}
