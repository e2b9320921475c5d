package io.seriatim.examples.porting;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.seriatim.engine.Engine;
import io.seriatim.engine.Guarded;
import io.seriatim.engine.OperationFailedException;
import io.seriatim.engine.Var;
import io.seriatim.examples.Document;
import io.seriatim.examples.porting.Sales.Customers;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The code of docs/porting.md: this test or the classes of this package compile and run the page's lines. */
class PortingTest {
    @TempDir
    private Path folder;

    /** Several days, each with new customers. */
    private List<Path> days() throws IOException {
        Path data = Files.createDirectories(folder.resolve("data"));
        List<Path> days = new ArrayList<>();
        for (int day = 1; day <= 9; day++) {
            StringBuilder lines = new StringBuilder();
            for (int sale = 0; sale < 20 * day; sale++) {
                lines.append("customer ").append(sale * 7 % (10 + day)).append(';').append(100 + sale).append('\n');
            }
            days.add(Files.writeString(data.resolve("day" + day + ".csv"), lines));
        }
        return days;
    }

    private static Map<String, String> contents(Path out) throws IOException {
        Map<String, String> contents = new TreeMap<>();
        try (Stream<Path> files = Files.list(out)) {
            for (Path file : files.toList()) {
                contents.put(String.valueOf(file.getFileName()), Files.readString(file));
            }
        }
        return contents;
    }

    @Test
    void theEnginesAgreeWithTheSerialProgram() throws Exception {
        List<Path> days = days();
        Path expected = Files.createDirectories(folder.resolve("expected"));
        SerialSales.run(days, expected);

        List<Engine.Builder> engines = new ArrayList<>();
        engines.add(Engine.builder().naive()); // 1. is the program still the same?
        engines.add(Engine.builder().naive().checked(true)); // 2. does each step touch only what it has declared?
        // 3. also in other orders?
        IntStream.range(0, 20).forEach(seed -> engines.add(Engine.builder().shuffled(seed).checked(true)));
        engines.add(Engine.builder()); // 4. and in parallel?
        for (int i = 0; i < engines.size(); i++) {
            Path out = Files.createDirectories(folder.resolve("out" + i));
            try (Engine engine = engines.get(i).build()) {
                ParallelSales.run(engine, days, out);
            }
            assertEquals(contents(expected), contents(out), "engine " + i);
        }
    }

    /**
     * The pitfall on the page: the checked engine accepts the call of get, but the shuffled engine reveals the wrong
     * result.
     */
    @Test
    void aMutationInAGetterIsFoundByShuffling() throws InterruptedException {
        List<Integer> wrong = new ArrayList<>();
        for (int seed = 0; seed < 10; seed++) {
            if (!numbers(seed, false).equals(Map.of("Ann", 1, "Bob", 2))) {
                wrong.add(seed);
            }
            assertEquals(Map.of("Ann", 1, "Bob", 2), numbers(seed, true), "seed " + seed);
        }
        assertFalse(wrong.isEmpty());
    }

    private static Map<String, Integer> numbers(int seed, boolean right) throws InterruptedException {
        Map<String, Integer> numbers = new ConcurrentHashMap<>();
        try (Engine engine = Engine.builder().shuffled(seed).checked(true).build()) {
            Guarded<Customers> customers = Guarded.of(engine, "customers", new Customers());
            for (String name : List.of("Ann", "Bob")) {
                if (right) {
                    engine.op("number " + name).mutates(customers.var())
                            .push(() -> numbers.put(name, customers.get().number(name)));
                } else {
                    engine.op("number " + name).reads(customers.var())
                            .push(() -> numbers.put(name, customers.get().number(name)));
                }
            }
            engine.waitForAll();
        }
        return numbers;
    }

    private static String read(Path file) throws IOException {
        return Files.readString(file);
    }

