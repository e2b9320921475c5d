package io.seriatim.executor;

import io.seriatim.device.Buffer;
import io.seriatim.device.DeviceMemoryException;
import io.seriatim.device.Place;
import io.seriatim.executor.compile.Preparation;
import io.seriatim.executor.ir.Bindings;
import io.seriatim.executor.ir.ExternalShapes;
import io.seriatim.executor.ir.OpenSizes;
import io.seriatim.executor.ir.Options;
import io.seriatim.executor.ir.RunFailure;
import io.seriatim.executor.ir.Sharing;
import io.seriatim.executor.ir.SingleFlight;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.lower.Cuts;
import io.seriatim.executor.lower.FoldedResults;
import io.seriatim.executor.run.Frame;
import io.seriatim.executor.run.HeldWorkspace;
import io.seriatim.executor.run.NestedBlock;
import io.seriatim.executor.run.Recording;
import io.seriatim.executor.run.RestOfBlock;
import io.seriatim.executor.run.RestPlans;
import io.seriatim.executor.run.RunContext;
import io.seriatim.executor.run.RunLoop;
import io.seriatim.executor.run.SharedRests;
import io.seriatim.executor.run.StreamPool;
import io.seriatim.executor.run.Workspace;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.trace.RunLog;
import io.seriatim.executor.trace.TracedPlan;
import io.seriatim.graph.program.HeapMemory;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The value numbering of a block, the plans compiled for the shapes that it was last run with, and the idle workspaces
 * that these plans share. Thread-safe. A run with the same shapes as the previous run takes no lock, so that a thread
 * that is descheduled during the look-up does not delay other threads.
 */
final class BlockPlan implements NestedBlock {
    /** Frames on devices hold streams, of which there are few. */
    private static final int MOST_DEVICE_FRAMES = 8;

    /**
     * The most plans of one block that run inside of each other. Each is compiled, so that the work would be quadratic
     * in the number of late sizes; what follows the last one is interpreted.
     */
    private static final int MOST_RESTS = 16;
    /** The most conditions of feeds that one plan knows: each doubles the number of plans. */
    private static final int MOST_CONDITIONS = 3;

    private final Executor executor;
    private final ValueNumbering accesses;
    private final boolean once;
    private final boolean usesDevice;
    /** The number of plans of the same block that this one runs inside of. */
    private final int depth;
    /** The number of conditions of feeds that this one knows. */
    private final int conditions;
    private final SingleFlight<ExternalShapes, Variant> compilations = new SingleFlight<>();
    private final KeptSizes<Variant> variants;
    private final PlanWorkspaces workspaces;
    private final LongAdder runs = new LongAdder();
    private final LongAdder compiled = new LongAdder();
    private final Map<String, Tensor> constants;
    private final FoldedResults folded;
    /** The shapes of runs that were compiled in haste, the most recent ones; null if all are compiled fully. */
    private final @Nullable SeenOnce<ExternalShapes> seen;
    /** The plans of what follows late sizes, those of this block and of its rests. */
    private final SharedRests<BlockPlan> rests;
    /** The sizes that change from iteration to iteration; null for a block that is compiled for each size. */
    private final @Nullable ChangingSizes changing;
    /**
     * The native memory of the kernels of all plans in bytes, as it was when the latest one was added: plans that share
     * what follows would otherwise ask for it by every way that leads there.
     */
    private volatile long kernelBytes;
    /** The plan without open sizes that was used last; null before the first run. */
    private volatile @Nullable Variant latest;
    /** The plan with open sizes that was used last; null before the first. */
    private volatile @Nullable Variant latestOpen;

    /** A compiled plan, the loop that runs it, its kernels, and the plan of the rest of the block, if it has one. */
    static final class Variant extends KeptSizes.Size {
        private final CompiledPlan plan;
        private final RunLoop loop;
        private final PreparedKernels kernels;
        private final Set<Kernel> used;
        private final PreparedKernels.Hold hold;
        private final long key;
        private final long kernelBytes;
        private final @Nullable RestPlans<BlockPlan> rest;
        private final SharedRests<BlockPlan> rests;
        private final AtomicBoolean isReleased = new AtomicBoolean();
        /** Whether it is for one run. */
        private final boolean hasty;
        private final AtomicReference<@Nullable TracedPlan> described = new AtomicReference<>();
        /** The combinations of sizes of a plan with open sizes; null for any other. */
        private final @Nullable SizeUses uses;
        private volatile boolean closed;
        /** The plan that was used after this one the last time. */
        private volatile @Nullable Variant next;

