package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The guarantees of every reader, for one thread. */
enum ReaderContract {
    ORDER {
        @Override
        void check(Maker maker) throws Exception {
            try (UnderTest reader = maker.make(new NumberSource(5), 2)) {
                assertEquals(numbers(0, 5), rest(reader));
                assertEquals(numbers(100, 5), rest(reader), "the second passage");
                assertEquals(numbers(200, 5), rest(reader), "the third passage");
            }
        }
    },
    NO_DATA {
        @Override
        void check(Maker maker) throws Exception {
            NumberSource source = new NumberSource(0);
            try (UnderTest reader = maker.make(source, 3)) {
                assertEquals(List.of(), rest(reader));
                assertEquals(List.of(), rest(reader));
            }
        }
    },
    DEPTH {
        @Override
        void check(Maker maker) throws Exception {
            NumberSource source = new NumberSource(50);
            try (UnderTest reader = maker.make(source, 4)) {
                reader.settle();
                assertEquals(0, source.asked.get(), "before the first read");
                for (int i = 1; i < 10; i++) {
                    reader.next();
                    reader.settle();
                    assertEquals(i + 4, source.asked.get(), "asked when " + i + " were read");
                }
            }
        }
    },
    RESET_DISCARDS {
        @Override
        void check(Maker maker) throws Exception {
            NumberSource source = new NumberSource(6);
            try (UnderTest reader = maker.make(source, 3)) {
                reader.next();
                reader.settle();
                reader.reset();
                reader.settle();
                assertEquals(100, reader.next());
                assertEquals(101, reader.next());
                reader.reset();
                reader.reset();
                assertEquals(numbers(200, 6), rest(reader));
                assertEquals(2, source.resets.get(), "two resets in a row are one");
            }
        }
    },
    RESET_AT_THE_END {
        @Override
        void check(Maker maker) throws Exception {
            try (UnderTest reader = maker.make(new NumberSource(2), 3)) {
                assertEquals(0, reader.next());
                assertEquals(1, reader.next());
                // By now, the reader has read ahead to the end of the data.
                reader.settle();
                reader.reset();
                assertEquals(numbers(100, 2), rest(reader));
            }
        }
    },
    FAILURE_IN_ITS_PLACE {
        @Override
        void check(Maker maker) throws Exception {
            IOException planted = new IOException("planted");
            try (UnderTest reader = maker.make(new NumberSource(5).failing(2, planted), 3)) {
                for (int passage = 0; passage < 200; passage += 100) {
                    assertEquals(passage, reader.next());
                    assertEquals(passage + 1, reader.next());
                    assertSame(planted, assertThrows(IOException.class, reader::next));
                    assertEquals(List.of(passage + 3, passage + 4), rest(reader));
                }
            }
        }
    },
    CLOSES_ITS_SOURCE_ONCE {
        @Override
        void check(Maker maker) throws Exception {
            NumberSource source = new NumberSource(5);
            UnderTest reader = maker.make(source, 2);
            reader.next();
            reader.close();
            reader.close();
            assertEquals(1, source.closings.get());
        }
    };

    /** A reader of batches of one number. */
    interface UnderTest extends AutoCloseable {
        /** Returns the next number; null at the end of the data. */
        @Nullable
        Integer next() throws Exception;

        void reset();

        /** Waits until no batch is being read ahead. */
        void settle() throws Exception;

        @Override
        void close();
    }

    /** Creates readers. */
    interface Maker {
        UnderTest make(NumberSource source, int ahead);
    }

    abstract void check(Maker maker) throws Exception;

    private static List<Integer> numbers(int first, int count) {
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            numbers.add(first + i);
        }
        return numbers;
    }

    private static List<Integer> rest(UnderTest reader) throws Exception {
        List<Integer> numbers = new ArrayList<>();
        for (Integer next = reader.next(); next != null; next = reader.next()) {
            numbers.add(next);
            // The loop would not terminate if the end of the data were never reported.
            assertTrue(numbers.size() < 1000, "the data have an end");
        }
        return numbers;
    }
}
