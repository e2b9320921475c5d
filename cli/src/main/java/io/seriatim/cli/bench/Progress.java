package io.seriatim.cli.bench;

import java.io.PrintWriter;
import java.time.Duration;

/** Tells on stderr how far a benchmark is: on a terminal in one line that is overwritten, elsewhere only in whole stages. */
public final class Progress {
    private final PrintWriter err;
    private final boolean terminal;
    private String stage = "";
    private int width;
    private long start;

    Progress(PrintWriter err, boolean terminal) {
        this.err = err;
        this.terminal = terminal;
    }

    /** Begins a stage of several rounds. */
    void stage(String what) {
        stage = what;
        start = System.nanoTime();
        if (!terminal) {
            err.println(what + " …");
            err.flush();
        }
    }

    /** Begins a round; unmeasured ones have negative numbers. */
    void round(int round, int warmUps, int rounds) {
        if (terminal) {
            String which = round < 0 ? "warm-up " + (round + warmUps + 1) + "/" + warmUps : "round " + (round + 1) + "/" + rounds;
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

    /** Ends a stage. */
    void done() {
        if (terminal) {
            show("");
            err.print('\r');
            err.flush();
        }
    }

    /** Tells something that stays. */
    void notice(String line) {
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
