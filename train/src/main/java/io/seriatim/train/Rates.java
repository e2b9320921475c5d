package io.seriatim.train;

import static java.util.stream.Collectors.joining;

import io.seriatim.graph.optimizer.Schedule;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The learning rates of a training as a text for checkpoints, by which a resumed training recognises that its schedules
 * are the same: the number of steps for which there are rates, the first rate, and a hash of the rates. Schedules are
 * functions, so their rates are compared, also those after the end of the training: of all steps up to {@value #ALL},
 * and of later ones at distances of a thousandth, so a boundary that moves by a few steps in a very long training may
 * go undetected. A schedule may be a table that ends with the training; a longer training may have a longer table.
 */
final class Rates {
    private static final long ALL = 100_000;
    private static final long FRACTION = 1000;
    private static final Pattern TEXT = Pattern.compile("(\\d{1,18}) steps.*");
    private static final long PRIME = 0x100000001b3L;

    private Rates() {
    }

    /** The text of the rates of a training with a number of steps; empty without schedules. */
    static String of(Map<String, Schedule> schedules, long steps) {
        return upTo(schedules, Math.max(steps, ALL));
    }

    private static String upTo(Map<String, Schedule> schedules, long limit) {
        if (schedules.isEmpty()) {
            return "";
        }
        Map<String, Schedule> sorted = new TreeMap<>(schedules);
        long hash = sorted.keySet().hashCode();
        long step = 0;
        try {
            while (step < limit) {
                long next = hash;
                for (Schedule schedule : sorted.values()) {
                    // 64-bit words instead of bytes: this is no cryptographic hash, but the rotation reaches all bits.
                    next = Long.rotateLeft((next ^ Double.doubleToLongBits(schedule.rate(step))) * PRIME, 29);
                }
                hash = next;
                step += 1 + (step < ALL ? 0 : step / FRACTION);
            }
        } catch (IndexOutOfBoundsException e) {
            // The end of a table.
            return text(sorted, step, hash);
        }
        return text(sorted, limit, hash);
    }

    private static String text(Map<String, Schedule> schedules, long steps, long hash) {
        String first = steps == 0
                ? ""
                : schedules.values().stream().map(schedule -> ", from " + schedule.rate(0)).collect(joining());
        return steps + " steps" + first + ", hash " + Long.toHexString(hash);
    }

    /**
     * Compares schedules with the rates of a checkpoint.
     *
     * @throws IllegalArgumentException
     *             if one of the rates is another
     */
    static void requireSame(Map<String, Schedule> schedules, String there, Path checkpoint) {
        Matcher known = TEXT.matcher(there);
        String here = upTo(schedules, known.matches() ? Long.parseLong(known.group(1)) : 1);
        if (!here.equals(there)) {
            throw new IllegalArgumentException(checkpoint + " is of a training with other learning rates ("
                    + (there.isEmpty() ? "no schedule" : there)
                    + "; now " + (here.isEmpty() ? "no schedule" : here)
                    + "): resume with the learning rate and schedule of the "
                    + "original training");
        }
    }
}