    @Test
    void aFailedItemLeavesTheSharedResource() throws Exception {
        Path first = Files.writeString(folder.resolve("first.txt"), "one");
        Path damaged = Files.write(folder.resolve("damaged.txt"), new byte[]{(byte) 0xff});
        Path last = Files.writeString(folder.resolve("last.txt"), "two");
        List<Engine.Builder> engines =
                new ArrayList<>(List.of(Engine.builder().naive().checked(true), Engine.builder()));
        IntStream.range(0, 5).forEach(seed -> engines.add(Engine.builder().shuffled(seed).checked(true)));
        for (Engine.Builder each : engines) {
            try (Engine engine = each.build()) {
                Guarded<List<String>> log = Guarded.of(engine, "log", new ArrayList<>());
                for (Path item : List.of(first, damaged, last)) {
                    Guarded<String> text = Guarded.of(engine, "text of " + item, "");
                    engine.op("read " + item).overwrites(text.var()).push(() -> text.set(read(item)));
                    engine.op("log " + item).reads(text.var()).mutates(log.var()).evenIfFailed().push(() -> {
                        Throwable failure = engine.failure(text.var()); // its cause is what read(item) has thrown
                        log.get().add(failure == null
                                ? text.get()
                                : item.getFileName() + ": " + failure.getCause());
                    });
                }
                engine.waitToRead(log.var());
                assertEquals(List.of("one", "damaged.txt: java.nio.charset.MalformedInputException: Input length = 1",
                        "two"), log.get());
                assertThrows(OperationFailedException.class, engine::waitForAll);
                engine.waitForAll();
            }
        }
    }

    @Test
    void filesHaveVariablesByPath() throws Exception {
        Path file = folder.resolve("a.txt");
        Path other = folder.resolve("b.txt");
        try (Engine engine = Engine.builder().shuffled(1).build()) {
            Map<Path, Var> files = new HashMap<>();
            Var a = files.computeIfAbsent(file, path -> engine.newVar(path.toString()));
            Var b = files.computeIfAbsent(other, path -> engine.newVar(path.toString()));
            engine.op("write").overwrites(a).push(() -> Files.writeString(file, "one\n"));
            engine.op("copy").reads(a).overwrites(b).push(() -> Files.writeString(other, read(file)));
            engine.op("append").mutates(a).push(() -> Files.writeString(file, read(file) + "two\n"));
            engine.waitForAll();
        }
        assertEquals("one\ntwo\n", Files.readString(file));
        assertEquals("one\n", Files.readString(other));
    }

    @Test
    void cachesHaveVariablesByKeyOrNone() throws Exception {
        for (int seed = 0; seed < 5; seed++) {
            List<String> used = new ArrayList<>();
            LongAdder loads = new LongAdder();
            try (Engine engine = Engine.builder().shuffled(seed).build()) {
                Var result = engine.newVar("result");
                Map<String, Guarded<String>> cache = new HashMap<>();
                for (String key : List.of("a", "b", "a")) {
                    Guarded<String> entry = cache.computeIfAbsent(key, k -> {
                        Guarded<String> loaded = Guarded.of(engine, k, "");
                        engine.op("load " + k).overwrites(loaded.var()).push(() -> loaded.set(load(k, loads)));
                        return loaded;
                    });
                    engine.op("use " + key).reads(entry.var()).mutates(result).push(() -> used.add(entry.get()));
                }
                engine.waitForAll();
            }
            assertEquals(List.of("value of a", "value of b", "value of a"), used);
            assertEquals(2, loads.sum());
        }
    }

    private static String load(String key, LongAdder loads) {
        loads.increment();
        return "value of " + key;
    }

