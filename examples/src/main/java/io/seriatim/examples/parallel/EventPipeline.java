package io.seriatim.examples.parallel;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.seriatim.engine.Engine;
import io.seriatim.engine.OperationFailedException;
import io.seriatim.engine.Var;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Payments pass through four stages: decode, sign, book and report. Decoding and signing of different events are
 * independent. Booking and reporting are in the order of the events, because they change the accounts and the report.
 * A bad event is reported by name and does not stop the others, and only a limited number of events is in flight.
 * {@link #serial} handles one event after the other; {@link #parallel} has a variable for each event in flight, one for
 * the accounts and one for the report.
 *
 * <p>
 * {@code EventPipeline [EVENTS [IN_FLIGHT [WORKERS]]]} handles random events, some of which fail.
 */
public final class EventPipeline {
    private static final int ROUNDS = 1000;

    private EventPipeline() {
    }

    /**
     * Handles events with both forms, and compares the reports.
     *
     * @param args
     *            the number of events, the largest number of them in flight, and the number of workers
     * @throws Exception
     *             if an argument is wrong or the reports differ
     */
    public static void main(String... args) throws Exception {
        Arguments in = new Arguments("EventPipeline [EVENTS [IN_FLIGHT [WORKERS]]]", args);
        int events = in.next("EVENTS", 2000, 1, 1_000_000);
        int inFlight = in.next("IN_FLIGHT", 256, 1, 10_000);
        int workers = in.workers();
        List<String> lines = events(events, 1);
        List<String> report = Comparison.run(events + " events, at most " + inFlight + " in flight", workers,
                () -> serial(lines.iterator()), engine -> parallel(engine, lines.iterator(), inFlight),
                Objects::equals);
        List<String> failed = report.stream().filter(line -> line.contains("failed")).toList();
        System.out.println(failed.size() + " failed" + (failed.isEmpty() ? "" : ", the first: " + failed.getFirst()));
    }

    /** Handles one event after the other. */
    static List<String> serial(Iterator<String> source) {
        Map<Integer, Long> accounts = new TreeMap<>();
        List<String> report = new ArrayList<>();
        for (int i = 1; source.hasNext(); i++) {
            String name = "event " + i;
            String line = source.next();
            try {
                Event event = decode(line);
                event.sign();
                event.book(accounts);
                report.add(name + ": " + event);
            } catch (RefusedException e) {
                report.add(name + " failed: " + e.getMessage());
            }
        }
        return report;
    }

    /**
     * The same stages. Each event in flight uses a slot, which a later event uses again. Later stages have a higher
     * priority, so that slots become free early.
     */
    static List<String> parallel(Engine engine, Iterator<String> source, int inFlight) throws InterruptedException {
        Map<Integer, Long> accounts = new TreeMap<>();
        List<String> report = new ArrayList<>();
        Var booked = engine.newVar("accounts");
        Var reported = engine.newVar("report");
        List<Slot> slots = IntStream.range(0, inFlight).mapToObj(i -> new Slot(engine.newVar("slot " + i))).toList();
        for (int i = 1; source.hasNext(); i++) {
            String name = "event " + i;
            Slot slot = slots.get(i % inFlight);
            engine.waitToWrite(slot.var); // back-pressure: the slot's last event must have been reported
            String line = source.next();
            engine.op("decode " + name).overwrites(slot.var).push(() -> slot.event = decode(line));
            engine.op("sign " + name).mutates(slot.var).priority(1).push(() -> slot.event.sign());
            engine.op("book " + name).mutates(slot.var, booked).priority(2).push(() -> slot.event.book(accounts));
            engine.clearFailure(booked); // a refused event has not changed the accounts: the next event may use them
            engine.op("report " + name).reads(slot.var).mutates(reported).evenIfFailed().priority(3).push(() -> {
                if (engine.failure(slot.var) instanceof OperationFailedException failure) {
                    report.add(name + " failed: " + Objects.requireNonNull(failure.getCause()).getMessage());
                } else {
                    report.add(name + ": " + slot.event);
                }
            });
        }
        engine.waitToRead(reported);
        return report;
    }

    /** A place for one event in flight. The variable guards the event and carries its failure. */
    private static final class Slot {
        final Var var;
        Event event = new Event(0, 0);

        Slot(Var var) {
            this.var = var;
        }
    }

    /** Thrown for an event that cannot be handled. */
    static final class RefusedException extends Exception {
        private static final long serialVersionUID = 1;

        RefusedException(String message) {
            super(message);
        }
    }

    /** A payment to an account, or from it if the amount is negative. */
    private static final class Event {
        private final int account;
        private final long amount;
        private String signature = "";
        private long balance;

        Event(int account, long amount) {
            this.account = account;
            this.amount = amount;
        }

        /** Computes a signature, which takes most of the time. */
        void sign() {
            byte[] digest = (account + ":" + amount).getBytes(UTF_8);
            try {
                MessageDigest sha = MessageDigest.getInstance("SHA-256");
                for (int round = 0; round < ROUNDS; round++) {
                    digest = sha.digest(digest);
                }
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException("every JDK has SHA-256", e);
            }
            signature = HexFormat.of().formatHex(digest, 0, 8);
        }

        /** Changes the balance of the account, or throws and leaves it as it is. */
        void book(Map<Integer, Long> accounts) throws RefusedException {
            long before = accounts.getOrDefault(account, 0L);
            balance = before + amount;
            if (balance < 0) {
                throw new RefusedException("account " + account + " has " + before + ", not " + -amount);
            }
            accounts.put(account, balance);
        }

        @Override
        public String toString() {
            return "account " + account + " has " + balance + ", signed " + signature;
        }
    }

    private static Event decode(String line) throws RefusedException {
        String[] parts = line.split(" ", -1);
        try {
            if (parts.length == 2) {
                return new Event(Integer.parseInt(parts[0]), Long.parseLong(parts[1]));
            }
        } catch (NumberFormatException e) {
            throw new RefusedException("an event is 'ACCOUNT AMOUNT', not '" + line + "': " + e.getMessage());
        }
        throw new RefusedException("an event is 'ACCOUNT AMOUNT', not '" + line + "'");
    }

    /** Returns random events: some lack their amount, and some take more than the account has. */
    static List<String> events(int count, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        return IntStream.range(0, count)
                .mapToObj(i -> random.nextInt(10) + (random.nextInt(50) == 0 ? "" : " " + random.nextInt(-90, 100)))
                .toList();
    }
}
