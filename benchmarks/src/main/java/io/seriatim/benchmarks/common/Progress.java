package io.seriatim.benchmarks.common;

import io.seriatim.cli.text.PrintableWriter;
import java.io.PrintWriter;
import java.time.Duration;

/**
 * Prints the progress of a benchmark on stderr: on a terminal in one line, which is overwritten, otherwise one line per
 * stage.
 */
public final class Progress {
    private final PrintWriter err;
    private final boolean terminal;
    private String stage = "";
    private int width;
    private long start;

    /**
     * Creates a progress display.
     *
     * @param err
     *            the output
     * @param terminal
     *            whether lines can be overwritten
     */
    public Progress(PrintWriter err, boolean terminal) {
        this.err = PrintableWriter.raw(err);
        this.terminal = terminal;
    }

    /**
     * Begins a stage of several rounds.
     *
     * @param what
     *            the name of the stage
     */
    public void stage(String what) {
        stage = what;
        start = System.nanoTime();
        if (!terminal) {
            err.println(what + " …");
            err.flush();
        }
    }

    /**
     * Begins a round.
     *
     * @param round
     *            the number of the round, from 0; warm-up rounds have negative numbers
     * @param warmUps
     *            the number of warm-up rounds
     * @param rounds
     *            the number of measured rounds
     */
    public void round(int round, int warmUps, int rounds) {
        if (terminal) {
            String which = round < 0
                    ? "warm-up " + (round + warmUps + 1) + "/" + warmUps
                    : "round " + (round + 1) + "/" + rounds;
            show(stage + ": " + which + left(round + warmUps, warmUps + rounds));
        }
    }

    private String left(int done, int all) {
        if (done == 0) {
            return "";
        }
        long nanos = (System.nanoTime() - start) / done * (all - done);
        return ", " + Duration.ofNanos(nanos).toSeconds() + " s left";
    }

    /**
     * Ends a stage.
     */
    public void done() {
        if (terminal) {
            show("");
            err.print('\r');
            err.flush();
        }
    }

    /** Prints a permanent line. */
    public void notice(String line) {
        done();
        err.println(line);
        err.flush();
    }

    private void show(String text) {
        err.print('\r' + text + " ".repeat(Math.max(0, width - text.length())));
        err.flush();
        width = text.length();
    }
}
