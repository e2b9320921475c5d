package io.seriatim.executor;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The outcomes that a run has taken from several readers together: batches, failures, or the end of the data of one. A
 * run takes its batches before it acquires the lock of its scope, since the source is user code and may take long.
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
     * Takes the next outcomes of some queues together, and waits for them. After the end of the data of one, all of
     * them restart.
     *
     * @param queues
     *            one for each outcome; the same queue may occur several times
     * @param order
     *            assigns the turn of this claim among those on the same scope; null if their order does not matter
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

    /** Returns whether any reader was at the end of its data. */
    private boolean isOver() {
        return outcomes.contains(Reader.Outcome.Sign.END) || outcomes.contains(Reader.Outcome.Sign.VOID);
    }

    /**
     * Restarts the data. Returns whether another run has received the end of the data, so that this one claims again.
     */
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

    /** Waits until all runs with earlier turns have acquired the lock of the scope, or have given up. */
    void awaitTurn() throws InterruptedException {
        if (turn != null) {
            turn.await();
        }
    }

    /** Ends the turn after the run has acquired the lock of its scope, or has given up. */
    void pass() {
        if (turn != null) {
            turn.pass();
        }
    }

    /** Returns all claimed batches, so that the next run gets them. */
    void giveBack() {
        BatchQueue.locked(slots.stream().map(BatchQueue.Slot::queue).toList(),
                () -> slots.reversed().forEach(slot -> slot.queue().giveBack(slot)));
        pass();
    }
}