        Variant(long key, CompiledPlan plan, RunLoop loop, PreparedKernels kernels, @Nullable RestPlans<BlockPlan> rest,
                SharedRests<BlockPlan> rests, boolean hasty, boolean isLate) {
            this.rests = rests;
            this.key = key;
            this.hasty = hasty;
            this.rest = rest;
            this.plan = plan;
            this.uses = plan.open().isNone() ? null : new SizeUses(plan, isLate);
            this.loop = loop;
            this.kernels = kernels;
            this.used = Preparation.used(plan);
            this.hold = kernels.hold(used);
            this.kernelBytes = used.stream().mapToLong(Kernel::bytes).sum();
        }

        /** Returns the frame in a workspace; creates it if there is none. */
        Frame frame(Workspace<Variant, Frame> in, Options options, StreamPool streams) {
            Frame known = in.frame(this);
            return known != null
                    ? known
                    : in.frame(this, plan.memory().arenas(), arenas -> made(options, streams, arenas));
        }

        private Frame made(Options options, StreamPool streams, Map<Place, Buffer> arenas) {
            PreparedKernels.Hold held = kernels.hold(used);
            Frame frame = null;
            try {
                frame = new Frame(plan, options, streams, arenas).with(held)
                        .with(rest == null
                                ? null
                                : (part, fetched, run) -> rest.of(part, run).results(fetched, run));
                return frame;
            } finally {
                if (frame == null) {
                    held.close();
                }
            }
        }

        /**
         * Releases kernels. Frames of the plan keep theirs until the workspace is next idle. A run that begins later
         * makes a frame of its own and calls this again, since it may have compiled the rest again.
         */
        void close() {
            closed = true;
            next = null;
            hold.close();
            if (rest != null) {
                rests.release(rest, isReleased.getAndSet(true));
            }
        }

        boolean isClosed() {
            return closed;
        }

        /** Returns whether it serves several combinations of sizes. */
        boolean isOpen() {
            return uses != null;
        }

        /** Returns how often its combinations of sizes have come. */
        SizeUses uses() {
            return Objects.requireNonNull(uses);
        }

        boolean isHasty() {
            return hasty;
        }

        @Override
        long key() {
            return key;
        }

        /**
         * Returns the native memory of its kernels and of its share in those of the rest in bytes, an estimate; other
         * plans may use some of them too.
         */
        @Override
        long bytes() {
            return kernelBytes + (rest == null ? 0 : rests.share(rest));
        }

        CompiledPlan plan() {
            return plan;
        }

        /** Returns the description of the plan for recordings, which identify a plan by this object. */
        TracedPlan described() {
            TracedPlan known = described.get();
            if (known == null) {
                TracedPlan made = Recording.describe(plan);
                known = described.compareAndExchange(null, made);
                known = known == null ? made : known;
            }
            return known;
        }
    }

    /**
     * Creates the plan of a program's global block.
     *
     * @param usesDevice
     *            whether any operation of the program may run on a device
     */
    BlockPlan(Executor executor, ValueNumbering accesses, boolean once, boolean usesDevice) {
        this(executor, accesses, once, usesDevice, 0, 0, Map.of(), new PlanWorkspaces(), null, noRests());
    }

    /**
     * Creates the plan of a nested block, which may have other shapes in every iteration of a loop: shapes are compiled
     * fully when they come for the second time.
     *
     * @param constants
     *            the variables from outside that are constants
     */
    static BlockPlan inner(Executor executor, ValueNumbering accesses, boolean usesDevice,
            Map<String, Tensor> constants) {
        return new BlockPlan(executor, accesses, false, usesDevice, 0, 0, constants, new PlanWorkspaces(),
                new SeenOnce<>(), noRests());
    }

    private static SharedRests<BlockPlan> noRests() {
        return new SharedRests<>(rest -> rest.kernelBytes, BlockPlan::closeVariants);
    }

