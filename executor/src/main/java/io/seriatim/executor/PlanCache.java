package io.seriatim.executor;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.executor.ir.SingleFlight;
import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.program.Program;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The plans that an executor keeps of programs that are run by value, found again by the program's content. The plan
 * that was not used for longest goes first. For many threads: its lock is held for look-ups only, never while a program
 * is hashed or compiled or a plan is closed.
 */
final class PlanCache {
    private final int most;
    private final SingleFlight<Key, Plan> compilations = new SingleFlight<>();
    /** Those used last at the end. */
    @GuardedBy("this")
    private final Map<Key, Plan> plans = new LinkedHashMap<>(8, 0.75f, true);
    /** Kept, since hashing a program takes longer than running it. */
    @GuardedBy("this")
    private final Map<Program, Content> contents = new WeakHashMap<>();
    @GuardedBy("this")
    private long hashed;

    /** The content of a program after so many modifications. The seed is no part of the hash. */
    private record Content(long modifications, long hash, long seed, int blocks, int operations) {
        static Content of(Program program) {
            return new Content(program.modifications(), ProgramFiles.hash(program), program.randomSeed(),
                    program.blocks().size(), program.global().ops().size());
        }
    }

    /** What a plan depends on: the program's content, and what is asked of it. Place and options are the executor's. */
    private record Key(long hash, long seed, int blocks, int operations, Feeds feeds, Fetches fetches) {
        Key(Content content, Feeds feeds, Fetches fetches) {
            this(content.hash, content.seed, content.blocks, content.operations, feeds, fetches);
        }

        @Override
        public String toString() {
            return "the plan of a program of " + operations + " operations, fed " + feeds.names() + ", fetches "
                    + fetches.names();
        }
    }

    /** Keeps so many plans at most. */
    PlanCache(int most) {
        this.most = most;
    }

    /**
     * The plan of a program.
     *
     * @param compile
     *            makes the plan if it is not there
     * @throws ProgramFailedException
     *             if the thread is interrupted while another thread makes the plan
     */
    Plan get(Program program, Feeds feeds, Fetches fetches, Supplier<Plan> compile) {
        Key key = new Key(content(program), feeds, fetches);
        try {
            return compilations.get(key, () -> find(key), () -> put(key, compile.get()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ProgramFailedException("plan",
                    "Interrupted while another thread compiled the program; nothing was run", e);
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
        // Two threads may hash the same program: that is cheaper than waiting for each other.
        Content made = Content.of(program);
        synchronized (this) {
            contents.put(program, made);
            hashed++;
            return made;
        }
    }

    /** How often a program was hashed. */
    synchronized long hashed() {
        return hashed;
    }
}
