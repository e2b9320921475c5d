package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.Tensor;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The checks of {@link ReaderContract} must detect injected bugs. */
class PlantedReaderBugTest {
    /** A bug in a reader. */
    enum Bug {
        NONE, KEEPS_WHAT_IT_READ_AHEAD, DOES_NOT_RESET_AT_THE_END, THROWS_EARLY, READS_TOO_FAR, //
        DOES_NOT_READ_AHEAD, LAST_FIRST, SWALLOWS_FAILURES, CLOSES_TWICE, BEGINS_AT_ONCE
    }

    /** A reader without threads. */
    private static final class Mutant implements ReaderContract.UnderTest {
        private final NumberSource source;
        private final Bug bug;
        private final int ahead;
        private final Deque<Object> read = new ArrayDeque<>();
        private boolean ended;
        private boolean again;
        private boolean closed;

        Mutant(NumberSource source, int ahead, Bug bug) {
            this.source = source;
            this.bug = bug;
            this.ahead = bug == Bug.READS_TOO_FAR ? ahead + 1 : bug == Bug.DOES_NOT_READ_AHEAD ? 0 : ahead;
            if (bug == Bug.BEGINS_AT_ONCE) {
                fill();
            }
        }

        private void fill() {
            if (again) {
                source.reset();
                again = false;
            }
            while (!ended && read.size() <= ahead) {
                try {
                    List<Tensor> batch = source.next();
                    ended = batch == null;
                    read.add(batch == null ? "end" : batch.getFirst());
                } catch (Exception e) {
                    if (bug != Bug.SWALLOWS_FAILURES) {
                        read.add(e);
                    }
                }
            }
        }

        @Override
        public @Nullable Integer next() throws Exception {
            fill();
            Object early = read.stream().filter(Exception.class::isInstance).findFirst().orElse(null);
            if (bug == Bug.THROWS_EARLY && early instanceof Exception e) {
                read.remove(early);
                throw e;
            }
            Object next = bug == Bug.LAST_FIRST ? read.removeLast() : read.removeFirst();
            if (next instanceof Exception e) {
                throw e;
            }
            if (next instanceof Tensor tensor) {
                return (int) tensor.getDouble(0);
            }
            ended = false;
            again = bug != Bug.DOES_NOT_RESET_AT_THE_END;
            read.clear();
            return null;
        }

        @Override
        public void reset() {
            if (bug != Bug.KEEPS_WHAT_IT_READ_AHEAD) {
                read.clear();
            }
            ended = false;
            again = true;
        }

        @Override
        public void settle() {
            if (!read.isEmpty() && !again) {
                fillAhead();
            }
        }

        private void fillAhead() {
            read.addFirst("place of the one that was read");
            fill();
            read.removeFirst();
        }

        @Override
        public void close() {
            if (!closed || bug == Bug.CLOSES_TWICE) {
                source.close();
            }
            closed = true;
        }
    }

    private static Set<ReaderContract> failing(Bug bug) {
        Set<ReaderContract> failing = EnumSet.noneOf(ReaderContract.class);
        for (ReaderContract rule : ReaderContract.values()) {
            try {
                rule.check((source, ahead) -> new Mutant(source, ahead, bug));
            } catch (Exception | AssertionError e) {
                failing.add(rule);
            }
        }
        return failing;
    }

    @Test
    void aRightReaderPasses() {
        assertTrue(failing(Bug.NONE).isEmpty(), () -> "fails " + failing(Bug.NONE));
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void eachBugIsCaught(Bug bug) {
        assertTrue(!failing(bug).isEmpty(), () -> bug + " is not caught");
    }
}
