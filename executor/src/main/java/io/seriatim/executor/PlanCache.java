package io.seriatim.executor;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.executor.ir.SingleFlight;
import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.SymbolicDims;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A cache of the plans that {@link Executor#run} compiles, keyed by the content of the program. It evicts the least
 * recently used plan. Thread-safe; its lock is held for look-ups only, never while a program is hashed or compiled or a
 * plan is closed.
 */
final class PlanCache {
    private final int most;
    private final SingleFlight<Key, Plan> compilations = new SingleFlight<>();
    /** In access order: the most recently used plan is last. */
    @GuardedBy("this")
    private final Map<Key, Plan> plans = new LinkedHashMap<>(8, 0.75f, true);
    /** Hashes are cached, since hashing a small program can take longer than running it. */
    @GuardedBy("this")
    private final Map<Program, Content> contents = new WeakHashMap<>();
    @GuardedBy("this")
    private long hashed;

    /** The content of a program, valid for one value of its modification count. The hash does not include the seed. */
    private record Content(long modifications, long hash, long seed, int blocks, int operations, SymbolicDims dims) {
        static Content of(Program program) {
            return new Content(program.modifications(), ProgramFiles.hash(program), program.randomSeed(),
                    program.blocks().size(), program.global().ops().size(), program.symbolicDims());
        }
    }

    /** The key of a plan: the program's content, feeds and fetches. Place and options are fixed by the executor. */
    private record Key(long hash, long seed, int blocks, int operations, SymbolicDims dims, Feeds feeds,
            Fetches fetches) {
        Key(Content content, Feeds feeds, Fetches fetches) {
            this(content.hash, content.seed, content.blocks, content.operations, content.dims, feeds, fetches);
        }

        @Override
        public String toString() {
            return "the plan of a program of " + operations + " operations, fed " + feeds.names() + ", fetches "
                    + fetches.names();
        }
    }

    /** Creates a cache of at most {@code most} plans. */
    PlanCache(int most) {
        this.most = most;
    }

    /**
     * Returns the plan of a program.
     *
     * @param compile
     *            compiles the plan if it is not cached
     * @throws ProgramFailedException
     *             if the thread is interrupted while another thread compiles the plan
     */
    Plan get(Program program, Feeds feeds, Fetches fetches, Supplier<Plan> compile) {
        Key key = new Key(content(program), feeds, fetches);
        try {
            return compilations.get(key, () -> find(key), () -> put(key, compile.get()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ProgramFailedException("plan",
                    "Interrupted while another thread compiled the program; no operation was run", e);
        }
    }

    private synchronized @Nullable Plan find(Key key) {
        return plans.get(key);
    }

    private Plan put(Key key, Plan plan) {
        List<Plan> gone = new ArrayList<>();
        synchronized (this) {
            plans.put(key, plan);
            Iterator<Plan> oldest = plans.values().iterator();
            while (plans.size() > most) {
                gone.add(oldest.next());
                oldest.remove();
            }
        }
        gone.forEach(Plan::close);
        return plan;
    }

    private Content content(Program program) {
        synchronized (this) {
            Content known = contents.get(program);
            if (known != null && known.modifications == program.modifications()) {
                return known;
            }
        }
        // Two threads may hash the same program; that is cheaper than waiting for each other.
        Content made = Content.of(program);
        synchronized (this) {
            contents.put(program, made);
            hashed++;
            return made;
        }
    }

    /** Returns how many times a program was hashed. */
    synchronized long hashed() {
        return hashed;
    }
}
