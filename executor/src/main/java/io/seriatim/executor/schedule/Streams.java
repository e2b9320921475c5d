package io.seriatim.executor.schedule;

import io.seriatim.device.Place;
import io.seriatim.executor.ir.Task;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The assignment of tasks to streams, and the events that order tasks on different streams.
 *
 * <p>
 * A device has one stream for kernels, one for copies to it and one for copies from it. An operation may name an
 * additional stream for itself ({@code execution_stream}). Copies of its results then have a separate stream of that
 * name, so that waiting for the operation does not delay other copies.
 *
 * <p>
 * A dependency within a stream or on a task of the host needs no event. A dependency between streams needs an event,
 * for which the waiting stream waits. For a dependency of the host on a device, the host waits for the event. A wait is
 * omitted if an earlier wait implies it: one for a later event of the same stream, or one for an event that was itself
 * recorded after a wait for this event.
 *
 * @param streams
 *            all streams, by index
 * @param stream
 *            for each task, the index of its stream; −1 on the host
 * @param waits
 *            for each task on a device, the tasks whose events its stream waits for before it
 * @param hostWaits
 *            for each task on the host, the tasks whose events the host waits for before it
 * @param passed
 *            for each task, the latest task of each stream for whose event a preceding task of the host has waited. The
 *            thread of the task does not wait for these events again; it reads their state, so that the effects of
 *            these tasks are visible to it
 * @param recorded
 *            for each task, whether an event is recorded after it
 */
@SuppressWarnings("ArrayRecordComponent")
public // Never compared.
record Streams(List<Key> streams, int[] stream, int[][] waits, int[][] hostWaits, int[][] passed, boolean[] recorded) {
    /** The purpose of a stream. */
    enum Purpose {
        COMPUTE, COPY_IN, COPY_OUT
    }

    /**
     * Identifies a stream.
     *
     * @param place
     *            the device
     * @param purpose
     *            the purpose
     * @param name
     *            the name that operations give the stream; empty for the default stream
     */
    public record Key(Place place, Purpose purpose, String name) {
        @Override
        public String toString() {
            return place + " " + switch (purpose) {
                case COMPUTE -> "compute";
                case COPY_IN -> "copy in";
                case COPY_OUT -> "copy out";
            } + (name.isEmpty() ? "" : " " + name);
        }
    }

    private static final int[] NONE = {};

    /** Returns the stream of each task, and adds all streams to {@code numbers}. */
    public static int[] assign(List<Task> tasks, Map<Key, Integer> numbers) {
        int[] stream = new int[tasks.size()];
        // The name of the stream on which each value was computed.
        Map<Integer, String> names = new HashMap<>();
        for (int i = 0; i < stream.length; i++) {
            Task task = tasks.get(i);
            String name = name(task, names);
            for (int value : task.writes()) {
                names.put(value, name);
            }
            stream[i] = task.place().isHost()
                    ? -1
                    : numbers.computeIfAbsent(new Key(task.place(), purpose(task), name), _ -> numbers.size());
        }
        return stream;
    }

    private static Purpose purpose(Task task) {
        return task instanceof Task.Transfer transfer
                ? transfer.target().isHost() ? Purpose.COPY_OUT : Purpose.COPY_IN
                : Purpose.COMPUTE;
    }

    private static String name(Task task, Map<Integer, String> names) {
        if (task instanceof Task.Transfer transfer) {
            return names.getOrDefault(transfer.from(), "");
        }
        return task.operations().getFirst().placeRequest().stream();
    }

    /**
     * Adds the order of streams to dependencies: each task waits for the previous task of its stream, since tasks of a
     * stream are launched in program order.
     */
    public static int[][] chained(int[][] before, int[] stream) {
        int[][] chained = before.clone();
        Map<Integer, Integer> last = new LinkedHashMap<>();
        for (int i = 0; i < stream.length; i++) {
            if (stream[i] >= 0) {
                Integer previous = last.put(stream[i], i);
                if (previous != null && Arrays.binarySearch(chained[i], previous) < 0) {
                    int[] more = Arrays.copyOf(chained[i], chained[i].length + 1);
                    more[more.length - 1] = previous;
                    Arrays.sort(more);
                    chained[i] = more;
                }
            }
        }
        return chained;
    }

    /** Derives the events and waits that enforce all dependencies, without redundant waits. */
    public static Streams of(Map<Key, Integer> numbers, int[] stream, int[][] before) {
        int count = numbers.size();
        int n = stream.length;
        if (count == 0) {
            int[][] nothing = new int[n][];
            Arrays.fill(nothing, NONE);
            return new Streams(List.of(), stream, nothing, nothing, nothing, new boolean[n]);
        }
        boolean[] recorded = new boolean[n];
        int[][] waits = new int[n][];
        int[][] hostWaits = new int[n][];
        int[][] passed = new int[n][];
        // A vector clock for each task: for each stream, the last task that is known to have ended when the task
        // begins, or the task itself.
        int[][] clocks = new int[n][];
        int[] lastOn = new int[count];
        Arrays.fill(lastOn, -1);
        for (int i = 0; i < n; i++) {
            int[] clock = new int[count];
            Arrays.fill(clock, -1);
            List<Integer> others = new ArrayList<>();
            for (int other : before[i]) {
                if (stream[other] < 0) {
                    // A task of the host has ended before its dependants are launched.
                    join(clock, clocks[other]);
                } else if (stream[i] < 0 || stream[other] != stream[i]) {
                    others.add(other);
                }
            }
            passed[i] = Arrays.stream(clock).filter(task -> task >= 0).toArray();
            if (stream[i] >= 0 && lastOn[stream[i]] >= 0) {
                join(clock, clocks[lastOn[stream[i]]]);
            }
            others.sort(Comparator.reverseOrder());
            List<Integer> needed = new ArrayList<>();
            for (int other : others) {
                if (clock[stream[other]] < other) {
                    needed.add(other);
                    recorded[other] = true;
                    join(clock, clocks[other]);
                }
            }
            if (stream[i] >= 0) {
                clock[stream[i]] = i;
                lastOn[stream[i]] = i;
            }
            clocks[i] = clock;
            int[] array = needed.isEmpty() ? NONE : needed.stream().mapToInt(Integer::intValue).toArray();
            waits[i] = stream[i] < 0 ? NONE : array;
            hostWaits[i] = stream[i] < 0 ? array : NONE;
        }
        return new Streams(List.copyOf(numbers.keySet()), stream, waits, hostWaits, passed, recorded);
    }

    private static void join(int[] clock, int[] other) {
        for (int i = 0; i < clock.length; i++) {
            clock[i] = Math.max(clock[i], other[i]);
        }
    }

    /** Returns whether all tasks run on the host. */
    public boolean isHostOnly() {
        return streams.isEmpty();
    }

    /** Returns the number of events that a run records. */
    public int events() {
        int events = 0;
        for (boolean each : recorded) {
            events += each ? 1 : 0;
        }
        return events;
    }
}