    private BlockPlan(Executor executor, ValueNumbering accesses, boolean once, boolean usesDevice, int depth,
            int conditions, Map<String, Tensor> constants, PlanWorkspaces workspaces,
            @Nullable SeenOnce<ExternalShapes> seen, SharedRests<BlockPlan> rests) {
        this.rests = rests;
        this.executor = executor;
        this.variants = new KeptSizes<>(executor.options().specialisations(),
                () -> KernelMemory.limit() >> conditions);
        this.accesses = accesses;
        this.once = once;
        this.constants = constants;
        this.folded = new FoldedResults(accesses);
        this.workspaces = workspaces;
        this.seen = seen;
        this.usesDevice = usesDevice;
        this.depth = depth;
        this.conditions = conditions;
        this.changing = once || usesDevice ? null : new ChangingSizes();
    }

    @Override
    public ValueNumbering accesses() {
        return accesses;
    }

    @Override
    public Iterations begin(boolean isLoop) {
        HeldWorkspace<Variant> held =
                isLoop && !once ? new HeldWorkspace<>(this::workspace, workspaces::giveBack) : null;
        return new Iterations() {
            @Override
            public void run(RunContext context, Consumer<Frame> results) {
                BlockPlan.this.run(context, held, results);
            }

            @Override
            public void close() {
                if (held != null) {
                    held.close();
                }
            }
        };
    }

    void run(RunContext context, Consumer<Frame> results) {
        run(context, null, results);
    }

    private void run(RunContext context, @Nullable HeldWorkspace<Variant> held, Consumer<Frame> results) {
        runs.increment();
        Sharing sharing = sharing(context.bindings());
        Variant with = known(context.externals(), sharing);
        if (with != null) {
            run(context, with, held, results);
        } else if (isNew(context.externals(), sharing)) {
            run(context, forNew(context, sharing), held,
                    seen == null && changing != null ? changing.recorded(results) : results);
        } else {
            run(context, other(context.externals(), sharing), held, results);
        }
    }

    /** Returns whether the shapes may be some of many that come once each. */
    private boolean isNew(@Nullable Object[] externals, Sharing sharing) {
        return seen == null ? changing != null : !once && seen.add(ExternalShapes.of(externals, sharing));
    }

    /** Returns a plan for shapes that come for the first time: for all sizes of what grows, or for these only. */
    private Variant forNew(RunContext context, Sharing sharing) {
        OpenSizes open = changing == null || !sharing.groups().isEmpty() ? OpenSizes.NONE : observed(changing, context);
        if (open.isNone()) {
            return seen == null
                    ? other(context.externals(), sharing)
                    : made(context.externals(), OpenSizes.NONE, sharing, true);
        }
        Variant made = put(made(context.externals(), open, sharing, false));
        latestOpen = made;
        return made;
    }

    private OpenSizes observed(ChangingSizes sizes, RunContext context) {
        if (depth > 0) {
            return sizes.observeLate(context.externals(), accesses);
        }
        return seen == null
                ? sizes.observe(context.externals(), accesses)
                : sizes.observe(context.cancellation(), context.externals());
    }

    private void run(RunContext context, Variant with, @Nullable HeldWorkspace<Variant> held, Consumer<Frame> results) {
        Workspace<Variant, Frame> in = held == null ? workspace() : held.get();
        try {
            Frame frame = frame(with, in);
            run(context, with, frame, held, results);
            if (with.isOpen() && frame.attends()) {
                with.uses().isFused();
            }
        } finally {
            giveBack(in, with, held != null);
        }
    }

    private static void run(RunContext context, Variant with, Frame frame, @Nullable HeldWorkspace<Variant> held,
            Consumer<Frame> results) {
        Recording recording = context.recording();
        RunLog log = recording == null ? null : recording.begin(with.described());
        try {
            frame.begin(context, log);
            run(with, frame);
            results.accept(frame);
        } catch (DeviceMemoryException e) {
            throw new RunFailure("plan",
                    "There is no memory for the inputs or results of the run: " + e.getMessage()
                            + ". Free memory or use a smaller batch",
                    e);
        } finally {
            if (held == null) {
                frame.end();
            } else {
                held.end(frame);
            }
            if (log != null) {
                log.end();
            }
        }
    }

