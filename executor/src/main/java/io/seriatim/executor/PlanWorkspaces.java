package io.seriatim.executor;

import io.seriatim.executor.run.Frame;
import io.seriatim.executor.run.IdleFrames;
import io.seriatim.executor.run.Workspace;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The idle workspaces of plans that do not run inside of each other. */
final class PlanWorkspaces {
    private final IdleFrames<Workspace<BlockPlan.Variant, Frame>> idle = new IdleFrames<>(Workspace::close);
    private final AtomicInteger evictions = new AtomicInteger();
    private @Nullable PlanWorkspaces rest;

    /** Removes and returns an idle workspace; null if there is none. */
    @Nullable
    Workspace<BlockPlan.Variant, Frame> take() {
        return idle.poll();
    }

    /** Returns the workspaces of plans that run inside of these. */
    synchronized PlanWorkspaces rest() {
        PlanWorkspaces known = rest;
        if (known == null) {
            known = new PlanWorkspaces();
            rest = known;
        }
        return known;
    }

    /**
     * Counts plans that were closed to make room for another one. The workspace that the calling thread takes next
     * closes their frames when it is given back: until the new plan has a frame, they keep the packed weights that both
     * read. Other idle workspaces close their frames at once.
     */
    void displaced(int count) {
        evictions.addAndGet(count);
        List<Workspace<BlockPlan.Variant, Frame>> all = poll();
        if (!all.isEmpty() && !idle.offer(all.getFirst())) {
            all.getFirst().close();
        }
        all.stream().skip(1).forEach(this::giveBack);
    }

    /** Closes the frames of closed plans. A workspace in use does so when it is given back. */
    void evicted(int count) {
        evictions.addAndGet(count);
        poll().forEach(this::giveBack);
    }

    /** Closes the frames of closed plans in a workspace that stays in use. */
    void keep(Workspace<BlockPlan.Variant, Frame> in) {
        in.closeFrames(evictions.get(), BlockPlan.Variant::isClosed);
    }

    void giveBack(Workspace<BlockPlan.Variant, Frame> in) {
        keep(in);
        if (!idle.offer(in)) {
            in.close();
        }
    }

    /** Returns the size of the arenas of idle workspaces in bytes. */
    long bytes() {
        List<Workspace<BlockPlan.Variant, Frame>> all = poll();
        long bytes = all.stream().mapToLong(Workspace::bytes).sum();
        all.forEach(this::giveBack);
        PlanWorkspaces inside = inside();
        return bytes + (inside == null ? 0 : inside.bytes());
    }

    private List<Workspace<BlockPlan.Variant, Frame>> poll() {
        List<Workspace<BlockPlan.Variant, Frame>> all = new ArrayList<>();
        for (Workspace<BlockPlan.Variant, Frame> each = idle.poll(); each != null; each = idle.poll()) {
            all.add(each);
        }
        return all;
    }

    /** Frees the memory of idle workspaces. */
    void clear() {
        idle.clear();
        PlanWorkspaces inside = inside();
        if (inside != null) {
            inside.clear();
        }
    }

    /** Frees all memory, that of workspaces in use when they are given back. */
    void close() {
        idle.close();
        PlanWorkspaces inside = inside();
        if (inside != null) {
            inside.close();
        }
    }

    private synchronized @Nullable PlanWorkspaces inside() {
        return rest;
    }
}