    @Test
    void countersMayBeAddedToInAnyOrder() throws Exception {
        List<Long> seen = new ArrayList<>();
        for (int seed = 0; seed < 5; seed++) {
            try (Engine engine = Engine.builder().shuffled(seed).build()) {
                LongAdder bytes = new LongAdder();
                Var count = engine.newVar("bytes");
                for (int size : List.of(10, 20, 30)) {
                    engine.op("add").reads(count).push(() -> bytes.add(size)); // adding in any order, at the same time
                }
                // after all of them, before the next
                engine.op("show").mutates(count).push(() -> seen.add(bytes.sum()));
                engine.op("add").reads(count).push(() -> bytes.add(40));
                engine.waitForAll();
            }
        }
        assertEquals(List.of(60L, 60L, 60L, 60L, 60L), seen);
    }

    @Test
    void logsAndSocketsAreWrittenInOrder() throws Exception {
        for (int seed = 0; seed < 5; seed++) {
            ByteArrayOutputStream sent = new ByteArrayOutputStream();
            OutputStream socket = sent;
            try (Engine engine = Engine.builder().shuffled(seed).build()) {
                Var connection = engine.newVar("connection");
                for (String request : List.of("a", "b", "c")) {
                    Guarded<String> reply = Guarded.of(engine, "reply to " + request, "");
                    // at the same time
                    engine.op("answer " + request).overwrites(reply.var()).push(() -> reply.set(request.repeat(3)));
                    engine.op("send " + request).reads(reply.var()).mutates(connection)
                            .push(() -> socket.write(reply.get().getBytes(UTF_8)));
                }
                engine.waitForAll();
            }
            assertEquals("aaabbbccc", sent.toString(UTF_8));
        }
    }

    @Test
    // The stage returned by whenComplete contains no information beyond the operation's completion.
    @SuppressWarnings("FutureReturnValueIgnored")
    void whatIsStartedElsewhereIsCompletedElsewhere() throws Exception {
        try (Engine engine = Engine.builder().pooled(1).build()) {
            Guarded<String> page = Guarded.of(engine, "page", "");
            engine.op("fetch").overwrites(page.var()).pushAsync(done -> fetch().whenComplete((text, failure) -> {
                if (failure == null) {
                    page.set(text);
                    done.complete();
                } else {
                    done.fail(failure);
                }
            }));
            engine.waitToRead(page.var());
            assertEquals("<html>", page.get());
        }
    }

    private static CompletableFuture<String> fetch() {
        return CompletableFuture.supplyAsync(() -> "<html>");
    }

    @Test
    void resultsAreWaitedFor() throws Exception {
        try (Engine engine = Engine.builder().shuffled(1).build()) {
            Guarded<Long> total = Guarded.of(engine, "total", 0L);
            engine.op("add").mutates(total.var()).push(() -> total.set(total.get() + 1));
            assertEquals(0, total.get()); // not yet

            engine.waitToRead(total.var());
            assertEquals(1, total.get());
            CompletableFuture<Long> sum = engine.op("get").reads(total.var()).call(() -> total.get());
            assertEquals(1, sum.get());
        }
    }

    @Test
    void randomNumbersBelongToTheirItem() throws Exception {
        List<List<Integer>> results = new ArrayList<>();
        for (int seed = 0; seed < 5; seed++) {
            Map<Integer, Integer> drawn = new ConcurrentHashMap<>();
            try (Engine engine = Engine.builder().shuffled(seed).build()) {
                SplittableRandom random = new SplittableRandom(42);
                for (int item = 0; item < 4; item++) {
                    int number = item;
                    SplittableRandom own = random.split(); // here, in the order of the program
                    engine.op("draw " + number).push(() -> drawn.put(number, own.nextInt(1000)));
                }
                engine.waitForAll();
            }
            results.add(new ArrayList<>(new TreeMap<>(drawn).values()));
        }
        assertEquals(1, results.stream().distinct().count(), results::toString);
    }

    @Test
    void thePageSaysTheSame() throws IOException {
        assertEquals(List.of(),
                Document.of("porting.md").missingIn(Document.main("porting/SerialSales.java"),
                        Document.main("porting/ParallelSales.java"),
                        Document.main("porting/Sales.java"), Document.test("porting/PortingTest.java")));
    }
}