    /**
     * Returns the sharing between the outer variables of a run. If a task may run on a device, it contains variables
     * that share memory only with variables that the block does not name: these must stay in that memory too.
     */
    Sharing sharing(Bindings around) {
        return Sharing.of(accesses, around, usesDevice);
    }

    private static void run(Variant with, Frame frame) {
        try {
            with.loop.run(frame);
        } catch (RuntimeException | Error e) {
            // Errors are handled too: no work of this run may continue when another run uses the frame.
            try {
                frame.drain();
            } catch (RuntimeException later) {
                if (!later.equals(e)) {
                    e.addSuppressed(later);
                }
            }
            throw e;
        }
        frame.drain();
    }

    /** Returns the plan for the types and shapes of the external values; compiles it if there is none. */
    Variant variant(@Nullable Object[] externals, Sharing sharing) {
        Variant known = known(externals, sharing);
        return known != null ? known : other(externals, sharing);
    }

    /**
     * Returns the plan for the types and shapes of the external values; null if there is none. The plan that was used
     * after the latest one before is tried first, since the iterations of a loop use the same plans in the same order.
     */
    private @Nullable Variant known(@Nullable Object[] externals, Sharing sharing) {
        Variant last = latest;
        if (last != null && !last.closed && last.plan.fits(externals, sharing)) {
            return last;
        }
        Variant next = last == null ? null : last.next;
        if (next == null || next.closed || !next.plan.fits(externals, sharing)) {
            Variant open = open(externals, sharing);
            next = open == null ? find(externals, sharing) : open.uses().plan(externals, open, this, sharing);
            if (next == open) {
                return next;
            }
            if (last != null) {
                last.next = next;
            }
        }
        if (next != null) {
            variants.use(next);
            latest = next;
        }
        return next;
    }

    /** Returns a plan with open sizes that fits; null if there is none. */
    private @Nullable Variant open(@Nullable Object[] externals, Sharing sharing) {
        Variant last = latestOpen;
        if (last == null) {
            return null;
        }
        if (last.closed || !last.plan.fits(externals, sharing)) {
            last = findOpen(externals, sharing);
            if (last != null) {
                latestOpen = last;
            }
        }
        if (last != null) {
            variants.use(last);
        }
        return last;
    }

    private @Nullable Variant findOpen(@Nullable Object[] externals, Sharing sharing) {
        return variants.find(known -> known.isOpen() && known.plan.fits(externals, sharing));
    }

    Variant other(@Nullable Object[] externals, Sharing sharing) {
        try {
            return compilations.get(ExternalShapes.of(externals, sharing), () -> find(externals, sharing),
                    () -> put(made(externals, OpenSizes.NONE, sharing, once)));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RunFailure("plan",
                    "Interrupted while another thread compiled the plan for the same shapes; no variable was changed",
                    e);
        }
    }

    /** Returns the plan for one combination of sizes; null if there is none. */
    @Nullable
    Variant find(@Nullable Object[] externals, Sharing sharing) {
        return variants.find(known -> !known.isOpen() && known.plan.fits(externals, sharing));
    }

    private Variant put(Variant made) {
        List<Variant> gone = variants.add(made);
        kernelBytes = variants.all().stream().mapToLong(Variant::bytes).sum();
        latest = made.isOpen() ? latest : made;
        gone.forEach(Variant::close);
        if (!gone.isEmpty()) {
            workspaces.displaced(gone.size());
        }
        return made;
    }

    private Variant made(@Nullable Object[] externals, OpenSizes open, Sharing sharing, boolean hasty) {
        compiled.increment();
        PreparedKernels kernels = executor.specialiser().kernels();
        try (PreparedKernels.Hold _ = kernels.postponed()) {
            Cuts cuts = usesDevice || depth >= MOST_RESTS
                    ? Cuts.NONE
                    : once || conditions == MOST_CONDITIONS ? Cuts.TYPES : Cuts.ELEMENTS;
            CompiledPlan plan = executor.specialiser().specialise(accesses, externals, open, constants, sharing, cuts,
                    hasty, folded);
            // For a program that runs once, no dependencies are derived; its tasks run in program order.
            return new Variant(ExternalShapes.of(externals, sharing).key(), plan,
                    hasty ? new RunLoop.Serial() : executor.loop(plan),
                    kernels, rest(plan), rests,
                    hasty && !once, depth > 0);
        } catch (OutOfMemoryError e) {
            throw new RunFailure("plan", "The plan of block " + accesses.block().index() + ", which has "
                    + accesses.operations().size() + " operations, cannot be compiled: " + HeapMemory.advice(e), e);
        }
    }

