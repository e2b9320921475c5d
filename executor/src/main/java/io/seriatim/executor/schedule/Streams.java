package io.seriatim.executor.schedule;

import io.seriatim.device.Place;
import io.seriatim.executor.ir.Task;
import io.seriatim.graph.program.Attribute;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * On which stream of its device each task goes, and which events order what stream order does not. A device has a
 * stream for kernels, one for copies to it and one for copies from it; an operation may name another one for itself
 * ({@code execution_stream}), and copies of what it computes then have one of that name, too: what waits for it is no
 * hindrance to other copies. A dependency is <em>direct</em> on one stream or from the host, an <em>event</em> between
 * streams, and <em>synchronising</em> from a device to the host. A stream need not wait for an event if it has waited
 * for a later one of the same stream, or for one that came after a wait for it.
 *
 * @param streams
 *            all
 * @param stream
 *            for each task the number of its stream, −1 on the host
 * @param waits
 *            for each task on a device the tasks whose events its stream waits for before it
 * @param hostWaits
 *            for each task on the host the tasks whose events the host waits for before it
 * @param passed
 *            for each task the latest tasks of each stream whose events tasks of the host before it have waited for:
 *            its thread need not wait again, but must know that it may go on
 * @param recorded
 *            for each task whether an event is recorded after it
 */
@SuppressWarnings("ArrayRecordComponent")
public // Never compared.
record Streams(List<Key> streams, int[] stream, int[][] waits, int[][] hostWaits, int[][] passed, boolean[] recorded) {
    /** What a stream is for. */
    enum Purpose {
        COMPUTE, COPY_IN, COPY_OUT
    }

    /**
     * A stream.
     *
     * @param place
     *            its device
     * @param purpose
     *            what it is for
     * @param name
     *            empty, or what operations call it
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

    /** The streams of tasks. */
    public static int[] assign(List<Task> tasks, Map<Key, Integer> numbers) {
        int[] stream = new int[tasks.size()];
        // Of what has been computed on a stream with a name.
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
        return task.operations().getFirst().op().attribute("execution_stream") instanceof Attribute.Text(String text)
                ? text
                : "";
    }

    /** Tasks of one stream are launched in the order of the program: each waits for the one before it. */
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

    /** The fewest events that order everything. */
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
        // For each task, of each stream the last task that has surely ended when it begins, or that is itself.
        int[][] clocks = new int[n][];
        int[] lastOn = new int[count];
        Arrays.fill(lastOn, -1);
        for (int i = 0; i < n; i++) {
            int[] clock = new int[count];
            Arrays.fill(clock, -1);
            List<Integer> others = new ArrayList<>();
            for (int other : before[i]) {
                if (stream[other] < 0) {
                    // The host has ended it.
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

    /** Whether everything is on the host. */
    public boolean isHostOnly() {
        return streams.isEmpty();
    }

    /** How many events are recorded in a run. */
    public int events() {
        int events = 0;
        for (boolean each : recorded) {
            events += each ? 1 : 0;
        }
        return events;
    }
}
