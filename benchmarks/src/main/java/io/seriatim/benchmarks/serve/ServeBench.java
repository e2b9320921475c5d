package io.seriatim.benchmarks.serve;

import io.seriatim.cli.text.Table;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * Measures all services in alternating time slices.
 *
 * @param rounds
 *            the number of measured slices per service and number of clients
 * @param nanos
 *            the length of a slice
 * @param clients
 *            the numbers of clients
 */
record ServeBench(int rounds, long nanos, List<Integer> clients) {
    static final String OURS = "seriatim";
    private static final double GOAL = 1.3;
    private static final float TOLERANCE = 1e-4f;

    ServeBench {
        clients = List.copyOf(clients);
    }

    static Table table(List<String> peers) {
        List<String> header = new ArrayList<>(List.of("network", "clients", OURS + ", 1/s"));
        peers.forEach(peer -> header.addAll(List.of(peer + ", 1/s", "÷", "goal")));
        for (String quantile : List.of(", p50 µs", ", p99 µs")) {
            header.add(OURS + quantile);
            peers.forEach(peer -> header.add(peer + quantile));
        }
        return new Table(header);
    }

    /**
     * Measures, and adds a row for each number of clients.
     *
     * @param services
     *            the services by name, Seriatim's first; the cells of a missing peer stay empty
     */
    void run(String network, int size, Map<String, ServePeer.Session> services, List<String> peers, Table table)
            throws InterruptedException {
        requireSame(network, size, services);
        for (ServePeer.Session service : services.values()) {
            new Clients(clients.stream().mapToInt(Integer::intValue).max().orElse(1), size).call(service, nanos);
        }
        for (int count : clients) {
            Map<String, List<Clients.Slice>> slices = new LinkedHashMap<>();
            for (int round = 0; round < rounds; round++) {
                for (Map.Entry<String, ServePeer.Session> service : services.entrySet()) {
                    slices.computeIfAbsent(service.getKey(), _ -> new ArrayList<>())
                            .add(new Clients(count, size).call(service.getValue(), nanos));
                }
            }
            table.row(row(network, count, slices, peers));
        }
    }

    /** A service with different results is not measured. */
    private static void requireSame(String network, int size, Map<String, ServePeer.Session> services) {
        float[] x = Clients.request(0, size);
        float[] ours = Objects.requireNonNull(services.get(OURS)).call(x);
        float largest = 1;
        for (float value : ours) {
            largest = Math.max(largest, Math.abs(value));
        }
        for (Map.Entry<String, ServePeer.Session> service : services.entrySet()) {
            float[] theirs = service.getValue().call(x);
            boolean same = ours.length == theirs.length;
            for (int i = 0; same && i < ours.length; i++) {
                same = Math.abs(ours[i] - theirs[i]) <= TOLERANCE * largest;
            }
            if (!same) {
                throw new IllegalStateException(
                        "The results of " + network + " must agree to " + TOLERANCE + " of the largest, but "
                                + service.getKey() + " gives " + Arrays.toString(theirs) + " where ours gives "
                                + Arrays.toString(ours));
            }
        }
    }

    static List<String> row(String network, int count, Map<String, List<Clients.Slice>> slices, List<String> peers) {
        double ours = perSecond(slices, OURS);
        List<String> row = new ArrayList<>(List.of(network, String.valueOf(count), whole(ours)));
        for (String peer : peers) {
            double theirs = perSecond(slices, peer);
            row.addAll(List.of(whole(theirs), decimals(2, ours / theirs), decimals(1, GOAL)));
        }
        for (double part : new double[]{0.5, 0.99}) {
            row.add(micros(slices, OURS, part));
            peers.forEach(peer -> row.add(micros(slices, peer, part)));
        }
        return row;
    }

    private static double perSecond(Map<String, List<Clients.Slice>> slices, String name) {
        double[] sorted = slices.getOrDefault(name, List.of()).stream().mapToDouble(Clients.Slice::perSecond).sorted()
                .toArray();
        int n = sorted.length;
        return n == 0 ? Double.NaN : (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    }

    private static String micros(Map<String, List<Clients.Slice>> slices, String name, double part) {
        List<Answers> all = slices.getOrDefault(name, List.of()).stream().flatMap(slice -> slice.answers().stream())
                .toList();
        return decimals(1, Answers.quantile(part, Answers.sorted(all)) / 1e3);
    }

    private static String whole(double value) {
        return Double.isNaN(value) ? "–" : String.format(Locale.ROOT, "%,.0f", value);
    }

    private static String decimals(int count, double value) {
        return Double.isNaN(value) ? "–" : String.format(Locale.ROOT, "%." + count + "f", value);
    }
}