    /** Returns the plan of what follows the tasks of a plan; null if nothing does. */
    private @Nullable RestPlans<BlockPlan> rest(CompiledPlan plan) {
        for (Task task : plan.tasks()) {
            if (task instanceof Task.Rest rest) {
                int known = conditions + (rest.outcomes().isEmpty() ? 0 : 1);
                return rests.hold(rest, depth + 1,
                        (part, constants) -> new BlockPlan(executor, part.block(), once, usesDevice, depth + 1,
                                known, constants, workspaces.rest(), new SeenOnce<>(), rests));
            }
        }
        return null;
    }

    /** Runs a part of the rest of a block and returns its results, of which the first ones are those of the block. */
    private RestOfBlock.Results results(int fetched, RunContext context) {
        AtomicReference<RestOfBlock.@Nullable Results> results = new AtomicReference<>();
        int taken = accesses.block().index() == 0 ? fetched : 0;
        run(context, frame -> results.set(RestOfBlock.Results.of(frame, accesses, taken)));
        return Objects.requireNonNull(results.get());
    }

    private Workspace<Variant, Frame> workspace() {
        Workspace<Variant, Frame> in = workspaces.take();
        if (in != null) {
            return in;
        }
        // Plans of several parts share a workspace, which closes the frames of those that are no longer kept.
        int most = depth > 0 ? Integer.MAX_VALUE : executor.options().specialisations();
        return new Workspace<>(executor.options().devices(), usesDevice ? Math.min(most, MOST_DEVICE_FRAMES) : most,
                Frame::close);
    }

    private Frame frame(Variant with, Workspace<Variant, Frame> in) {
        try {
            return with.frame(in, executor.options(), executor.streams());
        } catch (DeviceMemoryException e) {
            // Idle frames of other shapes and programs can be allocated again when they are needed.
            executor.closeIdle();
        }
        try {
            return with.frame(in, executor.options(), executor.streams());
        } catch (DeviceMemoryException e) {
            throw new RunFailure("plan", "There is no memory for the plan's temporaries, " + with.plan.memory().arenas()
                    + " bytes (" + with.plan.memory().sum() + " bytes if none shared memory): " + e.getMessage()
                    + ". Free memory or use a smaller batch", e);
        }
    }

    private void giveBack(Workspace<Variant, Frame> in, Variant with, boolean isHeld) {
        if (with.isHasty() || with.isClosed()) {
            with.close();
            in.closeFrame(with);
        }
        if (once) {
            in.close();
        } else if (isHeld) {
            workspaces.keep(in);
        } else {
            workspaces.giveBack(in);
        }
    }

    /** Returns with how many sizes those parts were bound that follow late sizes, in no order. */
    List<Long> boundLate() {
        return rests.all().stream().map(rest -> rest.compiled.sum()).toList();
    }

    /** Returns how many sizes were bound, and the memory of those that are kept. */
    BoundSizes bindings() {
        Set<Kernel> kernels = Collections.newSetFromMap(new IdentityHashMap<>());
        List<Variant> kept = variants.all();
        kept.forEach(each -> kernels.addAll(each.used));
        rests.all().forEach(rest -> rest.variants.all().forEach(each -> kernels.addAll(each.used)));
        long bound = compiled.sum();
        return new BoundSizes(kept.size(), bound, Math.max(0, runs.sum() - bound),
                kernels.stream().mapToLong(Kernel::bytes).sum() + workspaces.bytes());
    }

    /** Closes all idle frames. */
    void closeIdle() {
        workspaces.clear();
    }

    /** Closes all plans and their idle frames. Runs in progress close their frames when they end. */
    void close() {
        closeVariants();
        rests.clear();
        workspaces.close();
    }

    private void closeVariants() {
        List<Variant> all = variants.clear();
        kernelBytes = 0;
        latest = null;
        latestOpen = null;
        all.forEach(Variant::close);
        workspaces.evicted(all.size());
    }
}
