package io.seriatim.benchmarks.common;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** The commit of the source that was measured. */
public final class SourceCommit {
    private SourceCommit() {
    }

    /** Returns the commit of the working folder, or "unknown" outside a repository. */
    public static String current() throws InterruptedException {
        try {
            Process git = new ProcessBuilder("git", "rev-parse", "HEAD")
                    .redirectError(ProcessBuilder.Redirect.DISCARD).start();
            String answer = new String(git.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
            return git.waitFor() == 0 ? answer : "unknown";
        } catch (IOException e) {
            return "unknown"; // there is no git
        }
    }
}
