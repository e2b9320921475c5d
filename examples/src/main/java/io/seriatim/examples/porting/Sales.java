package io.seriatim.examples.porting;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The steps of both programs, which porting does not change. */
final class Sales {
    private Sales() {
    }

    /**
     * A sale.
     *
     * @param customer
     *            the name of the customer
     * @param cents
     *            the price in cents
     */
    record Sale(String customer, long cents) {
    }

    /** Numbers customers from 1, in the order of their first appearance. */
    static final class Customers {
        private final Map<String, Integer> numbers = new HashMap<>();

        int number(String name) {
            return numbers.computeIfAbsent(name, _ -> numbers.size() + 1);
        }
    }

    /** Parses lines {@code customer;cents}. */
    static List<Sale> read(Path file) throws IOException {
        return Files.readAllLines(file).stream().map(line -> {
            int semicolon = line.indexOf(';');
            return new Sale(line.substring(0, semicolon), Long.parseLong(line.substring(semicolon + 1)));
        }).toList();
    }

    /** Returns the sum of each customer, by number. */
    static Map<Integer, Long> sums(List<Sale> sales, Customers customers) {
        Map<Integer, Long> sums = new TreeMap<>();
        for (Sale sale : sales) {
            sums.merge(customers.number(sale.customer()), sale.cents(), Long::sum);
        }
        return sums;
    }

    static long total(Map<Integer, Long> sums) {
        return sums.values().stream().mapToLong(Long::longValue).sum();
    }

    static void write(Path file, Map<Integer, Long> sums) throws IOException {
        Files.write(file, sums.entrySet().stream().map(sum -> sum.getKey() + ";" + sum.getValue()).toList());
    }
}
