package io.seriatim.device;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The latest accesses to the bytes of a block. Guarded by the detector's lock. */
final class AccessHistory implements Shadow {
    private final RaceDetector detector;
    private final String place;
    private final List<Entry> entries = new ArrayList<>();

    /** An access, with the time of its party. */
    private record Entry(RaceDetector.Party party, long time, String operation, long from, long to, boolean write) {
    }

    AccessHistory(RaceDetector detector, Buffer buffer) {
        this.detector = detector;
        place = buffer.device().place().toString();
    }

    void check(RaceDetector.Party party, String operation, long offset, long bytes, boolean write) {
        long end = offset + bytes;
        for (Entry entry : entries) {
            boolean overlaps = entry.from < end && offset < entry.to;
            if (overlaps && (write || entry.write) && entry.time > party.clock.time(entry.party.id)) {
                throw race(entry, party, operation, offset, end, write);
            }
        }
    }

    void note(RaceDetector.Party party, String operation, long offset, long bytes, boolean write) {
        long end = offset + bytes;
        // Drop the entries that this access supersedes: an access that is ordered after this one is ordered after them
        // too, and this one conflicts with at least the same accesses.
        entries.removeIf(
                entry -> offset <= entry.from && entry.to <= end && (write || (!entry.write && entry.party == party)));
        entries.add(new Entry(party, party.clock.time(party.id), operation, offset, end, write));
    }

    private DataRaceException race(Entry entry, RaceDetector.Party party, String operation, long offset, long end,
            boolean write) {
        String message = String.format(Locale.ROOT,
                "Data race on %s: '%s' on %s %s bytes %d to %d, '%s' on %s %s bytes %d to %d of the same memory, "
                        + "and no event or stream orders them. "
                        + "Record an event on %s after '%s' and let %s wait for it.",
                place, entry.operation, entry.party.name, entry.write ? "writes" : "reads", entry.from, entry.to,
                operation, party.name,
                write ? "writes" : "reads", offset, end,
                entry.party.name, entry.operation, party.name);
        return new DataRaceException(message, entry.operation, operation);
    }

    @Override
    public void hostAccess(String operation, long offset, long bytes, boolean write) {
        detector.hostAccess(this, operation, offset, bytes, write);
    }

    @Override
    public void hostCheck(String operation, long offset, long bytes, boolean write) {
        detector.hostCheck(this, operation, offset, bytes, write);
    }

    @Override
    public void settle() {
        detector.settle(this);
    }

    /** Removes the entries that happened before the party's current time. */
    void forget(RaceDetector.Party party) {
        entries.removeIf(entry -> entry.time <= party.clock.time(entry.party.id));
    }
}
