package io.seriatim.benchmarks.models;

import io.seriatim.cli.text.Table;
import io.seriatim.graph.ProgramSummary;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Our operations beside those of the peers that compute the same nodes of a file. Nodes are numbered in the file's
 * order, which is that of computation. Each system fuses them in its own way, so the nodes after one of our operations
 * up to the next are a part, and what a peer names after one of these nodes belongs to it.
 */
final class Explanation {
    private static final int MOST = 25;
    private static final String NONE = "–";

    /**
     * The limits of the machine.
     *
     * @param flops
     *            floating-point operations a second
     * @param bytes
     *            bytes of memory that a second reads and writes
     */
    record Limits(double flops, double bytes) {
    }

    /** What is between the ends of two of our operations. */
    private static final class Part {
        private final Set<String> types = new LinkedHashSet<>();
        private final Map<String, Double> peers = new HashMap<>();
        private final Set<String> computed = new HashSet<>();
        private final Set<String> read = new LinkedHashSet<>();
        private double micros;
        private double flops;
        private double bytes;

        private OptionalDouble fastest() {
            return peers.values().stream().mapToDouble(Double::doubleValue).min();
        }

        /** How much longer we take than the faster peer. */
        private double loss() {
            return micros - fastest().orElse(0);
        }
    }

    private final List<String> peers;
    private final Limits limits;
    private final TreeMap<Integer, Part> parts = new TreeMap<>();

    /**
     * Creates an explanation without peers.
     *
     * @param own
     *            our operations, in their order
     * @param peers
     *            the names of the peers
     */
    Explanation(List<Operation> own, List<String> peers, Limits limits) {
        this.peers = List.copyOf(peers);
        this.limits = limits;
        // What computes no variable of the file prepares what comes next.
        int next = own.stream().mapToInt(Operation::node).max().orElse(0);
        for (Operation each : own.reversed()) {
            next = each.node() < 0 ? next : each.node();
            Part part = parts.computeIfAbsent(Math.max(0, next), _ -> new Part());
            part.types.add(each.type());
            part.micros += each.micros();
        }
    }

    /** Adds the operations of a peer, in their order. */
    void add(String peer, List<Operation> operations) {
        parts.values().forEach(part -> part.peers.put(peer, 0.0));
        int next = Integer.MAX_VALUE;
        for (Operation each : operations.reversed()) {
            next = each.node() < 0 ? next : each.node();
            part(next).peers.merge(peer, each.micros(), Double::sum);
        }
    }

    /**
     * Adds the arithmetic of a program and what it reads and writes.
     *
     * @param nodes
     *            the number of the node that computes a variable
     * @param batch
     *            what stands for unknown dimensions
     */
    void add(Program program, Map<String, Integer> nodes, long batch) {
        Block block = program.global();
        int next = Integer.MAX_VALUE;
        for (OpDesc op : block.ops().reversed()) {
            next = op.outputNames().stream().filter(nodes::containsKey).mapToInt(nodes::get).max().orElse(next);
            Part part = part(next);
            part.flops += ProgramSummary.flops(block, op, batch);
            part.read.addAll(op.inputNames());
            part.computed.addAll(op.outputNames());
        }
        parts.values().forEach(part -> part.read.removeAll(part.computed));
        Set<String> readElsewhere = new HashSet<>();
        parts.values().forEach(part -> readElsewhere.addAll(part.read));
        for (Part part : parts.values()) {
            part.read.forEach(name -> part.bytes += bytes(block.find(name), batch));
            part.computed.stream().filter(readElsewhere::contains)
                    .forEach(name -> part.bytes += bytes(block.find(name), batch));
        }
    }

    private static double bytes(@Nullable VarDesc variable, long batch) {
        return variable == null ? 0 : ProgramSummary.bytes(variable, batch);
    }

    private Part part(int node) {
        Map.Entry<Integer, Part> found = parts.ceilingEntry(node);
        return (found == null ? parts.lastEntry() : found).getValue();
    }

    /** Returns what takes longest beside the faster peer, with its shares of the limits. */
    Table table() {
        List<String> header = new ArrayList<>(List.of(SeriatimModel.NAME, "µs"));
        peers.forEach(peer -> header.add(peer + ", µs"));
        header.addAll(List.of("÷", "GFLOP/s", "of arithmetic", "GB/s", "of memory"));
        Table table = new Table(header);
        parts.values().stream().sorted(Comparator.comparingDouble(Part::loss).reversed()).limit(MOST)
                .forEach(part -> table.row(row(part)));
        return table;
    }

    private List<String> row(Part part) {
        List<String> row = new ArrayList<>(List.of(String.join(", ", part.types), format("%.1f", part.micros)));
        peers.forEach(peer -> row.add(format("%.1f", part.peers.getOrDefault(peer, 0.0))));
        OptionalDouble fastest = part.fastest();
        row.add(fastest.isEmpty() || fastest.getAsDouble() == 0
                ? NONE
                : format("%.2f", part.micros / fastest.getAsDouble()));
        double seconds = part.micros / 1e6;
        row.addAll(List.of(format("%.1f", part.flops / seconds / 1e9),
                format("%.0f %%", 100 * part.flops / seconds / limits.flops()),
                format("%.1f", part.bytes / seconds / 1e9),
                format("%.0f %%", 100 * part.bytes / seconds / limits.bytes())));
        return row;
    }

    /** Returns the time of all operations. */
    Table sums() {
        List<String> header = new ArrayList<>(List.of("all operations, µs", SeriatimModel.NAME));
        header.addAll(peers);
        Table table = new Table(header);
        List<String> row = new ArrayList<>(List.of("", format("%.1f",
                parts.values().stream().mapToDouble(part -> part.micros).sum())));
        peers.forEach(peer -> row.add(format("%.1f",
                parts.values().stream().mapToDouble(part -> part.peers.getOrDefault(peer, 0.0)).sum())));
        table.row(row);
        return table;
    }

    @SuppressWarnings("AnnotateFormatMethod") // The callers' formats are constants for one number.
    private static String format(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }
}
