package io.seriatim.benchmarks.engine;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A peer that is an external program: {@code peer [ops] [spin] [reps]} runs all workloads and prints one line for each,
 * {@code NAME WORKLOAD ops=N serial=F ns/op min=N median=N ns/op ok|WRONG}. The program is started once per round.
 */
final class CommandPeer implements Contender {
    private static final Pattern LINE = Pattern.compile(
            "\\S+\\s+(?<workload>\\w+)\\s.*\\bmin=(?<min>[\\d.]+)\\s+median=(?<median>[\\d.]+) ns/op "
                    + "(?<check>ok|WRONG)\\s*");
    private static final Duration LIMIT = Duration.ofMinutes(5);

    private final String name;
    private final List<String> command;
    private final int reps;

    /** The laps of the last start that have not been requested yet. */
    private Map<String, Lap> laps = new HashMap<>();

    /**
     * Creates a peer.
     *
     * @param name
     *            the name in tables
     * @param command
     *            the program and its first arguments, separated by blanks
     * @param reps
     *            the number of repetitions of each workload per start
     */
    CommandPeer(String name, String command, int reps) {
        this.name = name;
        this.command = List.of(command.trim().split("\\s+", -1));
        this.reps = reps;
    }

    @Override
    public String name() {
        return name;
    }

    /** The number of workers of the program, which is two in the peers with this protocol. */
    @Override
    public int workers() {
        return 2;
    }

    @Override
    public boolean takesPushers() {
        return false;
    }

    @Override
    public boolean needsWarmUp() {
        return false;
    }

    @Override
    public Lap run(Work work) throws PeerUnavailableException, InterruptedException {
        if (!laps.containsKey(work.name())) {
            laps = parse(start(work));
        }
        Lap lap = laps.remove(work.name());
        if (lap == null) {
            throw new PeerUnavailableException(
                    name + " printed no figures of " + work.name() + ": see what it prints when run by hand");
        }
        return lap;
    }

    static Map<String, Lap> parse(List<String> output) {
        Map<String, Lap> laps = new HashMap<>();
        for (String line : output) {
            Matcher m = LINE.matcher(line);
            if (m.matches()) {
                ResultCheck check = m.group("check").equals("ok") ? ResultCheck.SAME : ResultCheck.WRONG;
                laps.put(m.group("workload"),
                        new Lap(Double.parseDouble(m.group("min")), Double.parseDouble(m.group("median")), check));
            }
        }
        return laps;
    }

    /** Uses a file, because a program would block on an unread pipe. */
    private List<String> start(Work work) throws PeerUnavailableException, InterruptedException {
        List<String> line = new ArrayList<>(command);
        line.addAll(List.of(Integer.toString(work.program().size()), Integer.toString(work.spin()),
                Integer.toString(reps)));
        try {
            Path file = Files.createTempFile("seriatim-peer-", ".out");
            try {
                Process process = new ProcessBuilder(line).redirectErrorStream(true).redirectOutput(file.toFile())
                        .start();
                await(process);
                List<String> output = Files.readAllLines(file, Charset.defaultCharset());
                if (process.exitValue() != 0) {
                    throw new PeerUnavailableException(
                            name + " ended with exit code " + process.exitValue() + last(output));
                }
                return output;
            } finally {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw new PeerUnavailableException(name + " cannot be started: " + e.getMessage(), e);
        }
    }

    private void await(Process process) throws PeerUnavailableException, InterruptedException {
        try {
            if (!process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                throw new PeerUnavailableException(
                        name + " did not end within " + LIMIT.toMinutes() + " minutes: use fewer --ops");
            }
        } finally {
            process.destroyForcibly();
        }
    }

    private static String last(List<String> output) {
        return output.isEmpty() ? "" : ": " + output.getLast();
    }
}
