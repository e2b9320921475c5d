package io.seriatim.executor;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a run has taken from several readers at once: batches and failures, or the end of one. A run takes its batches
 * before it asks for the lock of its scope, since the source is user code and may take long.
 */
final class BatchClaim {
    private final List<BatchQueue.Slot> slots;
    private final List<Reader.Outcome> outcomes;
    private final RunOrder.@Nullable Turn turn;

    private BatchClaim(List<BatchQueue.Slot> slots, List<Reader.Outcome> outcomes, RunOrder.@Nullable Turn turn) {
        this.slots = slots;
        this.outcomes = outcomes;
        this.turn = turn;
    }

    /**
     * Takes the next outcomes of some queues together, and waits for them. After the end of one all of them begin again.
     *
     * @param queues
     *            one for each outcome; the same may occur several times
     * @param order
     *            gives the claim its turn among those on one scope; null if their order does not matter
     */
    static BatchClaim take(List<BatchQueue> queues, @Nullable RunOrder order) throws InterruptedException {
        while (true) {
            BatchClaim claim = next(queues, order);
            boolean late = true;
            try {
                late = claim.isOver() && claim.renewed(queues);
            } finally {
                if (late) {
                    claim.pass();
                }
            }
            if (!late) {
                return claim;
            }
        }
    }

    private static BatchClaim next(List<BatchQueue> queues, @Nullable RunOrder order) throws InterruptedException {
        List<BatchQueue.Slot> slots = new ArrayList<>();
        List<Reader.Outcome> outcomes = new ArrayList<>();
        RunOrder.@Nullable Turn[] turn = new RunOrder.Turn[1];
        try {
            BatchQueue.locked(queues, () -> {
                queues.forEach(BatchQueue::requireOpen);
                queues.forEach(queue -> slots.add(queue.claim()));
                turn[0] = order == null ? null : order.turn();
            });
            queues.forEach(BatchQueue::push);
            for (BatchQueue.Slot slot : slots) {
                outcomes.add(slot.queue().await(slot));
            }
            return new BatchClaim(slots, outcomes, turn[0]);
        } finally {
            if (outcomes.size() < queues.size()) {
                new BatchClaim(slots, outcomes, turn[0]).giveBack();
            }
        }
    }

    List<Reader.Outcome> outcomes() {
        return outcomes;
    }

    /** Whether the data of a reader were at their end. */
    private boolean isOver() {
        return outcomes.contains(Reader.Outcome.Sign.END) || outcomes.contains(Reader.Outcome.Sign.VOID);
    }

    /** Begins the data again. Gives whether the end was that of another run, so that this one claims again. */
    private boolean renewed(List<BatchQueue> queues) {
        BatchQueue.locked(queues, () -> slots.forEach(slot -> slot.queue().begin(slot)));
        List<BatchQueue> ended = new ArrayList<>();
        for (int i = 0; i < outcomes.size(); i++) {
            BatchQueue queue = slots.get(i).queue();
            if (outcomes.get(i) == Reader.Outcome.Sign.END) {
                ended.add(queue);
            } else if (outcomes.get(i) == Reader.Outcome.Sign.VOID && !ended.contains(queue)) {
                return true;
            }
        }
        return false;
    }

    /** Waits until all runs with earlier turns have the lock of the scope, or have given up. */
    void awaitTurn() throws InterruptedException {
        if (turn != null) {
            turn.await();
        }
    }

    /** The run has the lock of its scope, or has given up. */
    void pass() {
        if (turn != null) {
            turn.pass();
        }
    }

    /** The run takes nothing of what it has claimed: the next run gets it. */
    void giveBack() {
        BatchQueue.locked(slots.stream().map(BatchQueue.Slot::queue).toList(),
                () -> slots.reversed().forEach(slot -> slot.queue().giveBack(slot)));
        pass();
    }
}
